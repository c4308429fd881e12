"""Monitor: E against enumeration in rational numbers, decisions against a transcription of e-BH, and growing files."""

import copy
import json
import math
import pickle
import re
from contextlib import suppress
from fractions import Fraction
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest

import sigjax
from sigjax import InputError, Monitor
from sigjax.studies.monitor import _checksum, beta_mixture, log_e_values

UNCHECKED = ("schema", "checksum")
EFFECTS = 4.0 / 2.0 ** np.arange(6)


def pochhammer(x, n):
    return math.prod((x + i for i in range(n)), start=Fraction(1))


def rational_mixture(wins, losses):
    """2^m B(w + 1/2, l + 1/2) / B(1/2, 1/2), which is rational."""
    half = Fraction(1, 2)
    return (
        Fraction(2) ** (wins + losses)
        * pochhammer(half, wins)
        * pochhammer(half, losses)
        / math.factorial(wins + losses)
    )


def direct_e(differences, effects):
    """The definition, unit by unit, without logarithms."""
    sizes = [abs(d) for d in differences]
    gains, weights = [], []
    for sign, effect in product((1, -1), effects):
        gain = 1.0
        for i, d in enumerate(differences):
            some = [size for size in sizes[: i + 1] if size]
            scale = math.sqrt(sum(size**2 for size in some) / len(some)) if some else 1.0
            theta = sign * effect / scale
            gain *= math.exp(theta * d) / math.cosh(theta * d)
        gains.append(gain / math.sqrt(effect))
        weights.append(1 / math.sqrt(effect))
    return sum(gains) / sum(weights)


@pytest.mark.parametrize("m", range(11))
def test_the_mean_of_the_beta_mixture_over_all_signs_is_exactly_one(m):
    games = [(signs.count(1), signs.count(-1)) for signs in product((1, -1), repeat=m)]
    rational = [rational_mixture(*game) for game in games]
    assert sum(rational) == 2**m
    assert beta_mixture(*np.array(games).T) == pytest.approx([math.log(each) for each in rational], abs=1e-12)


SIZES = {
    "equal": [1.0] * 10,
    "ties": [0.0, 1.0, 0.0, 2.0, 3.0, 0.0, 1.0, 1.0],
    "real": [0.31, 4.2, 0.007, 1.9, 0.55, 2.5, 0.12, 0.9, 30.0, 0.3],
    "wide": [1e-150, 1e150, 1.0, 1e-9, 1e9, 7.0],
    "clusters": [3.0, 5.0, 2.0, 8.0, 1.0, 1.0, 13.0, 4.0, 6.0],
}


@pytest.mark.parametrize("name", [*SIZES, "answers"])
def test_the_mean_of_e_over_all_signs_is_one_after_each_unit(name):
    sizes = np.array(SIZES.get(name, [1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0]))
    signs = np.array(list(product((1.0, -1.0), repeat=len(sizes)))).T
    path, _ = log_e_values(sizes[:, None] * signs, EFFECTS, binary=name == "answers")
    assert np.exp(path).mean(axis=1) == pytest.approx(np.ones(len(sizes)), abs=1e-12)


@pytest.mark.parametrize("name", ["equal", "ties", "real", "clusters"])
def test_e_is_its_definition(name):
    chance = np.random.default_rng(5)
    for _ in range(10):
        differences = np.array(SIZES[name]) * chance.choice([1, -1], len(SIZES[name]))
        path, _ = log_e_values(differences[:, None], EFFECTS)
        wanted = [math.log(direct_e(differences[: n + 1].tolist(), EFFECTS)) for n in range(len(differences))]
        assert path[:, 0] == pytest.approx(wanted, abs=1e-10)


def test_of_answers_e_is_the_mean_of_both_mixtures():
    differences = np.array([1.0, 1, -1, 1, 1, 1, -1, 1, 1])
    wins = (differences > 0).cumsum().tolist()
    mixtures = [float(rational_mixture(w, n - w)) for n, w in enumerate(wins, 1)]
    halves = [(direct_e(differences[:n].tolist(), EFFECTS) + mixture) / 2 for n, mixture in enumerate(mixtures, 1)]
    log_e = log_e_values(differences[:, None], EFFECTS, binary=True)[0][:, 0]
    assert np.exp(log_e) == pytest.approx(halves, rel=1e-12)


def test_long_streams_do_not_overflow_and_any_unit_of_measurement_gives_the_same():
    differences = np.random.default_rng(1).normal(0.5, 1.0, (50_000, 1))
    path, _ = log_e_values(differences, EFFECTS)
    assert np.isfinite(path).all()
    assert path[-1, 0] > 4_000
    assert log_e_values(1e6 * differences, EFFECTS)[0] == pytest.approx(path, rel=1e-9)
    assert beta_mixture(50_000, 0) == pytest.approx(50_000 * math.log(2) - 0.5 * math.log(math.pi * 50_000), abs=0.01)


def board(systems=6, instances=120, seed=0, *, binary=True):
    chance = np.random.default_rng(seed)
    rates = np.linspace(0.75, 0.35, systems)[:, None]
    answers = chance.random((systems, instances)) < rates
    return answers.astype(float) if binary else answers + chance.normal(0, 0.3, answers.shape)


def ebh(e_values, alpha):
    """Wang and Ramdas (2022), definition 1: reject the k largest, k the largest with k e_[k] / K at least 1 / alpha."""
    order = sorted(range(len(e_values)), key=lambda i: -e_values[i])
    ks = [k for k in range(1, len(order) + 1) if k * e_values[order[k - 1]] / len(order) >= 1 / alpha]
    return set(order[: max(ks, default=0)])


@pytest.mark.parametrize("binary", [True, False])
def test_settled_pairs_are_those_of_ebh_on_e_values_that_stop_when_they_are_settled(binary):
    scores = board(binary=binary)
    pairs = list(combinations(range(len(scores)), 2))
    differences = np.stack([scores[a] - scores[b] for a, b in pairs], axis=1)
    path = np.exp(log_e_values(differences, 4.0 / math.sqrt(200) * 2.0 ** np.arange(5), binary=binary)[0])
    settled = {}
    for t in range(len(path)):
        now = [path[settled.get(i, t), i] for i in range(len(pairs))]
        for i in ebh(now, 0.05):
            settled.setdefault(i, t)
    assert 4 < len(settled) < len(pairs)
    monitor = Monitor("ABCDEF", largest=200, binary=binary)
    assert len(monitor._effects) == 5
    assert len(monitor.update(scores)) == len(settled)
    times = [each.settled_at for each in monitor.pairs]
    assert times == [settled[i] + 1 if i in settled else None for i in range(len(pairs))]
    ends = [path[settled.get(i, -1), i] for i in range(len(pairs))]
    assert [10**each.log10_e for each in monitor.pairs] == pytest.approx(ends, rel=1e-9)
    assert {i for i, each in enumerate(monitor.pairs) if each.p_adjusted <= 0.05} == set(settled)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("correction", ["none", "holm"])
def test_error_rates_of_any_false_finding_take_the_largest_e_so_far(correction, seed):
    scores = board(seed=seed)
    pairs = list(combinations(range(len(scores)), 2))
    differences = np.stack([scores[a] - scores[b] for a, b in pairs], axis=1)
    path = log_e_values(differences, 4.0 / math.sqrt(10_000) * 2.0 ** np.arange(8), binary=True)[0]
    peaks = np.exp(np.maximum.accumulate(path, axis=0))
    times = {}
    for t, peak in enumerate(peaks):
        order = np.argsort(-peak)
        for rank, i in enumerate(order):
            limit = 1 if correction == "none" else len(pairs) - rank
            if peak[i] < limit / 0.05:
                break
            times.setdefault(int(i), t + 1)
    monitor = Monitor("ABCDEF", correction=correction, binary=True)
    monitor.update(scores)
    assert {i: each.settled_at for i, each in enumerate(monitor.pairs) if each.better} == times
    for each, peak in zip(monitor.pairs, peaks.max(axis=0), strict=True):
        if each.better is None:
            assert each.p_value == pytest.approx(min(1.0, 1.0 / peak), rel=1e-9)
        else:
            assert each.p_value <= 0.05


@pytest.mark.parametrize("made", [{"binary": True}, {"bounds": (-3, 4), "correction": "holm"}, {"baseline": "C"}])
def test_fed_one_by_one_saved_and_loaded_is_fed_at_once(made, tmp_path):
    scores = board(seed=3, binary="binary" in made)
    at_once = Monitor("ABCDEF", **made)
    found = at_once.update(scores, ids=range(120))
    one_by_one, settled = Monitor("ABCDEF", **made), []
    for i in range(120):
        settled += one_by_one.update(dict(zip("ABCDEF", scores[:, i].tolist(), strict=True)), ids=[i])
        if i % 40 == 7:
            path = one_by_one.to_json(tmp_path / "state.json")
            one_by_one = Monitor.from_json(path)
    assert one_by_one.to_json() == at_once.to_json()
    assert settled == found
    assert Monitor.from_json(at_once.to_json()).pairs == at_once.pairs
    if "baseline" in made:
        assert [(each.a, each.b) for each in at_once.pairs] == [(name, "C") for name in "ABDEF"]


def test_copies_go_on_alone_and_the_text_in_a_notebook_is_short():
    monitor, scores = Monitor("ABC", binary=True), board(3, 30)
    monitor.update(scores[:, :20])
    before = monitor.to_json()
    for copied in (copy.deepcopy(monitor), pickle.loads(pickle.dumps(monitor))):
        assert copied.to_json() == before
        copied.update(scores[:, 20:])
        assert copied.to_json() != before == monitor.to_json()
        assert Monitor.from_json(copied.to_json()).pairs == copied.pairs
    assert repr(monitor).startswith("Monitor(systems=('A', 'B', 'C'), needed=")
    frame = monitor.to_dataframe()
    assert frame["delta"].tolist() == [each.delta for each in monitor.pairs]


def test_systems_whose_pairs_are_settled_may_stop():
    scores = {"A": [1] * 60, "B": [1, 0] * 30, "C": [0, 1] * 30}
    monitor = Monitor("ABC", binary=True, largest=100)
    monitor.update(scores)
    assert monitor.needed == ("B", "C")
    assert not monitor.stop
    monitor.update({"B": [1] * 30, "C": [1] * 30})
    with pytest.raises(InputError, match="no scores of 'C'"):
        monitor.update({"B": 1})
    with pytest.raises(InputError, match="no scores of 'B'"):
        monitor.update({"A": 1, "C": 1})
    assert [each.instances for each in monitor.pairs] == [60, 60, 90]
    monitor.update({"B": [1] * 10, "C": [1] * 10})
    assert monitor.stop
    assert monitor.exit_code == 0
    assert "stop after 100 instances of at most 100: 2 of 3 pairs are settled\n" in str(monitor)


def test_clusters_are_units():
    scores = board(3, 90, binary=False)
    clusters = np.repeat(np.arange(30), 3)
    monitor = Monitor("ABC", bounds=(-9, 9))
    monitor.update(scores, clusters=clusters)
    sums = Monitor("ABC")
    sums.update(scores.reshape(3, 30, 3).sum(axis=2))
    for ours, theirs in zip(monitor.pairs, sums.pairs, strict=True):
        assert ours.log10_e == pytest.approx(theirs.log10_e, abs=1e-9)
        assert (ours.instances, ours.delta) == (90, pytest.approx(theirs.delta / 3))
        assert ours.interval is None
    with pytest.raises(InputError, match="'3' of clusters was there before"):
        monitor.update(scores[:, :2], clusters=["new", 3])


def test_the_confidence_sequence_is_that_of_the_paper():
    scores = board(2, 200, binary=True)
    monitor = Monitor("AB", binary=True, alpha=0.1)
    monitor.update(scores)
    x = (scores[0] - scores[1] + 1) / 2
    means, variances = [0.5], [0.25]
    for t in range(1, 201):
        means.append((0.5 + x[:t].sum()) / (t + 1))
        variances.append((0.25 + sum((x[i] - means[i + 1]) ** 2 for i in range(t))) / (t + 1))
    bets = [min(math.sqrt(2 * math.log(20) / (variances[t - 1] * t * math.log(1 + t))), 0.5) for t in range(1, 201)]
    psi = [(-math.log(1 - bet) - bet) / 4 for bet in bets]
    penalty = sum(4 * (x[t] - means[t]) ** 2 * psi[t] for t in range(200))
    radius = (math.log(2 / 0.1) + penalty) / sum(bets)
    centre = sum(bet * each for bet, each in zip(bets, x, strict=True)) / sum(bets)
    wanted = [2 * (centre - radius) - 1, 2 * (centre + radius) - 1]
    (pair,) = monitor.pairs
    assert pair.interval == pytest.approx(wanted, abs=1e-12)
    tens = Monitor("AB", bounds=(-3, 7), alpha=0.1)
    tens.update(10 * scores - 3)
    assert tens.pairs[0].interval == pytest.approx([10 * end for end in wanted], abs=1e-11)
    assert Monitor("AB").pairs[0].interval is None
    joint = Monitor("ABC", binary=True, alpha=0.3, correction="holm")
    joint.update([*scores, scores[0]])
    assert joint.pairs[0].interval == pytest.approx(wanted, abs=1e-12)


def test_scores_that_differ_by_rounding_alone_are_equal():
    monitor = Monitor("ABC")
    monitor.update({"A": [0.1 + 0.2] * 50, "B": [0.3] * 50, "C": [0.3 - 1e-12] * 50})
    settled = [each.better for each in monitor.pairs]
    assert (0.1 + 0.2) - 0.3 > 0
    assert settled == [None, "A", "B"]
    assert monitor.pairs[0].log10_e == pytest.approx(0.0, abs=1e-12)


def test_stopping_whenever_one_likes_keeps_the_level():
    chance = np.random.default_rng(8)
    sizes = {
        "answers": np.where(chance.random((300, 4000)) < 0.3, 1.0, 0.0),
        "heavy": np.abs(chance.standard_cauchy((300, 4000))),
    }
    for name, size in sizes.items():
        signs = chance.choice([-1.0, 1.0], size.shape)
        path, _ = log_e_values(size * signs, EFFECTS, binary=name == "answers")
        stops = (path.max(axis=0) >= math.log(20)).mean()
        assert 0.005 < stops < 0.05 + 3 * math.sqrt(0.05 * 0.95 / 4000), name


@pytest.mark.parametrize(
    ("scores", "labels", "words"),
    [
        ({"A": [1, math.nan], "B": [1, 1]}, {}, "'A' has the score nan on instance 2 of these; expected 0 or 1"),
        ({"A": [1, 0.5], "B": [1, 1]}, {}, "expected 0 or 1"),
        ({"A": 1, "B": 1, "Z": 1}, {}, "'Z' is not a system; expected 'A', 'B'"),
        ({"A": 1}, {}, "no scores of 'B'"),
        ({"A": [1, 1], "B": [1]}, {}, "one score per instance"),
        ({"A": "right", "B": 1}, {}, "one score per instance, a number"),
        ({"A": [1, [1, 0]], "B": [1, 1]}, {}, "one score per instance, a number"),
        (np.ones((3, 2)), {}, r"\[2 systems, instance\]"),
        ({"A": [1, 1], "B": [1, 0]}, {"ids": ["x", "x"]}, "'x' of ids was there before"),
        ({"A": [1, 1], "B": [1, 0]}, {"ids": ["x", "old"]}, "'old' of ids was there before"),
        ({"A": [1, 1], "B": [1, 0]}, {"ids": ["x"]}, "ids must be one per instance, 2, got 1"),
        ({"A": [1, 1], "B": [1, 0]}, {"clusters": ["x", "x"]}, "leave binary out"),
    ],
)
def test_what_cannot_be_taken_is_refused_and_nothing_is_taken(scores, labels, words):
    monitor = Monitor("AB", binary=True)
    monitor.update({"A": 1, "B": 0}, ids=["old"])
    before = monitor.to_json()
    with pytest.raises(InputError, match=words):
        monitor.update(scores, **labels)
    assert monitor.to_json() == before


@pytest.mark.parametrize(
    ("made", "words"),
    [
        ({"systems": ["A"]}, "two systems or more"),
        ({"systems": ["A", "A"]}, "different names"),
        ({"alpha": 0}, "alpha must be"),
        ({"correction": "bh"}, "correction"),
        ({"bounds": (1, 0)}, "bounds must be two numbers"),
        ({"bounds": (0, math.inf)}, "bounds must be"),
        ({"largest": 0}, "largest"),
        ({"baseline": "Z"}, "no system 'Z'"),
    ],
)
def test_monitors_that_cannot_be_made_are_refused(made, words):
    with pytest.raises(InputError, match=words):
        Monitor(**{"systems": ["A", "B"], **made})


def test_files_that_are_no_monitor_are_refused(tmp_path):
    for text in ("{}", '{"schema": "sigjax-monitor/1"}', "no JSON", "{"):
        path = tmp_path / "state.json"
        path.write_text(text)
        with pytest.raises(InputError, match="is no monitor"):
            Monitor.from_json(path)


def test_damaged_states_are_refused():
    monitor = Monitor("ABC")
    monitor.update(board(3, 30))
    held = json.loads(monitor.to_json())
    state, columns = held["state"], held["state"]["columns"]
    states = [state | {"columns": some} for some in (0, columns[:1], [[math.nan, *row[1:]] for row in columns])]
    ids = [state | {"ids": each} for each in ({"q1": 5}, {"q1": "z:1"}, ["q1"], "q1", None)]
    more = [state | {"clusters": [1]}, state | {"columns": columns[:-1]}]
    others = ({**held, "state": each} for each in (*states, *ids, *more))
    for damaged in [held | {"schema": "sigjax-report/1"}, *others]:
        damaged["checksum"] = _checksum({key: value for key, value in damaged.items() if key not in UNCHECKED})
        with pytest.raises(InputError, match="this JSON: is no monitor"):
            Monitor.from_json(json.dumps(damaged))
    assert Monitor.from_json(json.dumps(held)).to_json() == monitor.to_json()


def test_no_byte_of_a_state_can_change(tmp_path):
    """Each byte, each to another: refused in one way, or the same monitor (such as 1.0 for 1.00, or a blank)."""
    monitor, state, chance = Monitor(["A", "b é"], baseline="A"), tmp_path / "state.json", np.random.default_rng(4)
    monitor.update(board(2, 3, binary=False), ids=["q1", "q2", "x"])
    whole, refused = Path(monitor.to_json(state)).read_bytes(), 0
    for at in range(len(whole)):
        byte = whole[at : at + 1]
        others = [b"0123456789"[chance.integers(10)], chance.integers(256)]
        for other in others if byte.isdigit() else others[1:]:
            state.write_bytes(whole[:at] + bytes([other]) + whole[at + 1 :])
            with suppress(InputError):
                assert Monitor.from_json(state).to_json() == monitor.to_json()
                continue
            refused += 1
    assert refused > 0.95 * len(whole) - whole.count(b" ")


def test_parts_of_a_state_that_are_left_out_doubled_or_nested_are_refused(tmp_path):
    monitor, state = Monitor("AB", binary=True), tmp_path / "state.json"
    monitor.update({"A": [1, 0], "B": [0, 0]}, ids=["q1", "q2"])
    text = monitor.to_json()
    doubled = text.replace('"q1": ', '"q1": "3:0", "q1": ')
    assert doubled != text
    held = json.loads(text)
    parts = [json.dumps({key: value for key, value in held.items() if key != left_out}) for left_out in held]
    made = json.dumps(held | {"made": held["made"] | {"alpha": 2}})
    others = ["[" * 100_000, '{"made":' * 100_000, "[]", "null", "3", '"x"', text[:-40], made]
    for damaged in (doubled, *parts, *others):
        state.write_text(damaged)
        with pytest.raises(InputError, match=r"state.json: is no monitor, or damaged"):
            Monitor.from_json(state)


def log_of(tmp_path, answers, *lines, clusters=None):
    """A log of JSON lines, in which systems lack some answers (NaN)."""
    log = tmp_path / "log.jsonl"
    with log.open("w") as file:
        for i in lines:
            given = {name: float(x) for name, x in zip("ABCD", answers[:, i], strict=False) if not math.isnan(x)}
            file.write(json.dumps({"id": f"q{i}"} | ({} if clusters is None else {"doc": clusters[i]}) | given) + "\n")
    return log


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("design", ["answers", "scores", "clusters", "largest"])
def test_however_a_log_is_split_into_calls_the_monitor_is_the_same(tmp_path, seed, design):
    chance = np.random.default_rng([seed, len(design)])
    number = int(chance.integers(60, 160))
    answers = (chance.random((4, number)) < np.array([[0.9], [0.5], [0.45], [0.2]])).astype(float)
    if design == "scores":
        answers += chance.normal(0, 0.2, answers.shape)
    clusters = [f"d{i // 3}" for i in range(number)] if design == "clusters" else None
    answers[chance.random(answers.shape) < 0.15] = math.nan
    answers[:, :3] = np.nan_to_num(answers[:, :3])  # the first lines name all systems
    how = {"metric": "mean" if design in ("scores", "clusters") else "accuracy"}
    how |= {"cluster": "doc"} if clusters else {"largest": number // 2} if design == "largest" else {}
    log = log_of(tmp_path, answers, *range(number), clusters=clusters)
    whole = sigjax.monitor(log, **how)
    state, ends = tmp_path / "state.json", chance.integers(3, number, int(chance.integers(1, 8)))
    ends = [3 * (end // 3) for end in ends] if clusters else ends
    for end in [*sorted(ends), number, number]:
        seen = sigjax.monitor(log_of(tmp_path, answers, *range(end), clusters=clusters), **how, checkpoint=state)
    assert seen.to_json() == whole.to_json()
    assert any(each.settled_at for each in whole.pairs)


def test_instances_that_wait_for_a_system_count_as_soon_as_it_is_not_needed(tmp_path):
    """C is settled by line 40; then the lines that lack C count, before later lines."""
    a, b, c = np.ones(60), np.arange(60) % 4 > 0, np.zeros(60)
    answers = np.stack([a, b, c])
    answers[2, 5:15] = math.nan
    seen = sigjax.monitor(log_of(tmp_path, answers, *range(60)), metric="accuracy", correction="none", largest=200)
    at = max(each.settled_at for each in seen.pairs if each.b == "C")
    order = [*range(5), *range(15, at + 10), *range(5, 15), *range(at + 10, 60)]
    wanted = Monitor("ABC", correction="none", largest=200, binary=True)
    for i in order:
        wanted.update({name: x for name, x in zip("ABC", answers[:, i], strict=True) if not math.isnan(x)})
    assert seen.pairs == wanted.pairs
    assert seen.pairs[0].instances == 60
    assert seen.waiting == ()


def test_systems_may_come_first_in_another_order(tmp_path):
    log, state, scores = tmp_path / "log.jsonl", tmp_path / "state.json", board(3, 40)
    lines = [json.dumps({"id": f"q{i}"} | dict(zip("ABC", scores[:, i], strict=True))) for i in range(40)]
    log.write_text("\n".join(lines[:20]) + "\n")
    sigjax.monitor(log, metric="accuracy", checkpoint=state)
    turned = [json.dumps(dict(reversed(json.loads(line).items()))) for line in lines]
    log.write_text("\n".join(turned) + "\n")
    seen = sigjax.monitor(log, metric="accuracy", checkpoint=state)
    wanted = Monitor("ABC", binary=True)
    wanted.update(scores)
    assert seen.systems == ("A", "B", "C")
    assert seen.pairs == wanted.pairs
    log.write_text("\n".join(turned).replace('"C"', '"D"') + "\n")
    with pytest.raises(InputError, match="has other systems than these files"):
        sigjax.monitor(log, metric="accuracy", checkpoint=state)


SUMS = [([0.1, 0.2, -0.3], [-0.3, 0.2, 0.1]), ([0.1, 0.2, 0.0], [0.3, 0.0, 0.0]), ([0.1, 0.2, -0.3], [0.0, 0.0, 0.0])]


@pytest.mark.parametrize(("a", "b"), SUMS)
@pytest.mark.parametrize("labels", ["clusters", "runs"])
def test_equal_sums_are_ties_in_any_order(a, b, labels):
    scores, units = np.array([a * 60, b * 60]), np.repeat(np.arange(60), 3)
    assert np.bincount(units, scores[0])[0] != np.bincount(units, scores[1])[0]
    if labels == "clusters":
        monitor = Monitor("AB")
        monitor.update(scores, clusters=units)
    else:
        names = {"ids": [f"q{i}" for i in units], "runs": ["1", "2", "3"] * 60}
        monitor = sigjax.monitor(sigjax.Evaluation.from_arrays(dict(zip("AB", scores, strict=True)), **names))
    (pair,) = monitor.pairs
    assert (pair.delta, pair.settled_at, pair.p_value) == (0.0, None, 1.0)
    assert pair.log10_e == pytest.approx(0.0, abs=1e-12)


def test_a_sum_of_differences_that_is_0_up_to_rounding_has_no_direction():
    """The scaled sum settles the pair, and the differences themselves sum to 0 in decimals."""
    differences = [-5.4] + [0.1] * 54
    assert 0 < abs(sum(differences)) < 1e-12
    monitor = Monitor("AB", correction="none")
    monitor.update([differences, [0.0] * 55])
    while monitor.pairs[0].settled_at is None:
        monitor.update([differences, [0.0] * 55])
    monitor._state.total[:], monitor._state.size[:] = sum(differences), 10.8
    assert monitor.pairs[0].delta == 0.0


@pytest.mark.parametrize("correction", ["ebh", "holm", "none"])
@pytest.mark.parametrize("pattern", [[1, 1, -1, 0], [1, 0, 0, 0, 1, -1], [2.5, -1, 0.5, 0.1]])
def test_the_estimate_is_right_if_the_differences_go_on_as_they_are(correction, pattern):
    """The pattern goes on and on; a is ahead."""
    binary = set(pattern) <= {1, 0, -1}
    monitor = Monitor("AB", correction=correction, binary=binary)
    a, b = np.maximum(pattern * 3, 0.0), np.maximum(-np.array(pattern * 3), 0.0)
    monitor.update([a, b])
    (pair,) = monitor.pairs
    few, many = pair.more_units_range
    assert pair.settled_at is None
    assert few < pair.more_units < (many or math.inf)
    while not monitor.stop:
        monitor.update([a, b])
    assert monitor.pairs[0].settled_at - len(a) == pytest.approx(pair.more_units, rel=0.25)
    assert monitor.pairs[0].more_units is monitor.pairs[0].more_units_range is None
    assert monitor.pairs[0].better == "A"


def test_the_text_estimates_how_many_more_are_needed_and_speaks_of_the_order():
    monitor = Monitor("ABC", binary=True, largest=1000)
    monitor.update(board(3, 20))
    text = " ".join(str(monitor).split())
    assert "The order of the instances must be random" in text
    assert re.search(
        r"About [\d,]+ more instances? \([\d,]+ to (any number|[\d,]+)\) would settle (the pair|. - .), if", text
    )
    same = Monitor("AB", largest=100)
    same.update(np.ones((2, 30)))
    assert "At most 70 more instances: if the differences go on as so far, they may end" in " ".join(str(same).split())
    assert same.pairs[0].more_units is None
    monitor.update(np.repeat([[1], [0], [0]], 980, axis=1))
    assert monitor.stop
    assert "more instance" not in str(monitor)


def test_names_are_broken_between_two_systems_and_not_inside_of_a_number():
    monitor = Monitor(["Qwen/Qwen2.5-7B-Instruct", "Qwen/Qwen2.5-14B-Instruct"], binary=True)
    monitor.update([[1, 0, 1], [0, 0, 1]])
    text = str(monitor)
    assert re.search(r"^Qwen/Qwen2.5-7B-Instruct - +[+]0.3333", text, re.MULTILINE)
    assert re.search(r"^Qwen/Qwen2.5-14B-Instruct$", text, re.MULTILINE)
