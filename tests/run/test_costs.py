"""What work costs: every measured constant is measured again by `benchmarks/costs.py`."""

import re
from pathlib import Path

import numpy as np
import pytest

from sigjax.exact.board import make_board, pair_cost
from sigjax.run import costs
from sigjax.run.costs import Cost

ROOT = Path(__file__).parents[2]


def test_costs_add_up():
    both = 3 * Cost(2.0, 8.0) + Cost(1.0, 4.0) * 0.5
    assert both == Cost(6.5, 26.0)
    assert Cost(0.0, 3 * 2.0**30).gib == "3"


def test_every_constant_has_a_measurement():
    """Its name stands in the list of what a kind of work is made of."""
    script = (ROOT / "benchmarks" / "costs.py").read_text(encoding="utf-8")
    measured = {name for text in re.findall(r'"([A-Z_ ]+)"', script) for name in text.split()}
    assert measured == {name for name, value in vars(costs).items() if isinstance(value, Cost)}


@pytest.mark.parametrize("num_stats", [1, 2])
@pytest.mark.parametrize("monotone", [True, False])
def test_the_cost_of_an_exact_test_is_that_of_the_dearest_pair(num_stats, monotone):
    values = np.random.default_rng(2).integers(0, [[[2]], [[5]], [[20]]], (3, 60, num_stats))
    board = make_board(values, np.array([(0, 1), (0, 2), (1, 2)]))
    seconds = [pair_cost(board.subset(np.array([k])), 60, monotone=monotone).seconds for k in range(3)]
    assert pair_cost(board, 60, monotone=monotone).seconds == max(seconds)
    assert (num_stats == 1 and monotone) == (len(set(seconds)) == 1)
