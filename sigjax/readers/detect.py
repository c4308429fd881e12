"""All formats, and which of them files are of: by `reader`, else by the metric, the name and the first bytes."""

import os
import re
import shlex
from collections.abc import Sequence

from sigjax.files.opening import files_inside, head_lines, read_head, read_text
from sigjax.readers.formats import Format, Takes
from sigjax.readers.logs.agent_logs import TAU, TERMINAL_BENCH
from sigjax.readers.logs.inspect_logs import INSPECT
from sigjax.readers.logs.json_logs import ALPACA_EVAL, HELM, MTEB
from sigjax.readers.logs.prompt_logs import DEEPEVAL, PROMPTFOO
from sigjax.readers.logs.row_logs import EVERY_EVAL, LIGHTEVAL, LM_EVAL
from sigjax.readers.logs.swebench import SWEBENCH, SWEBENCH_RESULTS
from sigjax.readers.names import given_name
from sigjax.readers.numerals import is_missing, is_text
from sigjax.readers.options import show
from sigjax.readers.parsing.conllu import CONLLU
from sigjax.readers.parsing.phrases import BRACKETS, TREES
from sigjax.readers.retrieval.measured import TREC_EVAL
from sigjax.readers.retrieval.trec import RANX_JSON, TREC_RUN
from sigjax.readers.tables.lines import NUMBERS, PAIRED
from sigjax.readers.tables.npz import NPZ
from sigjax.readers.tables.objects import JSON, JSONL
from sigjax.readers.tables.parquet import PARQUET
from sigjax.readers.tables.text import CSV, SPACES, TSV, looks_tabular
from sigjax.readers.tagging.conll import CONLL, CONLL_GOLD, MBT
from sigjax.readers.tagging.hipe import HIPE
from sigjax.readers.tagging.labels import LABELS, TERMS, TIMBL
from sigjax.readers.tagging.segmentation import SEGMENTATION
from sigjax.readers.tagging.submissions import ID_LABELS
from sigjax.readers.texts.alignment import ALIGNMENT
from sigjax.readers.texts.answers import ANSWERS
from sigjax.readers.texts.appraise import APPRAISE
from sigjax.readers.texts.corrections import CORRECTIONS, ERRANT
from sigjax.readers.texts.mqm import MQM
from sigjax.readers.texts.texts import COMET, MT_METRICS_EVAL, TEXTS
from sigjax.readers.texts.timed import STM
from sigjax.readers.texts.transcripts import KALDI, TRN
from sigjax.records import InputError
from sigjax.records.names import meant

_LOGS = (
    *(LM_EVAL, INSPECT, HELM, EVERY_EVAL, LIGHTEVAL, ALPACA_EVAL, TERMINAL_BENCH, TAU, PROMPTFOO, DEEPEVAL, MTEB),
    SWEBENCH,
)
"""Logs of evaluations of language models: one file per system."""
_SYSTEMS = (TREC_EVAL, BRACKETS, ERRANT, CONLL, NUMBERS)
"""Other files of one system each."""
_GOLD = (
    SWEBENCH_RESULTS,
    *(ALIGNMENT, SEGMENTATION, TREC_RUN, RANX_JSON, ANSWERS, CORRECTIONS, HIPE, MBT, CONLLU, TREES, CONLL_GOLD, TERMS),
    *(STM, KALDI, TRN, ID_LABELS, LABELS, TEXTS),
)
"""Gold files, then one file per system."""
_TABLES = (NPZ, PARQUET, COMET, MT_METRICS_EVAL, MQM, APPRAISE, JSONL, JSON, PAIRED, TSV, CSV, TIMBL, SPACES)
"""All systems in one file; last what looks like a table."""
FORMATS: dict[str, Format] = {each.name: each for each in (*_LOGS, *_SYSTEMS, *_GOLD, *_TABLES)}
"""By name, in the order in which they are tried on a file: the particular before the general."""
_PLAIN = frozenset({"labels", "texts"})
"""Formats of whole lines, which almost any file could be."""
_TABLE = (
    "looks like a table, which is read alone, with all systems in it; with -i, texts are one per line, and labels "
    "one per line or with an id (--reader=id-labels; --reader=labels and --reader=texts take lines as they are; "
    "--reader names any other format)"
)


def choose_formats(
    files: Sequence[str], outputs: Sequence[str], *, reader: str | None, metrics: Sequence[object]
) -> list[Format]:
    """The format of `files`, which stand before the `outputs` of systems if there are any, for each metric.

    Raises:
        InputError: the reader is unknown or takes other files, or no format is recognized.
    """
    if reader is not None:
        return [_named(reader, files, outputs, metric) for metric in metrics]
    first = given_name((*files, *outputs)[0])[1]
    if len(files) > 1 and not outputs and MT_METRICS_EVAL.fits(*read_head(first)):
        raise InputError(
            f"{files[1]}: a .seg.score file has all systems in it; compare one at a time, or several annotators in one "
            "table with the columns system, id, annotator and score (--runs COLUMN)"
        )
    formats = likely_formats(files, outputs)
    if not formats:
        raise _unknown(files or outputs, outputs, formats_taking(files, outputs))
    likely = formats[0]

    def chosen(metric: object) -> Format:
        serving = next((each for each in formats if each.serves(metric)), None)
        if serving is None and not likely.certain and outputs and looks_tabular(*read_head(first)):
            raise InputError(f"{first}: {_TABLE}")
        if serving is None:
            raise InputError(f"{first}: {_not_served(likely, metric)}; another format is named with --reader NAME")
        if metric is None and serving.name == "texts":
            names = ", ".join(each.name for each in formats_taking(files, outputs))
            raise InputError(
                f"{first}: lines of text could be many things; say what to compare them by, such as -m bleu, or "
                f"name the format with --reader ({names})"
            )
        return serving

    formats = list(map(chosen, metrics))
    if any(each.name in _PLAIN for each in formats):
        _check_plain(outputs)
    return formats


def likely_formats(files: Sequence[str], outputs: Sequence[str]) -> list[Format]:
    """The formats that the first file looks like, the particular before the general; none if it looks like none.

    A file that is certainly of one format is of no other, whatever the metric.
    """
    _, first = given_name((*files, *outputs)[0])
    name, head = read_head(first)
    alone = len(files) == 1 and not outputs

    def fits(each: Format) -> bool:
        if os.path.isdir(first):
            return bool(each.folder and files_inside(first, each.folder))
        scored = alone or not each.parts or _is_scored(name, head)
        return scored and each.fits(name, head) and each.confirmed(files, outputs)

    looking = filter(fits, formats_taking(files, outputs))
    likely = next(looking, None)
    if likely is None:
        return []
    return [likely] if likely.certain else [likely, *looking]


def formats_taking(files: Sequence[str], outputs: Sequence[str]) -> list[Format]:
    """The formats that take such files, in the order in which they are tried."""
    if outputs:
        taken: tuple[Takes, ...] = ("gold",) if files else ("systems",)
    else:
        taken = ("file", "systems") if len(files) == 1 else ("systems",)
    return [each for each in FORMATS.values() if each.takes in taken or (each.parts and "systems" in taken)]


def _is_scored(name: str, head: bytes) -> bool:
    """Whether a file that may be a table of one system is one: by its name, or since its lines end in numbers."""
    if name.endswith((".csv", ".tsv", ".json", ".jsonl", ".parquet")) or head.startswith((b"PAR1", b"[", b"{")):
        return True
    last = [re.split(rb"[\t,; ]", line.strip(b"\r "))[-1].decode("utf-8", "replace") for line in head_lines(head)[1:]]
    return bool(last) and all(is_missing(cell) or not is_text(cell) for cell in last)


def _unknown(files: Sequence[str], outputs: Sequence[str], fitting: Sequence[Format]) -> InputError:
    first = given_name(files[0])[1]
    name, head = read_head(first)
    if not head.strip():
        read_text(first)  # says what is wrong with an empty file or a folder
    if outputs and looks_tabular(name, head):
        return InputError(f"{first}: {_TABLE}")
    if len(files) > 1 and not outputs and not os.path.isdir(first):
        gold = next(iter(likely_formats(files[:1], files[:1])), None)
        what, metric = ("gold labels or texts", "METRIC") if gold is None else (gold.title, gold.metrics[0])
        command = ["sigjax", "compare", files[0], "-i", *files[1:3]]
        return InputError(
            f"{first}: unknown format of files with one system each; are these gold files first ({what})? write "
            f"{shlex.join(command)}{' ...' if len(files) > 3 else ''} -m {metric} (other formats: --reader NAME)"
        )
    known = ", ".join(each.name for each in fitting)
    return InputError(f"{first}: unknown format; known: {known}; say which with --reader NAME")


def _check_plain(outputs: Sequence[str]) -> None:
    """Refuse tables beside gold labels or texts: their ids and marks would be scored."""
    for file in outputs:
        # What comes through a pipe can be read only once.
        if os.path.isfile(file) and looks_tabular(*read_head(file)):
            raise InputError(f"{file}: {_TABLE}")


def _named(reader: str, files: Sequence[str], outputs: Sequence[str], metric: object) -> Format:
    if reader not in FORMATS:
        close = meant(reader, FORMATS)
        known = f"did you mean {close[0]!r}?" if close else f"expected one of {', '.join(FORMATS)}"
        raise InputError(f"reader: no format {show(reader)}; {known}")
    found = FORMATS[reader]
    if found.takes == "gold" and not (outputs and files):
        raise InputError(f"reader {reader!r} takes gold files, and the files of the systems with -i")
    if found.takes == "file" and not found.parts and (outputs or len(files) != 1):
        raise InputError(f"reader {reader!r} takes one file with all systems, without -i")
    if found.takes != "gold" and outputs and files:
        raise InputError(f"reader {reader!r} takes no gold file; give one file per system")
    if not found.serves(metric):
        raise InputError(_not_served(found, metric))
    return found


def _not_served(found: Format, metric: object) -> str:
    close = meant(str(metric), found.metrics)
    question = f" (did you mean {' or '.join(map(show, close))}?)" if close else ""
    return f"the format {found.name} has no metric {show(str(metric))}{question}; it gives {', '.join(found.metrics)}"
