"""Errors of the tests as messages that name the metric and the systems."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from sigjax.records import Evaluation, InputError, SampleMetric
from sigjax.testing.problem import NotExact, NotFinite
from sigjax.testing.runner import NotTraceable, Runner


@contextmanager
def named_errors(evaluations: Sequence[Evaluation], runner: Runner) -> Iterator[None]:
    """Turn errors of tests into messages; several metrics are those tested together.

    Raises:
        InputError: in place of every error of the tests.
    """
    systems, metric = evaluations[0].systems, evaluations[0].metric
    try:
        yield
    except NotExact as error:
        which = (
            "bootstrap test"
            if error.pair is None
            else "test for {!r} and {!r}".format(*(systems[i] for i in error.pair))
        )
        other = "exact or auto" if runner.settings.method in ("dp", "tree") else "auto"
        raise InputError(f"no exact {which}: {error.reason}; use method {other}") from None
    except NotFinite as error:
        metric = evaluations[error.metric].metric
        names = " and ".join(repr(systems[i]) for i in error.systems)
        remedy = "have it return a number everywhere, also where a denominator is 0"
        if isinstance(metric, SampleMetric):
            remedy = (
                "where instances that are all alike are drawn, leave the bootstrap out (interval none) or draw within "
                "strata, or else have it return a number there too"
            )
        raise InputError(
            f"metric {metric.name!r} is not a finite number for {names} on the data or on a resample of it; {remedy}"
        ) from None
    except NotTraceable:
        raise InputError(
            f"metric {metric.name!r} cannot be compiled for device {runner.device!r}; write it with array operators "
            "and the functions of sums.__array_namespace__(), or use the device auto or numpy"
        ) from None


def check_units(num_units: int, what: str, remedy: str = "") -> None:
    """Refuse what needs more than one unit.

    Raises:
        InputError: there is one unit.
    """
    if num_units < 2:
        raise InputError(f"{what} needs at least two units (instances, or clusters of them), got one{remedy}")
