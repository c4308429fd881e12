"""What a prompt and a notebook show, and how a report is asked for a pair."""

import dataclasses
import random

import numpy as np
import pytest
from reports import make_report
from scipy import stats

import sigjax
from sigjax import Evaluation, InputError
from sigjax.records import Comparison, Interval

CHANCE = random.Random(8)
SCORES = {name: [CHANCE.randint(0, 1) for _ in range(40)] for name in ("A", "B", "C")}
EVALUATION = Evaluation.from_arrays(SCORES, metric="accuracy")
REPORT = sigjax.compare(EVALUATION, device="numpy")
BOTH = sigjax.compare(
    [EVALUATION, Evaluation.from_arrays(SCORES)], test=("permutation", "bootstrap"), resamples=200, device="numpy"
)


def results():
    """One of every result, of large data where that is quick."""
    two = Evaluation.from_arrays({name: SCORES[name] for name in "AB"}, metric="accuracy")
    large = make_report(143)
    yield from (large, large.comparisons, large[0], large.systems[0], sigjax.compare(EVALUATION, leaderboard=True))
    yield Evaluation.from_arrays({f"system {i}": np.arange(20_000) % 7 for i in range(143)}, clusters=[0, 1] * 10_000)
    yield sigjax.classical_tests(two)
    yield sigjax.association_test(SCORES["A"], SCORES["B"])
    yield sigjax.equivalence(two, margin=0.1)[0]
    yield sigjax.one_sample(two, against=0.5)[0]
    yield sigjax.unpaired(SCORES)[0]
    yield (audit := sigjax.audit(two, repetitions=100))
    yield audit.tests[0]
    yield sigjax.power(two, instances=[40], repetitions=10)
    yield sigjax.studies.gains(Evaluation.from_arrays({f"s{i}": np.arange(30) % (i + 2) for i in range(8)}))


def test_a_prompt_shows_one_short_line_and_a_notebook_a_bounded_table():
    for result in results():
        line, shown = repr(result), result._repr_html_()
        assert type(result).__name__ in line
        assert line.count("\n") <= (3 if isinstance(result, sigjax.Report) else 0)
        assert len(line) < 600
        assert "<table" in shown or "<pre" in shown
        assert len(shown) < 1_500_000


def test_a_report_shows_the_answer_first_at_a_prompt():
    assert repr(REPORT).splitlines() == [
        str(REPORT).splitlines()[2],
        "Report of accuracy on 40 instances, 3 systems; print(report) has more",
    ]
    best = sigjax.compare({"A": [1] * 12, "B": [0] * 12, "C": [0] * 11 + [1]}, read={"metric": "accuracy"})
    assert repr(best).startswith("Best: A (1.0000). The other 2 are significantly worse.\nReport of accuracy on 12")
    *answers, last = repr(BOTH).splitlines()
    assert [answer.partition(":")[0] for answer in answers] == ["accuracy", "mean"]
    assert last == "Report of 2 metrics; print(report) has more"


def test_a_pair_is_turned_as_it_is_asked_for():
    ab, ba = REPORT["A", "B"], REPORT["B", "A"]
    assert ab == REPORT[0] == REPORT.comparisons["A", "B"] == REPORT[:1][0]
    assert (ba.a, ba.b, ba.score_a, ba.score_b) == ("B", "A", ab.score_b, ab.score_a)
    assert (ba.delta, ba.interval) == (-ab.delta, Interval(-ab.interval.high, -ab.interval.low))
    own = sigjax.compare(
        Evaluation.from_arrays({name: SCORES[name] for name in "BA"}, metric="accuracy"), correction="none"
    )
    for name in ("delta", "p_value", "log10_p", "standard_error"):
        assert getattr(ba, name) == pytest.approx(getattr(own["B", "A"], name)), name
    assert REPORT["A", "B"].turned().turned() == ab


def test_a_one_sided_pair_is_not_turned():
    greater = sigjax.compare(EVALUATION, alternative="greater")
    assert greater["A", "B"].p_value == greater[0].p_value
    with pytest.raises(InputError, match=r"one-sided test \(greater\) is of 'A' minus 'B'"):
        greater["B", "A"]


def test_of_several_metrics_and_tests_one_is_named():
    one = BOTH["C", "A", "mean", "bootstrap"]
    assert (one.a, one.b, one.metric, one.test) == ("C", "A", "mean", "bootstrap")
    assert BOTH["C", "A", "bootstrap", "mean"] == one
    message = (
        r"'A' and 'B' have 4 comparisons: add one of 'accuracy', 'mean' and one of 'permutation', 'bootstrap', as in "
        r"report\['A', 'B', 'accuracy', 'permutation'\]"
    )
    with pytest.raises(InputError, match=message):
        BOTH["A", "B"]
    with pytest.raises(InputError, match="have 2 comparisons: add one of 'accuracy', 'mean', as in"):
        BOTH["A", "B", "bootstrap"]


@pytest.mark.parametrize(
    ("key", "message"),
    [
        (("A", "b"), "no system 'b'; did you mean 'A' or 'B' or 'C'"),
        (("A", "B", "acuracy"), "no metric or test 'acuracy'; did you mean 'accuracy'"),
        (("A", "A"), "'A' and 'A' are not compared in this report"),
        ("A", r'expected a number or two systems, as in report\[0\] or report\["A", "B"\], got \'A\''),
    ],
)
def test_names_that_are_not_there_are_refused(key, message):
    with pytest.raises(InputError, match=message):
        REPORT[key]
    with pytest.raises(IndexError):
        REPORT[3]


def test_results_have_scipys_names():
    a, b = ([1.0, 3.0, 2.0, 5.0], [1.5, 0.0, 1.0, 2.0])
    ours = sigjax.permutation_test(a, b)
    theirs = stats.permutation_test(
        (a, b), lambda x, y, axis: np.mean(x - y, axis=axis), permutation_type="samples", vectorized=True
    )
    assert (ours.statistic, ours.pvalue) == pytest.approx((theirs.statistic, theirs.pvalue))
    for each in (ours, sigjax.association_test(a, b), sigjax.classical_tests(a, b)["paired t"]):
        assert each.pvalue == each.p_value
        assert isinstance(each.statistic, float)


def test_the_names_of_scipy_are_no_fields():
    assert not {"statistic", "pvalue"} & {field.name for field in dataclasses.fields(Comparison)}


@pytest.mark.parametrize(
    ("names", "title"),
    [
        (["rmse", "r2"], "RMSE (lower is better) and R2 on 4 instances, 2 systems\n"),
        (["r2", "rmse"], "R2 and RMSE (lower is better) on 4 instances, 2 systems\n"),
        (["rmse", "mae"], "RMSE and MAE on 4 instances, 2 systems; lower is better\n"),
    ],
)
def test_the_title_of_several_metrics_says_which_are_better_when_lower(names, title):
    gold, own = [1.0, 2.0, 4.0, 7.0], {"A": [1.5, 2.0, 4.5, 6.0], "B": [2.0, 1.0, 5.5, 6.5]}
    made = [Evaluation.from_predictions(gold, own, metric=name) for name in names]
    assert title in str(sigjax.compare(made, resamples=99))


@pytest.mark.parametrize("wins", [900, 1100])
def test_a_comparison_is_shown_with_the_logarithm_of_p_below_1e_300(wins):
    """The p-value is 2^(1 - wins)."""
    (one,) = sigjax.compare(Evaluation.from_arrays({"A": [1] * wins, "B": [0] * wins}, metric="accuracy"))
    found = one.brief()
    if wins == 900:
        assert found["p_value"] == found["p_adjusted"] == pytest.approx(2.0 ** (1 - wins), rel=5e-10)
        assert "log10_p" not in found
    else:
        assert found["log10_p"] == found["log10_p_adjusted"] == pytest.approx((1 - wins) * np.log10(2), rel=1e-9)
        assert "p_value" not in found
