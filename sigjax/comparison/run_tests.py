"""All tests of one evaluation: what can be exact, where the rest runs, and the outcomes in the order of the pairs."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from sigjax.bootstrap.closed import closed_spreads, draws_intervals, in_closed_form
from sigjax.bootstrap.exact import bootstrap_outcomes, linear_spreads, plan_bootstrap
from sigjax.bootstrap.intervals import Spread
from sigjax.bootstrap.inversion import degree, inverted_intervals
from sigjax.bootstrap.sampled import sampled_bootstrap
from sigjax.bootstrap.shared_draws import SharedDraws
from sigjax.bootstrap.two_way import two_way_spreads
from sigjax.exact.lattice import NotEligible
from sigjax.exact.plan import Plan
from sigjax.multiple.maxt import StepDown, maxt
from sigjax.permutation.exact import exact_budget, exact_outcomes, plan_exact
from sigjax.permutation.exchanges import crossed_outcomes, models_outcomes
from sigjax.permutation.montecarlo import montecarlo_outcomes
from sigjax.records import Device, Metric, Repeated, Test
from sigjax.resample.engine import Run
from sigjax.run.backend import NUMPY, Backend, choose_backend, is_traceable, numpy_seconds
from sigjax.run.checkpoint import Stage
from sigjax.run.host import WORTH_A_BAR, progress_bar
from sigjax.run.share import current_share
from sigjax.testing.alike import Alike, alike
from sigjax.testing.problem import Case, NotExact, NotTraceable
from sigjax.testing.result import Outcome, Outcomes, completed
from sigjax.testing.stopping import most_resamples


class Answers(NamedTuple):
    """What the tests say."""

    outcomes: dict[Test, Outcomes]
    """For each test, those of all pairs, in the order of the question."""
    systems: list[Spread]
    """How the score of each system varies."""
    pairs: list[Spread]
    """How the delta of each pair varies, in the order of the question."""
    maxt: StepDown | None = None
    """What maxt has counted over the pairs of this metric, where that was asked for."""


class _Bootstrap(NamedTuple):
    """What the bootstrap says."""

    found: Sequence[Outcome | NotEligible]
    """[problem] the test without sampling, or why there is none."""
    which: np.ndarray
    """[pair] the problem of each pair."""
    systems: list[Spread]
    pairs: list[Spread]


def answer(case: Case, device: Device, *, progress: bool, stage: Stage, draws: SharedDraws | None = None) -> Answers:
    """Run the tests that the settings ask for; `draws` are those of all metrics of the report.

    Raises:
        NotExact: an exact method was asked for and cannot be had.
        NotFinite: the metric gave NaN or infinity.
        NotTraceable: the device cannot run the metric.
    """
    settings, question, problems = case.settings, case.question, alike(case)
    found = _without_sampling(case, problems) if "permutation" in settings.tests else []
    bootstrap, drawn = _bootstrap_without_sampling(case, problems)
    maxima = settings.correction == "maxt" and settings.family == "metric"
    refused = np.array([isinstance(each, NotEligible) for each in found], bool)
    num_swapped = int(refused[problems.which].sum()) if found else 0
    power = degree(case) if settings.interval == "inversion" else None
    seconds = _numpy_seconds(
        case, num_swapped=num_swapped + (len(question.members) if maxima else 0), drawn=drawn is not None
    )
    seconds += 0.0 if power is None else _inversion_seconds(case)
    backend = choose_backend(device, numpy_seconds=seconds)
    shown, share = progress and seconds > WORTH_A_BAR, current_share()

    def swapped(places: np.ndarray, reasons: Repeated, exact: np.ndarray) -> Outcomes:
        with progress_bar("permutation", most_resamples(settings), shown=shown) as advance:
            runs_on = _traceable(backend, case.metric, device)
            run = Run(
                most_resamples(settings), settings.seed, runs_on, advance, stage=stage.part("permutation"), share=share
            )
            return montecarlo_outcomes(case, places, run, reasons, exact)

    outcomes: dict[Test, Outcomes] = {}
    if found:
        outcomes["permutation"] = completed(found, problems.which, swapped)
    counted = None
    if maxima:
        with progress_bar("maxt", settings.fixed_resamples, shown=shown) as advance:
            runs_on = _traceable(backend, case.metric, device)
            run = Run(settings.fixed_resamples, settings.seed, runs_on, advance, stage=stage.part("maxt"), share=share)
            counted = maxt(case, run)
    sampled = Outcomes.of([])
    if drawn is not None:
        with progress_bar("bootstrap", settings.fixed_resamples, shown=shown) as advance:
            run = Run(
                settings.fixed_resamples, settings.seed, backend, advance, stage=stage.part("bootstrap"), share=share
            )
            bootstrap, sampled = _sampled_bootstrap(case, run, draws or SharedDraws([]), drawn.reason, bootstrap)
    if power is not None and len(case.units.strata) > 1:
        run = Run(settings.fixed_resamples, settings.seed, backend, stage=stage.part("inversion"), share=share)
        bootstrap = _with_inverted(case, run, power, bootstrap, shown=shown)
    if "bootstrap" in settings.tests:
        outcomes["bootstrap"] = completed(bootstrap.found, bootstrap.which, lambda *_: sampled)
    systems, pairs = bootstrap.systems, bootstrap.pairs
    if in_closed_form(case.metric, settings) and len(case.units.strata) > 1:
        systems, pairs = closed_spreads(case)
    return Answers({test: outcomes[test] for test in settings.tests}, systems, pairs, counted)


def will_draw(case: Case) -> bool:
    """Whether the bootstrap of this metric samples, and scores what it draws by `SharedDraws`."""
    settings = case.settings
    if case.units.values.shape[1] == 1 or settings.interval in ("studentized", "two-way"):
        return False
    if not draws_intervals(case.metric, settings) and "bootstrap" not in settings.tests:
        return False
    return settings.method == "montecarlo" or isinstance(
        plan_bootstrap(case, alike(case), exact_budget(settings)), NotEligible
    )


def _without_sampling(case: Case, problems: Alike) -> list[Outcome | NotEligible]:
    """The exact test of each problem, or why there is none."""
    if case.settings.design == "crossed":
        return list(crossed_outcomes(case).values())
    if case.settings.design == "models":
        return list(models_outcomes(case).values())
    plans = plan_exact(case, problems.first)
    exact = {pair: plan for pair, plan in plans.items() if isinstance(plan, Plan)}
    refused = {pair: plan for pair, plan in plans.items() if isinstance(plan, NotEligible)}
    found = exact_outcomes(case, exact) | refused
    return [found[pair] for pair in problems.first]


def _bootstrap_without_sampling(case: Case, problems: Alike) -> tuple[_Bootstrap, NotEligible | None]:
    """What the bootstrap says without sampling, and why the rest of it samples; None where it need not."""
    settings, num_pairs = case.settings, len(case.question.members)
    none = [NotEligible("")], np.zeros(num_pairs, np.int8)
    empty = _Bootstrap(*none, [Spread()] * len(case.question.scores), [Spread()] * num_pairs)
    tested = "bootstrap" in settings.tests
    if case.units.values.shape[1] == 1 or not (tested or draws_intervals(case.metric, settings)):
        return empty, None
    if settings.interval == "two-way":
        return _Bootstrap(*none, *two_way_spreads(case)), None
    if settings.method == "montecarlo":
        return empty, NotEligible("as asked")
    plan = plan_bootstrap(case, problems, exact_budget(settings))
    if isinstance(plan, NotEligible):
        if tested and settings.method == "exact":
            raise NotExact(None, plan.reason)
        return empty, plan
    found, exact = {}, empty
    if tested:
        found = dict(zip(plan.pairs, bootstrap_outcomes(case, plan), strict=True))
        exact = empty._replace(found=list(found.values()), which=plan.which)
    refused = {pair: why for pair, why in found.items() if isinstance(why, NotEligible)}
    for pair, why in refused.items():
        if settings.method == "exact":
            raise NotExact(pair, why.reason)
    if settings.interval == "studentized":
        return exact, next(iter(refused.values()), NotEligible("studentized intervals need resamples"))
    if draws_intervals(case.metric, settings):
        systems, spreads = linear_spreads(case, plan)
        exact = exact._replace(systems=systems, pairs=spreads)
    return exact, next(iter(refused.values()), None)


def _sampled_bootstrap(
    case: Case, run: Run, draws: SharedDraws, reason: str, exact: _Bootstrap
) -> tuple[_Bootstrap, Outcomes]:
    """The same with spreads where there were none, and the outcomes of the pairs that are sampled."""
    settings = case.settings
    refused = np.array([isinstance(each, NotEligible) for each in exact.found])
    tested = np.flatnonzero(refused[exact.which] & ("bootstrap" in settings.tests))
    spreads = draws_intervals(case.metric, settings) and exact.systems[0] == Spread()
    outcomes, systems, pairs = sampled_bootstrap(
        case, run, partial(draws.pieces, case), tested, reason, spreads=spreads
    )
    return exact._replace(systems=systems, pairs=pairs) if spreads else exact, outcomes


def _with_inverted(case: Case, run: Run, power: int, bootstrap: _Bootstrap, *, shown: bool) -> _Bootstrap:
    """The same with intervals of pairs by inversion."""
    with progress_bar("inversion", run.resamples, shown=shown) as advance:
        intervals = inverted_intervals(case, run._replace(advance=advance), power)
    found = zip(bootstrap.pairs, intervals, strict=True)
    return bootstrap._replace(pairs=[each._replace(interval=interval) for each, interval in found])


def _numpy_seconds(case: Case, *, num_swapped: int, drawn: bool) -> float:
    units, design, resamples = case.units, case.settings.design, case.settings.fixed_resamples
    num_systems, num_units, num_stats = units.values.shape
    columns, num_outputs = num_systems * num_stats, 0 if units.outputs is None else int(units.outputs.sizes.sum())
    seconds = 0.0
    if num_swapped:
        # Both systems' outputs or runs are chosen one by one, which takes about as long as counting draws.
        one_by_one = design in ("crossed", "models")
        width = (2 * num_outputs // (num_units if design == "models" else 1)) if one_by_one else num_units
        seconds += numpy_seconds(
            resamples=resamples, units=width, columns=columns, scored=num_swapped * num_stats, counted=one_by_one
        )
    if drawn:
        width = num_units + num_outputs if design == "nested" else num_units
        seconds += numpy_seconds(resamples=resamples, units=width, columns=columns, scored=columns, counted=True)
    return seconds


def _inversion_seconds(case: Case) -> float:
    num_systems, num_units, num_stats = case.units.values.shape
    columns = num_systems * num_stats
    return numpy_seconds(
        resamples=case.settings.fixed_resamples, units=num_units, columns=columns, scored=columns, counted=False
    )


def _traceable(backend: Backend, metric: Metric, device: Device) -> Backend:
    """The backend, or NumPy where the device is ours to choose and JAX cannot compile the metric."""
    if not backend.devices or is_traceable(metric.score, (2, len(metric.stat_names))):
        return backend
    if device != "auto":
        raise NotTraceable
    warnings.warn(
        f"JAX cannot compile the metric {metric.name!r}; running on NumPy. Array operators alone would be faster",
        RuntimeWarning,
        stacklevel=2,
    )
    return NUMPY
