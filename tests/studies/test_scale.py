"""Laws of scale and offset: no p-value depends on the unit of the scores, whatever the study."""

import json

import numpy as np
import pytest

from sigjax import Evaluation, compare, studies
from sigjax.studies import STUDIES

pytestmark = pytest.mark.slow

RNG = np.random.default_rng(5)
SIZE = 30
REALS = {name: RNG.normal(mean, 1.0, SIZE) for name, mean in (("A", 0.5), ("B", 0.0), ("C", 0.2))}
REALS["A"][:3] = REALS["B"][:3]
EIGHTHS = {name: np.rint(8.0 * values) / 8.0 for name, values in REALS.items()}
"""Many ties, also between differences; times a power of ten, they are ties up to rounding."""
DATA = {"reals": REALS, "eighths": EIGHTHS}
GAMES, RUNS = [f"g{i // 10}" for i in range(SIZE)], [str(i % 10) for i in range(SIZE)]
FACTORS = [2.0**-100, 2.0**100, 1e-30, 1e-11, 1e30, 1e138]
DRAWN = {"resamples": 400}


def of(numbers, names="AB", **labels):
    return Evaluation.from_arrays({name: numbers[name] for name in names}, **labels)


def with_ids(numbers, names="AB", **labels):
    return of(numbers, names, ids=[f"i{k}" for k in range(SIZE)], **labels)


def in_games(numbers):
    return of(numbers, ids=GAMES, strata=GAMES, runs=RUNS)


def reports(numbers, tmp_path):
    old = {name: np.roll(values, 1) for name, values in numbers.items()}
    paths = tmp_path / "old.json", tmp_path / "new.json"
    for each, path in zip((old, numbers), paths, strict=True):
        compare(of(each), method="montecarlo", **DRAWN).to_json(path)
    return paths


def board_of(numbers, tmp_path):
    rows = zip(*[numbers[name].tolist() for name in "ABC"], strict=True)
    lines = [f"i{k}," + ",".join(map(repr, row)) for k, row in enumerate(rows)]
    (tmp_path / "table.csv").write_text("\n".join(["id,A,B,C", *lines]))
    about = {"title": "Board", "source": "a test", "licence": "MIT", "files": [str(tmp_path / "table.csv")]}
    return studies.board({**about, "systems": ["A", "B", "C"], "method": "montecarlo", **DRAWN}, progress=False)


LAWS = {
    "compare": lambda x, c, _: compare(of(x, "ABC"), method="montecarlo", **DRAWN),
    "compare, several tests": lambda x, c, _: compare(
        of(x, "ABC"), test=["permutation", "bootstrap"], method="montecarlo", interval="bca", **DRAWN
    ),
    "compare, studentized": lambda x, c, _: compare(
        of(x, "ABC"), statistic="studentized", method="montecarlo", interval="studentized", **DRAWN
    ),
    "compare, maxt": lambda x, c, _: compare(
        of(x, "ABC", clusters=[i // 2 for i in range(SIZE)]), correction="maxt", method="montecarlo", **DRAWN
    ),
    "classical": lambda x, c, _: studies.classical_tests(of(x), method="montecarlo", **DRAWN),
    "classical, clusters": lambda x, c, _: studies.classical_tests(
        of(x, clusters=[i // 3 for i in range(SIZE)]), method="montecarlo", **DRAWN
    ),
    "classical, data sets": lambda x, c, _: studies.classical_tests(of(x, "ABC")),
    "classical, means of data sets": lambda x, c, _: studies.classical_tests(of(x, "ABC", ids=GAMES, runs=RUNS)),
    "classical, folds": lambda x, c, _: studies.classical_tests(of(x, "ABC"), design="folds"),
    "classical, 5x2cv": lambda x, c, _: studies.classical_tests(
        of(x, ids=GAMES, runs=[f"{i % 10 // 2} | {i % 2}" for i in range(SIZE)]), design="folds"
    ),
    "power": lambda x, c, _: studies.power(of(x), instances=[20, 40], repetitions=5, resamples=99),
    "power, difference": lambda x, c, _: studies.power(
        of(x, ids=GAMES, runs=RUNS), instances=[20], repetitions=5, resamples=99, detect=0.25 * c, instance_cost=1
    ),
    "monitor": lambda x, c, _: studies.monitor(with_ids(x, "ABC")),
    "equivalence": lambda x, c, _: studies.equivalence(of(x, "ABC"), margin=0.5 * c, **DRAWN),
    "equivalence, bootstrap": lambda x, c, _: studies.equivalence(
        of(x), margin=0.5 * c, method="bootstrap", claim="non-inferiority", **DRAWN
    ),
    "audit": lambda x, c, _: studies.audit(of(x), repetitions=10, resamples=99),
    "one-sample": lambda x, c, _: studies.one_sample(of(x), against=0.125 * c, method="montecarlo", **DRAWN),
    "one-sample, zero": lambda x, c, _: studies.one_sample(of(x), against=0, **DRAWN),
    "unpaired": lambda x, c, _: studies.unpaired({"A": x["A"], "B": x["B"][:20]}, method="montecarlo", **DRAWN),
    "flips": lambda x, c, _: studies.flips(with_ids(x), **DRAWN),
    "slices": lambda x, c, _: studies.slices(with_ids(x, strata=GAMES), by="strata", **DRAWN),
    "items": lambda x, c, _: studies.items(with_ids(x, "ABC"), resamples=199, progress=False),
    "rl": lambda x, c, _: studies.rl(in_games(x), resamples=199),
    "diff": lambda x, c, folder: studies.diff(*reports(x, folder), margin=0.25 * c),
    "gains": lambda x, c, _: studies.gains(with_ids(x, "ABC"), method="montecarlo", resamples=199),
    "stopping": lambda x, c, _: studies.stopping(with_ids(x), orders=5),
    "board": lambda x, c, folder: board_of(x, folder),
}
WITHOUT_UNIT = {
    "rank": "answers are right or wrong",
    "battles": "battles are won, tied or lost",
    "association": "labels are no numbers",
    "verify": "it says whether reports are the same",
}


def numbers_of(value, path=""):
    """All numbers of a JSON document by their places."""
    if isinstance(value, dict):
        parts = value.items()
    elif isinstance(value, list):
        parts = enumerate(value)
    else:
        return {path: value} if isinstance(value, int | float) and not isinstance(value, bool) else {}
    return {place: number for key, each in parts for place, number in numbers_of(each, f"{path}/{key}").items()}


OTHERS = ("seconds", "fingerprint", "/state/", "/aggregates/3/", "/aggregates/7/", "/flips/", "/facts/0/note")
"""Numbers that the laws leave out: optimality gaps are measured from 1, equal parts of flips come in any order, and a
fact's note is its place among all notes, one of which says how the table was read."""


def test_every_study_has_its_law():
    assert {name.split(",")[0] for name in LAWS} - {"compare"} | set(WITHOUT_UNIT) == set(STUDIES)


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("name", LAWS)
def test_scores_times_a_constant_give_the_same_p(name, data, tmp_path):
    """Each number of the result is either the same, or in the unit of the scores; p-values are the same."""
    expected = numbers_of(json.loads(LAWS[name](DATA[data], 1.0, tmp_path).to_json()))
    assert expected
    for factor in FACTORS:
        scaled = {system: values * factor for system, values in DATA[data].items()}
        found = numbers_of(json.loads(LAWS[name](scaled, factor, tmp_path).to_json()))
        assert set(found) == set(expected), factor
        for place, number in found.items():
            if not any(other in place for other in OTHERS):
                is_p = "p_" in place or place.endswith("_p")
                units, digits = ((number,), 1e-9) if is_p else ((number, number / factor), 1e-6)
                assert any(each == pytest.approx(expected[place], rel=digits) for each in units), (factor, place)


OFFSETS = [1e3, -1e7, 1e9, 1e11]


@pytest.mark.parametrize("name", ["compare", "compare, maxt", *(name for name in LAWS if name.startswith("classical"))])
def test_an_offset_of_all_scores_changes_no_p(name, tmp_path):
    """Eighths keep all their digits beside the offset, so that nothing of the numbers is lost."""
    expected = numbers_of(json.loads(LAWS[name](EIGHTHS, 1.0, tmp_path).to_json()))
    for offset in OFFSETS:
        moved = {system: values + offset for system, values in EIGHTHS.items()}
        found = numbers_of(json.loads(LAWS[name](moved, 1.0, tmp_path).to_json()))
        p_values = {place: number for place, number in found.items() if "p_" in place or place.endswith("_p")}
        assert p_values
        assert p_values == pytest.approx({place: expected[place] for place in p_values}, rel=1e-9), offset
