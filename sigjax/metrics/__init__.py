"""Metrics: one family per file.

A metric has an `extract` (columns of a file -> statistics) and a `score` (sums -> number). A `score` is written with
array operators for the namespace of its argument and works on the last axis, so that the same function scores one
system, a million resamples, NumPy and traced JAX arrays. A metric that is not a function of sums is a `SampleMetric`, a
function of whole `columns`. A metric of texts is a `TextMetric`, which also says how `texts` counts texts. This package
does not resample, reads no files and knows no tests. Read `ratios` and `registry` first. To add a metric, add a record
to the tuple at the end of a file. To add a file, add its name to `registry`; `info` and the readers take metrics from
there. `tests/test_laws.py` requires a second, independent formula for each metric.
"""

from sigjax.metrics.columns import check_standards as check_standards
from sigjax.metrics.columns import check_weights as check_weights
from sigjax.metrics.columns import pair_rounding as pair_rounding
from sigjax.metrics.columns import sample_scores as sample_scores
from sigjax.metrics.columns import standardized as standardized
from sigjax.metrics.columns import system_roundings as system_roundings
from sigjax.metrics.columns import what_is_exchanged as what_is_exchanged
from sigjax.metrics.predictions import CLASS_METRICS as CLASS_METRICS
from sigjax.metrics.predictions import class_metric as class_metric
from sigjax.metrics.predictions import class_numbers as class_numbers
from sigjax.metrics.ratios import MEAN as MEAN
from sigjax.metrics.ratios import TOKEN_ACCURACY as TOKEN_ACCURACY
from sigjax.metrics.ratios import Shifted as Shifted
from sigjax.metrics.ratios import shared_shift as shared_shift
from sigjax.metrics.ratios import shifted as shifted
from sigjax.metrics.ratios import shifted_by as shifted_by
from sigjax.metrics.ratios import trial_metric as trial_metric
from sigjax.metrics.registry import ANSWERS as ANSWERS
from sigjax.metrics.registry import METRICS as METRICS
from sigjax.metrics.registry import TEXT_METRICS as TEXT_METRICS
from sigjax.metrics.registry import canonical as canonical
from sigjax.metrics.registry import check_enough as check_enough
from sigjax.metrics.registry import check_score as check_score
from sigjax.metrics.registry import evaluation_from_arrays as evaluation_from_arrays
from sigjax.metrics.registry import is_number_text as is_number_text
from sigjax.metrics.registry import known_metric as known_metric
from sigjax.metrics.registry import meant_among as meant_among
from sigjax.metrics.registry import parameterized as parameterized
from sigjax.metrics.registry import refuse_mean as refuse_mean
from sigjax.metrics.registry import resolve_metric as resolve_metric
from sigjax.metrics.registry import score_named as score_named
from sigjax.metrics.registry import unknown_metric as unknown_metric
