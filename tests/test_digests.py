"""A few of the digests; `.ci/run` checks all of them, with three versions of everything (see `digests.py`)."""

import digests
import pytest

PATTERNS = (
    *("metric: accuracy", "interval: percentile of F1 *", "interval: bca of median", "correction: h*", "method: dp, *"),
    *(
        "design: crossed*of answers",
        "board: answers",
        "decided: F1, bh",
        "reader: c*",
        "latex: *",
        "classical: answers*",
    ),
    *("equivalence: F1*", "association: *", "arrays: *less", "run: stopped", "refused: *"),
)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_digests_are_those_that_were_written(pattern, capsys):
    assert digests.check(pattern, "numpy") == 0, capsys.readouterr().out


def test_a_difference_is_one_of_numbers_or_of_words():
    report = {"p_value": 0.25, "notes": ["a"], "versions": {"numpy": "2"}}
    known = digests.digest(report)
    changes = ({"versions": {}}, {"notes": ["b"]}, {"p_value": 0.5})
    found = [digests.difference(digests.digest(report | change), known) for change in changes]
    assert found == [None, "words", "numbers"]
    texts = ("p = 0.25\nsigjax:0.1", "p = 0.25\nsigjax:0.2", "P: 0.25\nsigjax:0.1", "p = 0.3\nsigjax:0.1")
    found = [digests.difference(digests.digest(text), digests.digest(texts[0])) for text in texts]
    assert found == [None, None, "words", "numbers"]
