"""Refuse tables of something else than systems on instances, which would be read silently."""

from collections.abc import Iterable, Sequence

from sigjax.metrics import METRICS
from sigjax.readers.options import Options, listing, show
from sigjax.readers.table import Table, is_text
from sigjax.records import InputError

ID_NAMES = frozenset(
    ("", "id", "instance", "instance_id", "sample", "item", "topic", "query", "qid", "question", "segment", "seg")
    + ("sentence", "sent", "doc", "document", "word", "name", "key", "index", "idx", "unnamed: 0")
)
ID_ENDINGS = ("_id", "-id")
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


def is_id_name(name: str | None) -> bool:
    """Whether a column is named like ids."""
    return name is not None and (name.lower() in ID_NAMES or name.lower().endswith(ID_ENDINGS))


def check_header(table: Table, id_column: str | None, systems: Sequence[str], options: Options) -> None:
    """Refuse a first line that is numbers where the names of systems should be, unless it names the ids."""
    named = options.id is not None or options.systems is not None or is_id_name(id_column)
    if table.header is None or named or not systems or any(map(is_text, systems)):
        return
    raise InputError(
        f"{table.file}, line {table.header}: the systems would be named {listing(systems)}; is this a row without a "
        "header? add a line with the names of the columns, or give --systems with these names if they are right"
    )


def check_measures(table: Table, id_column: str | None, ids: Sequence[str], options: Options) -> None:
    """Refuse a table with a row for each metric instead of each instance."""
    if id_column is None or options.id is not None:
        return
    if id_column.lower() in _COLUMNS or (ids and _are_measures(ids)):
        raise InputError(
            f"{table.file}: column {show(id_column)} seems to hold metrics, one per row ({listing(ids[:3])}); expected "
            "one row per instance, of one metric; give --id NAME if these are instances"
        )


def check_systems(table: Table, systems: Sequence[str], options: Options) -> None:
    """Refuse a table with a column for each metric instead of each system."""
    if options.systems is None and systems and _are_measures(systems):
        raise InputError(
            f"{table.file}: columns {listing(systems)} seem to hold metrics; expected one column per system, of one "
            "metric; give --systems with these names if they are systems"
        )


def _are_measures(names: Iterable[str]) -> bool:
    return all(name.strip().lower().partition("@")[0] in _MEASURES for name in names)
