"""All records that pass between parts of sigjax, with the axes of each field.

Records are frozen, and complete when they are made. They contain only NumPy and Python values. The whole package uses
the same words for axes: `system`, `instance` (an item of the data, such as a sentence), `unit` (an instance or a
cluster of instances, drawn or swapped as a whole), `stat` (a number that is summed over instances), `pair` (of
systems), `resample`.
"""

from sigjax.records.metric import EvaluationRecord as EvaluationRecord
from sigjax.records.metric import Metric as Metric
from sigjax.records.metric import Note as Note
from sigjax.records.metric import SampleMetric as SampleMetric
from sigjax.records.metric import SampleSize as SampleSize
from sigjax.records.options import Hint as Hint
from sigjax.records.options import InputError as InputError
from sigjax.records.options import Line as Line
from sigjax.records.options import Message as Message
from sigjax.records.results import FIELDS as FIELDS
from sigjax.records.results import Column as Column
from sigjax.records.results import Columns as Columns
from sigjax.records.results import Comparison as Comparison
from sigjax.records.results import Comparisons as Comparisons
from sigjax.records.results import Distribution as Distribution
from sigjax.records.results import Measured as Measured
from sigjax.records.results import ReportRecord as ReportRecord
from sigjax.records.results import SystemScore as SystemScore
from sigjax.records.settings import CORRECTIONS as CORRECTIONS
from sigjax.records.settings import DESIGNS as DESIGNS
from sigjax.records.settings import TESTS as TESTS
from sigjax.records.settings import Alternative as Alternative
from sigjax.records.settings import Array as Array
from sigjax.records.settings import Correction as Correction
from sigjax.records.settings import Design as Design
from sigjax.records.settings import Device as Device
from sigjax.records.settings import Family as Family
from sigjax.records.settings import Interval as Interval
from sigjax.records.settings import IntervalKind as IntervalKind
from sigjax.records.settings import KeepScores as KeepScores
from sigjax.records.settings import Library as Library
from sigjax.records.settings import Match as Match
from sigjax.records.settings import Method as Method
from sigjax.records.settings import Missing as Missing
from sigjax.records.settings import Resamples as Resamples
from sigjax.records.settings import Score as Score
from sigjax.records.settings import Settings as Settings
from sigjax.records.settings import Test as Test
from sigjax.records.settings import Unit as Unit
from sigjax.records.settings import Variant as Variant
