"""Other questions than `compare`: experiments made of many comparisons, classical tests, and systems one by one.

A study calls `compare` and the rooms below it; it adds no resampling of its own. `trials` makes experiments from data
and tests them; `audit` and `power` count what the tests say. `equivalence` has its own tests. `thresholds` tests all
pairs of systems for `gains`, `size`, `domain` and `calibration`. `diff` compares two reports, or two evaluations.
`samples` takes systems one by one: against a number, or on different instances. `classical` runs the `tests` that
have names, and `association` compares labels. Each file has the study with its record, text and figure; what these
share is in `study`, and formulas in `formulas`.
"""

from types import ModuleType as _Module

from sigjax.studies.audit import audit as audit
from sigjax.studies.calibration import calibration as calibration
from sigjax.studies.diff import diff as diff
from sigjax.studies.domain import domain as domain
from sigjax.studies.equivalence import equivalence as equivalence
from sigjax.studies.equivalence import equivalence_test as equivalence_test
from sigjax.studies.gains import gains as gains
from sigjax.studies.power import power as power
from sigjax.studies.samples import one_sample as one_sample
from sigjax.studies.samples import unpaired as unpaired
from sigjax.studies.size import size as size
from sigjax.studies.synthetic import synthetic as synthetic


def __dir__() -> list[str]:
    """The studies: the modules of this room are no part of the interface."""
    return [name for name, value in globals().items() if name[0] != "_" and not isinstance(value, _Module)]
