"""All tests of one evaluation: what can be exact, where the rest runs, and the outcomes in the order of the pairs."""

from __future__ import annotations

import warnings
from functools import partial
from typing import NamedTuple

from sigjax.checkpoint import Stage
from sigjax.exact.lattice import NotEligible
from sigjax.exact.plan import Plan
from sigjax.inference.bootstrap import sampled_bootstrap
from sigjax.inference.closed import closed_spreads, draws_intervals, in_closed_form
from sigjax.inference.crossed import crossed_outcomes
from sigjax.inference.exact import exact_budget, exact_outcomes, plan_exact
from sigjax.inference.exact_bootstrap import bootstrap_outcomes, linear_spreads, plan_bootstrap
from sigjax.inference.intervals import Spread
from sigjax.inference.inversion import degree, inverted_intervals
from sigjax.inference.maxt import StepDown, maxt
from sigjax.inference.outcome import Case, NotExact, NotTraceable, Outcome, Pair
from sigjax.inference.permutation import montecarlo_outcomes
from sigjax.inference.stopping import most_resamples
from sigjax.inference.together import SharedDraws
from sigjax.progress import WORTH_A_BAR, progress_bar
from sigjax.records import Device, Metric, Test
from sigjax.resample.backend import NUMPY, Backend, choose_backend, is_traceable, numpy_seconds
from sigjax.resample.engine import Run
from sigjax.resample.share import current_share

class Answers(NamedTuple):
    """What the tests say."""

    outcomes: dict[Test, list[Outcome]]
    """For each test, one outcome a pair, in the order of the question."""
    systems: list[Spread]
    """How the score of each system varies."""
    pairs: list[Spread]
    """How the delta of each pair varies, in the order of the question."""
    maxt: StepDown | None = None
    """What maxt has counted over the pairs of this metric, where that was asked for."""


class _Bootstrap(NamedTuple):
    """What the bootstrap says."""

    outcomes: dict[Pair, Outcome]
    systems: list[Spread]
    pairs: list[Spread]


def answer(case: Case, device: Device, *, progress: bool, stage: Stage, draws: SharedDraws | None = None) -> Answers:
    """Run the tests that the settings ask for; `draws` are those of all metrics of the report.

    Raises:
        NotExact: an exact method was asked for and cannot be had.
        NotFinite: the metric gave NaN or infinity.
        NotTraceable: the device cannot run the metric.
    """
    settings, question = case.settings, case.question
    found = _without_sampling(case) if "permutation" in settings.tests else {}
    swapped = {pair: why for pair, why in found.items() if isinstance(why, NotEligible)}
    bootstrap, drawn = _bootstrap_without_sampling(case)
    maxima = settings.correction == "maxt" and settings.family == "metric"
    num_swapped = len(swapped) + (len(question.pairs) if maxima else 0)
    power = degree(case) if settings.interval == "inversion" else None
    seconds = _numpy_seconds(case, num_swapped=num_swapped, drawn=drawn is not None)
    seconds += 0.0 if power is None else _inversion_seconds(case)
    backend = choose_backend(device, numpy_seconds=seconds)
    shown, share = progress and seconds > WORTH_A_BAR, current_share()

    outcomes: dict[Test, list[Outcome]] = {}
    if swapped:
        exact = [each.p_value for each in found.values() if isinstance(each, Outcome)]
        with progress_bar("permutation", most_resamples(settings), shown=shown) as advance:
            runs_on = _traceable(backend, case.metric, device)
            run = Run(
                most_resamples(settings), settings.seed, runs_on, advance, stage=stage.part("permutation"), share=share
            )
            found |= montecarlo_outcomes(case, swapped, run, exact)
    counted = None
    if maxima:
        with progress_bar("maxt", settings.fixed_resamples, shown=shown) as advance:
            runs_on = _traceable(backend, case.metric, device)
            run = Run(settings.fixed_resamples, settings.seed, runs_on, advance, stage=stage.part("maxt"), share=share)
            counted = maxt(case, run)
    if found:
        outcomes["permutation"] = [each for pair in question.pairs if isinstance(each := found[pair], Outcome)]
    if drawn is not None:
        with progress_bar("bootstrap", settings.fixed_resamples, shown=shown) as advance:
            run = Run(
                settings.fixed_resamples, settings.seed, backend, advance, stage=stage.part("bootstrap"), share=share
            )
            bootstrap = _sampled_bootstrap(case, run, draws or SharedDraws([]), drawn.reason, bootstrap)
    if power is not None and len(case.units.strata) > 1:
        run = Run(settings.fixed_resamples, settings.seed, backend, stage=stage.part("inversion"), share=share)
        bootstrap = _with_inverted(case, run, power, bootstrap, shown=shown)
    if "bootstrap" in settings.tests:
        outcomes["bootstrap"] = [bootstrap.outcomes[pair] for pair in question.pairs]
    systems, pairs = bootstrap.systems, bootstrap.pairs
    if in_closed_form(case) and len(case.units.strata) > 1:
        systems, pairs = closed_spreads(case)
    return Answers({test: outcomes[test] for test in settings.tests}, systems, pairs, counted)


def will_draw(case: Case) -> bool:
    """Whether the bootstrap of this metric samples, and scores what it draws by `SharedDraws`."""
    settings = case.settings
    if case.units.values.shape[1] == 1 or settings.interval == "studentized":
        return False
    if not draws_intervals(case) and "bootstrap" not in settings.tests:
        return False
    return settings.method == "montecarlo" or isinstance(plan_bootstrap(case, exact_budget(settings)), NotEligible)


def _without_sampling(case: Case) -> dict[Pair, Outcome | NotEligible]:
    """The exact test of each pair, or why there is none."""
    if case.settings.design == "crossed":
        return crossed_outcomes(case)
    plans = plan_exact(case)
    exact = {pair: plan for pair, plan in plans.items() if isinstance(plan, Plan)}
    refused = {pair: plan for pair, plan in plans.items() if isinstance(plan, NotEligible)}
    return exact_outcomes(case, exact) | refused


def _bootstrap_without_sampling(case: Case) -> tuple[_Bootstrap, NotEligible | None]:
    """What the bootstrap says without sampling, and why the rest of it samples; None where it need not."""
    settings, pairs = case.settings, case.question.pairs
    empty = _Bootstrap({}, [Spread()] * len(case.question.scores), [Spread()] * len(pairs))
    tested = "bootstrap" in settings.tests
    if case.units.values.shape[1] == 1 or not (tested or draws_intervals(case)):
        return empty, None
    if settings.method == "montecarlo":
        return empty, NotEligible("as asked")
    plan = plan_bootstrap(case, exact_budget(settings))
    if isinstance(plan, NotEligible):
        if tested and settings.method == "exact":
            raise NotExact(None, plan.reason)
        return empty, plan
    found = dict(zip(pairs, bootstrap_outcomes(case, plan), strict=True)) if tested else {}
    refused = {pair: why for pair, why in found.items() if isinstance(why, NotEligible)}
    for pair, why in refused.items():
        if settings.method == "exact":
            raise NotExact(pair, why.reason)
    exact = empty._replace(outcomes={pair: each for pair, each in found.items() if isinstance(each, Outcome)})
    if settings.interval == "studentized":
        return exact, next(iter(refused.values()), NotEligible("studentized intervals need resamples"))
    if draws_intervals(case):
        systems, spreads = linear_spreads(case, plan)
        exact = exact._replace(systems=systems, pairs=spreads)
    return exact, next(iter(refused.values()), None)


def _sampled_bootstrap(case: Case, run: Run, draws: SharedDraws, reason: str, exact: _Bootstrap) -> _Bootstrap:
    """Fill in by sampling what there is not without."""
    settings = case.settings
    tested = [pair for pair in case.question.pairs if "bootstrap" in settings.tests and pair not in exact.outcomes]
    spreads = draws_intervals(case) and exact.systems[0] == Spread()
    outcomes, systems, pairs = sampled_bootstrap(
        case, run, partial(draws.pieces, case), tested, reason, spreads=spreads
    )
    exact = exact._replace(outcomes=exact.outcomes | outcomes)
    return exact._replace(systems=systems, pairs=pairs) if spreads else exact


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
        # Both systems' outputs are chosen one by one, which takes about as long as counting draws.
        one_by_one, width = design == "crossed", 2 * num_outputs if design == "crossed" else num_units
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
