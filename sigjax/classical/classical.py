"""Classical tests of two systems beside the permutation test and the bootstrap test."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sigjax.classical.applicable import all_tests
from sigjax.classical.tests import ONE_UNIT, ClassicalTest, LeftOut
from sigjax.comparison.compare import compare
from sigjax.comparison.options import CompareOptions
from sigjax.files.writing import text_or_file
from sigjax.metrics import evaluation_from_arrays
from sigjax.records import Alternative, Comparison, Device, Evaluation, InputError, Resamples, Test
from sigjax.records.brief import Brief, html_text
from sigjax.records.metric import AnyMetric
from sigjax.records.options import option, same, values
from sigjax.records.signatures import takes
from sigjax.report import Report
from sigjax.units.instances import units_of_instances

NO_SAMPLE = "responses are not a random sample of instances"


@dataclass(frozen=True, repr=False)
class ClassicalTests(Brief):
    """All tests of two systems by one metric. Iterating gives the classical tests.

    Attributes:
        a: name of the first system.
        b: name of the second.
        metric: name of the metric.
        score_a: score of a.
        score_b: score of b.
        delta: score_a - score_b.
        alternative: which deltas are extreme.
        num_units: units (instances or clusters) of the classical tests: those on which a system or the gold has
            anything.
        correlation: r12, the correlation (-1 to 1) of what each unit contributes to the two scores; for means, of their
            results. None if a system does not vary.
        factor: s_d-ind / s_d: by how much the standard deviation of delta grows if the systems are assumed to be
            independent. None if delta does not vary.
        tests: the classical tests that apply.
        left_out: the others, with the reason.
        comparisons: the permutation test and the bootstrap test.
        second: those that drew resamples, again with the next seed.
        notes: what a reader of the numbers should know.
        signature: one line that reproduces the comparisons.
    """

    a: str
    b: str
    metric: str
    score_a: float
    score_b: float
    delta: float
    alternative: Alternative
    num_units: int
    correlation: float | None
    factor: float | None
    tests: tuple[ClassicalTest, ...]
    left_out: tuple[LeftOut, ...]
    comparisons: tuple[Comparison, ...]
    second: tuple[Comparison, ...]
    notes: tuple[str, ...]
    signature: str

    def __iter__(self) -> Iterator[ClassicalTest]:
        """Go through the classical tests."""
        return iter(self.tests)

    def __getitem__(self, name: str) -> ClassicalTest:
        """The classical test of a name.

        Raises:
            KeyError: no test has this name, or it was left out.
        """
        return {test.name: test for test in self.tests}[name]

    def __str__(self) -> str:
        """Return the tests as a table for a terminal."""
        from sigjax.classical.text import to_text

        return to_text(self)

    def brief(self) -> dict[str, Any]:
        """The pair, and the p-value of each test."""
        names = ("a", "b", "metric", "delta", "num_units")
        p_values = {one.test: one.p_value for one in self.comparisons} | {test.name: test.p_value for test in self}
        return {name: getattr(self, name) for name in names} | {"p_values": p_values}

    def _repr_html_(self) -> str:
        """The same table for notebooks."""
        return html_text(str(self))

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """The tests as JSON: every number as it is.

        Args:
            path: the file to write, whose path is then returned instead of the text.

        Raises:
            InputError: the file cannot be written.
        """
        from sigjax.classical.text import to_json

        return text_or_file(to_json([self]), path)


@dataclass(frozen=True, kw_only=True)
class ClassicalOptions:
    """The options of `classical_tests`."""

    metric: AnyMetric | None = option(
        None, 'Metric of arrays: a name ("mean" when left out), a `Metric`, a `SampleMetric`, or a function of sums.'
    )
    alternative: Alternative = same(
        CompareOptions, "alternative", more="Of the first system, a. Chi-square tests are two-sided only."
    )
    method: Literal["auto", "exact", "montecarlo"] = same(
        CompareOptions, "method", doc="Of resampling tests: exact (no sampling), Monte Carlo, or auto."
    )
    resamples: Resamples = same(CompareOptions, "resamples")
    seed: int = same(CompareOptions, "seed", more="Tests that draw are run again with the next seed, as a check.")
    device: Device = same(CompareOptions, "device")
    progress: bool = same(CompareOptions, "progress", default=False)


@takes(ClassicalOptions)
def classical_tests(*systems: Any, options: ClassicalOptions) -> ClassicalTests:
    r"""Classical tests of two systems beside the permutation test and the bootstrap test.

    Paired t, Wald z, sign, Wilcoxon and McNemar tests take the differences $d_i$ of units on the one statistic by which
    the systems differ, as for means, accuracy and recall. Precision, F1 and BLEU have no such statistic: these tests
    are left out, with the reason. Two-sample t, binomial z and chi-square tests assume independent systems, to show
    what that costs: the factor $s_{d-ind} / s_d = \sqrt{s_1^2 + s_2^2} / s_d$. For identical systems every p is 1.
    Of `wer-sclite` there is MAPSSWE, too, on segments of its own: `sigjax.classical.mapsswe` says how these and whole
    utterances differ. Tests that draw resamples run again with `seed + 1`. For a paired t test over k folds, give k
    numbers per system, or give the folds as clusters, which are also scored one by one.

    Args:
        systems: an `Evaluation` of two systems; or two arrays, a and b, `[instance]` or `[instance, input]`, of the
            same instances in the same order.
        options: see `ClassicalOptions`.

    Raises:
        InputError: not two systems; an evaluation and also `metric`; and what `compare` refuses.

    Reference: Yeh (2000), "More accurate tests for the statistical significance of result differences".

    Example:
        >>> result = classical_tests([1, 1, 1, 1, 1, 1, 0, 1], [0, 1, 0, 0, 0, 0, 0, 0], metric="accuracy")
        >>> result["sign (exact)"].p_value, result.comparisons[0].p_value
        (0.03125, 0.03125)
        >>> round(result["two-sample t"].statistic * result.factor, 6) == round(result["paired t"].statistic, 6)
        True
    """
    evaluation = _two_systems(systems, options.metric)
    num_units = int(units_of_instances(evaluation)[0].max()) + 1

    def run(tests: Sequence[Test], **changes: Any) -> Report:
        return compare(evaluation, interval="none", **values(options, CompareOptions, test=tests, **changes))

    no_bootstrap = ONE_UNIT if num_units == 1 else NO_SAMPLE if evaluation.unit == "response" else None
    report = run(("permutation",) if no_bootstrap else ("permutation", "bootstrap"))
    drawn: list[Test] = [each.test for each in report if each.method == "montecarlo"]
    second = tuple(run(drawn, seed=(options.seed + 1) % 2**64)) if drawn else ()
    results, kept, related = all_tests(evaluation, options.alternative)
    if no_bootstrap:
        results.append(LeftOut("bootstrap", no_bootstrap))
    without_content = f"{num_units - kept:,} of {num_units:,} units have nothing to score"
    notes = (f"{without_content}: the classical tests leave them out",) if kept < num_units else ()
    one = report.comparisons[0]
    return ClassicalTests(
        *(one.a, one.b, one.metric, one.score_a, one.score_b, one.delta, options.alternative, kept, *related),
        tests=tuple(each for each in results if isinstance(each, ClassicalTest)),
        left_out=tuple(each for each in results if isinstance(each, LeftOut)),
        comparisons=tuple(report),
        second=second,
        notes=(*report.notes, *notes),
        signature=report.signature,
    )


def _two_systems(systems: Sequence[Any], metric: AnyMetric | None) -> Evaluation:
    if not any(isinstance(each, Evaluation) for each in systems):
        if len(systems) != 2:
            raise InputError(f"expected an Evaluation of two systems, or two arrays a and b; got {len(systems)} arrays")
        named = dict(zip("ab", systems, strict=True))
        return evaluation_from_arrays(named, metric="mean" if metric is None else metric)
    if len(systems) > 1 or metric is not None:
        raise InputError("an Evaluation has both systems and their metric; give nothing else beside it")
    evaluation: Evaluation = systems[0]
    names = evaluation.systems
    if len(names) != 2:
        some = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
        raise InputError(f"expected two systems, got {len(names)} ({some}); choose two (--systems A B)")
    return evaluation
