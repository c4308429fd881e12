"""The public `Report`: what a comparison says, with its renderings."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, overload

from sigjax.records import (
    Comparison,
    Comparisons,
    Device,
    Distribution,
    InputError,
    Library,
    Measured,
    Settings,
    SystemScore,
    Test,
)
from sigjax.records.comparison import PeerTest
from sigjax.records.display import Brief
from sigjax.report.data import Rows, csv_pieces, json_pieces, report_fields, report_schema, to_dataframe
from sigjax.report.html import to_fragment, to_html
from sigjax.report.markup import to_latex, to_markdown
from sigjax.report.methods import to_methods, to_sentences
from sigjax.report.plots import Drawn
from sigjax.run.files import text_or_file
from sigjax.version import versions

Path = str | os.PathLike[str]


@dataclass(frozen=True, repr=False)
class Report(Drawn, Brief):
    """Scores, comparisons and the settings that reproduce them. Iterating gives the comparisons.

    `report[0]` is the first comparison and `report["A", "B"]` that of A minus B, whatever their order in the data; of
    several metrics and tests name one: `report["A", "B", "bleu", "permutation"]`.

    Attributes:
        systems: scores, metric by metric, from best to worst.
        comparisons: pairs, metric by metric and test by test, in the order of the data: a stands before b there.
        settings: what determines the report, given the data.
        num_instances: number of instances.
        num_units: number of what is resampled: instances, or clusters where there are some.
        lower_is_better: the metrics of this report whose lower scores are better.
        notes: what a reader of the numbers should know (identical systems, instances dropped).
        signature: one line that reproduces the numbers: metric, test, resamples, seed, conventions, version.
        data: hash of the evaluations; the same for the same numbers, names and labels in the same order.
        measured: what each metric was measured on, where the data name tasks.
        compat: what other programs say on the same resamples, where asked for; see `sigjax.comparison.compat`.
        again: compares the evaluations of this report again, with some options changed; None when the report was
            pickled, or read from JSON, since the evaluations are left behind.
        versions: of sigjax, and of the packages that computed the numbers.
        distributions: how the delta of some pairs varies, see `with_distributions`; none where nobody asked.
        laws: computes a `Distribution` from the data, as `again` compares them again.
    """

    systems: tuple[SystemScore, ...]
    comparisons: Comparisons
    settings: Settings
    num_instances: int
    num_units: int
    lower_is_better: tuple[str, ...]
    notes: tuple[str, ...]
    signature: str
    data: str
    measured: tuple[Measured, ...] = ()
    compat: tuple[PeerTest, ...] = ()
    again: Callable[..., Report] | None = field(default=None, compare=False)
    versions: Mapping[str, str | None] = field(default_factory=versions, compare=False)
    distributions: tuple[Distribution, ...] = ()
    laws: Callable[[str, str, str, Test], Distribution | None] | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        """Take any sequence of records for the comparisons."""
        if not isinstance(self.comparisons, Comparisons):
            object.__setattr__(self, "comparisons", Comparisons.of(self.comparisons))

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

    @staticmethod
    def json_schema() -> dict[str, Any]:
        """The JSON Schema (draft 2020-12) of what `to_json` writes, with all settings of this version."""
        return report_schema()

    def __iter__(self) -> Iterator[Comparison]:
        """Go through the comparisons."""
        return iter(self.comparisons)

    @overload
    def __getitem__(self, index: int) -> Comparison: ...
    @overload
    def __getitem__(self, index: slice) -> Comparisons: ...
    @overload
    def __getitem__(self, index: tuple[str, ...]) -> Comparison: ...
    def __getitem__(self, index: int | tuple[str, ...] | slice) -> Comparison | Comparisons:
        """The comparison at an index, or of two systems, or those of a slice; see `Report`.

        Raises:
            InputError: a name that is not in the report, or several comparisons of the two systems.
        """
        return self.comparisons[index]

    def __len__(self) -> int:
        """Count the comparisons."""
        return len(self.comparisons)

    def __str__(self) -> str:
        """Return the report as text for a terminal."""
        return to_text(self)

    def brief(self) -> dict[str, Any]:
        """How much there is of what; print(report) shows the numbers."""
        counts = {"systems": len({one.name for one in self.systems}), "comparisons": len(self.comparisons)}
        metrics, tests = (self.comparisons.column(name).present() for name in ("metric", "test"))
        return counts | {"metrics": metrics, "tests": tests, "instances": self.num_instances, "units": self.num_units}

    def _repr_html_(self) -> str:
        """The report as a part of a page, for notebooks."""
        return to_fragment(self)

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the data, so that pickles are small and need no user's function."""
        return self.__dict__ | {"again": None, "laws": None}

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

    def settings_dict(self) -> dict[str, Any]:
        """The settings, and what they were used on, as plain values."""
        more = {"instances": self.num_instances, "units": self.num_units, "data": self.data}
        return asdict(self.settings) | more

    def to_json(self, path: Path | None = None) -> str:
        """The report as JSON of the schema `sigjax/1`.

        Args:
            path: as in all these methods: the file to write, whose path is then returned instead of the text.

        Raises:
            InputError: the file cannot be written.
        """
        return text_or_file(json_pieces(self), path)

    def to_html(self, path: Path | None = None) -> str:
        """The report as a whole web page that sorts, searches and draws the pairs, and loads nothing.

        It has a histogram of the pairs whose distributions the report holds, see `with_distributions`.
        """
        return text_or_file(to_html(self), path)

    def to_latex(self, path: Path | None = None) -> str:
        """The report as LaTeX tables that fit a two-column class (packages booktabs and longtable)."""
        return text_or_file(to_latex(self), path)

    def to_methods(self, path: Path | None = None) -> str:
        """A methods paragraph for a paper in LaTeX, true to the settings, and the BibTeX of what it cites."""
        return text_or_file(to_methods(self), path)

    def to_sentences(self, path: Path | None = None) -> str:
        """One sentence on all systems for each metric and test, then one for every pair."""
        return text_or_file(to_sentences(self), path)

    def to_markdown(self, path: Path | None = None) -> str:
        """The report as Markdown tables."""
        return text_or_file(to_markdown(self), path)

    def to_text(self, path: Path | None = None) -> str:
        """The report as text, with nothing cut or left out, as in a file."""
        from sigjax.report.text import WHOLE

        return text_or_file(to_text(self, width=WHOLE), path)

    def to_csv(self, path: Path | None = None, *, of: Rows = "pairs") -> str:
        """CSV with one row per pair, metric and test, or (`of="systems"`) per system and metric, with ranks."""
        return text_or_file(csv_pieces(self, of), path)

    def to_dataframe(self, library: Library | None = None, *, of: Rows = "pairs") -> Any:
        """A data frame with one row per pair, metric and test, or per system and metric, with ranks.

        Args:
            of: "pairs" or "systems".
            library: "pandas", "polars" or "pyarrow" (the last two with narwhals, extra `dataframe`); the first of them
                that is installed when left out.

        Raises:
            InputError: no such library is installed.
        """
        return to_dataframe(self, library, of)


def to_text(report: Report, *, width: int | None = None, color: bool = False) -> str:
    """The report for a terminal.

    Args:
        report: what to show.
        width: columns to stay within; the terminal's, or 100 where standard output is no terminal, when left out.
        color: add terminal colours; the text says everything without them.
    """
    from sigjax.report.text import to_text as render

    return render(report, width=width, color=color)
