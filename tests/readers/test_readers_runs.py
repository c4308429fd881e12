"""Trials of the same instance in tables, and numbers given by id."""

import numpy as np
import pytest

from sigjax import InputError, compare, read

LONG = "system,id,epoch,value\n" + "".join(
    f"{system},{id},{epoch},{(3 * i + j * j + k) % 7}\n"
    for k, system in enumerate("AB")
    for j, epoch in enumerate("12")
    for i, id in enumerate("wxyz")
)
WIDE = "epoch,id,A,B\n" + "".join(
    f"{epoch},{id},{(3 * i + j * j) % 7},{(3 * i + j * j + 1) % 7}\n"
    for j, epoch in enumerate("12")
    for i, id in enumerate("wxyz")
)


@pytest.mark.parametrize("content", [LONG, WIDE])
def test_runs_of_an_instance_are_kept_together(tmp_path, write, content):
    evaluation = read(write("t.csv", content), runs="epoch", id="id")
    assert (evaluation.ids, evaluation.runs) == (tuple("wxyzwxyz"), tuple("11112222"))
    assert evaluation.stats[0, :, 0].tolist() == [0, 3, 6, 2, 1, 4, 0, 3]
    report = compare(evaluation)
    assert (report.num_instances, report.num_units) == (8, 4)
    evaluation.save(tmp_path / "e.npz")
    again = read(tmp_path / "e.npz")
    assert (again.ids, again.runs) == (evaluation.ids, evaluation.runs)
    np.testing.assert_array_equal(again.stats, evaluation.stats)
    assert compare(again).comparisons == report.comparisons


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        (LONG, {}, "line 6: instance 'w' of system 'A' is also on line 2"),
        (LONG, {"runs": "trial"}, "runs: no column 'trial'"),
        (LONG + "A,w,2,1\n", {"runs": "epoch"}, "line 18: instance 'w' \\(run '2'\\) of system 'A' is also on line 6"),
        (LONG + "A,v,2,1\n", {"runs": "epoch"}, r"'B' lacks 1 of 9 \(first: 'v' \(run '2'\)\)"),
        (LONG + "A,v,,1\n", {"runs": "epoch"}, "line 18, column 'epoch': expected a name, got an empty cell"),
        (
            WIDE + "2,w,1,1\n",
            {"runs": "epoch", "id": "id"},
            "line 10: instance 'w' \\(run '2'\\) of system 'A' is also on line 6",
        ),
        ("epoch,A,B\n1,1,1\n2,1,1\n", {"runs": "epoch"}, "runs: which runs are of the same instance"),
    ],
)
def test_runs_that_cannot_be_used(write, content, options, message):
    with pytest.raises(InputError, match=message):
        read(write("t.csv", content), **options)
