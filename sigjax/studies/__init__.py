"""Experiments made of many comparisons: audit (type-I errors), power, equivalence, and studies of all pairs.

A study calls `compare` and the rooms below it; it adds no resampling of its own. `pilot` makes trials from data,
`trials` tests them, `audit` and `power` count what the tests say; `tost` has the tests behind `equivalence`. Formulas
are in `formulas`, results in `records`, their common part in `study`, and `show` names what shows each kind.
`diff` compares two reports, or two evaluations, by the limits of `diff_limits`. `all_pairs` tests all pairs of systems
for `gains`, `size`, `domain` and `calibration`; `thresholds` and `size_laws` have the statistics of the first two.
`unpaired` and `one_sample` take systems one by one, as `samples` does; `samples_show` shows them.
"""

from types import ModuleType as _Module

from sigjax.studies.audit import audit as audit
from sigjax.studies.calibration import calibration as calibration
from sigjax.studies.diff import diff as diff
from sigjax.studies.domain import domain as domain
from sigjax.studies.equivalence import equivalence as equivalence
from sigjax.studies.equivalence import equivalence_test as equivalence_test
from sigjax.studies.gains import gains as gains
from sigjax.studies.one_sample import one_sample as one_sample
from sigjax.studies.power import power as power
from sigjax.studies.size import size as size
from sigjax.studies.synthetic import synthetic as synthetic
from sigjax.studies.unpaired import unpaired as unpaired


def __dir__() -> list[str]:
    """The studies: the modules of this room are no part of the interface."""
    return [name for name, value in globals().items() if name[0] != "_" and not isinstance(value, _Module)]
