"""Tables of something else than systems on instances, which would pass for such: metrics, numbers, exchanged axes."""

from collections.abc import Iterable, Sequence
from string import digits

from sigjax.metrics import METRICS
from sigjax.readers.options import Options, listing, show
from sigjax.readers.table import Table
from sigjax.records import InputError

_COLUMNS = frozenset(("metric", "metrics", "measure", "measures"))
_MEASURES = frozenset(name.lower() for name in METRICS) | frozenset(
    """
    acc aer auc auroc bertscore bleurt chrf2 comet comet20 comet22 cometkiwi em exact_match f1 f1_score iou
    macro-f1 macro_f1 mae map metricx meteor micro-f1 micro_f1 mrr mse ndcg pearson perplexity ppl
    precision recall rmse rouge rouge-1 rouge-2 rouge-l rougelsum sacrebleu spearman kendall success
    xcomet
    """.split()
)
"""Names of metrics, which are not instances: in lower case and without a cut-off (@10)."""
FEWEST_TURNED = 4
"""Columns from which q1, q2, ... are taken for instances, where there are half as many rows or fewer."""
_LONGEST = 18
"""Digits of a number that is counted up, such as a time stamp."""
_INSTANCES = frozenset(
    "doc document ex example id instance item q query question seg segment sent sentence topic".split()
)
"""Words that instances, but no systems, are numbered after: q1, q2 are instances however many rows there are."""


def check_measures(table: Table, id_column: str | None, ids: Sequence[str], options: Options) -> None:
    """Refuse a table with a row for each metric instead of each instance."""
    if id_column is None or options.id is not None:
        return
    if id_column.lower() in _COLUMNS or are_measures(ids):
        names = list(dict.fromkeys(ids))[:3]
        raise InputError(
            f"{table.file}: column {show(id_column)} seems to hold metrics, one per row ({listing(names)}); expected "
            "one row per instance, of one metric; give --id NAME if these are instances"
        )


def are_measures(names: Iterable[str]) -> bool:
    """Whether all are names of metrics."""
    return all(name.strip().lower().partition("@")[0] in _MEASURES for name in names)


def check_turned(table: Table, systems: Sequence[str]) -> None:
    """Refuse columns that are numbered one after the other (q1, q2, ...), as instances are, and systems seldom."""
    names = [name.strip() for name in systems]
    words = {name.rstrip(digits) for name in names}
    numbers = [name[len(name.rstrip(digits)) :] for name in names]
    if len(words) > 1 or not all(0 < len(number) <= _LONGEST for number in numbers):
        return
    numbered = list(map(int, numbers)) == [*range(int(numbers[0]), int(numbers[0]) + len(numbers))]
    few = len(systems) >= FEWEST_TURNED and 2 * len(table.lines) <= len(systems)
    if numbered and (few or words.pop().strip("_-. ").lower() in _INSTANCES):
        raise InputError(
            f"{table.file}: columns {listing(systems[:3])}{', ...' if len(systems) > 3 else ''} are numbered like "
            f"instances, in a table of {len(table.lines)} rows; expected one row per instance and one column per "
            "system: exchange rows and columns, or give --systems with these names if they are systems"
        )
