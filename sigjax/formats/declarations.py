"""The table of all formats: the files of each format, how they are recognized, its metrics, and its reader.

A format is recognized by the name and the first bytes of a file. The module of its reader (named as "module:function")
is imported only after that. Logs of harnesses are declared in `formats.harness`; a module there is imported only if the
data may be its logs. Other packages can add formats (`Format`).
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import chain
from pathlib import PurePath
from pkgutil import get_data, iter_modules, resolve_name
from typing import TYPE_CHECKING, Any, Literal

from sigjax.metrics import ANSWERS, CLASS_METRICS, TEXT_METRICS, canonical, parameterized
from sigjax.metrics.ratios import FBETA
from sigjax.readers.join import Sources, Tasks
from sigjax.readers.options import Options, quote
from sigjax.readers.table import DataTable, is_missing, is_rule, is_text
from sigjax.records import EvaluationRecord, Hint, InputError
from sigjax.records.display import meant
from sigjax.records.options import Parameters, check_parameters, split_parameters
from sigjax.run.files import OLD_OFFICE_MAGIC, ZIP_MAGIC, files_inside, is_spreadsheet, read_head

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

Takes = Literal["file", "systems", "gold"]
"""Which files a format takes: one file with all systems; one file per system; or gold files and one file per system."""
ByTask = Callable[[Options], dict[str, EvaluationRecord | None]]
"""Function: options (with a metric) -> dict from each task to its evaluation, or to None if the task lacks the metric.
Without tasks, the only key is ""."""
Looks = Callable[[str, bytes], bool]
"""Function: (file name in lower case without .gz, first bytes unpacked) -> whether the file looks like the format."""


def looks_like(*patterns: bytes, ending: str | tuple[str, ...] = ()) -> Looks:
    r"""Make a function that recognizes files, by the ending of the name or by the first bytes.

    The first bytes must match all patterns, one after another. Several patterns are searched in linear time; one
    pattern with `.*` between its parts would take quadratic time.

    >>> looks = looks_like(rb"^\s*\(", ending=".mrg")
    >>> looks("a.mrg", b""), looks("a.txt", b"(TOP (X a))"), looks("a.txt", b"a (X a)")
    (True, True, False)
    """

    def holds(head: bytes) -> bool:
        start = 0
        for pattern in patterns:
            found = re.compile(pattern).search(head, start)
            if found is None:
                return False
            start = found.end()
        return bool(patterns)

    return lambda name, head: name.endswith(ending) or holds(head)


def head_lines(head: bytes, *, most: int = 20) -> list[bytes]:
    """Return the first nonblank lines in a file's first bytes, without the last line, which may be cut off."""
    lines = head.split(b"\n")
    return [line for line in (lines[:-1] or lines)[:most] if line.strip()]


def lines_like(*patterns: bytes) -> Looks:
    """Make a function that recognizes files in which each of the first lines matches one of the patterns."""

    def looks(name: str, head: bytes) -> bool:
        lines = head_lines(head)
        return bool(lines) and any(all(re.fullmatch(pattern, line) for line in lines) for pattern in patterns)

    return looks


def either(*looks: Looks) -> Looks:
    """Make a function that recognizes files if any of the given functions recognizes them."""
    return lambda name, head: any(each(name, head) for each in looks)


@dataclass(frozen=True)
class Format:
    """A file format.

    Another package can add a format by an entry point of the group `sigjax.formats` (`sigjax help own-format`). Added
    formats are tried after the formats of sigjax, but before plain tables, labels and texts. An added format is left
    out, with a warning, if it cannot be loaded or has the name of another format.

    Attributes:
        name: name of the format for `--reader`.
        title: what the format is, in a few words.
        takes: which files the format takes.
        reader: "module:function". The function takes (sources, options), parses the files once for all metrics, and
            returns a function: options with one metric -> evaluation (see `sigjax.readers.join.join_sheets`). For wrong
            data it raises an `InputError` that names file and line. It is imported when the format is chosen.
        looks: function: (file name in lower case without .gz, first bytes unpacked) -> whether the file looks like this
            format. It is called for the first file of a comparison, if `names` and `begins` allow the file.
        recognizes: "module:function". The function checks a file that passes `looks` once more, with the same
            arguments.
        confirms: "module:function". The function takes (gold files, files of systems), and returns whether all files
            together have this format, if the first file alone cannot tell. It raises an error for files that nearly fit
            the format.
        metrics: names of the metrics for which files of this format have statistics, the default first; empty if the
            files have numbers for any metric.
        offers: "module:function". The function takes a metric's name, and returns whether the format has this metric,
            even if it is not in `metrics` or sigjax does not know it.
        options: names of options of `read`, and of parameters of metrics, that this format uses and other formats may
            not use.
        parameters: the parameters after the format's name, as in alignment(one_based=true), each with its possible
            values (empty: any value). `Options.parameters` has the given values.
        folder: pattern of file names (several patterns with | between them), if a system may be given as a folder. For
            *.json and results.json, only files that look like this format are used.
        tasks: whether a system may have several files, one per task, so that its folder may hold several files.
        certain: whether a file that looks like this format has no other format. Then a metric that does not fit raises
            an error, and the file is not read as plain text.
        names: regular expression for file names, without the folder and in lower case.
        begins: the possible first bytes of files, after white space.
        parts: whether a file may also hold only one system, with one file per system.
        package: the package that adds the format, with its version; empty for formats of sigjax.
    """

    name: str
    title: str
    takes: Takes
    reader: str
    looks: Looks
    metrics: tuple[str, ...] = ()
    options: frozenset[str] = frozenset()
    parameters: Parameters = field(default_factory=dict)
    recognizes: str = ""
    confirms: str = ""
    offers: str = ""
    folder: str = ""
    tasks: bool = False
    certain: bool = True
    names: str = ".*"
    begins: tuple[bytes, ...] = (b"",)
    parts: bool = False
    package: str = ""

    def _function(self, name: str) -> Any:
        """Import the function named "module:function"; modules of `sigjax.formats` need no prefix."""
        own = not self.package and "." not in name.partition(":")[0]
        return resolve_name(f"sigjax.formats.{name}" if own else name)

    def fits(self, name: str, head: bytes) -> bool:
        """Whether a file with this name and these first bytes looks like this format."""
        if not (self.may_be(name, head) and self.looks(name, head)):
            return False
        return not self.recognizes or self._function(self.recognizes)(name, head)

    def may_be(self, name: str, head: bytes) -> bool:
        """Whether a file of this format may have this name and these first bytes."""
        return bool(re.fullmatch(self.names, PurePath(name).name, re.S)) and head.lstrip().startswith(self.begins)

    def inside(self, folder: str) -> list[str]:
        """Return the files of this format in a folder.

        They are chosen by name, and also by content if other programs write files with this name.
        """
        found = set[str]()
        for pattern in filter(None, self.folder.split("|")):
            files = files_inside(folder, pattern)
            found.update(each for each in files if pattern not in _AMBIGUOUS_PATTERNS or self.fits(*read_head(each)))
        return sorted(found)

    def confirmed(self, files: Sequence[str], outputs: Sequence[str]) -> bool:
        """Whether the files together have this format, by the function in `confirms`; True if there is none.

        `files` are the gold files, and `outputs` the files of systems.
        """
        return not self.confirms or self._function(self.confirms)(files, outputs)

    def serves(self, metric: object) -> bool:
        """Whether the format provides the inputs of a metric; True for a user's own metric, for which this is unknown.

        >>> FORMATS["conll"].serves("f2"), FORMATS["conll"].serves("bleu"), FORMATS["trec-run"].serves("p@3")
        (True, False, True)
        """
        if metric is None or not self.metrics or not isinstance(metric, str):
            return True
        if metric in self.metrics:
            return True
        if self.offers:
            return bool(self._function(self.offers)(metric))
        base = parameterized(metric)[1]
        return base in self.metrics or ("fscore" in self.metrics and FBETA.fullmatch(base) is not None)

    def check_metric(self, metric: object) -> None:
        """Raise an error if `metric` has parameters, as in NAME(parameter=value), that this format does not use."""
        given = parameterized(metric)[2] if self.metrics and not self.offers and isinstance(metric, str) else {}
        if others := [name for name in given if name not in self.options]:
            raise InputError(f"metric {metric!r}: {others[0]} means nothing for the format {self.name}; leave it out")

    @property
    def parser(self) -> Callable[..., DataTable] | None:
        """The function that parses a file to a table; None if the files of this format are not tables."""
        reader = self._function(self.reader)
        return reader.args[0] if getattr(getattr(reader, "func", None), "__name__", "") == "read_tables" else None

    def read(self, sources: Sources, options: Options) -> Tasks:
        """Read files of this format.

        Return a function: options with one metric -> evaluation; or, for files with several tasks, -> dict of
        evaluations by task.
        """
        reading = self._function(self.reader)(sources, options)
        return lambda options: reading(replace(options, metric=self._meant(options.metric)))

    def _meant(self, metric: Any) -> Any:
        """Translate a metric's alias to its name in sigjax. Names of scores in the files stay unchanged."""
        if not (isinstance(metric, str) and self.metrics) or metric in self.metrics:
            return metric
        return metric if self.offers and self._function(self.offers)(metric) else canonical(metric)


def looks_tabular(name: str, head: bytes) -> bool:
    r"""Whether the first lines of a file are rows of a table or JSON objects, and not plain texts or labels.

    A table has at least two rows with the same number of tabs; or with the same number of commas, and without blanks,
    because texts have blanks. In a file named .csv, it is enough that each row has a comma.

    >>> looks_tabular("a.txt", b"q1\tyes\nq2\tno\n"), looks_tabular("a.json", b'[{"text": "it is"}]')
    (True, True)
    >>> looks_tabular("a.txt", b"[sic] Yes, it is.\nNo, never.\n")
    False
    """
    lines = [line.strip(b"\r ") for line in head_lines(head)]
    if _OBJECTS.match(head) or all(line.startswith(b'{"') and line.endswith(b"}") for line in lines):
        return bool(lines)
    tabs, commas = ({line.count(mark) for line in lines} for mark in (b"\t", b","))
    if len(lines) > 1 and len(tabs) == 1 and 0 not in tabs:
        return True
    if name.endswith(".csv"):
        return bool(lines) and 0 not in commas
    return len(lines) > 1 and len(commas) == 1 and 0 not in commas and not any(b" " in line for line in lines)


def _looks_csv(name: str, head: bytes) -> bool:
    first = _first_row(head)
    if name.endswith(".csv"):
        return True
    if _is_packed_or_json(head) or b"\t" in first:
        return False
    is_regular = partial(_same_mark_count, _row_lines(head))
    return b"," in first or first.startswith(b"sep=") or any(map(is_regular, (b";", b"|", b",")))


def _same_mark_count(lines: Sequence[bytes], mark: bytes) -> bool:
    """Whether all lines have the same number (above 0) of `mark`.

    If there are three or more lines, the first line may have another number, because it may be a title.
    """
    counts = [line.count(mark) for line in lines]
    return any(len({*own}) == 1 and own[0] > 0 for own in (counts, counts[1:] if len(counts) > 2 else counts))


def _has_tabs(head: bytes) -> bool:
    """Whether the first lines of a file look like rows with tabs between columns.

    The first row has tabs; or it has no comma, and all other rows have the same number of tabs.
    """
    lines = _row_lines(head)
    return b"\t" in _first_row(head) or (b"," not in _first_row(head) and _same_mark_count(lines, b"\t"))


def _looks_spaced(_: str, head: bytes) -> bool:
    """Whether the first line has names, and each other line the same number of fields (or one more) between blanks.

    The last field of each other line must be a number, or missing.
    """
    names, *rows = [line.decode("utf-8", "replace").split() for line in _row_lines(head)] or [[]]
    return (
        {len(row) for row in rows} in ({len(names)}, {len(names) + 1})
        and b"\t" not in head
        and len(rows[0]) > 1
        and all(map(is_text, names))
        and all(is_missing(row[-1]) or not is_text(row[-1]) for row in rows)
    )


def _first_row(head: bytes) -> bytes:
    return (_row_lines(head) or [b""])[0].lstrip()


def _is_packed_or_json(head: bytes) -> bool:
    return _first_row(head).startswith((b"[", b"{", b"PK"))


def _row_lines(head: bytes) -> list[bytes]:
    """Return the first lines without comments. A line with # is kept as a header if it has as many fields as a row."""
    lines = head_lines(head)
    row = next((line for line in lines if not line.startswith(b"#")), b"")

    def fields(line: bytes) -> list[int]:
        return [len(line.split()), *map(line.count, (b"\t", b",", b";"))]

    return [line for line in lines if not line.startswith(b"#") or fields(line) == fields(row)] or lines


def _looks_labels(name: str, head: bytes) -> bool:
    """Whether each line has one word. Labels of several words are read only if the user names the format."""
    lines = (head[: head.rfind(b"\n") + 1] or head).rstrip().split(b"\n")
    return all(len(line.split()) == 1 for line in lines) and _looks_texts(name, head)


def _looks_id_labels(_: str, head: bytes) -> bool:
    """Whether the first line may hold an id and its label.

    It begins with an opening bracket or #, or has a tab, comma or semicolon, or has at most two words.
    """
    line = head.strip().partition(b"\n")[0]
    return line.startswith((b"{", b"[", b"(", b"#")) or len(line.split()) <= 2 or bool({*line} & {*b"\t,;"})


def _looks_texts(name: str, head: bytes) -> bool:
    """Whether a file may be plain text, because it is not a table, JSON or a document.

    Other faults are found when the file is read.
    """
    if b"\0" in head or name.endswith((*DOCUMENTS, ".json", ".jsonl")):
        return False
    return not (_JSON.match(head) or looks_tabular(name, head))


def _looks_markdown(_: str, head: bytes) -> bool:
    """Whether the first line with a pipe has at most five lines before it, and a rule such as |---|---| after it."""
    lines = head[:_HEAD_OF_TEXT].decode("utf-8", "replace").split("\n")
    first = next((i for i, line in enumerate(lines) if "|" in line), len(lines))
    return first <= _MOST_TITLES and any(map(is_rule, lines[first + 1 : first + 2]))


_HEAD_OF_TEXT, _MOST_TITLES = 20_000, 5


def _looks_mqm(_: str, head: bytes) -> bool:
    header = head.partition(b"\n")[0].decode("utf-8", "replace")
    return {"system", "rater", "category", "severity"} <= {name.strip().lower() for name in header.split("\t")}


_AMBIGUOUS_PATTERNS = ("*.json", "results.json", "*/results.json")
"""Patterns of file names that several programs use. Files with such names are also checked by content."""
DOCUMENTS = (".md", ".rst", ".log", ".html", ".yaml", ".yml", ".py", ".ipynb", ".pdf", ".png")
"""Endings of files that hold no results, gold labels or texts."""
_JSON = re.compile(rb'\s*(\[\s*)?\{\s*"[^"\n]*"\s*:')
_OBJECTS = re.compile(rb'\s*\[\s*\{\s*"[^"\n]*"\s*:')
_NUMBER = r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?"
_NUMBERS = re.compile(rf"\s*{_NUMBER}([ \t]+{_NUMBER})*\s*")
_NUMBER_WORD = re.compile(rb"[-+.\d]*")
_NAME = rb'"(?:[^"\\]|\\.)*"\s*:\s*'
"""Pattern of a field name in a JSON object, and of the colon after it."""
_TAG = rb"(?m)(?:^|[ \t])[BIESLUM]-\S"
_NO_ENDING = r"\.?[^.]*"  # file names without an ending

_F1 = ("fscore", "precision", "recall")
_TAGS = (*_F1, "accuracy")
_TAG_OPTIONS = frozenset({"unit", "match"})
_LABELS = ("accuracy", *CLASS_METRICS, *_F1)
_TRANSCRIPTS = ("wer", "cer", *(m for m, of in TEXT_METRICS.items() if m not in ("wer", "cer")))
_RUNS = ("ap", "ndcg@10", "p@10", "rr", "recall@100", "ap(rel=2)")
_TEXT_OPTIONS = frozenset({"tokenize", "lowercase", "punctuation"})
_BOOLEAN = ("true", "false")
_FILTER, _UNIT = frozenset({"filter"}), frozenset({"unit"})


_LOOKS: dict[str, Looks] = {
    "trec-eval": either(
        lines_like(rb"(?:[A-Za-z0-9][\w.]* +|runid|num_q|num_ret|map)\t\S+\t\S+\s*", rb"\S+\t\S+\t[-+.0-9eE].*"),
        looks_like(rb"\A\s*\{\s*" + _NAME + rb"\{"),
    ),
    "brackets": looks_like(rb"(?m)^[ \t]*ID\s+Len\.\s+Stat\.\s+Recal\s"),
    "errant": looks_like(rb"(?m)^(SENTENCE \d+ - HYP \d+ - REF \d+$|=+ (Span|Token)-Based (Correction|Detection) )"),
    "conll": looks_like(_TAG),
    "numbers": lambda _, head: bool(_NUMBERS.fullmatch(head.partition(b"\n")[0].decode("utf-8", "replace"))),
    "swebench-results": either(
        looks_like(rb'"instance_id"'),
        lines_like(rb"\s*[\w.-]{1,99}__[\w.-]{1,199}\s*"),
        looks_like(rb'\A\s*\[\s*"[\w.-]{1,99}__'),
    ),
    "alignment": lines_like(
        rb"\s*[0-9]+\s+[0-9]+\s+[0-9]+(\s+[SPsp](\s.*)?|\s*)", rb"\s*([0-9]+[-p?][0-9]+(\s+[0-9]+[-p?][0-9]+)*\s*)?"
    ),
    # The file has a category on the first line, or a boundary mark @@ on some line.
    "segmentation": looks_like(rb"^([^\t\n]+\t[^\t\n]+\t[01]{3}\r?\n|(?=(?s:.*) @@)[^\t\n]+\t[^\t\n]+(\t[^\t\n]*)?\n)"),
    # This matches runs, too: a run in the place of the judgments raises an error with a reason when it is read.
    "trec-run": lines_like(rb"\s*\S+\s+\S+\s+\S+\s+-?[0-9]+\s*", rb"\s*\S+\s+Q0\s+\S+\s+\S+\s+[-+.0-9eE]+\s+\S+\s*"),
    "ranx-json": looks_like(rb"^\s*\{\s*" + _NAME + rb"\{\s*(?:" + _NAME + rb"[-0-9]|\})"),
    "squad": either(
        looks_like(rb'"paragraphs"\s*:\s*\[', rb'"qas"\s*:'), looks_like(rb"(?s)^\s*\{\s*" + _NAME + rb'\[\s*["\]]')
    ),
    "m2": looks_like(rb"(?sm)\A\s*S .*?^A -?\d+ -?\d+\|\|\|", ending=".m2"),
    "hipe": looks_like(rb"^TOKEN\tNE-"),
    "mbt": looks_like(rb"(?m)^<utt>\s*$"),
    "conllu": looks_like(rb"\A(?:#[^\n]*\n|\r?\n)*1(?:-\d+)?\t(?:[^\t\n]*\t){8}[^\t\n]*\n", ending=".conllu"),
    "trees": looks_like(rb"^\s*\(\s*(?:[^\s()]+\s*)?\([^\n]*\)[ \t\r]*(?:\n|\Z)"),
    "conll-gold": either(
        looks_like(rb"(?m)^[ \t\r]*\n|-DOCSTART-|<utt>", ending=(".conll", ".iob", ".tags")), looks_like(_TAG)
    ),
    "terms": looks_like(ending=".terms"),
    "stm": either(looks_like(ending=".stm"), lines_like(rb"\s*;;.*|\s*(?:\S+\s+){3}[\d.]+\s.*")),
    "kaldi": lines_like(rb"\s*[^\s0-9\x80-\xff]*[0-9\x80-\xff].*"),
    "trn": either(looks_like(ending=".trn"), lines_like(rb"[^)]*\).*")),
    "id-labels": _looks_id_labels,
    "labels": _looks_labels,
    "texts": _looks_texts,
    "excel": is_spreadsheet,
    "npz": looks_like(b"^" + ZIP_MAGIC, ending=".npz"),
    "parquet": looks_like(rb"^PAR1", ending=".parquet"),
    "comet": looks_like(rb'"COMET"'),
    "comet-text": looks_like(rb"(?m)^[^\t\n]+\tSegment \d+\tscore: "),
    "mt-metrics-eval": looks_like(ending=".seg.score"),
    "mqm": _looks_mqm,
    "appraise": lines_like(rb"[^,]+,[^,]+,[^,]+,(TGT|CHK|BAD|REF),[^,]*,[^,]*,-?\d{1,9}(\.\d+)?,.*"),
    "markdown": _looks_markdown,
    "latex": looks_like(rb"\\begin\{(tabular[*x]?|longtable)\}", ending=".tex"),
    "jsonl": looks_like(rb"^\s*\{", ending=".jsonl"),
    "json": either(
        looks_like(rb"^\s*(\[\s*[\[{]|\{[^\[\]{}]{0,200}\"columns\"\s*:\s*\[)"),
        looks_like(rb"^\s*\{\s*\"schema\"\s*:\s*\{\s*\"fields\""),
        looks_like(rb"^\s*\{\s*" + _NAME + rb"\{\s*" + _NAME + rb"[-0-9\"tfn]"),
    ),
    "paired-perm": looks_like(),  # never recognized: a table that lost its header looks the same
    "tsv": lambda name, head: name.endswith(".tsv") or (not _is_packed_or_json(head) and _has_tabs(head)),
    "csv": _looks_csv,
    # The file has labels: on some line, the last word is not a number.
    "timbl": lambda _, head: not all(_NUMBER_WORD.fullmatch(line.split()[-1]) for line in head_lines(head)),
    "spaces": _looks_spaced,
}
"""Dict from the name of a format to the function that recognizes its files."""
CURVES: Mapping[str, Looks] = {
    "events": lambda name, _: PurePath(name).name.startswith("events.out.tfevents."),
    "scalar": looks_like(rb'\A"?Wall time"?,"?Step"?,"?Value"?\s'),
    "scalars": looks_like(rb"\A\s*\[\s*\[\s*\d{9,10}(\.\d{1,9})?\s*,\s*\d{1,18}\s*,\s*-?[\d.]"),
    "chart": looks_like(rb'\A[^\n]*__MIN"?,[^\n,]*__MAX"?[,\r\n]'),
    "history": looks_like(
        rb'\A(?=[^\n]*[,"]_step\b|_step\b)(?=[^\n]*\b_runtime\b)(?=[^\n]*\b_timestamp\b)(?![^\n]*\b[Nn]ame\b)[^\n]*,'
    ),
    "monitor": looks_like(rb'\A#\s*\{\s*"t_start"\s*:'),
    "evaluations": lambda _, head: (
        head.startswith(ZIP_MAGIC) and head[30:].startswith(b"timesteps.npy") and b"results.npy" in head
    ),
}
"""Dict from a kind of file of one training run to the function that recognizes it. Such files have no instances (see
`formats.curves`)."""


def _format(takes: Takes, name: str, title: str, reader: str, metrics: tuple[str, ...] = (), **more: Any) -> Format:
    return Format(name, title, takes, reader, _LOOKS[name], metrics, **more)


def _tagged(takes: Takes, name: str, about: str, reader: str, metrics: tuple[str, ...] = _TAGS, **more: Any) -> Format:
    title = f"tagged tokens, {about}"
    return _format(takes, name, title, f"conll:read_{reader}", metrics, options=_TAG_OPTIONS, **more)


def _transcripts(name: str, title: str) -> Format:
    functions = {"recognizes": f"texts:looks_like_{name}", "confirms": f"texts:are_{name}"}
    return _format("gold", name, title, f"texts:read_{name}", _TRANSCRIPTS, options=_TEXT_OPTIONS, **functions)


def _table(name: str, title: str, reader: str, names: str, **more: Any) -> Format:
    """Declare a format of tables: one table with all systems, or one table per system.

    `more` are further fields of `Format`.
    """
    options = "runs system_column score_column gold prediction where transpose melt systems"
    options += " records" * (name in ("json", "jsonl"))
    return _format("file", name, title, reader, options=frozenset(options.split()), names=names, parts=True, **more)


_gold, _systems, _file = (partial(_format, takes) for takes in ("gold", "systems", "file"))
_PLAIN, _FRAMES = (f"sigjax.readers.{room}:read_" for room in ("plain", "frames"))
_TABLE = (
    # Formats with one file per system; logs of harnesses are in `formats.harness`
    _systems(
        "trec-eval",
        "per-topic output of trec_eval -q, ir_measures or pytrec_eval",
        "trec:TREC_EVAL.read",
        recognizes="trec:looks_measured",
    ),
    _systems("comet-text", "lines that comet-score prints", "texts:COMET_TEXT.read"),
    _systems("brackets", "output of evalb", "trees:EVALB.read", _F1),
    _systems(
        "errant",
        "output of errant_compare -v",
        "corrections:ERRANT.read",
        ("f0.5", *_F1[1:], "fscore"),
        begins=(b"--", b"=="),
    ),
    _tagged("systems", "conll", "gold and guess as the last columns", "pairs", recognizes="conll:looks_pairs"),
    _systems(
        "numbers",
        "one number per line, or the 2 or 4 of smartschat/art",
        "sigjax.readers.plain:read_numbers",
        names=r"(?!.*\.(csv|tsv|json)$).*",
    ),
    # Formats with gold files, and one file per system
    _gold(
        "swebench-results",
        "results.json of SWE-bench's experiments, after a list of all ids",
        "sigjax.formats.harness.swebench:read_listed",
        folder="results/results.json",
        confirms="sigjax.formats.harness.swebench:are_listed",
    ),
    _gold(
        "alignment",
        "word alignments, Pharaoh (TALP) or NAACL",
        "alignment:read_alignment",
        ("aer", "alignment-precision", "alignment-recall"),
        options=_UNIT,
        parameters={"swap": (), "one_based": _BOOLEAN},
    ),
    _gold("segmentation", "morpheme segmentation, SIGMORPHON 2022", "conll:read_segmentations", _TAGS),
    _gold("trec-run", "judgments (qrels) and runs of TREC", "trec:read_runs", _RUNS, offers="trec:parse_measure"),
    _gold("ranx-json", "judgments and runs as JSON (ranx)", "trec:read_runs", _RUNS, offers="trec:parse_measure"),
    _gold("squad", "answers to questions as JSON (SQuAD)", "texts:read_answers", ANSWERS, begins=(b"{",)),
    _gold(
        "m2",
        "edits of grammatical error correction (M2, ERRANT)",
        "corrections:read_edits",
        ("f0.5", *_F1[1:], "fscore"),
        options=_FILTER,
        begins=(b"S",),
    ),
    _gold("hipe", "tagged tokens of HIPE", "conll:read_hipe", _TAGS, options=_TAG_OPTIONS | {"filter"}),
    _tagged("gold", "mbt", "<utt> after a sentence", "gold", ("accuracy", *_F1), certain=False),
    _gold(
        "conllu",
        "dependency trees, CoNLL-U",
        "trees:read_dependencies",
        ("las", "uas", "upos", "xpos", "ufeats", "alltags", "lemmas", "clas", "mlas", "blex"),
    ),
    _gold("trees", "phrase structure trees, one per line", "trees:read_trees", _F1, options=_UNIT),
    _tagged("gold", "conll-gold", "the tag as the last column", "gold", recognizes="conll:looks_gold", certain=False),
    _gold("terms", "term lists", "labels:read_terms", _F1, options=_UNIT),
    _gold(
        "stm",
        "transcripts with times, as sclite's stm, and ctm of the systems",
        "texts:read_timed",
        ("wer-sclite",),
        recognizes="texts:looks_timed",
        confirms="texts:are_timed",
    ),
    _transcripts("kaldi", "transcripts with ids, as Kaldi's text"),
    _transcripts("trn", "transcripts with ids, as sclite's trn"),
    _gold(
        "id-labels",
        "ids and class labels, one per line or as a JSON object",
        "labels:read_id_labels",
        _LABELS,
        recognizes="labels:looks_like_id_labels",
        confirms="labels:are_id_labels",
        certain=False,
    ),
    _gold("labels", "class labels, one per line", "labels:read_label_files", _LABELS, certain=False),
    _gold(
        "texts",
        "references and outputs, one segment per line",
        "texts:read_texts",
        tuple(TEXT_METRICS),
        options=_TEXT_OPTIONS,
    ),
    # Formats with all systems in one file; tables come last
    _table(
        "excel",
        "spreadsheet of Excel or LibreOffice",
        _FRAMES + "excel",
        ".*",
        parameters={"sheet": ()},
        begins=(OLD_OFFICE_MAGIC, ZIP_MAGIC),
    ),
    _file(
        "npz",
        "NumPy arrays, or what `sigjax extract` saves",
        "sigjax.readers.saved:read_npz",
        names=rf"{_NO_ENDING}|.*\.npz",
    ),
    _table("parquet", "table of Apache Parquet", _FRAMES + "parquet", ".*"),
    _file("comet", "JSON of comet-score --to_json", "texts:COMET.read", names=r".*\.json"),
    _file("mt-metrics-eval", "segment scores of mt-metrics-eval (.seg.score)", "texts:SEGMENT_SCORES.read"),
    _file("mqm", "errors marked by raters of translations (MQM)", "ratings:MQM.read", ("mqm", "mean")),
    _file(
        "appraise",
        "ratings of translations exported by Appraise (DA, ESA)",
        "ratings:APPRAISE.read",
        ("score", "mean"),
        options=_FILTER,
    ),
    _table("markdown", "table of Markdown, pipes between columns", _PLAIN + "markdown", r"(?!.*\.(csv|tsv)$).*"),
    _table("latex", "table of LaTeX (tabular)", _PLAIN + "latex", r"(?!.*\.(csv|tsv)$).*"),
    _table("jsonl", "table, one JSON object per line", _FRAMES + "jsonl", rf"{_NO_ENDING}|.*\.jsonl"),
    _table(
        "json",
        "table, a JSON list of objects, or columns and data (pandas, MLflow, Weights & Biases)",
        _FRAMES + "json",
        rf"{_NO_ENDING}|.*\.json",
        parameters={"orient": ("columns", "index")},
    ),
    _file(
        "paired-perm",
        "numbers of the systems A and B on each line (paired-perm-test)",
        "sigjax.readers.plain:read_paired",
    ),
    _table("tsv", "table, tabs between columns", _PLAIN + "tsv", r"(?!.*\.csv$).*"),
    _table("csv", "table, commas, semicolons or | between columns", _PLAIN + "csv", r"(?!.*\.tsv$).*"),
    _systems(
        "timbl",
        "features, gold label and predicted label per line",
        "labels:read_timbl",
        _LABELS,
        recognizes="labels:looks_like_timbl",
    ),
    _table("spaces", "table, blanks between columns", _PLAIN + "spaces", r"(?!.*\.(csv|tsv)$).*"),
)
HARNESSES = tuple(each.name.replace("_", "-") for each in iter_modules([str(PurePath(__file__).with_name("harness"))]))
"""Names of the formats of logs. Each has a module in `formats.harness` (a harness is a program that evaluates models).
"""
LOGS_BEGIN = (b"{", b"[", ZIP_MAGIC, b"PAR1")
"""The bytes with which logs may begin."""


@cache
def logs_hold(name: str) -> tuple[bytes, ...]:
    """Return texts, at least one of which occurs in each log of a harness, or in the name of the log.

    They are read from the first line of the harness's module, without importing it.

    >>> logs_hold("swebench")[0]
    b'"leaderboards"'
    """
    try:
        line = (get_data("sigjax.formats.harness", f"{name.replace('-', '_')}.py") or b"").partition(b"\n")[0]
    except OSError:  # installed without sources
        return (b"",)
    return tuple(each.strip() for each in line.removeprefix(b"# logs hold: ").split(b" or "))


def _may_be_log(harness: str, name: str, head: bytes) -> bool:
    """Whether a file may be a log of this harness, by its first bytes and the texts of `logs_hold`."""
    if not head.lstrip().startswith(LOGS_BEGIN):
        return False
    return any(mark in head or mark in name.encode("utf-8", "replace") for mark in logs_hold(harness))


class _Formats(Mapping[str, Format]):
    """The formats by name: first logs of harnesses, each imported when it is used, then the formats of `_TABLE`."""

    def __init__(self, known: Sequence[Format]) -> None:
        self._known = {each.name: each for each in known}

    def __getitem__(self, name: str) -> Format:
        """The format with this name."""
        if name in HARNESSES and name not in self._known:
            self._known[name] = resolve_name(f"sigjax.formats.harness.{name.replace('-', '_')}:FORMAT")
        return self._known[name]

    def __contains__(self, name: object) -> bool:
        """Whether there is a format with this name."""
        return name in HARNESSES or name in self._known

    def __iter__(self) -> Iterator[str]:
        """Yield the names of the formats, in the order in which they are tried on a file."""
        return iter(dict.fromkeys(chain(HARNESSES, self._known)))

    def __len__(self) -> int:
        """The number of formats."""
        return len({*HARNESSES, *self._known})


FORMATS: Mapping[str, Format] = _Formats(_TABLE)
"""Dict from a name to the format, in the order in which formats are tried on a file: specific formats before general
formats."""
_GENERAL = ("id-labels", "labels", "texts", "jsonl", "json", "paired-perm", "tsv", "csv", "timbl", "spaces")
"""Names of general formats, which are tried after the formats of other packages."""


GROUP = "sigjax.formats"
"""The group of entry points by which other packages add formats."""


@cache
def added_formats() -> dict[str, Format]:
    """Return the formats that other packages add.

    A format that cannot be used is left out, with a warning of one line.
    """
    from importlib.metadata import entry_points

    points = entry_points(group=GROUP)
    count = Counter(point.name for point in points)
    added: dict[str, Format] = {}
    for point in points:
        package = f"{point.dist.name} {point.dist.version}" if point.dist is not None else "another package"
        try:
            if point.name in FORMATS:
                raise InputError("sigjax has a format of that name; rename it")
            if count[point.name] > 1:
                raise InputError("another package adds one of that name; keep one of them")
            added[point.name] = replace(_loaded(point), package=package)
        except Exception as error:  # other packages may raise anything
            said = str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
            message = f"format {point.name} of {package} is left out: {' '.join(said.split())[:200]}"
            warnings.warn(message, RuntimeWarning, stacklevel=2)
    return added


def _loaded(point: EntryPoint) -> Format:
    """Load the format that an entry point names; raise an error if it is not a `Format` with the same name."""
    found = point.load()
    if not isinstance(found, Format):
        raise InputError(f"{point.value} is {type(found).__name__}; expected a sigjax.formats.Format")
    if found.name != point.name:
        raise InputError(f"its Format is named {found.name!r}; name both alike")
    return found


def named_format(reader: str) -> tuple[Format, dict[str, list[str]]]:
    """Return the format that `reader` names, and the parameters after its name, as in alignment(one_based=true)."""
    name, given = split_parameters(reader)
    known = FORMATS if name in FORMATS else all_formats()
    if name not in known:
        close = meant(name, known)
        tables = ", ".join(each.name for each in known.values() if each.takes == "file")
        others = f"expected one of {tables}, or another one that `sigjax help formats` lists"
        expected = f"did you mean {close[0]!r}?" if close else others
        raise InputError(f"{Hint('reader')}: no format {quote(name)}; {expected}")
    check_parameters(f"the format {name}", given, known[name].parameters)
    return known[name], given


def all_formats(file: tuple[str, bytes] | None = None) -> dict[str, Format]:
    """Return all formats by name, in the order in which they are tried, including formats of other packages.

    If `file` (its name and first bytes) is given, leave out the formats of logs that this file cannot have.
    """
    without = [] if file is None else [name for name in HARNESSES if not _may_be_log(name, *file)]
    particular = {name: FORMATS[name] for name in FORMATS if name not in _GENERAL and name not in without}
    return particular | added_formats() | {name: FORMATS[name] for name in FORMATS if name in _GENERAL}
