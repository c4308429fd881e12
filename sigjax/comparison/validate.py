"""What `compare` refuses, each in one line.

Before it runs: options that contradict each other, and evaluations that do not fit together. While it runs: what the
tests cannot do, by the names of metric and systems.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from operator import attrgetter

from sigjax.bootstrap.registry import KINDS
from sigjax.metrics.suites import is_part
from sigjax.records import CORRECTIONS, Design, Evaluation, InputError, SampleMetric, Settings
from sigjax.records.names import meant
from sigjax.testing.problem import NotExact, NotFinite
from sigjax.testing.runner import NotTraceable, Runner

_frame = attrgetter("systems", "num_instances", "ids", "clusters", "strata", "runs", "unit")
"""All that the evaluations of one comparison share."""


def check_together(settings: Settings) -> None:
    """Refuse options that contradict each other; each by itself has been checked."""
    if settings.resamples == "auto" and "permutation" not in settings.tests:
        raise InputError("resamples auto belongs to the permutation test; give the bootstrap a number of resamples")
    if settings.method in ("dp", "tree") and "bootstrap" in settings.tests:
        raise InputError(f"method {settings.method} belongs to the permutation test; use exact, montecarlo or auto")
    if settings.mid_p and (settings.method in ("auto", "montecarlo") or settings.tests != ("permutation",)):
        raise InputError(
            "mid-p belongs to exact permutation tests; use method exact, dp or tree with it, and no other test"
        )
    if CORRECTIONS[settings.correction].is_resampled:
        _check_resampled(settings)
    _check_design(settings)


def _check_design(settings: Settings) -> None:
    """Refuse a design that no test or interval uses, and tests and intervals that ignore the design."""
    interval = KINDS[settings.interval]
    if settings.design == "crossed":
        if "permutation" not in settings.tests:
            raise InputError("design crossed belongs to the permutation test; ask for it, or use design nested")
        if CORRECTIONS[settings.correction].is_resampled:
            raise InputError(f"correction {settings.correction} swaps whole instances; use holm with design crossed")
        if interval.needs == "swaps":
            raise InputError(f"interval {settings.interval} swaps whole instances; use percentile with design crossed")
    if settings.design == "nested":
        if "bootstrap" not in settings.tests and interval.needs == "nothing":
            raise InputError("design nested belongs to the bootstrap; ask for its test or intervals, or use crossed")
        if interval.whole:
            raise InputError(f"interval {settings.interval} takes whole instances; use percentile with design nested")
    if settings.design == "models":
        if settings.tests != ("permutation",):
            raise InputError("design models has no bootstrap test; leave it out (its intervals are two-way intervals)")
        if CORRECTIONS[settings.correction].is_resampled:
            raise InputError(f"correction {settings.correction} swaps whole instances; use holm with design models")
        if settings.leaderboard:
            raise InputError("the leaderboard draws instances, not runs; leave it out with design models")
        if interval.needs not in ("runs", "nothing"):
            raise InputError(f"interval {settings.interval} is not for trained models; use two-way with design models")
    elif interval.needs == "runs":
        raise InputError(f"interval {settings.interval} is for runs that are trained models; use it with design models")


def _check_resampled(settings: Settings) -> None:
    """Refuse options that leave no resamples of all pairs together."""
    name = f"correction {settings.correction}"
    if settings.tests != ("permutation",):
        raise InputError(f"{name} belongs to the permutation test; ask for no other test with it")
    if settings.method not in ("auto", "montecarlo"):
        raise InputError(f"{name} samples; use method auto or montecarlo with it, got {settings.method}")
    if settings.resamples == "auto":
        raise InputError(f"{name} needs all pairs on the same resamples; give a number of resamples, not auto")


def check_evaluations(evaluations: Sequence[Evaluation], settings: Settings) -> None:
    """Refuse evaluations that do not fit together or to the settings, and an unknown baseline."""
    if not evaluations:
        raise InputError("there is no evaluation to compare on")
    first, names = evaluations[0], [each.metric.name for each in evaluations]
    if all(map(is_part, evaluations)):
        if settings.family == "report" and CORRECTIONS[settings.correction].is_resampled:
            raise InputError(f"correction {settings.correction} needs the same instances; use holm, or family metric")
    elif any(_frame(other) != _frame(first) for other in evaluations[1:]):
        raise InputError(
            "the evaluations differ in their systems, instances, units, clusters or strata; compare them apart, or as "
            "tasks: compare({'TASK': evaluation, ...})"
        )
    if len(set(names)) < len(names):
        raise InputError(f"two evaluations have the metric {max(names, key=names.count)!r}; give each metric once")
    if first.unit == "response":
        _check_responses(first, settings)
    if settings.design != "together":
        _check_runs(first, settings.design)
    if settings.design == "models":
        _check_models(first)
    for each in evaluations:
        if isinstance(each.metric, SampleMetric):
            _check_sample(each.metric.name, settings)
    baseline_of(first.systems, settings)


def baseline_of(systems: Sequence[str], settings: Settings) -> str | None:
    """The name of the baseline; "1" is the first system.

    Raises:
        InputError: there is no such system, or another one than the first has the name "1".
    """
    asked = settings.baseline
    if asked == "1" and asked in systems[1:]:
        raise InputError(
            f"baseline '1' is the first system, {systems[0]!r}, and also the name of another; rename that one"
        )
    if asked is None or asked in systems:
        return asked
    if asked == "1":
        return systems[0]
    close = meant(asked, systems) or systems[:12]
    raise InputError(f"baseline {asked!r} is not a system; did you mean {' or '.join(close)}?")


def _check_sample(metric: str, settings: Settings) -> None:
    """Refuse what needs sums, for a metric of whole samples."""
    for option, needs_sums, instead in (
        ("correction", CORRECTIONS[settings.correction].is_resampled, "holm"),
        ("interval", KINDS[settings.interval].of_sums, "bca"),
        ("design", settings.design != "together", "together"),
    ):
        if needs_sums:
            value = getattr(settings, option)
            raise InputError(f"{option} {value} needs a metric of sums, and {metric!r} is none; use {instead}")


def _check_responses(evaluation: Evaluation, settings: Settings) -> None:
    """Refuse options that draw responses or group them."""
    if "bootstrap" in settings.tests:
        raise InputError(
            "the bootstrap draws instances, but these are responses, which are no sample of anything: read the files "
            "without unit response, or use the permutation test"
        )
    if settings.leaderboard:
        raise InputError(
            "the leaderboard draws instances, but these are responses, which are no sample of anything: leave it out, "
            "or read the files without unit response"
        )
    for labels in ("clusters", "strata", "runs"):
        if getattr(evaluation, labels) is not None:
            raise InputError(f"responses are swapped one by one; leave out {labels}, or read without unit response")


def _check_runs(evaluation: Evaluation, design: Design) -> None:
    """Refuse an evaluation without runs, or whose runs of one instance lie in several clusters."""
    if evaluation.runs is None:
        raise InputError(
            f"design {design} needs repeated runs, and every instance was run once; name their column (--runs), or "
            "give runs to from_arrays, or use design together"
        )
    clusters: dict[str, str] = {}
    for instance, cluster in zip(evaluation.ids or (), evaluation.clusters or (), strict=False):
        if clusters.setdefault(instance, cluster) != cluster:
            raise InputError(
                f"the runs of instance {instance!r} lie in the clusters {clusters[instance]!r} and {cluster!r}; design "
                f"{design} needs all runs of an instance in one cluster"
            )


def _check_models(evaluation: Evaluation) -> None:
    """Refuse missing results: a trained model has one on every instance."""
    ids, runs = evaluation.ids or (), evaluation.runs or ()
    labels = dict.fromkeys(runs)
    if len(labels) < 2:
        raise InputError(f"design models needs two runs or more, and there is only {', '.join(labels)!r}")
    wrong = next((instance for instance, number in Counter(ids).items() if number < len(labels)), None)
    if wrong is not None:
        own = {run for instance, run in zip(ids, runs, strict=True) if instance == wrong}
        lacking = next(run for run in labels if run not in own)
        raise InputError(
            f"instance {wrong!r} has no run {lacking!r}: design models exchanges whole runs, which need a result on "
            "every instance; leave that instance or that run out"
        )


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
