"""True discoveries and closed e-BH: by listing all sets, Hommel's p of statsmodels, levels, and reports."""

import itertools
import json
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests

import sigjax
from sigjax import Evaluation, InputError, Report, compare, true_discoveries
from sigjax.multiple.discoveries import closed_ebh, largest_accepted, least_true, wins

HUNDREDTHS = st.lists(st.integers(0, 100), min_size=1, max_size=9)


def closed(p_values, alpha):
    """The sets of numbers that Simes' test accepts, in rational numbers: their subsets are not rejected."""
    numbers, accepted = range(len(p_values)), [frozenset()]
    for size in range(1, len(p_values) + 1):
        for held in itertools.combinations(numbers, size):
            ordered = sorted(p_values[i] for i in held)
            if all(size * p >= rank * alpha for rank, p in enumerate(ordered, 1)):
                accepted.append(frozenset(held))
    return accepted


def listed_bound(p_values, chosen, alpha):
    """How many of the chosen are left beside the most that some accepted set has of them."""
    return len(chosen) - max(len(held & {*chosen}) for held in closed(p_values, alpha))


@settings(max_examples=150, deadline=None)
@given(HUNDREDTHS, st.data())
def test_the_bound_is_that_of_all_intersections(hundredths, data):
    chosen = data.draw(st.lists(st.sampled_from(range(len(hundredths))), unique=True))
    exact, alpha = [Fraction(each, 1000) for each in hundredths], Fraction(5, 100)
    found = true_discoveries([each / 1000 for each in hundredths], chosen=chosen)
    assert found == listed_bound(exact, chosen, alpha)


@pytest.mark.parametrize("size", [11, 12])
def test_the_bound_is_that_of_all_intersections_of_more_tests(size):
    rng = np.random.default_rng(size)
    p_values = np.where(rng.random(size) < 0.6, rng.random(size) / 20, rng.random(size))
    accepted = closed(p_values.tolist(), 0.05)
    assert largest_accepted(p_values, 0.05) == max(map(len, accepted))
    for _ in range(40):
        chosen = np.flatnonzero(rng.random(size) < 0.5)
        expected = len(chosen) - max(len(held & {*chosen.tolist()}) for held in accepted)
        assert true_discoveries(p_values, chosen=chosen) == expected
        assert true_discoveries(p_values, chosen=np.isin(np.arange(size), chosen)) == expected


def test_single_tests_are_those_of_hommel():
    rng = np.random.default_rng(3)
    for _ in range(50):
        p_values = np.where(rng.random(25) < 0.5, rng.random(25) / 50, rng.random(25))
        rejected = multipletests(p_values, 0.05, "hommel")[1] < 0.05
        assert [true_discoveries(p_values, chosen=[i]) for i in range(25)] == rejected.astype(int).tolist()
        assert true_discoveries(p_values) >= rejected.sum()


def test_the_bound_of_a_larger_set_is_larger_by_what_is_added_at_most():
    rng = np.random.default_rng(4)
    p_values = rng.beta(0.3, 1.0, 60)
    bounds = [true_discoveries(p_values, chosen=np.argsort(p_values)[:k]) for k in range(61)]
    assert np.isin(np.diff(bounds), (0, 1)).all()
    assert bounds[0] == 0


def sets_in_error(z, null):
    """How many sets of two-sided tests have a set with too large a bound: the true null hypotheses are one."""
    from scipy.special import ndtr

    return sum(true_discoveries(2.0 * ndtr(-np.abs(row)), chosen=np.flatnonzero(null)) > 0 for row in z)


@pytest.mark.parametrize("kind", ["independent", "correlated", "pairs of systems"])
def test_it_keeps_its_level(kind):
    rng, sets = np.random.default_rng(5), 2000
    if kind == "pairs of systems":
        a, b = np.array(list(itertools.combinations(range(8), 2))).T
        truth = np.array([0.0] * 4 + [5.0] * 4)
        x = rng.standard_normal((sets, 8)) + truth
        z, null = (x[:, a] - x[:, b]) / np.sqrt(2.0), truth[a] == truth[b]
    else:
        truth, rho = np.array([0.0] * 20 + [3.0] * 10), 0.5 * (kind == "correlated")
        shared = rng.standard_normal((sets, 1))
        z = np.sqrt(rho) * shared + np.sqrt(1.0 - rho) * rng.standard_normal((sets, 30)) + truth
        null = truth == 0.0
    assert sets_in_error(z, null) < 0.05 * sets + 4.0 * np.sqrt(0.0475 * sets)


def test_wins_of_many_pairs_of_equal_systems_are_rarely_false():
    """The bounds of all pairs are right together: each pair alone would be wrong in most of these sets."""
    rng, wrong, trials = np.random.default_rng(8), 0, 400
    first, second = np.triu_indices(10, 1)
    for _ in range(trials):
        scores = rng.normal(size=(10, 5))
        z = (scores[first] - scores[second]) / math.sqrt(2.0)
        found = wins(2.0 * stats.norm.sf(np.abs(z)), np.sign(z), 0.05)
        wrong += any(one.better_a or one.better_b for one in found)
    assert wrong <= 0.05 * trials + 3.5 * math.sqrt(0.0475 * trials)


def test_wins_are_one_sided_tests_at_half_the_error():
    rng = np.random.default_rng(6)
    for _ in range(40):
        p_values, leads = np.round(rng.beta(0.3, 1.0, 8), 3), rng.choice([-1, 0, 1], 8)
        p_values[leads == 0] = 1.0
        for side, better in zip(
            (1, -1), (found := wins(p_values[None], np.asarray(leads)[None], 0.05)[0])[1::2], strict=True
        ):
            one_sided = [Fraction(str(p)) / 2 if own == side else 1 - Fraction(str(p)) / 2
                         for p, own in zip(p_values, leads, strict=True)]  # fmt: skip
            assert better == listed_bound(one_sided, np.flatnonzero(leads == side).tolist(), Fraction(25, 1000))
        assert found[::2] == ((leads == 1).sum(), (leads == -1).sum())


@pytest.mark.parametrize(
    ("given", "what"),
    [
        (([],), "p_values must be numbers"),
        ((["a"],), "p_values must be numbers"),
        (([0.1, 1.5],), "got 1.5 at number 1"),
        (([0.1, float("nan")],), "got nan at number 1"),
        (([0.1, 0.2], [2]), "numbers of tests from 0 to 1"),
        (([0.1, 0.2], [0.5]), "numbers of tests from 0 to 1"),
        (([0.1, 0.2], [1, 1]), "once"),
    ],
)
def test_what_it_refuses(given, what):
    with pytest.raises(InputError, match=what):
        true_discoveries(*given[:1], **dict(zip(("chosen",), given[1:], strict=False)))


def board(systems=8, instances=60, seed=7):
    rng = np.random.default_rng(seed)
    skill = np.linspace(-0.6, 0.6, systems)[:, None]
    numbers = (rng.standard_normal((systems, instances)) + skill > 0).astype(int)
    return Evaluation.from_arrays({f"s{k}": row for k, row in enumerate(numbers)}, metric="accuracy")


@pytest.mark.parametrize("correction", ["holm", "bh", "none", "maxt"])
def test_a_report_counts_any_pairs(correction):
    how = {"method": "montecarlo", "resamples": 4000} if correction == "maxt" else {}
    report = compare(board(), correction=correction, interval="none", progress=False, device="numpy", **how)
    p_values = report.comparisons.column("p_value").values
    significant = report.comparisons.column("p_adjusted").values < 0.05
    some = [("s0", "s7"), ("s6", "s1"), ("s3", "s4")]
    rows = [report.comparisons.row(pair) for pair in some]
    if correction == "maxt":
        assert report.true_discoveries() == significant.sum()
        assert report.true_discoveries(some) == significant[rows].sum()
        assert not any("confidence (closed" in note for note in report.notes)
        return
    assert report.true_discoveries() == true_discoveries(p_values, chosen=significant)
    assert report.true_discoveries(some) == true_discoveries(p_values, chosen=rows)
    every = true_discoveries(p_values)
    (note,) = [note for note in report.notes if getattr(note, "code", "") == "discoveries"]
    expected = {"significant": significant.sum(), "real": report.true_discoveries(), "pairs": 28, "real_of_all": every}
    assert note.values == expected
    assert f"at least {every} of all 28 pairs differ" in note or every == expected["real"]
    if correction == "holm":
        assert expected["real"] == expected["significant"] < every
        assert f"all {significant.sum()} significant differences are real, and at least {every} of all" in note
    else:
        assert f"at least {expected['real']} of the {significant.sum()} significant differences are real" in note
    assert Report.from_json(report.to_json()) == report
    assert f"{note[0].upper()}{note[1:]}." in " ".join(str(report).split())  # also on the usual screen
    assert {"discoveries"} <= {fact["code"] for fact in json.loads(report.to_json())["facts"]}
    texts = (report.to_text(), report.to_markdown(), report.to_html())
    assert all("closed testing" in " ".join(text.split()) for text in texts)


@pytest.mark.slow
def test_a_report_of_several_metrics_counts_its_families():
    rng = np.random.default_rng(8)
    scores = {name: rng.normal(shift, 1.0, 40) for name, shift in zip("ABC", (0.0, 0.6, 1.2), strict=True)}
    data = [
        Evaluation.from_arrays(scores, metric="mean"),
        Evaluation.from_arrays({name: (row > 0).astype(int) for name, row in scores.items()}, metric="accuracy"),
    ]
    apart = compare(data, correction="bh", progress=False)
    with pytest.raises(InputError, match="name a metric"):
        apart.true_discoveries()
    with pytest.raises(InputError, match="no metric 'bleu'"):
        apart.true_discoveries(metric="bleu")
    with pytest.raises(InputError, match="needs p-values of the permutation test, not the bootstrap test"):
        apart.true_discoveries(metric="mean", test="bootstrap")
    with pytest.raises(InputError, match="comes twice"):
        apart.true_discoveries([("A", "B"), ("B", "A")], metric="mean")
    with pytest.raises(InputError, match="no system 'X'|'X'"):
        apart.true_discoveries([("A", "X")], metric="mean")
    means = [one.p_value for one in apart if one.metric == "mean"]
    assert apart.true_discoveries([("A", "C")], metric="mean") == true_discoveries(means, chosen=[1])
    together = compare(data, correction="bh", family="report", progress=False)
    p_values = [one.p_value for one in together]
    significant = [one.p_adjusted < 0.05 for one in together]
    assert together.true_discoveries() == true_discoveries(p_values, chosen=significant)
    assert together.true_discoveries([("A", "C", "mean")]) == true_discoveries(p_values, chosen=[1])


def test_tasks_of_a_suite(tmp_path):
    rng, files = np.random.default_rng(9), []
    for task in range(6):
        lines = ["id\tA\tB"]
        chance = (0.85, 0.5) if task < 4 else (0.5, 0.85)
        lines += [f"{i}\t{int(rng.random() < chance[0])}\t{int(rng.random() < chance[1])}" for i in range(60)]
        files.append(tmp_path / f"task{task}.tsv")
        files[-1].write_text("\n".join(lines) + "\n", encoding="utf-8")
    tasks = {file.stem: sigjax.read(file, metric="accuracy") for file in files}
    from sigjax.metrics.suites import suite_of

    report = compare(suite_of({name: [one] for name, one in tasks.items()}), progress=False)
    (note,) = [note for note in report.notes if getattr(note, "code", "") == "wins"]
    p_values = np.array([one.p_value for one in report if one.metric.startswith("task")])
    deltas = np.array([one.delta for one in report if one.metric.startswith("task")])
    (found,) = wins(p_values[None], np.sign(deltas)[None], 0.05)
    assert note.values == {"tasks": 6, **found._asdict()}
    assert f"A is better than B on at least {found.better_a} of the {found.ahead_a} tasks on which it is ahead" in note
    assert f"B is better than A on at least {found.better_b} of the {found.ahead_b} tasks on which it is ahead" in note


def closed_by_listing(e_values, alpha):
    """The largest set R for which every set A holds |A & R| <= alpha |R| e(A), in rational numbers: its size."""
    numbers = range(len(e_values))
    sets = [c for size in range(1, len(e_values) + 1) for c in itertools.combinations(numbers, size)]
    means = {held: sum(e_values[i] for i in held) / len(held) for held in sets}
    for rejected in reversed(sets):
        if all(len({*held} & {*rejected}) <= alpha * len(rejected) * means[held] for held in sets):
            return len(rejected)
    return 0


E_VALUES = st.lists(st.integers(0, 240), min_size=1, max_size=7)


@settings(max_examples=100, deadline=None)
@given(E_VALUES)
def test_closed_ebh_is_that_of_all_sets(numbers):
    alpha = Fraction(1, 8)
    with np.errstate(divide="ignore"):
        rejected = closed_ebh(np.log(np.array(numbers) / 4.0), float(alpha))
    assert rejected.sum() == closed_by_listing([Fraction(each, 4) for each in numbers], alpha)
    if rejected.any() and not rejected.all():
        assert np.array(numbers)[rejected].min() >= np.array(numbers)[~rejected].max()


@pytest.mark.slow
@pytest.mark.parametrize("size", [10, 12])
def test_closed_ebh_of_more_tests_is_that_of_all_sets(size):
    e_values = np.exp(np.random.default_rng(size).normal(2.0, 2.0, size))
    masks = (np.arange(1, 2**size)[:, None] >> np.arange(size)) & 1
    means, sizes = masks @ e_values / masks.sum(axis=1), masks.sum(axis=1)
    best = 0
    for rejected in masks:
        number = int(rejected.sum())
        if number > best and (masks @ rejected <= 0.05 * number * means * (1.0 + 1e-12)).all():
            best = number
    assert closed_ebh(np.log(e_values), 0.05).sum() == best
    assert sizes.max() == size


def test_closed_ebh_holds_what_ebh_finds():
    rng, more = np.random.default_rng(12), 0
    for _ in range(200):
        log_e = rng.normal(1.0, 3.0, 60)
        ordered = np.sort(log_e)[::-1]
        number = (np.flatnonzero(ordered >= np.log(60 / (0.05 * np.arange(1, 61)))) + 1).max(initial=0)
        closed_too = closed_ebh(log_e, 0.05)
        assert closed_too[np.argsort(-log_e)[:number]].all()
        more += closed_too.sum() - number
    assert more > 0
    assert closed_ebh(np.array([1e4, 2e4, -np.inf]), 0.05).tolist() == [True, True, False]


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 100), st.integers(1, 4)), min_size=1, max_size=5), st.data())
def test_tests_with_one_p_value_count_as_often_as_they_are(rows, data):
    """Boards that keep no pairs: each p-value with the number of its tests, against all sets of all tests."""
    thousandths, counts = (np.array(each) for each in zip(*rows, strict=True))
    picked = np.array(data.draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows))))
    while counts.sum() > 10:
        counts[counts.argmax()] -= 1
    each = np.repeat(thousandths, counts).tolist()
    chosen = np.flatnonzero(np.repeat(picked, counts)).tolist()
    exact, alpha = [Fraction(p, 1000) for p in each], Fraction(5, 100)
    assert largest_accepted(thousandths / 1000, 0.05, counts) == max(map(len, closed(exact, alpha)))
    assert least_true(thousandths / 1000, picked, 0.05, counts) == listed_bound(exact, chosen, alpha)
