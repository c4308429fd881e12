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
from statsmodels.stats.multitest import multipletests

import sigjax
from sigjax import InputError, Monitor
from sigjax.cli import _run
from sigjax.multiple.discoveries import closed_ebh
from sigjax.run.shards import checksum_of
from sigjax.studies.eprocess import beta_mixture, log_e_values

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
    assert "Stop after 100 instances of at most 100: 2 of 3 pairs are settled.\n" in str(monitor)


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


@pytest.mark.slow
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
    states = [state | {"columns": some} for some in (0, columns[:1])]
    for bad in (math.nan, math.inf):
        states += [state | {key: [[bad, *row[1:]] for row in state[key]]} for key in ("columns", "systems")]
    ids = [state | {"ids": each} for each in ({"q1": 5}, {"q1": "z:1"}, ["q1"], "q1", None)]
    more = [state | {"clusters": [1]}, state | {"columns": columns[:-1]}]
    others = ({**held, "state": each} for each in (*states, *ids, *more))
    for damaged in [held | {"schema": "sigjax-report/1"}, *others]:
        with suppress(ValueError):  # nothing has a checksum that JSON cannot hold
            damaged["checksum"] = checksum_of({key: value for key, value in damaged.items() if key not in UNCHECKED})
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
@pytest.mark.slow
def test_however_a_log_is_split_into_calls_the_monitor_is_the_same(tmp_path, seed, design):
    chance = np.random.default_rng([seed, len(design)])
    number = int(chance.integers(60, 160))
    answers = (chance.random((4, number)) < np.array([[0.9], [0.5], [0.45], [0.2]])).astype(float)
    if design == "scores":
        answers += chance.normal(0, 0.2, answers.shape)
    clusters = [f"d{i // 3}" for i in range(number)] if design == "clusters" else None
    answers[chance.random(answers.shape) < 0.15] = math.nan
    answers[:, :3] = np.nan_to_num(answers[:, :3])  # the first lines name all systems
    read = {"metric": "mean" if design in ("scores", "clusters") else "accuracy"}
    how = {"read": read | ({"cluster": "doc"} if clusters else {})}
    how |= {"largest": number // 2} if design == "largest" else {}
    log = log_of(tmp_path, answers, *range(number), clusters=clusters)
    whole = sigjax.monitor(log, **how)
    state, ends = tmp_path / "state.json", chance.integers(3, number, int(chance.integers(1, 8)))
    ends = [3 * (end // 3) for end in ends] if clusters else ends
    for end in [*sorted(ends), number, number]:
        seen = sigjax.monitor(log_of(tmp_path, answers, *range(end), clusters=clusters), **how, checkpoint=state)
    assert seen.to_json() == whole.to_json()  # pyright: ignore[reportPossiblyUnboundVariable]
    assert design != "answers" or any(each.settled_at for each in whole.pairs)


def test_instances_that_wait_for_a_system_count_as_soon_as_it_is_not_needed(tmp_path):
    """C is settled by line 40; then the lines that lack C count, before later lines."""
    a, b, c = np.ones(60), np.arange(60) % 4 > 0, np.zeros(60)
    answers = np.stack([a, b, c])
    answers[2, 5:15] = math.nan
    seen = sigjax.monitor(
        log_of(tmp_path, answers, *range(60)), read={"metric": "accuracy"}, correction="none", largest=200
    )
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
    sigjax.monitor(log, read={"metric": "accuracy"}, checkpoint=state)
    turned = [json.dumps(dict(reversed(json.loads(line).items()))) for line in lines]
    log.write_text("\n".join(turned) + "\n")
    seen = sigjax.monitor(log, read={"metric": "accuracy"}, checkpoint=state)
    wanted = Monitor("ABC", binary=True)
    wanted.update(scores)
    assert seen.systems == ("A", "B", "C")
    assert seen.pairs == wanted.pairs
    log.write_text("\n".join(turned).replace('"C"', '"D"') + "\n")
    with pytest.raises(InputError, match="has other systems than these files"):
        sigjax.monitor(log, read={"metric": "accuracy"}, checkpoint=state)


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
    few, many = pair.more_units_range  # pyright: ignore
    assert pair.settled_at is None
    assert few < pair.more_units < (many or math.inf)
    while not monitor.stop:
        monitor.update([a, b])
    assert monitor.pairs[0].settled_at - len(a) == pytest.approx(pair.more_units, rel=0.25)
    assert monitor.pairs[0].more_units is monitor.pairs[0].more_units_range is None
    assert monitor.pairs[0].better == "A"


@pytest.mark.parametrize("correction", ["ebh", "holm", "none"])
@pytest.mark.parametrize("settled", [1, 2])
def test_the_estimate_knows_which_pairs_are_settled(correction, settled):
    """The pattern goes on and on; A is ahead of B by little, and of all others on every other instance."""
    pattern = np.array([1, -1, 0, -1, 1, 1, 0, -1, 1, 0, 1, -1])
    rows = [np.maximum(pattern, 0), np.maximum(-pattern, 0), *np.zeros((settled, len(pattern)))]
    monitor = Monitor("ABCD"[: 2 + settled], correction=correction, baseline="A", binary=True)
    for _ in range(12):
        monitor.update(rows)
    assert [pair.settled_at is None for pair in monitor.pairs] == [True] + [False] * settled
    expected = monitor.pairs[0].units + monitor.pairs[0].more_units
    while not monitor.stop:
        monitor.update(rows)
    assert monitor.pairs[0].settled_at == pytest.approx(expected, rel=0.04)


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


@pytest.mark.parametrize("first", [-42, -60, 3, 2, 1])
@pytest.mark.parametrize("higher", [True, False])
def test_a_system_is_better_only_where_the_mean_and_the_evidence_agree(first, higher):
    differences = [first] + [1] * 80
    monitor = Monitor("AB", higher_is_better=higher)
    monitor.update([differences, [0] * 81])
    (pair,) = monitor.pairs
    until = differences[: pair.settled_at]
    scaled = sum(d / math.sqrt(sum(e * e for e in until[: i + 1]) / (i + 1)) for i, d in enumerate(until))
    assert scaled > 0
    assert pair.better == (("A" if higher else "B") if sum(until) > 0 else None)
    assert ("they differ; the direction is unclear" in str(monitor)) == (pair.better is None) == (first < 0)
    one_by_one = Monitor("AB", higher_is_better=higher)
    for difference in differences:
        one_by_one.update([difference, 0])
    assert one_by_one.pairs == monitor.pairs


def run(*words):
    return _run(list(map(str, words)), debug=True)


def write(path, scores, first, last):
    lines = [json.dumps({"id": f"q{i}", "A": int(scores[0, i]), "B": int(scores[1, i])}) for i in range(first, last)]
    with path.open("a") as file:
        file.writelines(line + "\n" for line in lines)


def test_growing_logs_give_what_one_monitor_gives(tmp_path, capsys):
    scores = board(2, 200, seed=6)
    log, state = tmp_path / "log.jsonl", tmp_path / "state.json"
    watch, at = Monitor("AB", binary=True), 0
    for upto in (10, 25, 60, 200):
        write(log, scores, at, upto)
        watch.update(scores[:, at:upto])
        at = upto
        words = ["monitor", log, "-m", "accuracy"]
        code = run(*words, "--checkpoint", state)
        shown = capsys.readouterr().out
        assert code == (0 if watch.stop else 3)
        assert shown == str(watch)
        assert run(*words) == code
        assert capsys.readouterr().out == shown
        assert run(*words, "--checkpoint", state, "-o", tmp_path / "out.json", "-q") == code
        assert json.loads((tmp_path / "out.json").read_text())["pairs"][0]["settled_at"] == (watch.pairs[0].settled_at)
    assert watch.stop
    assert sigjax.monitor(log, read={"metric": "accuracy"}, checkpoint=state).pairs == watch.pairs
    with pytest.raises(InputError, match="has other correction than is asked for"):
        sigjax.monitor(log, read={"metric": "accuracy"}, checkpoint=state, correction="holm")


def test_new_files_and_logs_that_lag_behind_come_when_they_are_complete(tmp_path):
    scores, state = board(2, 60, seed=7), tmp_path / "state.json"
    order = list(range(60))

    def add(name, file, some):
        lines = [f"q{i}\t{int(scores['AB'.index(name), i])}\n" for i in some]
        with (tmp_path / f"{name}.tsv").open("a") as log:
            log.writelines(([] if file else ["id\tscore\n"]) + lines)

    def look():
        files = [tmp_path / "A.tsv", tmp_path / "B.tsv"]
        return sigjax.monitor({"A": files[0], "B": files[1]}, read={"metric": "accuracy"}, checkpoint=state)

    add("A", 0, order[:30])
    add("B", 0, order[10:40])
    words = ["monitor", tmp_path / "A.tsv", tmp_path / "B.tsv", "-m", "accuracy", "-o", tmp_path / "out.json", "-q"]
    assert run(*words) == look().exit_code
    assert json.loads((tmp_path / "out.json").read_text())["pairs"][0]["instances"] == 20
    assert look().pairs[0].instances == 20
    add("A", 1, order[30:])
    add("B", 1, [*order[:10], *order[40:]])
    status = look()
    assert status.pairs[0].instances == 60
    wanted = Monitor("AB", binary=True)
    wanted.update(scores[:, [*order[10:30], *order[:10], *order[30:]]])
    assert status.pairs[0].settled_at == wanted.pairs[0].settled_at
    assert status.pairs[0].delta == pytest.approx(wanted.pairs[0].delta, abs=1e-15)


def test_metrics_that_are_no_mean_are_refused(tmp_path):
    table = tmp_path / "t.tsv"
    table.write_text("system\tid\ttp\tpredicted\tgold\nA\t1\t1\t2\t2\nB\t1\t1\t1\t2\n")
    with pytest.raises(InputError, match="mean of one score per instance, and fscore is none"):
        sigjax.monitor(table, read={"metric": "fscore"})


def test_lower_is_better_where_the_metric_says_so(tmp_path):
    table = tmp_path / "t.tsv"
    table.write_text("A\tB\n" + "3.5\t1.5\n0.5\t0.5\n" * 12)
    assert [
        sigjax.monitor(table, read={"metric": "mean", "lower_is_better": low}).pairs[0].better for low in (False, True)
    ] == [
        "A",
        "B",
    ]


def test_runs_of_an_instance_are_one_unit():
    scores = board(2, 40, binary=False)
    labels = {"ids": [f"q{i // 2}" for i in range(40)], "runs": [str(i % 2) for i in range(40)]}
    evaluation = sigjax.Evaluation.from_arrays({"A": scores[0], "B": scores[1]}, **labels)
    status = sigjax.monitor(evaluation)
    sums = Monitor("AB")
    sums.update(scores.reshape(2, 20, 2).sum(axis=2))
    assert status.pairs[0].log10_e == pytest.approx(sums.pairs[0].log10_e, abs=1e-9)
    assert (status.pairs[0].instances, status.pairs[0].units) == (40, 20)


@pytest.mark.parametrize(("design", "unit"), [("--runs", "instance"), ("--cluster", "cluster")])
def test_the_largest_number_is_one_of_units(design, unit, tmp_path, capsys):
    table, out = tmp_path / "t.csv", tmp_path / "out.json"
    ids = {"--runs": lambda i: f"q{i // 4},{i % 4}", "--cluster": lambda i: f"q{i},d{i // 4}"}[design]
    table.write_text("id,x,A,B\n" + "".join(f"{ids(i)},{i % 2},{i // 2 % 2}\n" for i in range(40)))
    words = ["monitor", table, "-m", "accuracy", design, "x", "-o", out, "--largest"]
    for largest, code in ((11, 3), (10, 0)):
        assert run(*words, largest) == code
        assert f" after 10 {unit}s of at most {largest}: 0 of 1 pair is settled.\n" in capsys.readouterr().err
        held = json.loads(out.read_text())
        assert (held["unit"], held["stop"], held["pairs"][0]["units"]) == (unit, code == 0, 10)
    assert Monitor.from_json(out).unit == unit


def test_systems_of_an_evaluation_that_is_read_are_chosen():
    scores = dict(zip("ABC", board(3, 60), strict=True))
    evaluation = sigjax.Evaluation.from_arrays(scores, metric="accuracy")
    (pair,) = sigjax.monitor(evaluation, read={"only": ["A", "C"]}).pairs
    wanted = Monitor("AC", binary=True)
    wanted.update([scores["A"], scores["C"]])
    assert pair == wanted.pairs[0]


def test_systems_are_chosen_with_the_results_that_they_lack(tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("id,A,B,C\n" + "".join(f"q{i},{i % 2},{'' if i % 4 == 0 else 1},1\n" for i in range(40)))
    evaluation = sigjax.read(table, metric="accuracy", missing="pairwise")
    assert [
        sigjax.monitor(evaluation, read={"only": names}).pairs[0].instances for names in (["C", "B"], ["C", "A"])
    ] == [30, 40]


def test_a_cluster_waits_until_all_needed_systems_have_all_of_it(tmp_path):
    scores, state, table = board(2, 40, binary=False), tmp_path / "state.json", tmp_path / "t.csv"

    def look(lacking):
        rows = (f"q{i},d{i // 4},{a},{'' if i in lacking else b}\n" for i, (a, b) in enumerate(scores.T.tolist()))
        table.write_text("id,doc,A,B\n" + "".join(rows))
        return sigjax.monitor(table, read={"cluster": "doc"}, checkpoint=state)

    assert look([5, 39]).pairs[0].instances == 32
    seen = look([])
    wanted, order = Monitor("AB"), [*range(4), *range(8, 36), *range(4, 8), *range(36, 40)]
    wanted.update(scores[:, order], clusters=[i // 4 for i in order])
    assert (seen.pairs[0].instances, seen.pairs[0].log10_e) == (40, wanted.pairs[0].log10_e)


def test_a_line_that_is_half_written_is_named_and_nothing_is_kept(tmp_path, capsys):
    log, state = tmp_path / "log.jsonl", tmp_path / "state.json"
    write(log, board(2, 20), 0, 20)
    whole = log.read_text()
    log.write_text(whole + '{"id": "q20", "A":')
    assert _run(["monitor", str(log), "-m", "accuracy", "--checkpoint", str(state)], debug=False) == 2
    assert "log.jsonl, line 21, character 19: not readable as JSON" in capsys.readouterr().err
    assert not state.exists()


def test_results_still_to_come_do_not_count_as_wrong(tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("id,A,B\n" + "".join(f"q{i},1,\n" for i in range(20)))
    with pytest.raises(InputError, match="results still to come are not 0"):
        sigjax.monitor(table, read={"metric": "accuracy", "missing": "zero"})
    with pytest.raises(InputError, match="results still to come are not 0"):
        run("monitor", table, "-m", "accuracy", "--missing", "zero")


def test_ids_and_runs_with_spaces_are_told_apart(tmp_path):
    scores, labels = {"A": [1.0, 2.0], "B": [0.0, 5.0]}, {"ids": ["a", "a b"], "runs": ["b c", "c"]}
    evaluation = sigjax.Evaluation.from_arrays(scores, **labels)
    assert sigjax.monitor(evaluation, checkpoint=tmp_path / "state.json").pairs[0].instances == 2
    assert sigjax.monitor(evaluation, checkpoint=tmp_path / "state.json").pairs[0].instances == 2


@pytest.mark.parametrize(("design", "waits"), [((), "2 instances wait"), (("--cluster", "x"), "1 cluster waits")])
def test_instances_that_some_system_lacks_are_counted(design, waits, tmp_path, capsys):
    table, out = tmp_path / "t.csv", tmp_path / "out.json"
    table.write_text("id,x,A,B\n" + "".join(f"q{i},d{i // 4},{i % 2},{'' if 4 < i < 7 else 1}\n" for i in range(8)))
    words = ["monitor", table, "-m", "accuracy", *design, "--correction", "holm"]
    most, first = (2, "d1") if design else (8, "q5")
    endings = {most: f"complete {'it' if design else 'them'}, no other {'cluster' if design else 'instance'}s are left"}
    for largest in (most, most + 1):
        assert run(*words, "--largest", largest, "--checkpoint", out) == 3
        shown = " ".join(capsys.readouterr().out.split())
        assert f"{waits} for results of some system, such as '{first}'" in shown
        assert ("no other" in shown) == (largest in endings)
        assert endings.get(largest, "") in shown
        assert json.loads(out.read_text())["waiting"] == ([first] if design else ["q5", "q6"])
        out.unlink()
    assert run(*words, "--missing", "drop") == 3
    assert "wait" not in capsys.readouterr().out
    table.write_text(table.read_text().replace(",\n", ",0\n"))
    assert run(*words, "--largest", most) == 0
    assert "wait" not in capsys.readouterr().out


def test_what_waits_is_kept_in_checkpoints(tmp_path):
    table, state = tmp_path / "t.csv", tmp_path / "state.json"
    table.write_text("id,A,B\nq1,1,0\nq2,1,\n")
    seen = sigjax.monitor(table, read={"metric": "accuracy"}, checkpoint=state)
    assert seen.waiting == Monitor.from_json(state).waiting == ("q2",)
    assert copy.copy(seen).to_json() == seen.to_json() == state.read_text()
    table.write_text("id,A,B\nq1,1,0\nq2,1,1\n")
    assert sigjax.monitor(table, read={"metric": "accuracy"}, checkpoint=state).waiting == ()


def test_what_a_checkpoint_has_counted_must_stay(tmp_path):
    state, rows = tmp_path / "state.json", [["1", "0", "1"], ["0", "1", ""], ["1", "1", "0"], ["0", "-0.0", "1"]]

    def look(some):
        table = tmp_path / "t.csv"
        table.write_text("id,A,B,C\n" + "".join(f"q{i},{','.join(row)}\n" for i, row in some.items()))
        return sigjax.monitor(table, read={"metric": "mean"}, baseline="A", checkpoint=state)

    def changed(i, k, score):
        return {j: [score if (j, m) == (i, k) else old for m, old in enumerate(row)] for j, row in enumerate(rows)}

    seen = Monitor("ABC", baseline="A")
    seen._state.settled_at[1] = 1  # C may stop, so that q1 is counted without it
    seen.to_json(state)
    assert [each.instances for each in look(dict(enumerate(rows))).pairs] == [4, 3]
    for i, k, score in ((0, 0, "2"), (2, 2, "1"), (3, 2, "")):
        before = state.read_text()
        with pytest.raises(InputError, match=f"state.json: 'q{i}' was counted, with other scores than these files"):
            look(changed(i, k, score))
        assert state.read_text() == before
    with pytest.raises(InputError, match="'q2' was counted, which these files lack; what was counted must stay"):
        look({i: rows[i] for i in (0, 1, 3)})
    assert [each.instances for each in look(changed(1, 2, "1")).pairs] == [4, 3]
    assert look({i: rows[i] for i in (3, 2, 0, 1)} | {9: ["1", "1", "1"]}).pairs[0].instances == 5


def test_more_units_than_the_largest_number_are_a_warning():
    for number, warned in ((10, False), (11, True)):
        monitor = Monitor("AB", binary=True, largest=10)
        monitor.update([[1, 0] * 5 + [1] * (number - 10), [0, 1] * 5 + [1] * (number - 10)])
        assert ("warning: 11 instances of at most 10; the largest number is that of all" in str(monitor)) == warned
        assert monitor.stop


@pytest.mark.parametrize(("labels", "unit"), [("clusters", "clusters"), ("runs", "runs of instances"), ("", "")])
def test_the_text_says_why_there_are_no_intervals(labels, unit):
    names = {"ids": ["a", "a", "b", "b"] if labels == "runs" else list("abcd")}
    names |= {labels: ["1", "2", "1", "2"]} if labels else {}
    scores = {"A": [1.0, 0.0, 1.0, 0.0], "B": [0.0, 1.0, 1.0, 1.0]}
    text = str(sigjax.monitor(sigjax.Evaluation.from_arrays(scores, metric="accuracy", **names)))
    assert ("no intervals: " in text) == bool(labels) == ("any time" not in text)
    assert f"sums over {unit}" in text or not labels
    assert "no intervals" not in str(sigjax.monitor(sigjax.Evaluation.from_arrays(scores, metric="mean", **names)))
    assert max(map(len, text.splitlines())) <= 80
    assert [line for line in text.splitlines() if line != line.rstrip()] == []


def test_at_the_end_closed_ebh_finds_more_than_is_settled():
    rng, names = np.random.default_rng(6), [f"s{k}" for k in range(10)]
    chance = np.linspace(0.3, 0.75, 10)[:, None]
    monitor = Monitor(names, binary=True, largest=150)
    monitor.update((rng.random((10, 150)) < chance).astype(float))
    settled, finding = (np.array([getattr(one, name) for one in monitor.pairs]) for name in ("settled_at", "finding"))
    settled = settled != None  # noqa: E711
    log_e = np.array([one.log10_e for one in monitor.pairs]) * math.log(10.0)
    assert finding.tolist() == (settled | closed_ebh(log_e, 0.05)).tolist()
    assert (more := int((finding & ~settled).sum())) > 0
    said = f"{settled.sum()} of 45 pairs are settled, and {more} more differ."
    assert said in " ".join(monitor.to_text().split())
    for one in monitor.pairs:
        if one.finding:
            assert one.better == (one.a if one.delta > 0.0 else one.b)
        else:
            assert one.better is None
    rows = json.loads(monitor.to_json())["pairs"]
    assert [row["finding"] for row in rows] == finding.tolist()
    adjusted = np.array([one.p_adjusted for one in monitor.pairs])
    plain = multipletests(np.exp(-np.maximum(log_e, 0.0)), method="fdr_bh")[1]
    np.testing.assert_allclose(adjusted, plain, rtol=1e-9)
    assert adjusted[finding & ~settled].max() > 0.05
    legend = 'adj. p: by plain e-BH (Benjamini-Hochberg of 1 / E); for pairs found "at the end" it may be above 0.05'
    assert legend in " ".join(monitor.to_text().split())
    for correction in ("holm", "none"):
        other = Monitor(names, binary=True, largest=150, correction=correction)
        other.update((rng.random((10, 150)) < chance).astype(float))
        assert all(one.finding == (one.settled_at is not None) for one in other.pairs)
        assert {"holm": "adj. p: by Holm", "none": "adj. p: not adjusted"}[correction] in other.to_text()
