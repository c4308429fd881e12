"""Results: the base of all, with a method for each output (`Result`), and the public `Report` of a comparison.

Writers are imported when something is written.
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
"""Most metrics whose answers `repr` shows."""


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
        """The result as text with lines of `width` columns; by default the width of the terminal, or of files.

        `color`: print the headline in bold. `whole`: show long lists in full (default: only in files).
        In this and the following methods, if `path` is given, the text is written to this file, and the path is
        returned.
        """
        from sigjax.report.text import WHOLE

        width = WHOLE if width is None and path is not None else width
        return text_or_file(self._text(width, color=color, whole=path is not None if whole is None else whole), path)

    def _text(self, width: int | None, *, color: bool, whole: bool) -> str:
        from sigjax.report.document import to_text

        return to_text(self.whole_document() if whole else self.document(), width=width, color=color)

    def to_markdown(self, path: StrPath | None = None) -> str:
        """The result as Markdown, with long lists in full."""
        from sigjax.report.markup import MARKDOWN

        return text_or_file(self._markup(MARKDOWN), path)

    def to_rst(self, path: StrPath | None = None) -> str:
        """The result as reStructuredText, with long lists in full."""
        from sigjax.report.markup import RST

        return text_or_file(self._markup(RST), path)

    def _markup(self, dialect: Dialect) -> str:
        from sigjax.report.document import to_markup

        return to_markup(self.whole_document(), dialect)

    def to_latex(self, path: StrPath | None = None) -> str:
        """The tables as LaTeX for a paper (packages booktabs and longtable); sentences become comments."""
        from sigjax.report.document import to_latex

        return text_or_file(to_latex(self.whole_document(), path), path)

    def to_html(self, path: StrPath | None = None) -> str:
        """The result as a self-contained web page, with the details folded."""
        return text_or_file(self._page(), path)

    def _page(self) -> str:
        from sigjax.report.document import to_html

        return to_html(self.whole_document())

    def to_github(self, path: StrPath | None = None) -> str:
        """The result as a comment for a pull request: the headline, the main rows, and the details folded."""
        from sigjax.report.document import to_github

        return text_or_file(to_github(self.document()), path)

    def _repr_html_(self) -> str:
        """Show the text in notebooks."""
        return html_text(str(self))

    def to_json(self, path: StrPath | None = None) -> str:
        """The whole result as JSON, with the schema `sigjax-KIND/1`, such as `sigjax-audit/1`."""
        return text_or_file(json_lines(f"sigjax-{self._schema}/1", self._fields()), path)

    def to_csv(self, path: StrPath | None = None) -> str:
        """The result as CSV, one row per record, such as a pair; texts that a spreadsheet would run are escaped."""
        return text_or_file(rows_csv(self._rows()), path)

    if not TYPE_CHECKING:  # type checkers would take any name for an attribute

        def __getattr__(self, name: str) -> Any:
            """Tell users of other libraries where to find p-values."""
            said = ""
            if name in ("pvalue", "p_value") and (rows := self._records()) and rows[0] is not self:
                names = [own for own in asdict(rows[0]) if own.endswith(("p_value", "_p", "p_adjusted"))]
                said = f"; each row has {' and '.join(names)}: see {self.rows or 'its rows'}" if names else ""
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{said}", name=name, obj=self)

    @property
    def _schema(self) -> str:
        return type(self).__name__.lower()

    def to_dataframe(self, library: Library | None = None, *, columns: Literal["usual", "all"] = "usual") -> Any:
        """The result as a data frame, one row per record, such as a pair; see `Report.to_dataframe`."""
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
        num_instances: number of instances, each of which counts once, however many runs it has.
        num_units: number of resampled units: instances, or clusters if there are any.
        lower_is_better: the metrics of this report whose lower scores are better.
        notes: what a reader of the numbers should know (identical systems, instances dropped).
        signature: one line that reproduces the numbers: metric, test, resamples, seed, conventions, version.
        data: hash of the evaluations; the same for the same numbers, names and labels in the same order.
        measured: what each metric was measured on, if the data name tasks.
        runs: the fewest and the most runs of an instance; None without runs.
        again: compares the evaluations of this report again, with some options changed; None if the report was pickled,
            or read from JSON, because it then has no evaluations.
        versions: of sigjax, and of the packages that computed the numbers.
        compute_distribution: computes a `Distribution` from the data, as `again` compares them again.
        evaluations: the compared evaluations, with which `diff` pairs old and new results; empty if the report was
            pickled, or read from JSON without statistics, see `to_json`.
    """

    @classmethod
    def from_json(cls, source: str | os.PathLike[str]) -> Report:
        """The report that `to_json` or `sigjax compare -o out.json` has written, every value as it was.

        Its tables are those of the report that was written; `extend` needs the data (`compare(..., extend=report)`).

        Args:
            source: the path of the file (also packed with gzip), or the JSON itself, which begins with `{`.

        Raises:
            InputError: it is not JSON, of another schema, or damaged.

        Example:
            >>> from sigjax import Evaluation, Report, compare
            >>> report = compare(Evaluation.from_arrays({"A": [3, 4, 5], "B": [1, 1, 2]}))
            >>> Report.from_json(report.to_json()) == report
            True
        """
        return cls(**report_fields(source))

    @classmethod
    def together(cls, *reports: ReportRecord) -> Report:
        """One report of the same systems by the metrics of several: BLEU of texts and COMET of a table, for one table.

        Nothing is computed: every metric keeps its tests, and the p-values that were adjusted within it.

        Args:
            reports: of the same systems, baseline, instances (by id, or by number without ids), units and settings;
                other metrics each.

        Raises:
            InputError: something else is different; the message says what.

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
        """The JSON Schema (draft 2020-12) of what `to_json` writes, with all settings of this version."""
        return report_schema()

    def __repr__(self) -> str:
        """The answers for the first metrics, and the data behind them."""
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
        """The report as a part of a page, for notebooks."""
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
        """The report of the same comparison with more resamples, as a run anew would give it, in less time.

        Args:
            resamples: the new total, larger than before. Permutation tests add what is missing; the bootstrap draws
                all resamples again.
            device: see `compare`.
            progress: see `compare`.
            checkpoint: see `compare`.

        Raises:
            InputError: there are as many resamples already, or the report was pickled and has no evaluations.
        """
        if self.again is None:
            raise InputError("this report has no data any more; use sigjax.compare(evaluation, ..., extend=report)")
        return self.again(resamples=resamples, device=device, progress=progress, checkpoint=checkpoint, extend=self)

    def true_discoveries(
        self, pairs: Iterable[tuple[str, ...]] | None = None, *, metric: str | None = None, test: Test | None = None
    ) -> int:
        """At least how many of these differences are real? You may choose the pairs after looking at the results.

        With the confidence of the report, at least so many of the pairs differ, whichever pairs you choose, and however
        often. The bound assumes that you looked at all pairs of the metric (with family "report", of all metrics).

        Args:
            pairs: names of two systems each, in any order, with the metric if the report has several metrics; if left
                out, the pairs that differ significantly.
            metric: the metric; needed if the report has several metrics.
            test: the test; the first one when left out.

        Raises:
            InputError: no such pair, metric or test, or a pair that comes twice.

        Reference: Goeman and Solari (2011); Goeman et al. (2019), see `sigjax help discoveries`.

        Example:
            >>> from sigjax import compare
            >>> scores = {"A": [1] * 20, "B": [1] * 12 + [0] * 8, "C": [1] * 10 + [0] * 10}
            >>> report = compare(scores, read={"metric": "accuracy"}, correction="bh")
            >>> report.true_discoveries(), report.true_discoveries([("A", "B"), ("C", "B")])
            (2, 1)
        """
        test, settings = self.settings.tests[0] if test is None else test, self.settings
        if test == "bootstrap" or settings.mid_p:
            which = "mid-p-values" if settings.mid_p else "the bootstrap test"
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
        """The report as JSON of the schema `sigjax/1`.

        Args:
            path: as in all these methods: the file to write, whose path is then returned instead of the text.
            keep_scores: whether the JSON holds the statistics of the instances, so that `diff` pairs old and new
                results: "always", "never", or "auto" (if they take at most 1 MB). Metrics of your own and
                missing="pairwise" are not kept.

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
        """The table of a paper in LaTeX, systems by metrics, which fits a two-column class (package booktabs).

        What the tests say stands in comments at its end, for the text of the paper.

        Args:
            path: as in `to_json`.
            appendix: the other tables instead: the systems of each metric with intervals, and all pairs.
            caption: the caption of the table, in LaTeX; when left out, sizes, marks and the test.
            label: its label; labels of the appendix begin with it; if left out, `tab:` and the name of the file, or
                `tab:results`.

        Raises:
            InputError: a caption for the appendix, which has many tables.
        """
        from sigjax.report.latex import to_appendix, to_latex

        if not appendix:
            return text_or_file(to_latex(self, path, caption=caption, label=label), path)
        if caption is not None:
            raise InputError("caption: is for one table, and the appendix has many; leave it out")
        return text_or_file(to_appendix(self, path, label=label), path)

    def to_methods(self, path: StrPath | None = None) -> str:
        """A methods paragraph for a paper in LaTeX, true to the settings; `to_bibtex` has what it cites."""
        from sigjax.report.methods import to_methods

        return text_or_file(to_methods(self), path)

    @staticmethod
    def to_bibtex(path: StrPath | None = None) -> str:
        """The BibTeX entries of all that `to_methods` may cite; one file serves several reports."""
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
        """The report as text with all pairs, notes and the signature, and nothing cut, as in a file.

        `print(report)` shows the answer and one table, as `whole=False` does.
        """
        return super().to_text(path, width=width, color=color, whole=whole)

    def _text(self, width: int | None, *, color: bool, whole: bool) -> str:
        from sigjax.report.text import WHOLE, to_text

        if whole:
            return to_text(self, width=width or WHOLE, color=color, verbose=True)
        return to_text(self, width=width, color=color, more="report.to_text()")

    def document(self) -> Document:
        """The document of the report, as for comments on pull requests."""
        from sigjax.report.document import document_of

        return document_of(self)

    def _markup(self, dialect: Dialect) -> str:
        from sigjax.report.markup import render

        return render(self, dialect)

    def _page(self) -> str:
        """A whole web page that sorts, searches and draws the pairs, and loads nothing."""
        from sigjax.report.html import to_html

        return to_html(self)

    def to_csv(self, path: StrPath | None = None, *, of: TableName = "pairs") -> str:
        """CSV with one row per pair, metric and test, or (`of="systems"`) per system and metric, with ranks."""
        return text_or_file(csv_pieces(self, of), path)

    def to_dataframe(
        self, library: Library | None = None, *, of: TableName = "pairs", columns: Literal["usual", "all"] = "usual"
    ) -> Any:
        """A data frame with one row per pair, metric and test, or per system and metric, with ranks.

        Args:
            of: "pairs" or "systems".
            library: "pandas", "polars" or "pyarrow" (the last two with narwhals, extra `dataframe`); the first of them
                that is installed when left out.
            columns: "usual" (names, metric, scores, delta, interval, p, adjusted p or ranks), or "all".

        Raises:
            InputError: no such library is installed.
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
        """The report as a matplotlib figure (extra `plot`), one row of panels per metric.

        Args:
            kind: "scores" with intervals; "estimation", scores beside the distributions of their differences, of up to
                eleven systems (a Cumming plot); "forest", differences to the baseline or else to the best system;
                "heatmap", adjusted p of all pairs; "groups" of systems no two of which differ significantly, as a
                critical-difference diagram; "null" or "bootstrap", the distribution of the delta of one pair, see
                `distribution`; "gain", differences of all pairs against 1 - p. When left out "null" of a single pair
                (or "forest", of a report without its data), "forest" with a baseline, "scores" of at most 12 systems,
                else "heatmap".
            metric: this one alone.
            test: this one alone.
            pair: the two systems of "estimation", "null" or "bootstrap"; the best ones when left out.
            ax: the axes to draw one panel into, which are returned; a new figure when left out.
            figsize: its width and height in inches; when left out, one or two columns of a paper, and the necessary
                height. Letters have the size of papers.
            title: your own title, in place of the title of a single panel, or above several panels.

        Raises:
            InputError: matplotlib is not installed, no such kind, metric, test or pair, or it is not for this report.
        """
        from sigjax.report.plots import plot

        return plot(self, kind, metric, test, pair, ax, figsize=figsize, title=title)
