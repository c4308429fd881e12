"""Significance tests for comparing systems on a test set: permutation, bootstrap and exact, on CPU or GPU."""

import sys as _sys
from importlib import import_module as _import_module
from typing import TYPE_CHECKING

from sigjax.studies import STUDIES as _STUDIES
from sigjax.studies import elsewhere as _elsewhere
from sigjax.version import __version__ as __version__

if TYPE_CHECKING:
    from sigjax import studies as studies
    from sigjax.comparison.compare import bootstrap_test as bootstrap_test
    from sigjax.comparison.compare import compare as compare
    from sigjax.comparison.compare import permutation_test as permutation_test
    from sigjax.formats import read as read
    from sigjax.formats.doctor import doctor as doctor
    from sigjax.multiple.discoveries import true_discoveries as true_discoveries
    from sigjax.readers import Evaluation as Evaluation
    from sigjax.records import Comparison as Comparison
    from sigjax.records import InputError as InputError
    from sigjax.records import Metric as Metric
    from sigjax.records import SampleMetric as SampleMetric
    from sigjax.report import Report as Report
    from sigjax.studies.association import association_test as association_test
    from sigjax.studies.changes import diff as diff
    from sigjax.studies.changes import verify as verify
    from sigjax.studies.classical import classical_tests as classical_tests
    from sigjax.studies.error_rates import audit as audit
    from sigjax.studies.independent_samples import unpaired as unpaired
    from sigjax.studies.power_analysis import planned_power as planned_power
    from sigjax.studies.power_analysis import power as power
    from sigjax.studies.sequential import Monitor as Monitor
    from sigjax.studies.sequential import monitor as monitor
    from sigjax.studies.single_samples import one_sample as one_sample
    from sigjax.studies.tost import equivalence as equivalence
    from sigjax.studies.tost import equivalence_test as equivalence_test

_PUBLIC = {
    "sigjax.comparison.compare": ("compare", "permutation_test", "bootstrap_test"),
    "sigjax.formats": ("read",),
    "sigjax.formats.doctor": ("doctor",),
    "sigjax.multiple.discoveries": ("true_discoveries",),
    "sigjax.readers": ("Evaluation",),
    "sigjax.records": ("Comparison", "InputError", "Metric", "SampleMetric"),
    "sigjax.report": ("Report",),
}
"""The public names by their modules, which are imported when a name is first used (PEP 562)."""
_HOMES = {name: module for module, names in _PUBLIC.items() for name in names}
_HOMES |= {name: study.path for study in _STUDIES.values() for name in study.public}


__all__ = ["studies", *_HOMES]  # pyright: ignore[reportUnsupportedDunderAll]


if not TYPE_CHECKING:  # type checkers would take any name for one of these

    def __getattr__(name: str) -> object:
        """Import a public name when it is first used."""
        if name not in _HOMES:
            raise AttributeError(
                f"module 'sigjax' has no attribute {name!r}{_elsewhere(name)}", name=name, obj=_sys.modules[__name__]
            )
        globals()[name] = thing = getattr(_import_module(_HOMES[name]), name)
        return thing


def __dir__() -> list[str]:
    """The public names: the rooms below are no part of the interface."""
    return ["__version__", *__all__]
