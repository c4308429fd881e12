"""`compare`, which makes a `Report` from data; and tests of two arrays, as in SciPy.

`compare` reads the data, settles the options, tests every metric (see `analysis`) and makes a report. On request the
report computes the distribution of a pair's delta, under the null hypothesis or on bootstrap resamples. The
distribution is exact if it can be computed quickly. Else it comes from the first resamples of the report's seed, as
many as NumPy draws in about a second.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from functools import lru_cache, partial
from typing import Any

import numpy as np

from sigjax.comparison import checks
from sigjax.comparison.analysis import analyse, analyse_pairs, common, rests_on_draws
from sigjax.comparison.notes import notes_of
from sigjax.comparison.options import (
    BootstrapOptions,
    CompareOptions,
    PermutationOptions,
)
from sigjax.formats.reading import read_data
from sigjax.metrics import evaluation_from_arrays
from sigjax.multiple.decisions import LOOKS
from sigjax.records import (
    FIELDS,
    Comparison,
    Device,
    Distribution,
    EvaluationRecord,
    InputError,
    Measured,
    Settings,
    SystemScore,
    Test,
)
from sigjax.records.metric import AnyMetric, data_hash, in_suite
from sigjax.records.options import StrPath, check, takes, values
from sigjax.report import Report
from sigjax.run.backend import host_scope
from sigjax.run.context import Context, num_cores, progress_bar, with_progress
from sigjax.run.shards import (
    Key,
    Shard,
    ShardFile,
    Tally,
    check_count,
    difference,
    identity_of,
    merge_shards,
    tallies_of_report,
)
from sigjax.testing.deltas import binned, bootstrap_deltas, first_replicates, null_deltas
from sigjax.testing.problem import Problem, SumsProblem, check_finite, pairs_of
from sigjax.testing.tests import problem_of
from sigjax.version import __version__

_SHORT = {
    "tests": "test",
    "resamples": "n",
    "alternative": "alt",
    "variant": "null",
    "mid_p": "ties",
    "confidence_level": "level",
}
_ALWAYS = {"method", "resamples", "seed", "alternative", "correction", "interval", "confidence_level"}
"""Settings that a report's signature names even if they have their default values."""
_COUNTED_BY = ("sacrebleu", "trec_eval")
"""Programs that have their own names for metrics and options. These names are in notes whose `code` is the program."""
_TAKEN = {
    *("metric", *_COUNTED_BY, "tasks", "cap", "systems", "units", "instances", "runs", "strata", "missing", "sigjax"),
    *_SHORT.values(),
}
"""Words that a report's signature uses for other things, so that no setting may have such a name."""
_BEFORE_DATA = ("test", "method", "n", "cap", "seed", "alt", "null", "ties")
_AFTER_DATA = ("baseline", "correction", "family", "leaderboard", "interval", "level", "design")


def signature_of(
    evaluations: Sequence[EvaluationRecord],
    settings: Settings,
    num_units: int,
    *,
    draws: bool = True,
    of_suite: bool = False,
) -> str:
    """The signature: a line with everything that is needed to reproduce the numbers, in the style of sacrebleu.

    The line has resamples and seed only if `draws` is true: some number depends on random draws. `of_suite` is true if
    the evaluations are tasks of a suite.
    """
    first, chosen, size = evaluations[0], _written(settings), evaluations[0].size
    chosen |= {} if draws else dict.fromkeys(("n", "cap", "seed"))
    tasks = sum(each.weights is None for each in evaluations) if of_suite else None
    named = evaluations if tasks is None else [each for each in evaluations if each.weights is not None]
    words = {
        "metric": "+".join(each.metric.name for each in named) or None,
        **{program: _words_of(program, evaluations) for program in _COUNTED_BY},
        "tasks": tasks,
        **{name: chosen.pop(name) for name in _BEFORE_DATA},
        "systems": len(first.systems),
        "units": f"{num_units} {first.unit if first.clusters is None else 'cluster'}s",
        "instances": size.instances if size.runs and first.clusters else None,
        "runs": str(size) or None,
        "strata": None if first.strata is None else len(set(first.strata)),
        "missing": "pairwise" if any(each.present is not None for each in evaluations) else None,
        **{name: chosen.pop(name) for name in _AFTER_DATA},
        **chosen,
        "sigjax": __version__,
    }
    return "|".join(f"{name}:{value}" for name, value in words.items() if value is not None)


def _words_of(program: str, evaluations: Sequence[EvaluationRecord]) -> str | None:
    """A program's names for its metrics, with its options: `BLEU,nrefs:1,...;chrF2,nrefs:1,...`.

    None if the program has no names for these metrics.
    """
    notes = (note for each in evaluations for note in each.notes if getattr(note, "code", "") == program)
    texts = dict.fromkeys(getattr(note, "text", "").removeprefix("trec_eval -m ").replace("|", ",") for note in notes)
    return ";".join(texts) or None


def _written(settings: Settings) -> dict[str, Any]:
    """A dict from each setting's name in signatures to its value; None if the signature does not contain the setting.

    Signatures do not contain most settings that have their default values.
    """
    values = {each.name: (getattr(settings, each.name), each.default) for each in fields(settings)}
    if taken := sorted(_TAKEN & set(values)):
        raise ValueError(f"a setting cannot be called {taken[0]!r}, which means something else in signatures")
    written = {
        _SHORT.get(name, name): None if value == default and name not in _ALWAYS else value
        for name, (value, default) in values.items()
    }
    return written | {
        "test": "+".join(settings.tests),
        "cap": LOOKS[-1] if settings.resamples == "auto" else None,
        "null": settings.variant if "bootstrap" in settings.tests else None,
        "ties": "mid" if settings.mid_p else "ge",
        "leaderboard": "ranks" if settings.leaderboard else None,
    }


def distributions_of(
    evaluations: Sequence[EvaluationRecord], settings: Settings
) -> Callable[[str, str, str, Test], Distribution | None]:
    """Return a function (metric, system a, system b, test) that computes the distribution of delta, as a histogram.

    The function returns None for the bootstrap of one unit, of responses or of trained models, and for swaps of a
    studentized delta. It raises InputError if the metric is NaN or infinite on a resample. Bootstrap scores of all
    systems are drawn once per metric, and kept only for the metric that was requested last.
    """
    by_metric = {evaluation.metric.name: evaluation for evaluation in evaluations}

    @lru_cache(1)
    def problem_by(metric: str) -> Problem:
        return problem_of(by_metric[metric], replace(settings, resamples=settings.fixed_resamples))

    @lru_cache(1)
    def replicates_by(metric: str) -> np.ndarray:
        return first_replicates(problem_by(metric))

    def distribution(metric: str, a: str, b: str, test: Test) -> Distribution | None:
        evaluation = by_metric[metric]
        if evaluation.present is not None:
            pair = common(evaluation, a, b)
            return distributions_of([pair], replace(settings, baseline=None))(metric, a, b, test)
        systems = evaluation.systems.index(a), evaluation.systems.index(b)
        pair = problem_by(metric).of_pair(systems)
        no_sample = len(pair.units.strata) == 1 or evaluation.unit == "response" or pair.draws is None
        studentizes = isinstance(pair, SumsProblem) and pair.studentizes
        if test == "bootstrap" and no_sample or test == "permutation" and studentizes:
            return None
        with checks.named_errors([evaluation], settings):
            if test == "permutation":
                known = null_deltas(pair)
            else:
                known = bootstrap_deltas(pair, lambda: replicates_by(metric)[list(systems)])
            check_finite(known.deltas[None], [systems])
        bins = (tuple(column.tolist()) for column in binned(pair, known, test))
        return Distribution(a, b, metric, test, pair.hypotheses.delta((0, 1)), *bins, resamples=known.resamples)

    return distribution


@takes(CompareOptions, several="; for two arrays: sigjax.permutation_test(a, b)")
@with_progress
def compare(data: Any, options: CompareOptions) -> Report:
    """Test which systems differ: all pairs, or each system against a baseline.

    Args:
        data: an `Evaluation`, or several evaluations of the same systems and instances, one per metric. Other data are
            first read by `sigjax.read`: the path of a table, paths, a data frame, or a dict with one array per system.
            For several tasks, give a dict with an `Evaluation` (or several) per task, or the path of a folder of logs.
            The report then begins with a suite score, the mean of the task means, and has a section for each task.
        options: the fields of `CompareOptions`, as keyword arguments.

    Returns:
        A `Report`. Iterate over its `Comparison` records, print it, or use its `to_...` methods.

    Raises:
        InputError: an option or the data cannot be used; the message says which and what to do.

    Example:
        >>> scores = {"A": [1, 1, 1, 1, 1, 1, 0, 1], "B": [0, 1, 0, 0, 0, 0, 0, 0]}
        >>> report = compare(scores, read={"metric": "accuracy"})
        >>> [(c.a, c.b, c.delta, round(c.p_value, 6), c.method) for c in report]
        [('A', 'B', 0.75, 0.03125, 'exact')]
    """
    check(options)
    evaluations = read_data(data, options.read, tasks=True, progress=options.progress)
    settings = settle(Settings(**values(options, Settings)), evaluations, options)
    return _report(evaluations, settings, options, _shard_file(evaluations, settings, options))


def _report(
    evaluations: Sequence[EvaluationRecord], settings: Settings, options: CompareOptions, file: ShardFile | None
) -> Report:
    """Make the report. Resamples whose results are not in `file` are drawn."""
    context = Context(options.device, options.progress, file)
    first = evaluations[0]
    of_suite, hashed = in_suite(first.metric.name, first.title), data_hash(evaluations)
    with host_scope():
        pairs, systems = analyse(evaluations, settings, context, of_suite=of_suite)
        units, draws = [each.num_units for each in evaluations], rests_on_draws(pairs, systems, settings)
        return Report(
            systems=tuple(systems.records(SystemScore)),
            settings=settings,
            num_units=units[0],
            lower_is_better=tuple(each.metric.name for each in evaluations if not each.metric.higher_is_better),
            notes=notes_of(evaluations, pairs, systems, settings, of_suite=of_suite),
            signature=signature_of(evaluations, settings, units[0], draws=draws, of_suite=of_suite),
            data=hashed,
            measured=tuple(
                Measured(each.metric.name, each.title, each.size.instances, of_metric, each.size.runs)
                for each, of_metric in zip(evaluations, units, strict=True)
                if each.title
            ),
            again=lambda **changes: compare(evaluations, **values(settings, **changes)),
            compute_distribution=distributions_of(evaluations, settings),
            evaluations=tuple(evaluations),
            comparisons=pairs.only(FIELDS),
            num_instances=evaluations[0].size.instances,
            runs=evaluations[0].size.runs,
        )


def settle(settings: Settings, evaluations: Sequence[EvaluationRecord], options: CompareOptions) -> Settings:
    """The final settings for these evaluations: checked together, with the defaults that depend on the data."""
    if settings.design == "models" and settings.interval == "auto":
        settings = replace(settings, interval="two-way")  # the default of this design
    checks.check_together(settings)
    checks.check_evaluations(evaluations, settings)
    checks.check_complete(evaluations, settings, extends=options.extend is not None)
    if settings.baseline is not None:
        settings = replace(settings, baseline=checks.baseline_of(evaluations[0].systems, settings))
    if evaluations[0].unit == "response":
        settings = replace(settings, interval="none")
    checks.check_workload(evaluations, settings, warns=options.progress)
    return settings


def _shard_file(
    evaluations: Sequence[EvaluationRecord], settings: Settings, options: CompareOptions
) -> ShardFile | None:
    """The results of resamples with which a run starts; None if it starts without results and keeps none.

    They come from a checkpoint, from an earlier report that is extended, or from shards that an executor makes.
    """
    if options.checkpoint is None and options.extend is None and options.executor is None:
        return None
    if options.executor is None:
        return _begun(evaluations, settings, options, options.checkpoint)
    parts = _by_executor(evaluations, settings, options)
    return ShardFile(merge_shards([(f"shard {each.index}", each) for each in parts]), keeps=True)


def _begun(
    evaluations: Sequence[EvaluationRecord],
    settings: Settings,
    options: CompareOptions,
    path: StrPath | None,
    **of: Any,
) -> ShardFile:
    """A shard (a part of the resamples, by default all) that is kept in the file `path`, if a path is given.

    It starts with the results of the report that is extended, if there is one. `of` gives the shard's index, count and
    origin, see `Shard`.
    """
    shard, earlier = Shard(identity_of(evaluations, settings), **of), dict[Key, Tally]()
    if options.extend is not None:
        names = evaluations[0].systems
        pairs = [(names[a], names[b]) for a, b in pairs_of(evaluations[0], settings)]
        earlier = tallies_of_report(options.extend, shard.identity, pairs)
    check_count(settings, shard.count)
    return ShardFile(shard, path, "shard" if of else "checkpoint", earlier=earlier)


def _by_executor(evaluations: Sequence[EvaluationRecord], settings: Settings, options: CompareOptions) -> list[Shard]:
    """Let the executor of `options` make all shards of a run, and return the shards."""
    if not hasattr(options.executor, "submit"):
        raise InputError(f"executor must have submit, as concurrent.futures.Executor has it, got {options.executor!r}")
    if options.checkpoint is not None:
        raise InputError("checkpoint is for a run in one process; leave it out, or the executor")
    count = options.shards or min(num_cores(), settings.fixed_resamples)
    earlier = _begun(evaluations, settings, options, None, count=count).earlier
    submit = partial(options.executor.submit, make_shard, evaluations, settings)
    futures = [submit(index, count, options.device, earlier) for index in range(1, count + 1)]
    parts: list[Shard] = []
    try:
        with progress_bar("shards", count, visible=options.progress) as advance:
            for future in futures:
                parts.append(future.result())
                advance(len(parts))
    except BaseException:
        for future in futures[len(parts) :]:
            future.cancel()
        raise
    return parts


def make_shard(
    evaluations: Sequence[EvaluationRecord],
    settings: Settings,
    index: int,
    count: int,
    device: Device = "auto",
    earlier: Mapping[Key, Tally] | None = None,
) -> Shard:
    """Make shard `index` of `count` (counted from 1); an executor runs this function.

    `settings` come from `settle`. `earlier` are the results of a report that is extended.
    """
    file = ShardFile(Shard(identity_of(evaluations, settings), index, count), earlier=earlier, keeps=True)
    return _made(evaluations, settings, device, file)


def write_shard(evaluations: Sequence[EvaluationRecord], options: CompareOptions, path: StrPath, **of: Any) -> None:
    """Make a shard in a file, or continue it; `of` gives its index, count and origin, see `Shard`."""
    check(options)
    settings = settle(Settings(**values(options, Settings)), evaluations, options)
    file = _begun(evaluations, settings, options, path, **of)
    _made(evaluations, settings, options.device, file, progress=options.progress)


def _made(
    evaluations: Sequence[EvaluationRecord],
    settings: Settings,
    device: Device,
    file: ShardFile,
    *,
    progress: bool = False,
) -> Shard:
    """Test all pairs on the resamples of a shard, keep the results in `file`, and return the shard.

    The p-values of the shard are discarded, because they come from only a part of the resamples.
    """
    first, context = evaluations[0], Context(device, progress, file)
    with host_scope():
        analyse_pairs(evaluations, settings, context, of_suite=in_suite(first.metric.name, first.title))
    return file.finish()


def merged_report(evaluations: Sequence[EvaluationRecord], options: CompareOptions, shard: Shard, name: str) -> Report:
    """The report from `shard`, which `merge_shards` made from all shards; `name` is its name in messages."""
    settings = settle(Settings(**values(options, Settings)), evaluations, options)
    if differs := difference(shard.identity, identity_of(evaluations, settings)):
        raise InputError(f"{name}: the shard is of another run: {differs}; give the data that shards were made of")
    return _report(evaluations, settings, options, ShardFile(shard, keeps=True))


@takes(PermutationOptions)
def permutation_test(a: Any, b: Any, options: PermutationOptions) -> Comparison:
    r"""Paired permutation test (approximate or exact randomization) of two systems.

    Under the null hypothesis, the two outputs of an instance may be swapped. p is the probability, over all swaps, of a
    delta at least as extreme as the observed delta, ties included. The test is equivalent to
    `scipy.stats.permutation_test(..., permutation_type="samples")` for a difference of scores. It is exact if few units
    or at most two statistics differ.

    Args:
        a: `[instance]` or `[instance, input]` numbers of the first system.
        b: numbers of the second system, for the same instances in the same order.
        options: the fields of `PermutationOptions`, as keyword arguments.

    Returns:
        The `Comparison` of systems "a" and "b", without intervals and standard errors.

    Raises:
        InputError: see `compare`.

    Reference: Yeh (2000), "More accurate tests for the statistical significance of result differences"; Zmigrod et al.
    (2022), "Exact paired-permutation testing for structured test statistics".

    Example:
        >>> permutation_test([3, 2, 4, 5], [1, 1, 1, 1], alternative="greater").p_value
        0.0625
    """
    return _compared_pair(a, b, interval="none", **values(options))


@takes(BootstrapOptions)
def bootstrap_test(a: Any, b: Any, options: BootstrapOptions) -> Comparison:
    r"""Paired bootstrap test of two systems, with the standard error and an interval of delta.

    Instances are drawn with replacement, the same instances for both systems. The null distribution is the distribution
    of $\delta^* - \delta$, where $\delta$ is the observed delta and $\delta^*$ the delta of a resample. p is the
    probability of:

    - two-sided: $|\delta^* - \delta| \ge |\delta|$
    - greater: $\delta^* - \delta \ge \delta$
    - less: $\delta^* - \delta \le \delta$

    Args:
        a: `[instance]` or `[instance, input]` numbers of the first system.
        b: numbers of the second system, for the same instances in the same order.
        options: the fields of `BootstrapOptions`, as keyword arguments.

    Returns:
        The `Comparison` of systems "a" and "b".

    Raises:
        InputError: see `compare`; there is only one instance.

    Reference: Berg-Kirkpatrick et al. (2012), "An empirical investigation of statistical significance in NLP".

    Example:
        >>> result = bootstrap_test([3, 2, 4, 5], [1, 1, 1, 1])
        >>> result.delta, result.interval
        (2.5, Interval(low=1.5, high=3.5))
    """
    return _compared_pair(a, b, test="bootstrap", **values(options))


def _compared_pair(a: Any, b: Any, *, metric: AnyMetric, **given: Any) -> Comparison:
    evaluation = evaluation_from_arrays({"a": a, "b": b}, metric=metric)
    options = CompareOptions(**given)
    check(options)
    settings = settle(Settings(**values(options, Settings)), [evaluation], options)
    with host_scope():
        _, (pairs,) = analyse_pairs([evaluation], settings, Context(options.device, options.progress))
    return pairs[settings.tests[0]][0]
