"""What commands take, in groups: the files, the questions, the processes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from sigjax.cli.output import Format, check_outputs, write
from sigjax.comparison.compare import compare
from sigjax.readers import Evaluation, read_metrics
from sigjax.records import (
    DEFAULT_LEVEL,
    DEFAULT_MEMORY,
    DEFAULT_RESAMPLES,
    DEFAULT_SEED,
    Alternative,
    Correction,
    Design,
    Device,
    Family,
    InputError,
    IntervalKind,
    Method,
    Missing,
    Resamples,
    Test,
    Unit,
    Variant,
)

Whole = Parameter(converter=lambda type_, tokens: _whole(tokens[0].value))
"""Whole numbers as written: 1.9 is refused, not rounded."""
WholeOrAuto = Parameter(converter=lambda type_, tokens: _whole_or_auto(tokens[0].value))
Many = Parameter(consume_multiple=True, negative="")


@Parameter(name="*")
@dataclass(frozen=True)
class Inputs:
    """How to read the files, for every command that does."""

    input: Annotated[list[str] | None, Many, Parameter(name=["--input", "-i"])] = None
    """The outputs of the systems, a file each, named after their files; or NAME=FILE."""
    metric: Annotated[list[str] | None, Many, Parameter(name=["--metric", "-m"])] = None
    """One or more metrics (`sigjax info` lists them); what the format gives first when left out."""
    counts: Annotated[list[str] | None, Many] = None
    """Which columns of numbers are the metric's statistics, as NAME=COLUMN: tp=las_correct predicted=sys_words."""
    systems: Annotated[list[str] | None, Many] = None
    """Compare only these."""
    id: str | None = None
    """The column of instance ids."""
    runs: str | None = None
    """The column that tells trials (epochs, seeds) of an instance apart; resampled together, or see --design."""
    cluster: str | None = None
    """A column or field, or a file with one label a line: instances of one cluster are resampled together."""
    strata: str | None = None
    """A column or field, or a file with one label a line: the bootstrap draws within each stratum."""
    unit: Unit = "instance"
    """Response: swap single spans, links, brackets or terms, as Yeh (2000), and not sentences with all they hold."""
    ignore: Annotated[list[str] | None, Many] = None
    """Columns of a wide table that are no systems."""
    missing: Missing = "error"
    """Instances that some system lacks: refuse, leave out for all, or count as 0."""
    reader: str | None = None
    """The format, when name and content do not tell it."""
    lower_is_better: Annotated[bool, Parameter(negative="")] = False
    """The lower of two scores is the better, whatever the metric says."""
    filter: str | None = None
    """Which kind of results to take: a filter of lm-evaluation-harness, a split of HELM, a column of HIPE, ..."""
    swap: Annotated[list[str] | None, Many] = None
    """Systems whose alignments are target-source."""
    one_based: Annotated[bool, Parameter(negative="")] = False
    """Alignments count words from 1."""
    tokenize: str | None = None
    """The tokenizer of BLEU, as sacrebleu names it: 13a (the default), zh, ja-mecab, intl, char, none, ..."""
    lowercase: Annotated[bool, Parameter(negative="")] = False
    """Metrics of texts ignore case."""
    cache: bool = True
    """Keep statistics of texts in the user's cache folder."""

    def evaluations(self, files: Sequence[Path], *, progress: bool) -> list[Evaluation]:
        """Read the files, once for each metric."""
        return read_metrics(
            *files,
            input=[Path(path) for path in self.input or []],
            metrics=self.metric or [],
            reader=self.reader,
            counts=_named_columns(self.counts or []),
            id=self.id,
            systems=self.systems,
            ignore=self.ignore or [],
            runs=self.runs,
            cluster=self.cluster,
            strata=self.strata,
            unit=self.unit,
            missing=self.missing,
            lower_is_better=self.lower_is_better,
            filter=self.filter,
            swap=self.swap or [],
            one_based=self.one_based,
            tokenize=self.tokenize,
            lowercase=self.lowercase,
            cache=self.cache,
            progress=progress,
        )

    def reads(self, paths: Sequence[Path]) -> list[str | Path]:
        """All files that are read, and names of columns that may be files of labels."""
        return [*paths, *(self.input or []), *(each for each in (self.cluster, self.strata) if each is not None)]


@Parameter(name="*")
@dataclass(frozen=True)
class Questions:
    """What to ask of the data, for every command that compares."""

    test: Annotated[list[Test], Many] | None = None
    """Permutation (the default) or bootstrap, or both."""
    method: Method = "auto"
    """Exact (no sampling), Monte Carlo, or auto: exact where budget and memory allow. dp and tree: exact, slower."""
    resamples: Annotated[Resamples, WholeOrAuto] = DEFAULT_RESAMPLES
    """Number of Monte Carlo resamples, or auto: permutation tests stop pair by pair, at most at 1,048,576."""
    seed: Annotated[int, Whole] = DEFAULT_SEED
    """The same seed gives the same report on every device."""
    alternative: Alternative = "two-sided"
    """Which differences (first system minus second) count as extreme."""
    baseline: str | None = None
    """Compare each system with this one instead of all pairs."""
    correction: Correction = "holm"
    """How p-values are adjusted for the number of pairs; maxt and minp need the permutation test and --resamples N."""
    family: Family = "metric"
    """What p-values are adjusted over: the pairs of each metric by itself, or those of all metrics of the report."""
    leaderboard: Annotated[bool, Parameter(negative="")] = False
    """Also bootstrap intervals of ranks, and which systems may be the best (the model confidence set)."""
    level: float = DEFAULT_LEVEL
    """Confidence level of all intervals; decisions are made at 1 - level."""
    interval: IntervalKind = "auto"
    """Kind of intervals. Auto: score intervals of proportions, Student's t by the jackknife of other metrics of sums;
    simultaneous: the same, so that all pairs hold together. Percentile, basic, bca and studentized: by the bootstrap;
    inversion: the deltas that swaps do not reject; two-way: those of --design models; none: no intervals."""
    variant: Variant = "shift"
    """Null of the bootstrap test: delta* - delta (shift) or delta - delta* (flip). The same for two-sided tests."""
    mid_p: Annotated[bool, Parameter(negative="")] = False
    """Count ties half in permutation tests: less conservative. Only with --method exact, dp or tree."""
    budget: float | None = None
    """Estimated seconds for the exact tests of a metric. Beyond them auto samples (10), exact methods refuse (600)."""
    memory: float = DEFAULT_MEMORY
    """GiB for the exact test of one pair; beyond, auto samples and exact refuses. Bootstrap replicates take half."""
    design: Design = "together"
    """Repeated runs. together: swapped and drawn with their instance. crossed: exchanged within it. nested: drawn
    within it. models: exchanged whole, for trained models; the others find differences between those too often."""
    device: Device = "auto"
    """Changes the time, never the numbers."""
    format: Format = "text"
    """How to write the report."""
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None
    """Write to this file instead of the terminal."""
    checkpoint: Path | None = None
    """Keep in this file how far the run is; the same command goes on from there when it was killed. The file stays."""
    extend: Path | None = None
    """A JSON report of the same data and options, but for fewer --resamples (which is the new total) to go on from."""

    def check(self, read: Sequence[str | Path], *, here: bool = True) -> None:
        """Refuse outputs that cannot be written, or that would be written over what is read or over each other."""
        earlier = [] if self.extend is None else [self.extend]
        check_outputs([*read, *earlier], {"--output": self.output, "--checkpoint": self.checkpoint}, here=here)

    def answer(self, evaluations: Sequence[Evaluation], *, quiet: bool = False) -> None:
        """Compare, and write the report, or leave both the report and the progress to another process."""
        report = compare(
            evaluations,
            test=self.test or ["permutation"],
            method=self.method,
            resamples=self.resamples,
            seed=self.seed,
            alternative=self.alternative,
            baseline=self.baseline,
            correction=self.correction,
            family=self.family,
            leaderboard=self.leaderboard,
            level=self.level,
            interval=self.interval,
            variant=self.variant,
            mid_p=self.mid_p,
            budget=self.budget,
            memory=self.memory,
            design=self.design,
            device=self.device,
            checkpoint=self.checkpoint,
            extend=self.extend,
            progress=not quiet,
        )
        if not quiet:
            write(report, self.format, self.output)


@Parameter(name="*")
@dataclass(frozen=True)
class Processes:
    """One report by several processes, on one or many machines; found without options under srun and mpirun."""

    coordinator: str | None = None
    """HOST:PORT of process 0, to divide the resamples among several processes. Process 0 writes the report."""
    num_processes: Annotated[int | None, Whole] = None
    """How many processes there are; all of them get the same command, but for the next option."""
    process_id: Annotated[int | None, Whole] = None
    """Which one this is, from 0."""


def _whole_or_auto(text: str) -> Resamples:
    return "auto" if text == "auto" else _whole(text, " or auto")


def _whole(text: str, other: str = "") -> int:
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"expected a whole number{other}, got {text!r}") from None


def _named_columns(pairs: Sequence[str]) -> dict[str, str] | None:
    """["tp=las_correct", ...] -> {"tp": "las_correct", ...}; None for none."""
    named = {}
    for pair in pairs:
        name, equals, column = pair.partition("=")
        if not (name and equals and column):
            raise InputError(f"--counts takes NAME=COLUMN, such as tp=correct, got {pair!r}")
        if name in named:
            raise InputError(f"--counts names {name!r} twice; give it once")
        named[name] = column
    return named or None
