"""Every record that passes from one part of sigjax to another, with the axes of each field.

Records are frozen and never half-filled. They hold NumPy and Python values only. Axis words, everywhere:
`system`, `instance` (what a metric is computed on), `unit` (what is resampled), `stat` (one additive number),
`pair`, `resample`. The methods of `Evaluation` and `Report` are thin doors to the parts that do the work.
"""

from sigjax.records.comparison import Comparison as Comparison
from sigjax.records.comparisons import FIELDS as FIELDS
from sigjax.records.comparisons import Column as Column
from sigjax.records.comparisons import Comparisons as Comparisons
from sigjax.records.comparisons import Repeated as Repeated
from sigjax.records.evaluation import Evaluation as Evaluation
from sigjax.records.metrics import Metric as Metric
from sigjax.records.metrics import SampleMetric as SampleMetric
from sigjax.records.options import DEFAULT_LEVEL as DEFAULT_LEVEL
from sigjax.records.options import DEFAULT_MEMORY as DEFAULT_MEMORY
from sigjax.records.options import DEFAULT_RESAMPLES as DEFAULT_RESAMPLES
from sigjax.records.options import DEFAULT_SEED as DEFAULT_SEED
from sigjax.records.options import Alternative as Alternative
from sigjax.records.options import Array as Array
from sigjax.records.options import Correction as Correction
from sigjax.records.options import Design as Design
from sigjax.records.options import Device as Device
from sigjax.records.options import Family as Family
from sigjax.records.options import InputError as InputError
from sigjax.records.options import Interval as Interval
from sigjax.records.options import IntervalKind as IntervalKind
from sigjax.records.options import Library as Library
from sigjax.records.options import Method as Method
from sigjax.records.options import Missing as Missing
from sigjax.records.options import Resamples as Resamples
from sigjax.records.options import Settings as Settings
from sigjax.records.options import Test as Test
from sigjax.records.options import Unit as Unit
from sigjax.records.options import Variant as Variant
from sigjax.records.report import Report as Report
from sigjax.records.report import SystemScore as SystemScore
