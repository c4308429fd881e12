"""Lines of numbers: what one, two and four of them mean, and what is refused."""

from fractions import Fraction

import numpy as np
import pytest

from sigjax import InputError, read


@pytest.fixture
def write(tmp_path):
    def write_files(**contents):
        for name, content in contents.items():
            (tmp_path / name).write_text(content)
        return [tmp_path / name for name in contents]

    return write_files


def scores(evaluation):
    return evaluation.metric.score(evaluation.stats.sum(axis=1).astype(float)).tolist()


def test_one_number_a_line_is_a_mean(write):
    evaluation = read(*write(A="1\n0.5\n-2e-1\n", B="0\n0\n1\n"))
    assert (evaluation.systems, evaluation.ids, evaluation.metric.name) == (("A", "B"), None, "mean")
    assert scores(evaluation) == [1.3 / 3, 1 / 3]
    assert read(*write(A="1\n2\n9\n", B="0\n0\n1\n"), metric="median").stats[:, :, 0].tolist() == [[1, 2, 9], [0, 0, 1]]


def test_two_and_four_numbers_are_ratios_of_sums(write):
    evaluation = read(*write(A="1 2\n3 5\n", B="0\t2\n4\t6\n"))
    assert (evaluation.metric.name, scores(evaluation)) == ("ratio", [4 / 7, 4 / 8])
    evaluation = read(*write(A="1 2 1 3\n3 5 3 4\n", B="0 2 0 1\n4 6 4 9\n"))
    recall, precision = Fraction(4, 7), Fraction(4, 7)
    assert evaluation.metric.name == "fscore-ratios"
    recall_b, precision_b = Fraction(4, 8), Fraction(4, 10)
    expected = [2 * r * p / (r + p) for r, p in ((recall, precision), (recall_b, precision_b))]
    assert scores(evaluation) == pytest.approx([float(each) for each in expected], rel=1e-15)


BAD = [
    ({"A": "1\nx\n", "B": "1\n2\n"}, {}, r"A, line 2: expected a number, got 'x'"),
    ({"A": "1\n2\n", "B": "1\nnan\n"}, {}, r"B, line 2: expected a finite number, got 'nan'"),
    ({"A": "1\n2\n", "B": "1\n1e400\n"}, {}, r"B, line 2: expected a finite number, got '1e400'"),
    ({"A": "1\n2\n", "B": "1\n\n"}, {}, r"B, line 2: expected 1 number\(s\) as on line 1, got 0"),
    ({"A": "1\n2\n", "B": "1\n"}, {}, r"B: has 1 instances, but .*A has 2; without ids"),
    ({"A": "1\n2\n", "B": "1 2\n2 3\n"}, {}, r"B: has 2 numbers per line, but .*A has 1"),
    ({"A": "1 2 3\n", "B": "1 2 3\n"}, {}, r"metric 'mean' takes 1 numbers per line and system, got 3"),
    ({"A": "1 -2\n", "B": "1 2\n"}, {}, r"system 'A': denominator must not be below 0, got -2 at instance 1"),
    ({"A": "1,2,3\n"}, {"reader": "paired-perm"}, r"A, line 1: expected 2 numbers .* or 4"),
    ({"A": "1,2\n3\n"}, {"reader": "paired-perm"}, r"A, line 2: expected 2 number"),
    (
        {"A": "1,2\n"},
        {"reader": "paired-perm", "metric": "fscore"},
        r"'fscore' takes 3 numbers per line and",
    ),
]


@pytest.mark.parametrize(("files", "options", "message"), BAD)
def test_bad_lines_get_one_clear_error(write, files, options, message):
    with pytest.raises(InputError, match=message) as caught:
        read(*write(**files), **options)
    assert "\n" not in str(caught.value)


def test_runs_of_an_instance_are_one_unit():
    import sigjax

    runs = {"ids": list("xxyyzz"), "runs": [0, 1] * 3}
    values = {"A": [1, 0, 1, 1, 0, 0], "B": [0, 0, 1, 0, 0, 0]}
    evaluation = sigjax.Evaluation.from_arrays(values, **runs)
    by_cluster = sigjax.Evaluation.from_arrays(values, clusters=runs["ids"])
    (one,), (other,) = sigjax.compare(evaluation), sigjax.compare(by_cluster)
    assert (one.p_value, one.delta, one.standard_error) == (other.p_value, other.delta, other.standard_error)
    with pytest.raises(InputError, match="run '0' of instance 'x' occurs more than once"):
        sigjax.Evaluation.from_arrays(values, ids=runs["ids"], runs=[0, 0, 0, 1, 0, 1])
    with pytest.raises(InputError, match="without ids"):
        sigjax.Evaluation.from_arrays(values, runs=runs["runs"])
    np.testing.assert_array_equal(evaluation.stats, by_cluster.stats)
