"""All formats, in the order in which they are tried on a file: the particular before the general."""

from dataclasses import replace
from functools import partial

from sigjax.readers.formats import Format
from sigjax.readers.logs.alpaca_eval import ALPACA_EVAL
from sigjax.readers.logs.comet import COMET
from sigjax.readers.logs.every_eval import EVERY_EVAL
from sigjax.readers.logs.helm import HELM
from sigjax.readers.logs.inspect_logs import INSPECT
from sigjax.readers.logs.lighteval import LIGHTEVAL
from sigjax.readers.logs.lm_eval import LM_EVAL
from sigjax.readers.logs.swebench import SWEBENCH
from sigjax.readers.parsing.brackets import BRACKETS
from sigjax.readers.parsing.conllu import CONLLU
from sigjax.readers.parsing.trees import TREES
from sigjax.readers.retrieval.trec import RANX_JSON, TREC_RUN
from sigjax.readers.retrieval.trec_eval import TREC_EVAL
from sigjax.readers.tables.frames import PARQUET
from sigjax.readers.tables.lines import NUMBERS, PAIRED
from sigjax.readers.tables.tables import CSV, JSONL, NPZ, TSV
from sigjax.readers.tagging.classes import LABELS
from sigjax.readers.tagging.conll import CONLL, CONLL_GOLD, MBT
from sigjax.readers.tagging.hipe import HIPE
from sigjax.readers.tagging.segmentation import SEGMENTATION
from sigjax.readers.tagging.terms import TERMS
from sigjax.readers.tagging.timbl import TIMBL
from sigjax.readers.texts.alignment import ALIGNMENT
from sigjax.readers.texts.mtme import MT_METRICS_EVAL
from sigjax.readers.texts.texts import TEXTS


def _each_metric(log: Format) -> Format:
    """A format whose reader takes one metric at a time."""
    return replace(log, read=lambda sources, options: partial(log.read, sources))  # pyright: ignore


_LOGS = tuple(map(_each_metric, (LM_EVAL, INSPECT, HELM, EVERY_EVAL, LIGHTEVAL, ALPACA_EVAL, SWEBENCH)))
"""Logs of evaluations of language models: a file a system."""
_SYSTEMS = (TREC_EVAL, BRACKETS, CONLL, NUMBERS)
"""Other files of one system each."""
_GOLD = (ALIGNMENT, TREC_RUN, RANX_JSON, HIPE, MBT, CONLLU, SEGMENTATION, TREES, CONLL_GOLD, TERMS, LABELS, TEXTS)
"""Gold files, then a file a system."""
_TABLES = (NPZ, PARQUET, COMET, MT_METRICS_EVAL, JSONL, PAIRED, TSV, CSV, TIMBL)
"""All systems in one file; last what looks like a table."""
FORMATS: dict[str, Format] = {each.name: each for each in (*_LOGS, *_SYSTEMS, *_GOLD, *_TABLES)}
