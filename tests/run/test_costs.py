"""What work costs: every measured constant is measured again by `benchmarks/costs.py`."""

import re
from pathlib import Path

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
