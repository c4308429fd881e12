"""Replays of an evaluation: counts against replays with one monitor per order, and the level on swapped outputs."""

import json
import math
import re

import numpy as np
import pytest

from sigjax import Evaluation, InputError, Monitor, compare, studies
from sigjax.cli import _run
from sigjax.resample.draws import row_keys, words

NAMES = ("A", "B", "C", "D")


def answers(instances=120, rates=(0.9, 0.6, 0.55, 0.3), seed=1):
    chance = np.random.default_rng(seed)
    return {name: (chance.random(instances) < rate).astype(int) for name, rate in zip(NAMES, rates, strict=True)}


def test_counts_are_those_of_one_monitor_per_order():
    data = answers()
    values = np.array([*data.values()], float)
    study = studies.stopping(data, read={"metric": "accuracy"}, orders=6, cost=0.5, progress=False)
    full = compare(data, read={"metric": "accuracy"}, correction="bh")
    found = {(each.a, each.b) for each in full if each.p_adjusted < 0.05}
    assert study.found == len(found) > 2
    needed, kept, times, curve = 0, 0, [], np.zeros(50)
    for r in range(6):
        key = row_keys(12345, np.array([2**41 + 2**38 + 2 * r]))
        order = np.argsort(words(key, 120)[0])
        monitor = Monitor(NAMES, binary=True, largest=120)
        until = dict.fromkeys(NAMES, 120)
        settled = {}
        for t in range(120):
            for pair in monitor.update(values[:, order[t : t + 1]]):
                settled[pair] = t + 1
            for name in set(NAMES) - set(monitor.needed):
                until[name] = min(until[name], t + 1)
        needed += sum(until.values())
        kept += len(found & set(settled))
        times += settled.values()
        curve += [sum(settled.get(pair, math.inf) <= 2.4 * k + 1e-9 for pair in found) for k in range(1, 51)]
    assert study.needed == pytest.approx(needed / (6 * 480))
    assert study.needed < 1
    assert study.kept == pytest.approx(kept / (6 * len(found)))
    assert study.at_settling == pytest.approx(np.mean(times) / 120)
    assert study.curve == pytest.approx(curve / (6 * len(found)))
    assert (study.cost, study.saved) == (240, pytest.approx(240 * (1 - study.needed)))


@pytest.mark.parametrize("correction", ["ebh", "holm"])
@pytest.mark.slow
def test_swapped_outputs_are_rarely_settled(correction):
    study = studies.stopping(answers(), read={"metric": "accuracy"}, orders=300, correction=correction, progress=False)
    assert study.false_stops / 300 < 0.05 + 3 * math.sqrt(0.05 * 0.95 / 300)
    low, high = study.false_interval
    assert low <= study.false_stops / 300 <= high


def test_clusters_are_replayed_whole():
    data, clusters = answers(), [f"d{i // 4:02}" for i in range(120)]
    evaluation = Evaluation.from_arrays(data, metric="accuracy", clusters=clusters)
    study = studies.stopping(evaluation, orders=10, progress=False)
    sums = {name: own.reshape(30, 4).sum(axis=1) for name, own in data.items()}
    other = studies.stopping(sums, orders=10, progress=False)
    assert (study.num_instances, study.num_units) == (120, 30)
    for name in ("needed", "at_settling", "found", "kept", "curve"):
        assert getattr(study, name) == getattr(other, name)


def test_equal_systems_need_all_results_and_the_text_says_so():
    study = studies.stopping(
        {"A": [1, 0] * 20, "B": [1, 0] * 20}, read={"metric": "accuracy"}, orders=5, progress=False
    )
    assert (study.needed, study.kept, study.at_settling, study.found) == (1.0, None, None, 0)
    assert str(study).startswith("The monitor needs 100% of the results.\n")
    assert "\nThe full test finds no difference.\n" in str(study)
    assert "differences found" not in str(study)


def test_the_command_writes_text_json_and_a_figure(tmp_path, capsys):
    table = tmp_path / "board.csv"
    rows = zip(*answers().values(), strict=True)
    table.write_text("A,B,C,D\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
    figure, out = tmp_path / "stop.png", tmp_path / "out.json"
    words = ["research", "stopping", table, "-m", "accuracy", "--orders", 5, "--cost", 2, "-q"]
    assert not _run(list(map(str, [*words, "--figure", figure])), debug=True)
    shown = capsys.readouterr().out
    assert max(len(line) for line in shown.splitlines() if "study:" not in line) <= 80
    assert figure.stat().st_size > 5_000
    assert not _run(list(map(str, [*words, "-o", out])), debug=True)
    held = json.loads(out.read_text())
    assert held["schema"] == "sigjax-stopping/1"
    assert held["cost"] == 960
    assert re.search(rf"^cost saved, of 960\.00 +{held['saved']:,.2f}$", shown, re.MULTILINE)
    assert not _run(list(map(str, [*words, "--format", "latex"])), debug=True)
    latex = capsys.readouterr().out
    assert rf"results needed & {held['needed']:.0%}".replace("%", r"\%") in latex
    assert rf"cost saved, of 960.00 & {held['saved']:,.2f} \\" in latex


def test_what_is_no_mean_is_refused():
    stats = np.ones((6, 3))
    with pytest.raises(InputError, match="stopping takes a mean of one score per instance, and fscore is none"):
        studies.stopping(Evaluation.from_arrays({"A": stats, "B": stats}, metric="fscore"))


def test_missing_results_are_refused_rather_than_counted_as_wrong(tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("id,A,B\n" + "".join(f"q{i},{i % 2},{'' if i % 5 == 0 else 1}\n" for i in range(40)))
    with pytest.raises(InputError, match="here every system needs every instance"):
        studies.stopping(table, read={"metric": "accuracy", "missing": "pairwise"})
    assert (
        studies.stopping(table, read={"metric": "accuracy", "missing": "drop"}, orders=2, progress=False).num_instances
        == 32
    )
