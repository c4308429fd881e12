"""Results: the base class of all results, with a method for each output (`Result`), and the `Report` of a comparison.

Modules that write an output are imported only when it is written.
"""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar, Literal, overload

import numpy as np

from sigjax.multiple.discoveries import family_discoveries
from sigjax.records import Comparisons, Device, InputError, KeepScores, Library, ReportRecord, Test
from sigjax.records.display import ShortRepr, html_text, visible
from sigjax.records.options import StrPath
from sigjax.report.data import (
    TableName,
    csv_pieces,
    json_lines,
    json_pieces,
    report_fields,
    report_schema,
    rows_csv,
    rows_to_dataframe,
    to_dataframe,
)
from sigjax.report.words import count
from sigjax.run.files import text_or_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from sigjax.report.document import Document
    from sigjax.report.markup import Dialect
    from sigjax.report.plots import FigureKind

_MOST_ANSWERS = 3
"""`repr` shows the headlines of at most this many metrics."""


_USUAL = frozenset(
    "a b id part slice system winner loser name other null metric test by claim margin against alpha instances size "
    "low high score old new delta change gain interval_low interval_high limits_low limits_high rate power detectable "
    "threshold pairs tests statistic correlation p_value p_adjusted moves settled_at better needed found kept saved "
    "holds verdict wins_elsewhere text".split()
)
"""Columns of data frames with columns="usual"."""


class Result(ShortRepr):
    """Base class of all results: one method for each output, made from the document and the records of the result."""

    rows: ClassVar[str] = ""
    """Name of the field whose records are the rows of data frames and CSV; empty if the result is one row."""
    exit_code = 0
    """The exit code of the command."""

    @abstractmethod
    def document(self) -> Document:
        """The document (title, verdict, texts, tables) from which all text outputs are made."""

    def whole_document(self) -> Document:
        """The document for files, with long lists in full."""
        return self.document()

    @property
    def headline(self) -> str:
        """The answer in one sentence."""
        return self.document().verdict

    def _fields(self) -> dict[str, Any]:
        return asdict(self)  # pyright: ignore[reportArgumentType]

    def __str__(self) -> str:
        """Return the result as text for a terminal."""
        return self.to_text()

    def to_text(
        self,
        path: StrPath | None = None,
        *,
        width: int | None = None,
        color: bool = False,
        whole: bool | None = None,
    ) -> str:
        """Return the result as text in lines of `width` characters; by default, this is the width of the terminal.

        In a file, or without a terminal, tables are not wrapped by default.
        `color`: print the headline in bold. `whole`: show long lists in full (default: only in files). In this and the
        following methods, if `path` is given, the text is written to this file, and the path is returned.
        """
        from sigjax.report.text import WHOLE

        width = WHOLE if width is None and path is not None else width
        return text_or_file(self._text(width, color=color, whole=path is not None if whole is None else whole), path)

    def _text(self, width: int | None, *, color: bool, whole: bool) -> str:
        from sigjax.report.document import to_text

        return to_text(self.whole_document() if whole else self.document(), width=width, color=color)

    def to_markdown(self, path: StrPath | None = None) -> str:
        """Return the result as Markdown, with long lists in full."""
        from sigjax.report.markup import MARKDOWN

        return text_or_file(self._markup(MARKDOWN), path)

    def to_rst(self, path: StrPath | None = None) -> str:
        """Return the result as reStructuredText, with long lists in full."""
        from sigjax.report.markup import RST

        return text_or_file(self._markup(RST), path)

    def _markup(self, dialect: Dialect) -> str:
        from sigjax.report.document import to_markup

        return to_markup(self.whole_document(), dialect)

    def to_latex(self, path: StrPath | None = None) -> str:
        """Return the tables as LaTeX for a paper (packages booktabs and longtable). Sentences become comments."""
        from sigjax.report.document import to_latex

        return text_or_file(to_latex(self.whole_document(), path), path)

    def to_html(self, path: StrPath | None = None) -> str:
        """Return the result as a web page that loads nothing from other servers. Details are shown on a click."""
        return text_or_file(self._page(), path)

    def _page(self) -> str:
        from sigjax.report.document import to_html

        return to_html(self.whole_document())

    def to_github(self, path: StrPath | None = None) -> str:
        """Return the result as a comment for a pull request: headline, main rows, and details, shown on a click."""
        from sigjax.report.document import to_github

        return text_or_file(to_github(self.document()), path)

    def _repr_html_(self) -> str:
        """Show the text in notebooks."""
        return html_text(str(self))

    def to_json(self, path: StrPath | None = None) -> str:
        """Return the whole result as JSON with the schema `sigjax-KIND/1`, such as `sigjax-audit/1`."""
        return text_or_file(json_lines(self._json_record()), path)

    def _json_record(self) -> dict[str, Any]:
        """Return the content of the JSON as a dict, also for the JSON of a result that contains this result."""
        return {"schema": f"sigjax-{self._schema}/1", **self._fields()}

    def to_csv(self, path: StrPath | None = None) -> str:
        """Return the result as CSV, with one row per record (such as a pair).

        Texts that a spreadsheet would run as a formula are escaped.
        """
        return text_or_file(rows_csv(self._rows()), path)

    if not TYPE_CHECKING:  # otherwise type checkers would accept every attribute

        def __getattr__(self, name: str) -> Any:
            """Raise an error for names of other libraries, such as `pvalue`; it says where sigjax has the value."""
            said = ""
            if name in ("pvalue", "p_value") and (rows := self._records()) and rows[0] is not self:
                names = [own for own in asdict(rows[0]) if own.endswith(("p_value", "_p", "p_adjusted"))]
                said = f"; each row has {' and '.join(names)}: see {self.rows or 'its rows'}" if names else ""
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{said}", name=name, obj=self)

    @property
    def _schema(self) -> str:
        return type(self).__name__.lower()

    def to_dataframe(self, library: Library | None = None, *, columns: Literal["usual", "all"] = "usual") -> Any:
        """Return the result as a data frame, with one row per record (such as a pair); see `Report.to_dataframe`."""
        return rows_to_dataframe(self._rows(), library, columns, _USUAL)

    def _rows(self) -> list[dict[str, Any]]:
        return [{key: value for key, value in asdict(row).items() if key != "settings"} for row in self._records()]

    def _records(self) -> Sequence[Any]:
        return getattr(self, self.rows) if self.rows else [self]


@dataclass(frozen=True, repr=False)
class Report(ReportRecord, Result):
    """Scores, comparisons and the settings that reproduce them. Iterating gives the comparisons.

    `report[0]` is the first comparison, and `report["A", "B"]` is the comparison A minus B, whatever their order in the
    data. If there are several metrics or tests, name one: `report["A", "B", "bleu", "permutation"]`.

    Attributes:
        systems: scores, metric by metric, from best to worst.
        comparisons: pairs, metric by metric and test by test, in the order of the data: a comes before b in the data.
        settings: what determines the report, given the data.
        num_instances: number of instances. An instance counts once, however many runs it has.
        num_units: number of resampled units: instances, or clusters if there are any.
        lower_is_better: the metrics of this report whose lower scores are better.
        notes: what a reader of the numbers should know (identical systems, instances dropped).
        signature: one line that reproduces the numbers: metric, test, resamples, seed, conventions, version.
        data: hash of the evaluations. It is the same for the same numbers, names and labels in the same order.
        measured: what each metric was measured on, if the data name tasks.
        runs: the fewest and the most runs of an instance; None without runs.
        again: a function that compares the evaluations of this report again, with some options changed. None if the
            report was pickled, or read from JSON, because it then has no evaluations.
        versions: the versions of sigjax, and of the packages that computed the numbers.
        compute_distribution: a function that computes a `Distribution` from the evaluations. None as for `again`.
        evaluations: the compared evaluations, with which `diff` pairs old and new results; empty if the report was
            pickled, or read from JSON without statistics, see `to_json`.
    """

    @classmethod
    def from_json(cls, source: str | os.PathLike[str]) -> Report:
        """Read a report from JSON that `to_json` or `sigjax compare -o out.json` has written. All values are unchanged.

        Its tables are the same as before. To extend the report, give the data again: `compare(..., extend=report)`.

        Args:
            source: the path of the file (also packed with gzip), or the JSON itself, which begins with `{`.

        Raises:
            InputError: the file is not JSON, has another schema, or is damaged.

        Example:
            >>> from sigjax import Evaluation, Report, compare
            >>> report = compare(Evaluation.from_arrays({"A": [3, 4, 5], "B": [1, 1, 2]}))
            >>> Report.from_json(report.to_json()) == report
            True
        """
        return cls(**report_fields(source))

    @classmethod
    def together(cls, *reports: ReportRecord) -> Report:
        """Combine reports of the same systems by different metrics, such as BLEU and COMET, into one report.

        Nothing is computed: every metric keeps its tests and its p-values, which were adjusted within the metric.

        Args:
            reports: reports with the same systems, baseline, instances (same ids, or same number if there are no ids),
                units and settings. No metric may be in two reports.

        Raises:
            InputError: the reports differ in something other than the metrics; the message names the difference.

        Example:
            >>> from sigjax import Report, compare
            >>> right = compare({"A": [1, 1, 0, 1], "B": [0, 1, 0, 0]}, read={"metric": "accuracy"})
            >>> points = compare({"A": [3, 4, 1, 5], "B": [1, 4, 2, 2]})
            >>> [(pair.metric, pair.delta) for pair in Report.together(right, points)]
            [('accuracy', 0.5), ('mean', 1.0)]
        """
        from sigjax.report.together import together

        if not reports:
            raise InputError("expected one report or more, got none")
        return cls(**together([(f"report {number}", report) for number, report in enumerate(reports, 1)]))

    @staticmethod
    def json_schema() -> dict[str, Any]:
        """Return the JSON Schema (draft 2020-12) of the output of `to_json`, with all settings of this version."""
        return report_schema()

    def __repr__(self) -> str:
        """Return the headlines of the first metrics, and the size of the data."""
        from sigjax.report.sections import blocks

        sections = list(islice(blocks(self), _MOST_ANSWERS))
        metrics = len({system.metric for system in self.systems})
        if metrics == 1:
            answers, about = sections[0].headlines, sections[0].caption
        else:
            answers = [f"{section.title}: {said}" for section in sections for said in section.headlines]
            about = count(metrics, "metric")
        return "\n".join(map(visible, [*answers, f"Report of {about}; print(report) has more"]))

    def __str__(self) -> str:
        """Return the report as text for a terminal."""
        return self.to_text(whole=False)

    def _repr_html_(self) -> str:
        """Return the report as HTML, for notebooks."""
        from sigjax.report.html import to_fragment

        return to_fragment(self)

    def extend(
        self,
        resamples: int,
        *,
        device: Device = "auto",
        progress: bool = True,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> Report:
        """Repeat the comparison with more resamples: the report is the same as from a new run, in less time.

        Args:
            resamples: the new total, larger than before. Permutation tests draw only the missing resamples; the
                bootstrap draws all resamples again.
            device: see `compare`.
            progress: see `compare`.
            checkpoint: see `compare`.

        Raises:
            InputError: the report already has this many resamples, or it was pickled and has no evaluations.
        """
        if self.again is None:
            raise InputError("this report has no data any more; use sigjax.compare(evaluation, ..., extend=report)")
        return self.again(resamples=resamples, device=device, progress=progress, checkpoint=checkpoint, extend=self)

    def true_discoveries(
        self, pairs: Iterable[tuple[str, ...]] | None = None, *, metric: str | None = None, test: Test | None = None
    ) -> int:
        """Return a lower bound on the number of real differences: how many of these pairs truly differ.

        You may choose the pairs after you have seen the results.

        With the confidence level of the report, at least this many of the pairs truly differ. This holds simultaneously
        for all choices of pairs, however often you choose. The bound takes into account that you looked at all pairs of
        the metric (with family="report", at all pairs of all metrics).

        Args:
            pairs: for each pair, the names of two systems in any order, and the metric if the report has several
                metrics. If left out, the pairs that differ significantly.
            metric: the metric; needed if the report has several metrics.
            test: the test; if left out, the first test.

        Raises:
            InputError: the report does not have the pair, metric or test, or a pair is given twice.

        Reference: Goeman and Solari (2011); Goeman et al. (2019), see `sigjax help discoveries`.

        Example:
            >>> from sigjax import compare
            >>> scores = {"A": [1] * 20, "B": [1] * 12 + [0] * 8, "C": [1] * 10 + [0] * 10}
            >>> report = compare(scores, read={"metric": "accuracy"}, correction="bh")
            >>> report.true_discoveries(), report.true_discoveries([("A", "B"), ("C", "B")])
            (2, 1)
        """
        test, settings = self.settings.tests[0] if test is None else test, self.settings
        if test == "bootstrap" or not settings.has_valid_p:
            which = "the bootstrap test" if test == "bootstrap" else "mid-p-values"
            raise InputError(f"true_discoveries needs p-values of the permutation test, not {which}")
        groups = {of: own for (of, by), own in self.comparisons.groups().items() if by == test}
        what, name, known = ("metric", metric, groups) if groups else ("test", test, settings.tests)
        if name is not None and name not in known:
            raise InputError(f"no {what} {name!r} in this report; expected {' or '.join(known)}")
        if metric is None and len(groups) > 1 and settings.family == "metric":
            raise InputError(f"each metric has its own pairs that you looked at; name a metric: {' or '.join(groups)}")
        of_all = settings.family == "report"
        family = Comparisons.joined([*groups.values()] if of_all else [groups[metric or next(iter(groups))]])
        chosen = family.column("p_adjusted").values < settings.alpha
        if metric is not None:
            chosen &= family.column("metric").mapped(metric.__eq__)
        if pairs is not None:
            rows = [family.row((*pair, metric) if metric and metric not in pair else pair) for pair in pairs]
            if len({*rows}) < len(rows):
                raise InputError("pairs must name each pair once, and some pair comes twice")
            chosen = np.isin(np.arange(len(family)), rows)
        return family_discoveries(family, chosen, settings)

    def to_json(self, path: StrPath | None = None, *, keep_scores: KeepScores = "auto") -> str:
        """Return the report as JSON of the schema `sigjax/1`.

        Args:
            path: the file to write, as in all these methods. If it is given, the method returns the path instead of the
                text.
            keep_scores: whether the JSON contains the statistics of the instances, so that `diff` can pair old and new
                results: "always", "never", or "auto" (if they take at most 1 MB). With metrics of your own, or with
                missing="pairwise", JSON never contains statistics.

        Raises:
            InputError: the file cannot be written.
        """
        return text_or_file(json_pieces(self, keep_scores), path)

    def to_latex(
        self,
        path: StrPath | None = None,
        *,
        appendix: bool = False,
        caption: str | None = None,
        label: str | None = None,
    ) -> str:
        """Return the table for a paper in LaTeX, with systems as rows and metrics as columns (package booktabs).

        The table fits a two-column class. Comments at the end of the table give the results of the tests, for the text
        of the paper.

        Args:
            path: as in `to_json`.
            appendix: if true, write the tables for an appendix instead: the systems of each metric with intervals, and
                all pairs.
            caption: the caption of the table, in LaTeX. If left out, it explains the sizes, the marks and the test.
            label: the label of the table; labels of the appendix begin with it. If left out, `tab:` and the name of the
                file, or `tab:results`.

        Raises:
            InputError: a caption is given for the appendix, which has many tables.
        """
        from sigjax.report.latex import to_appendix, to_latex

        if not appendix:
            return text_or_file(to_latex(self, path, caption=caption, label=label), path)
        if caption is not None:
            raise InputError("caption: is for one table, and the appendix has many; leave it out")
        return text_or_file(to_appendix(self, path, label=label), path)

    def to_methods(self, path: StrPath | None = None) -> str:
        """Return a methods paragraph for a paper in LaTeX, made from the settings; `to_bibtex` has its citations."""
        from sigjax.report.methods import to_methods

        return text_or_file(to_methods(self), path)

    @staticmethod
    def to_bibtex(path: StrPath | None = None) -> str:
        """Return all BibTeX entries that `to_methods` can cite. One file is enough for several reports."""
        from sigjax.report.methods import to_bibtex

        return text_or_file(to_bibtex(), path)

    def to_text(
        self,
        path: StrPath | None = None,
        *,
        width: int | None = None,
        color: bool = False,
        whole: bool | None = True,
    ) -> str:
        """Return the report as text, as in a file: with all pairs, notes and the signature, and uncut names.

        `print(report)` shows the answer and one table, as `whole=False` does.
        """
        return super().to_text(path, width=width, color=color, whole=whole)

    def _text(self, width: int | None, *, color: bool, whole: bool) -> str:
        from sigjax.report.text import WHOLE, to_text

        if whole:
            return to_text(self, width=width or WHOLE, color=color, verbose=True)
        return to_text(self, width=width, color=color, more="report.to_text()")

    def document(self) -> Document:
        """The document of the report, from which comments on pull requests are made."""
        from sigjax.report.document import document_of

        return document_of(self)

    def _markup(self, dialect: Dialect) -> str:
        from sigjax.report.markup import render

        return render(self, dialect)

    def _page(self) -> str:
        """Return a whole web page with sortable tables, search and drawings. It loads nothing from other servers."""
        from sigjax.report.html import to_html

        return to_html(self)

    def to_csv(self, path: StrPath | None = None, *, of: TableName = "pairs") -> str:
        """Return CSV with one row per pair, metric and test, or (`of="systems"`) per system and metric, with ranks."""
        return text_or_file(csv_pieces(self, of), path)

    def to_dataframe(
        self, library: Library | None = None, *, of: TableName = "pairs", columns: Literal["usual", "all"] = "usual"
    ) -> Any:
        """Return a data frame with one row per pair, metric and test, or per system and metric, with ranks.

        Args:
            of: "pairs" or "systems".
            library: "pandas", "polars" or "pyarrow" (the last two need narwhals, extra `dataframe`). If left out, the
                first of these that is installed.
            columns: "usual" (names, metric, scores, delta, interval, p, adjusted p or ranks), or "all".

        Raises:
            InputError: the library (or, if left out, every library) is missing.
        """
        return to_dataframe(self, library, of, columns)

    @overload
    def plot(
        self,
        kind: FigureKind | None = None,
        *,
        metric: str | None = None,
        test: Test | None = None,
        pair: tuple[str, str] | None = None,
        ax: None = None,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Figure: ...
    @overload
    def plot(
        self,
        kind: FigureKind | None = None,
        *,
        metric: str | None = None,
        test: Test | None = None,
        pair: tuple[str, str] | None = None,
        ax: Axes,
        title: str | None = None,
    ) -> Axes: ...
    def plot(
        self,
        kind: FigureKind | None = None,
        *,
        metric: str | None = None,
        test: Test | None = None,
        pair: tuple[str, str] | None = None,
        ax: Axes | None = None,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Figure | Axes:
        """Draw the report as a matplotlib figure (needs the extra `plot`), with one row of panels per metric.

        Args:
            kind: "scores": scores with intervals. "estimation": scores beside the distributions of their differences,
                for up to eleven systems (a Cumming plot). "forest": differences to the baseline, or to the best system
                if there is no baseline. "heatmap": adjusted p of all pairs. "groups": a critical-difference diagram;
                bars join systems that do not differ significantly. "null" or "bootstrap": the distribution of the delta
                of one pair, see `distribution`. "gain": differences of all pairs against 1 - p. If left out: "null" for
                a single pair ("forest" if the report has no data), "forest" with a baseline, "scores" for at most 12
                systems, else "heatmap".
            metric: the only metric to draw; if left out, all metrics.
            test: the only test to draw; if left out, all tests.
            pair: the two systems for "estimation", "null" or "bootstrap"; if left out, the best systems.
            ax: axes into which one panel is drawn, and which are returned. If left out, a new figure is made.
            figsize: width and height of the figure in inches. If left out, the width is one or two columns of a paper,
                and the height is as needed. Letters have the usual size in papers.
            title: your own title, in place of the title of a single panel, or above several panels.

        Raises:
            InputError: matplotlib is not installed; the report does not have the metric, test or pair; or the kind is
                unknown, or does not fit the report.
        """
        from sigjax.report.plots import plot

        return plot(self, kind, metric, test, pair, ax, figsize=figsize, title=title)
