"""All formats, in the order in which they are tried on a file: the particular before the general."""

from sigjax.readers.formats import Format
from sigjax.readers.logs.helm import HELM
from sigjax.readers.logs.inspect_logs import INSPECT
from sigjax.readers.logs.jsonl_logs import EVERY_EVAL, LM_EVAL
from sigjax.readers.logs.leaderboards import ALPACA_EVAL, SWEBENCH
from sigjax.readers.logs.lighteval import LIGHTEVAL
from sigjax.readers.parsing.brackets import BRACKETS
from sigjax.readers.parsing.conllu import CONLLU
from sigjax.readers.parsing.trees import TREES
from sigjax.readers.retrieval.trec import RANX_JSON, TREC_EVAL, TREC_RUN
from sigjax.readers.tables.frames import PARQUET
from sigjax.readers.tables.lines import NUMBERS, PAIRED
from sigjax.readers.tables.tables import CSV, JSONL, NPZ, TSV
from sigjax.readers.tagging.conll import CONLL, CONLL_GOLD, MBT
from sigjax.readers.tagging.hipe import HIPE
from sigjax.readers.tagging.labels import LABELS, TERMS, TIMBL
from sigjax.readers.tagging.segmentation import SEGMENTATION
from sigjax.readers.texts.alignment import ALIGNMENT
from sigjax.readers.texts.segment_scores import COMET, MT_METRICS_EVAL
from sigjax.readers.texts.texts import TEXTS

_LOGS = (LM_EVAL, INSPECT, HELM, EVERY_EVAL, LIGHTEVAL, ALPACA_EVAL, SWEBENCH)
"""Logs of evaluations of language models: one file per system."""
_SYSTEMS = (TREC_EVAL, BRACKETS, CONLL, NUMBERS)
"""Other files of one system each."""
_GOLD = (ALIGNMENT, TREC_RUN, RANX_JSON, HIPE, MBT, CONLLU, SEGMENTATION, TREES, CONLL_GOLD, TERMS, LABELS, TEXTS)
"""Gold files, then a file a system."""
_TABLES = (NPZ, PARQUET, COMET, MT_METRICS_EVAL, JSONL, PAIRED, TSV, CSV, TIMBL)
"""All systems in one file; last what looks like a table."""
FORMATS: dict[str, Format] = {each.name: each for each in (*_LOGS, *_SYSTEMS, *_GOLD, *_TABLES)}
