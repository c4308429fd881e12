"""The options of reading and their checks; functions that write messages; and the names of systems.

A system gets a short, unique name from the path of its file. In this module, "refuse" means: raise an `InputError`.
"""

import math
import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import Any, Literal

from sigjax.metrics import known_metric, resolve_metric
from sigjax.records import Hint, InputError, Metric, Missing, SampleMetric, Unit
from sigjax.records.display import meant
from sigjax.records.metric import AnyMetric
from sigjax.records.options import StrPath, check, option, options_of, takes

LONGEST_TEXT = 40
ROWS = "rows"
"""A value of `--runs` that is not the name of a column. It means that the repeated rows of an instance are its runs, in
their order."""
MOST_NAMES = 12
MISSING = frozenset(
    ("", "nan", "n/a", "n.a.", "na", "#n/a", "<na>", "none", "null", "missing", "-", "--", "–", "—", "?")
)
"""Words that stand for a missing result in a table, in lower case."""


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """The options of `read`, for all kinds of data."""

    counts: Mapping[str, str] | None = option(
        None,
        "Columns of the metric's statistics, such as tp=las_correct.",
        'Input of the metric -> column of numbers, such as `{"tp": "las_correct"}`; for a function, its statistics in '
        "order.",
        group="Input",
    )
    id_column: str | None = option(None, "Column of instance ids; A,B makes one id of several columns.", group="Input")
    system_column: str | None = option(
        None, "Column of the systems in a long table; default: by its name (system, model, run, ...).", group="Input"
    )
    score_column: str | None = option(
        None, "Column of the numbers in a long table, for a metric of one number.", group="Input"
    )
    gold: str | None = option(
        None,
        "Gold labels: a column, or a file of ids and labels; default: a column named y_true, gold_label, ...",
        "COLUMN=LABEL says which label is class 1, for auc, precision and others of two classes. The metric scores "
        "predictions: classes, numbers, probabilities or texts.",
        group="Input",
        arrays="labels in an array are for Evaluation.from_predictions(gold, predictions)",
    )
    prediction: Sequence[str] | None = option(
        None, "Columns of predictions, one per system; default: those named y_pred, pred_NAME, ...", group="Input"
    )
    where: str | None = option(
        None,
        "Rows to take, such as \"task == 'x' and length > 5\".",
        "Comparisons of columns (==, !=, <, <=, >, >=, in) with numbers and texts, joined by and, or, not.",
        group="Input",
        rare=True,
    )
    transpose: bool = option(
        False, "The table has one row per system: exchange its rows and columns first.", group="Input", rare=True
    )
    melt: Sequence[str] | None = option(
        None, "Columns that are runs of an instance, one number each.", group="Input", rare=True
    )
    decimal: Literal[".", ","] | None = option(
        None,
        "What stands before the decimals of numbers in text; default: a point, or a comma that nothing contradicts.",
        "A comma is taken for it where columns stand between semicolons. As `decimal` of pandas.",
        group="Input",
        rare=True,
    )
    thousands: Literal[",", ".", "'", " "] | None = option(
        None,
        "What stands between the thousands of numbers in text, as in 1,234; default: nothing.",
        "With a point, decimals follow a comma. As `thousands` of pandas.",
        group="Input",
        rare=True,
    )
    systems: Sequence[str] | None = option(
        None,
        "Columns that are the systems, one each; default: those of one scale, if none is named like a metric.",
        group="Input",
    )
    only: Sequence[str] | None = option(None, "Compare only these systems.", "In this order.", group="Input")
    ignore: Sequence[str] = option((), "Columns that are not systems.", group="Input")
    runs: str | None = option(
        None,
        f"Column that tells apart runs (epochs, seeds) of an instance, or rows (repeated ones); see {Hint('design')}.",
        'Runs of the same instance are resampled together, unless a `design` tells them apart. "rows": rows of the '
        "same instance are its runs.",
        group="Input",
        arrays="labels in an array are for Evaluation.from_arrays(..., runs=...)",
    )
    cluster: str | None = option(
        None,
        "Resample clusters (documents) whole: a column or field, or a file of labels.",
        "The file has one label per line. TASK=FIELD is for one task of a suite; TASK=FIELD,TASK=FIELD for several.",
        group="Input",
        arrays="labels in an array are for Evaluation.from_arrays(..., clusters=...)",
    )
    strata: str | None = option(
        None,
        "Strata of the bootstrap, and of standard errors and intervals: a column or field, or a file of labels.",
        "The file has one label per line. TASK=FIELD is for one task of a suite, as for `cluster`.",
        group="Input",
        arrays="labels in an array are for Evaluation.from_arrays(..., strata=...)",
    )
    missing: Missing = option(
        "error",
        "Instances that some system lacks: refuse, leave out for all, count as 0, or leave out for its pairs.",
        'With "zero", 0 must not be the best score. A gold size is copied from a system that has the instance. With '
        '"pairwise", each pair is tested on the instances that both have, and each system is scored on those that it '
        "has: so scores of systems are of different instances, and only those of a comparison are of the same. "
        "p-values are corrected over all pairs, as ever. For `compare` alone, without maxt, simultaneous intervals, "
        "leaderboard or a design.",
        group="Input",
    )
    lower_is_better: bool | None = option(
        None, "Lower scores are better, whatever the metric says.", "False: higher scores are.", group="Input"
    )
    higher_is_better: bool | None = option(
        None,
        "Higher scores are better, whatever the metric says.",
        "False: lower scores are. Names of columns say it otherwise: wer, loss, rmse, latency: lower is better.",
        group="Input",
    )
    lexicon: str | None = option(
        None,
        "A file (TOML) with more names of metrics, systems, ids and other columns.",
        'Its sections are those of sigjax/readers/lexicon.toml, such as `[metrics]` with `lower = "defects"`.',
        group="Input",
        rare=True,
    )
    unit: Unit = option(
        "instance",
        "Response: swap single spans, links, constituents or terms (Yeh 2000).",
        "An instance is then one response (a span, link, constituent or term that some system gave, or of the gold "
        "standard) instead of one sentence. Swapping moves single responses from one system to the other, as in Yeh "
        "(2000). Scores are the same. The test assumes independent responses, while those of one sentence often "
        "depend on each other: then sentences, the default, are the safer unit.",
        group="Input",
        rare=True,
    )
    filter: str | None = option(
        None,
        "Which kind of results to take, where files hold several.",
        "A filter of lm-evaluation-harness, a split of HELM, an annotator of AlpacaEval, a board of SWE-bench.",
        group="Input",
        rare=True,
    )
    records: str | None = option(
        None,
        "Where the records stand in a JSON file, such as results[*].samples; columns may be paths, as parsed.score.",
        group="Input",
        rare=True,
    )
    progress: bool = option(
        True,
        "Draw a progress bar.",
        "In a terminal (stderr) or a notebook, when it takes longer than a second.",
        group="Running",
    )

    input: Sequence[StrPath] | Mapping[str, StrPath] = option(
        (),
        "Outputs of the systems, one file each, after the gold files; or NAME=FILE.",
        "They are named after their files; or name of each system -> file.",
        group="Main options",
    )
    metric: AnyMetric | Sequence[AnyMetric] | None = option(
        None,
        "Metrics (`sigjax help metrics` lists them); default: the first of the format.",
        'A name, also with parameters, as in "bleu(tokenize=zh)"; a `Metric`, a `SampleMetric`, or a function of sums '
        "`[..., stat] -> [...]`; or a list of these.",
        group="Main options",
    )
    reader: str | None = option(
        None,
        "Format; default: recognized from name and content.",
        'Its parameters stand after the name: "alignment(one_based=true)" (see `sigjax help formats`).',
        group="Input",
    )

    @property
    def direction(self) -> Literal["lower", "higher"] | None:
        """Whether lower or higher scores are better, if an option says so; else None."""
        if self.lower_is_better is None and self.higher_is_better is None:
            return None
        return "lower" if self.lower_is_better or self.higher_is_better is False else "higher"


@dataclass(frozen=True, kw_only=True)
class Options(ReadOptions):
    """The options of `read` that concern the content of the data, as a reader gets them: for one metric."""

    metric: AnyMetric = "mean"
    input: Any = ()  # readers get `Sources` instead
    parameters: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The parameters of the format: name -> values, such as one_based in alignment(one_based=true)."""
    seen: list[Any] | None = None
    """A list into which `join_sheets` puts the sheets, for messages and `sigjax doctor`. None if nobody needs them."""
    tried: bool = False  # whether a question is being tried out: another question is then not answered
    single: bool = False  # whether a single system is enough
    folds: bool = False  # whether rows are folds of a cross-validation, named by a column of folds
    sliced: bool = False  # whether to leave out the tasks of a suite without the field of `strata`

    def has(self, parameter: str) -> bool:
        """Whether the user set a parameter of the format to "true"."""
        return [*self.parameters.get(parameter, ())] == ["true"]


@takes(ReadOptions)
def _read(options: ReadOptions) -> ReadOptions:
    return options


def reading(given: ReadOptions | Mapping[str, Any] | None) -> ReadOptions:
    """Check the argument `read={...}` of other functions, which holds options of `read`; return it as a record.

    >>> reading({"id_column": "N"}).id_column
    'N'
    >>> reading({"id_colum": "N"})
    Traceback (most recent call last):
        ...
    TypeError: read() got an unexpected keyword argument 'id_colum'; did you mean 'id_column'?
    """
    return given if isinstance(given, ReadOptions) else _read(**(given or {}))


def check_meant(options: ReadOptions, what: str, taken: Collection[str]) -> None:
    """Refuse options that have no meaning for the data: all options that the user gave, except the names in `taken`.

    `what` describes the data for the message.
    """
    for name, declared in options_of(ReadOptions).items():
        if name in taken or name == "progress":
            continue
        if ((value := getattr(options, name)) or value is False) and value != declared.default:
            raise InputError(f"{Hint(name)} means nothing for {what}; leave it out")


def metric_of_arrays(options: ReadOptions) -> AnyMetric:
    """Return the metric for one array per system, by default the mean; all other options are refused.

    Raises:
        InputError: there are several metrics, or other options.
    """
    check_meant(options, "arrays, which Evaluation.from_arrays takes with ids and clusters", ("metric",))
    first, *more = listed_metrics(options.metric)
    if more:
        raise InputError(f"arrays of numbers have one metric, got {1 + len(more)}")
    return first or "mean"


def listed_metrics(metric: AnyMetric | Sequence[AnyMetric] | None) -> list[AnyMetric | None]:
    """Return the metrics as a list. None stands for the default metric.

    >>> listed_metrics("accuracy"), listed_metrics(["accuracy", "mcc"]), listed_metrics(None)
    (['accuracy'], ['accuracy', 'mcc'], [None])
    """
    if not isinstance(metric, list | tuple):
        return [metric]  # pyright: ignore[reportReturnType]
    if not metric:
        raise InputError(f"{Hint('metric')}: the list is empty; name one metric or more")
    return [*metric]


def check_options(options: Options) -> None:
    """Refuse options that are wrong whatever the file contains."""
    check(options)
    for name in ("cluster", "strata"):
        if options.unit == "response" and getattr(options, name) is not None:
            raise InputError(
                f"{Hint(name)} is for instances such as sentences, but {Hint('unit', 'response')} takes each response "
                "by itself; leave one of them out"
            )
    check_directions(options)
    if not isinstance(options.metric, str):
        chosen_metric(options)  # refuses anything but a metric


def check_directions(options: ReadOptions) -> None:
    """Refuse contradictory options: lower and higher scores cannot both be better, and they cannot both be worse."""
    if options.lower_is_better is not None and options.lower_is_better == options.higher_is_better:
        raise InputError(f"{Hint('lower_is_better')} and {Hint('higher_is_better')}: give one of them")


def chosen_metric(options: Options) -> Metric | SampleMetric:
    """Return the metric as a record.

    A user's function takes the inputs that are named in `counts`, or a single input called `value`.
    """
    metric = options.metric
    if isinstance(metric, Metric | SampleMetric):
        return metric
    if isinstance(metric, str) and (known := known_metric(metric)):
        return known
    names = tuple(options.counts or ("value",))
    return replace(resolve_metric(metric, num_inputs=len(names)), stat_names=names, inputs=names)


def with_score(file: str, options: Options, metric: Metric | SampleMetric) -> Options:
    """Replace the option `--score-column` by `counts`: this column holds the only input of the metric.

    Metrics with several inputs are refused.
    """
    if options.score_column is None:
        return options
    (name, *others) = metric.inputs
    if options.counts or others:
        takes = f"metric {metric.name!r} takes {', '.join(metric.inputs)}"
        raise InputError(f"{file}: {Hint('score_column')} is for a metric of one number; {takes}; see {Hint('counts')}")
    return replace(options, counts={name: options.score_column})


def select_systems(file: str, names: Sequence[str], options: Options) -> tuple[str, ...]:
    """Return the systems to compare, in the requested order: at least two, or one if `options.single`."""
    if not all(name.strip() for name in names):
        raise InputError(f"{file}: a system has no name; name it")
    chosen = tuple(names if options.only is None else options.only)
    for k, name in enumerate(options.only or ()):
        if name not in names:
            raise InputError(f"{file}: no system {quote(name)}; {suggest(name, names, 'systems')}")
        if name in chosen[:k]:
            raise InputError(f"{file}: system {quote(name)} is asked for twice; name it once")
    if len(chosen) < 2 - options.single:
        raise InputError(
            f"{file}: a comparison needs at least two systems, got {len(chosen)}; give one file per system, or one "
            "table of all (sigjax one-sample scores one)"
        )
    return chosen


def quote(text: str) -> str:
    """Quote a user's text for a message: on one line, and cut if it is long.

    >>> quote("a" * 50)
    "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...'"
    """
    return repr(text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 3] + "...")


def listing(names: Iterable[str], most: int = MOST_NAMES) -> str:
    """List at most `most` names for a message, and count the others."""
    names = list(names)
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(quote(name) for name in names[:most]) + more


def suggest(name: str, known: Iterable[str], what: str) -> str:
    """Suggest known names that are similar to an unknown name, or list the known names. `what` is their kind."""
    known = list(known)
    if not known:
        return f"there are no {what} here"
    close = meant(name, known)
    return f"did you mean {' or '.join(quote(match) for match in close)}?" if close else f"{what}: {listing(known)}"


def check_named(
    file: str, option: str, names: Iterable[str | None], known: Iterable[str], what: str = "column"
) -> None:
    """Refuse names that the user gave with an option, if they are not in `known`. `what` is their kind."""
    for name in names:
        if name is not None and name not in known:
            meant = suggest(name, known, f"{what.split()[0]}s")
            raise InputError(f"{file}: {Hint(option)}: no {what} {quote(name)}; {meant}")


def unclear(file: str, what: str, option: str, names: Iterable[str]) -> InputError:
    """Make the error that asks which of several columns holds `what`."""
    return InputError(f"{file}: which column holds the {what}, {listing(names)}? give {Hint(option, 'COLUMN')}")


def _has_deviation(text: str) -> bool:
    """Whether a text is a number with its deviation or error, as in 0.735 ± 0.020 or 0.735 (0.02).

    >>> [text for text in ("0.7 ± 0.1", "0.7 (0.1)", "70 +/- 1", "7 (1)", "0.7 (b)") if _has_deviation(text)]
    ['0.7 ± 0.1', '0.7 (0.1)', '70 +/- 1']
    """
    for mark in ("\\pm", "+/-", "+-"):
        text = text.replace(mark, "±")
    text = text.replace("$", "").strip()
    if "±" not in text and text.endswith(")") and ("." in text or "," in text):
        text = text[:-1].replace("(", "±")
    parts = [part.strip(" ()%\\") for part in text.split("±")]
    return len(parts) == 2 and all(map(_is_decimal, parts))


def _is_decimal(text: str) -> bool:
    """Whether a text is a finite number, with a decimal point or comma."""
    try:
        return math.isfinite(float(text.replace(",", ".")))
    except ValueError:
        return False


def hint_for_number(text: str) -> str | None:
    """Return advice for text that is almost a number, or means a missing number; None for other text.

    >>> hint_for_number("50 %"), hint_for_number("0,5"), hint_for_number("big")
    ('it is a percentage; leave out all % signs', 'it has a decimal comma; write decimal points, 0.5', None)
    """
    text = text.strip()
    if text[:1].isalpha() and text.lower() not in MISSING:
        return None
    if re.fullmatch(r"[-+]?[\d.,]+\s*%", text):
        return "it is a percentage; leave out all % signs"
    if re.fullmatch(r"[-+]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?", text):
        return "it has a comma between thousands, or a decimal comma; write decimal points, and no other commas"
    if re.fullmatch(r"[-+]?\d+,\d+", text):
        return f"it has a decimal comma; write decimal points, {text.replace(',', '.')}"
    if _has_deviation(text):
        return "it is a mean with its deviation or error; give the result of each instance, or of each run"
    if text.lower() in MISSING:
        return (
            f"where results are missing give tables with ids, and {Hint('missing', 'drop')} or "
            f"{Hint('missing', 'zero')}"
        )
    return None


_ZERO_IS_WORST = ("aer", "optimality-gap")
"""For these metrics, lower is better, but a missing result (0 for all inputs) gets the worst score."""


def why_zero_is_best(metric: Metric | SampleMetric, options: Options, *, negative: bool) -> str:
    """Say why a missing result that counts as 0 may get the best score; an empty text if it cannot.

    `negative` says that no number is above 0.
    """
    if options.direction == "lower" or (options.direction is None and not metric.higher_is_better):
        return f"lower {metric.name} is better" if metric.name not in _ZERO_IS_WORST else ""
    return "no result is above 0" if negative else ""


def ways_of_missing(count: int, *, zero_is_best: bool) -> str:
    """Advise what to do about missing results of `count` systems. Only the user knows why they are missing.

    If `zero_is_best` (0 would be the best score), the advice leaves out the value zero, which is meant for failures.
    """
    drop, zero = Hint("missing", "drop"), Hint("missing", "zero")
    if zero_is_best:
        ways = drop if count == 2 else f"{drop} or pairwise"
        return f"use {ways} if they were not run; if a system failed on them, write the worst score into the files"
    ways = f"use {drop} or {zero}" if count == 2 else f"use {drop}, pairwise or zero"
    return f"{ways} (drop if they were not run, zero if a system failed on them)"


ENDINGS = frozenset(
    f".{ending}"
    for ending in (
        "gz txt tsv csv json jsonl eval parquet npz conllu conll iob tags talp naacl pharaoh wa run trec out hyp res "
        "score scores pred predictions mbt mrg evalb ctm trn xlsx xlsm xlsb xls ods md tex"
    ).split()
)
"""File endings that mark a format. Any other ending, such as `.reverse`, is part of a system's name."""
_SAME_FOR_ALL = re.compile(
    r"samples_.*\.jsonl|details_.*\.parquet|(per_instance_(stats|details)|annotations|summary|BFCL_v\d+_.*_score)\.json"
)
"""Pattern of file names that are the same for every system, because a program chooses them. The system is then named
after the folder."""
_TIME = re.compile(r"\d{4}-\d\d-\d\dT[\d.:-]+")


def name_systems(files: Sequence[str]) -> tuple[dict[str, str], frozenset[str]]:
    """Name the systems of files: return system -> its file, and the names that the user gave as `NAME=FILE`.

    >>> name_systems(["out/big.txt.gz", "out/small.txt", "Best=out/c.txt"])
    ({'big': 'out/big.txt.gz', 'small': 'out/small.txt', 'Best': 'out/c.txt'}, frozenset({'Best'}))
    >>> name_systems(["a/hyp.txt", "b/hyp.txt"])[0]
    {'a/hyp': 'a/hyp.txt', 'b/hyp': 'b/hyp.txt'}
    >>> list(name_systems(["org__a/samples_gsm8k_2026.jsonl", "org__b/samples_gsm8k_2026.jsonl"])[0])
    ['org__a', 'org__b']
    >>> list(name_systems(["a.mrg", "b.evalb", "c.reverse"])[0])
    ['a', 'b', 'c.reverse']
    """
    given = [given_name(file) for file in files]
    paths = [PurePath(os.path.normpath(path)).parts for _, path in given]
    for i, (_, path) in enumerate(given):
        if path in [other for _, other in given[:i]]:
            raise InputError(f"{path}: is given twice; give each file once")
    telling = [_distinguishing_parts(folders) for folders in paths]
    names: list[str] = []
    for tails in (telling, paths) if len(set(telling)) == len(telling) else (paths,):
        for depth in range(1, max([1, *map(len, tails)]) + 1):
            names = [name or _name_of_path(tail[-depth:]) for (name, _), tail in zip(given, tails, strict=True)]
            if len(set(names)) == len(names):
                named = frozenset(name for name, _ in given if name)
                return dict(zip(names, (path for _, path in given), strict=True)), named
    repeated = next(name for i, name in enumerate(names) if name in names[:i])
    raise InputError(f"two files are named {quote(repeated)}; write NAME=FILE for one of them")


def given_name(file: str) -> tuple[str | None, str]:
    """Split `NAME=FILE` into name and path.

    The name is None if there is no name, or if a file has the whole text as path.
    """
    name, equals, path = file.partition("=")
    if not equals or not name.strip() or not path or os.path.exists(file) or os.sep in name:
        return None, file
    return name, path


def _distinguishing_parts(path: tuple[str, ...]) -> tuple[str, ...]:
    """Return the parts of a path that distinguish systems, without names and times that all systems may share."""
    *_, folder, name = ("", "", *path)
    name = name.removesuffix(".gz")
    if len(path) > 2 and folder == "results" and name == "results.json":
        return path[:-2]
    if len(path) < 2 or not _SAME_FOR_ALL.fullmatch(name):
        return path
    folders = path[:-1]
    while len(folders) > 1 and _TIME.fullmatch(folders[-1]):
        folders = folders[:-1]
    return path if folders == (os.sep,) else folders


def _name_of_path(tail: tuple[str, ...]) -> str:
    """Turn the end of a path into a name, without endings that mark a format."""
    path = PurePath(*tail)
    while path.suffix.lower() in ENDINGS and path.stem:
        path = path.with_suffix("")
    return path.as_posix()
