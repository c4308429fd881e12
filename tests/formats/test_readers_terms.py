"""Term lists: Yeh's example with its exact p-values, sets, and what is refused."""

import numpy as np
import pytest

from sigjax.formats import read


def test_an_instance_is_a_term_of_any_list(write):
    gold, one, two = (
        write(name, text) for name, text in (("g", "a\nb b\nc\n"), ("one", "c\nx\n"), ("two", "y\nb b\n"))
    )
    evaluation = read(gold, input=[one, two], reader="terms")
    assert evaluation.ids == ("a", "b b", "c", "x", "y")
    assert evaluation.stats.tolist() == [
        [[0, 0, 1], [0, 0, 1], [1, 1, 1], [0, 1, 0], [0, 0, 0]],
        [[0, 0, 1], [1, 1, 1], [0, 0, 1], [0, 0, 0], [0, 1, 0]],
    ]
    assert evaluation.notes[:-1] == ()


def test_only_systems_asked_for_give_instances(write):
    gold, *systems = (write(name, text) for name, text in (("g", "a\n"), ("A", "a\n"), ("B", "b\n"), ("C", "c\n")))
    evaluation = read(gold, input=systems, reader="terms", systems=["C", "A"])
    assert (evaluation.systems, evaluation.ids) == (("C", "A"), ("a", "c"))


@pytest.mark.parametrize(
    "change", [str, lambda text: "\ufeff" + text.replace("\n", "\r\n"), lambda text: text + " \n\n"]
)
def test_spellings_of_the_same_list(write, change):
    gold, one, two = (write(name, change(text)) for name, text in (("g.terms", "a\nb\n"), ("1", "a\n"), ("2", "c\n")))
    assert read(gold, input=[one, two]).ids == ("a", "b", "c")


def test_a_repeated_term_counts_once_with_a_note(write):
    gold, one, two = (write(name, text) for name, text in (("g", "a\na\n"), ("one", "a\nx\n a\nx\n"), ("two", "a\n")))
    evaluation = read(gold, input=[one, two], reader="terms")
    assert evaluation.stats.sum(axis=1).tolist() == [[1, 2, 1], [1, 1, 1]]
    assert evaluation.notes[:-1] == (
        "the gold list: 1 of 2 lines repeat a term, which counts once",
        "one: 2 of 4 lines repeat a term, which counts once",
    )


@pytest.mark.parametrize(
    ("metric", "score", "one_sided", "two_sided"),
    [
        ("fscore", (0.4747, 0.3521), 0.0147756858, 0.0295513715),
        ("precision", (0.4947, 0.6410), 0.980005711, 0.0399885791),
        ("recall", (0.4563, 0.2427), 9.75627918e-05, 0.000195125584),
    ],
)
def test_the_example_of_yeh_by_the_command_line(data, compared, metric, score, one_sided, two_sided):
    """Exact values by sums over two binomials in rational numbers, as the source of the data has them."""
    folder = data / "art_yeh2000"
    files = (folder / "yeh.gold", "-i", folder / "yeh.s1", folder / "yeh.s2")
    for alternative, expected in (("greater", one_sided), ("two-sided", two_sided)):
        report = compared(*files, "--reader", "terms", "-m", metric, "--alternative", alternative)
        (pair,) = report["pairs"]
        assert (pair["a"], pair["b"]) == ("yeh.s1", "yeh.s2")
        scores = {each["name"]: each["score"] for each in report["systems"]}
        np.testing.assert_allclose([scores["yeh.s1"], scores["yeh.s2"]], score, atol=5e-5)
        assert pair["p_value"] == pytest.approx(expected, rel=5e-9)
        assert pair["resamples"] is None
