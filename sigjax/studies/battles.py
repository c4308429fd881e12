r"""Scores of systems from battles of two: Bradley and Terry's model, Davidson's for ties, and ranks that hold together.

A battle of i and j, whose scores differ by $x = \theta_i - \theta_j$, is won, tied or lost by i with chances in the
proportion $e^{x/2} : \nu : e^{-x/2}$; without ties ($\nu = 0$) that is Bradley and Terry's model. With s = 1, 0, -1 and
t = 0, 1, 0 the log-likelihood of a battle is $s x / 2 + t \log \nu - \log(e^{x/2} + \nu + e^{-x/2})$, concave in
$\theta$ and $\log \nu$. Battles are counted for each pair of systems first, so that Newton's method does not see how
many there are. Scores add up to 0.

Standard errors are those of the sandwich $H^{-1} (\sum_u g_u g_u') H^{-1}$, times U / (U - 1) for U units u, battles or
clusters of them, where H is the information and g the sum of the gradients of a unit: they hold, for the scores that
describe the data best, where the model is wrong, and where battles of a user depend on each other. Intervals are t with
U - 1 degrees of freedom. Those of all differences hold together, by the distribution of the largest of all |t| when
estimates are jointly normal, and ranks are what they exclude no system from.

References: Bradley and Terry (1952), "Rank analysis of incomplete block designs"; Davidson (1970), "On extending the
Bradley-Terry model to accommodate ties in paired comparison experiments"; Ford (1957), "Solution of a ranking problem
from binary comparisons"; White (1982), "Maximum likelihood estimation of misspecified models"; Mogstad, Romano, Shaikh
and Wilhelm (2024), "Inference for ranks with applications to mobility across neighbourhoods and academic achievement
across countries".
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from sigjax.formats.reading import read_rows
from sigjax.multiple.ranks import rank_intervals
from sigjax.readers.frames import frame_table
from sigjax.readers.layouts import BattleRows, battle_rows
from sigjax.readers.options import FileOptions, Options
from sigjax.readers.table import DataColumn, DataTable
from sigjax.records import Hint, InputError, Interval, Settings
from sigjax.records.corrections import CORRECTIONS, PValueCorrection, adjust
from sigjax.records.options import check, option, same, takes, values
from sigjax.report.plots import BLUE, BLUES, intervals, label_rows, row_height, set_words
from sigjax.report.sections import Table
from sigjax.report.text import table_lines
from sigjax.report.words import count, first_of, format_interval, format_ranks, number_spec, percent
from sigjax.resample.units import codes
from sigjax.studies.equivalence import EquivalencePairsOptions
from sigjax.studies.study import Study, study_signature
from sigjax.testing.jackknife import joint_level, normal_maxima
from sigjax.testing.p_values import t_quantile, t_tail

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ELO = 400.0 / math.log(10.0)
"""Points of Elo's scale for a difference of 1 in log odds; the mean of all systems is 1,000."""
_STEPS, _SMALL = 100, 1e-10
"""Newton's method ends after so many steps, or where the largest one is that small."""
_SHOWN, _NAMED, _MOST = 50, 5, 1_000


@dataclass(frozen=True, kw_only=True)
class BattlesOptions:
    """The options of `battles`."""

    cluster: str | None = same(
        FileOptions, "cluster", doc="Column of users or prompts, whose battles depend on each other.", more=""
    )
    ties: Literal["davidson", "half"] = option(
        "davidson",
        "How ties count: by Davidson's model, or as half a win of each (Bradley-Terry).",
        group="Main options",
    )
    only: Sequence[str] | None = same(FileOptions, "only", doc="Take the battles among these systems alone.", more="")
    where: str | None = same(FileOptions, "where")
    missing: Literal["error", "drop"] = option(
        "error", "What to do with battles without a winner: refuse them, or leave them out.", group="Input"
    )
    correction: PValueCorrection = same(EquivalencePairsOptions, "correction", doc="How p is adjusted for all pairs.")
    confidence_level: float = same(Settings, "confidence_level")
    resamples: int = same(
        Settings, "resamples", 20_000, doc="Normal draws of all estimates, for joint intervals.", more=""
    )
    seed: int = same(Settings, "seed")


@dataclass(frozen=True, slots=True)
class BattleSystem:
    """A system, scored by its battles.

    Attributes:
        system: its name.
        score: its log odds of winning against an average system, ties aside; all scores add up to 0.
        standard_error: of the score, by the sandwich.
        interval: of the score, by itself.
        elo: the score on Elo's scale, 1000 + 400 / log(10) times the score.
        rank_interval: 1 + the number of systems whose joint interval has them above it, to the last rank but for those
            that it has below it.
        battles: number of its battles.
        wins: number of those that it won.
        ties: number of those that were tied.
    """

    system: str
    score: float
    standard_error: float
    interval: Interval
    elo: float
    rank_interval: tuple[int, int]
    battles: int
    wins: int
    ties: int


@dataclass(frozen=True, slots=True)
class BattlePair:
    """The difference of two systems.

    Attributes:
        a: the system with the higher score.
        b: the other.
        delta: the score of a less that of b: the log odds that a wins, ties aside.
        standard_error: of delta.
        interval: of delta; those of all pairs hold together.
        p_value: two-sided, of delta = 0 (Wald's test with the sandwich).
        p_adjusted: the same, adjusted for all pairs.
    """

    a: str
    b: str
    delta: float
    standard_error: float
    interval: Interval
    p_value: float
    p_adjusted: float


@dataclass(frozen=True, repr=False)
class Battles(Study):
    """Systems ranked by battles of two.

    Attributes:
        systems: best first.
        pairs: all pairs of systems, in this order.
        num_battles: number of battles.
        num_ties: number of those that were tied.
        tie_parameter: nu, how likely a tie of two equal systems is against one's win; None where no ties are modelled.
        num_units: number of clusters, or of battles.
        notes: what was left out.
        options: those of the study.
        signature: one line that reproduces the numbers.
    """

    rows = "systems"

    systems: tuple[BattleSystem, ...]
    pairs: tuple[BattlePair, ...]
    num_battles: int
    num_ties: int
    tie_parameter: float | None
    num_units: int
    notes: tuple[str, ...]
    options: BattlesOptions
    signature: str

    def _lines(self) -> list[str]:
        """Which systems may be the best, and a table of the first ones."""
        level, shown = percent(self.options.confidence_level), self.systems[:_SHOWN]
        top = [each.system for each in self.systems if each.rank_interval[0] == 1]
        others = f", or one of {len(top) - 1} others," if len(top) > 2 else ", or 1 other," * (len(top) == 2)
        clusters = f" in {count(self.num_units, 'cluster')} ({self.options.cluster})" if self.options.cluster else ""
        lines = [
            f"{self.systems[0].system}{others} is the best",
            f"{count(self.num_battles, 'battle')} of {count(len(self.systems), 'system')}{clusters}, "
            f"{count(self.num_ties, 'tie')}",
            f"with about {level} confidence all ranks hold together",
            "",
        ]
        spec = number_spec([each.score for each in self.systems])
        to_next = {(each.a, each.b): each.p_adjusted for each in self.pairs}
        rows = [
            (
                format_ranks(each.rank_interval),
                each.system,
                f"{each.score:{spec}}",
                format_interval(each.interval, spec),
                f"{each.elo:.0f}",
                f"{each.battles:,}",
                "" if after is None else f"{to_next[each.system, after.system]:.3g}",
            )
            for each, after in zip(shown, [*self.systems[1:], None], strict=False)
        ]
        header = ("rank", "system", "score", f"{level} interval", "Elo", "battles", "adj. p, to next")
        lines += table_lines(Table(header, rows, (1,)), 20)
        if more := len(self.systems) - len(shown):
            lines += ["", f"and {count(more, 'more system')}: in JSON (-o FILE.json) all stand"]
        title = CORRECTIONS[self.options.correction].title
        model = "Bradley-Terry" if self.tie_parameter is None else f"Davidson, nu = {self.tie_parameter:.3g}"
        return [
            *lines,
            "",
            f"score: log odds of a win against the average system ({model})",
            f"intervals: of each score by itself; p: adjusted by {title} over {count(len(self.pairs), 'pair')}",
            *(f"note: {note}" for note in self.notes),
            self.signature,
        ]

    def _panels(self) -> Iterator[tuple[float, Callable[[Axes], None]]]:
        """Scores, and ranks."""
        height = row_height(len(self.systems)) * len(self.systems)
        yield height, self._draw_scores
        yield height, self._draw_ranks

    def _draw_scores(self, axes: Axes) -> None:
        rows = range(len(self.systems))
        intervals(axes, rows, [each.interval for each in self.systems], color=BLUES[1])
        axes.plot([each.score for each in self.systems], rows, "o", color=BLUE, markersize=3)
        label_rows(axes, [each.system for each in self.systems], [f"{each.elo:.0f}" for each in self.systems])
        level = percent(self.options.confidence_level)
        set_words(axes, count(self.num_battles, "battle"), f"score (log odds), {level} interval; right: Elo")

    def _draw_ranks(self, axes: Axes) -> None:
        low, high = np.array([each.rank_interval for each in self.systems]).T
        axes.hlines(range(len(low)), low - 0.4, high + 0.4, color=BLUE, linewidth=36.0 * row_height(len(low)))
        label_rows(axes, [each.system for each in self.systems])
        set_words(axes, "ranks", f"rank; all hold together ({percent(self.options.confidence_level)})")


@takes(BattlesOptions)
def battles(data: Any, options: BattlesOptions) -> Battles:
    r"""Rank systems by battles of two: Bradley-Terry scores, standard errors for dependent battles, and joint ranks.

    Args:
        data: the path of a table, a data frame, or a dict of columns: `model_a`, `model_b` and `winner` (the name of a
            side or of a system, or tie), as Chatbot Arena writes them; or `model_a`, `model_b`, `wins`, `losses` and,
            where there are some, `ties`, counted for the first.
        options: see `BattlesOptions`.

    Raises:
        InputError: no such columns; systems that never met, even by others; systems that won, or lost, all battles
            against the others, whose scores would be infinite; fewer than two systems or units.

    References: Bradley and Terry (1952); Davidson (1970); Mogstad et al. (2024), as `sigjax help arena` has them.

    Example:
        >>> counts = {"model_a": "AAB", "model_b": "BCC", "wins": [30, 40, 35], "losses": [20, 10, 15]}
        >>> study = battles(counts)
        >>> [(each.system, round(each.score, 2), each.rank_interval) for each in study.systems]
        [('A', 0.59, (1, 2)), ('B', 0.15, (1, 2)), ('C', -0.74, (3, 3))]
    """
    check(options)
    rows = battle_rows(_table(data, options), Options(**values(options, FileOptions)))
    number = len(rows.systems)
    if number > _MOST:
        raise InputError(f"battles takes at most {_MOST:,} systems, got {number:,}; name some ({Hint('only')})")
    pairs = _counted(rows)
    _check_finite(rows.systems, pairs, options)
    models_ties = options.ties == "davidson" and bool(pairs.outcomes[:, 1].any())
    scores, log_nu = _fitted(pairs, number, models_ties=models_ties)
    covariance, num_units = _sandwich(rows, pairs, scores, log_nu)
    order = np.argsort(-scores, kind="stable")
    scores, covariance = scores[order], covariance[np.ix_(order, order)]
    names, errors = [rows.systems[k] for k in order.tolist()], np.sqrt(np.diag(covariance))
    a, b = np.triu_indices(number, 1)
    deltas, degrees, level = scores[a] - scores[b], num_units - 1.0, options.confidence_level
    of_deltas = np.sqrt(np.maximum(errors[a] ** 2 + errors[b] ** 2 - 2.0 * covariance[a, b], 0.0))
    if (of_deltas < _SMALL).any():
        units = count(num_units, "battle" if options.cluster is None else "cluster")
        raise InputError(f"{units} of {count(number, 'system')}: too few for the standard errors of all differences")
    roots, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.maximum(roots, 0.0))
    joint = joint_level(normal_maxima(root, np.stack([a, b], axis=1), options.resamples, options.seed), level)
    of_one, reach = t_quantile(level, degrees) * errors, t_quantile(max(joint, level), degrees) * of_deltas
    beats = np.zeros((number, number), bool)
    beats[a, b] = deltas > reach
    p_values = np.array([t_tail(t, degrees, "two-sided") for t in (deltas / of_deltas).tolist()])
    results = np.zeros((number, 3))  # won, tied, lost
    np.add.at(results, pairs.first, pairs.outcomes)
    np.add.at(results, pairs.second, pairs.outcomes[:, ::-1])
    columns = scores, errors, scores - of_one, scores + of_one, 1000.0 + ELO * scores
    of_pairs = deltas, of_deltas, deltas - reach, deltas + reach, p_values, adjust(p_values, options.correction)
    num_battles = int(pairs.outcomes.sum())
    return Battles(
        tuple(
            BattleSystem(name, score, error, Interval(low, high), elo, ranks, sum(own), *own[:2])
            for name, (score, error, low, high, elo), ranks, own in zip(
                names, _rows(columns), rank_intervals(beats), results[order].astype(int).tolist(), strict=True
            )
        ),
        tuple(
            BattlePair(names[i], names[j], delta, error, Interval(low, high), p, adjusted)
            for i, j, (delta, error, low, high, p, adjusted) in zip(a, b, _rows(of_pairs), strict=True)
        ),
        num_battles,
        int(pairs.outcomes[:, 1].sum()),
        math.exp(log_nu) if models_ties else None,
        num_units,
        rows.notes,
        options,
        study_signature("battles", options, metric="score", systems=number, battles=num_battles),
    )


def _rows(columns: Sequence[np.ndarray]) -> list[list[float]]:
    return np.stack(columns, axis=-1).tolist()


def _table(data: Any, options: BattlesOptions) -> DataTable:
    if isinstance(data, str | os.PathLike):
        return read_rows(data, Options(**values(options, FileOptions)))
    if not isinstance(data, Mapping):
        return frame_table(data)
    columns = {str(name): DataColumn(["" if cell is None else str(cell) for cell in own]) for name, own in data.items()}
    if len({len(own) for own in columns.values()}) != 1:
        raise InputError("battles takes columns of equal length, such as model_a, model_b and winner")
    return DataTable("data", columns, range(1, len(next(iter(columns.values()))) + 1), "row")


class _Pairs(NamedTuple):
    """Battles, counted for each pair of systems."""

    first: np.ndarray
    """[pair]: below `second`."""
    second: np.ndarray
    outcomes: np.ndarray
    """[pair, 3]: how often the first won, tied and lost."""


def _counted(rows: BattleRows) -> _Pairs:
    number = len(rows.systems)
    turned = rows.a > rows.b
    outcomes = np.where(turned[:, None], rows.outcomes[:, ::-1], rows.outcomes)
    keys, index = np.unique(np.minimum(rows.a, rows.b) * number + np.maximum(rows.a, rows.b), return_inverse=True)
    sums = np.stack([np.bincount(index, column) for column in outcomes.T], axis=-1)
    return _Pairs(keys // number, keys % number, sums)


def _check_finite(systems: tuple[str, ...], pairs: _Pairs, options: BattlesOptions) -> None:
    """Refuse battles that no finite scores describe best: of Ford (1957), and its form where ties are modelled."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import NegativeCycleError, bellman_ford, connected_components

    number, (wins, ties, losses) = len(systems), pairs.outcomes.T
    beats = np.zeros((number, number))
    beats[pairs.first, pairs.second], beats[pairs.second, pairs.first] = wins + ties, losses + ties
    leave = f"leave systems out ({Hint('only', 'A', 'B')}), or add battles"
    groups, of_system = connected_components(csr_array(beats), connection="weak")
    if groups > 1:
        parts = [first_of([systems[k] for k in np.flatnonzero(of_system == g)], _NAMED) for g in range(groups)]
        raise InputError(
            f"these groups of systems never met, so no scores compare them: {' | '.join(parts[:_NAMED])}; {leave}"
        )
    groups, of_system = connected_components(csr_array(beats), connection="strong")
    smallest = np.argsort(np.bincount(of_system), kind="stable").tolist()
    for group in smallest if groups > 1 else ():
        own = of_system == group
        won, lost = beats[np.ix_(own, ~own)].any(), beats[np.ix_(~own, own)].any()
        if won and lost:
            continue
        what = "won" if won else "lost"
        names = first_of([systems[k] for k in np.flatnonzero(own)], _NAMED)
        raise InputError(
            f"{names} {what} all battles against the other systems, so that no finite scores describe them; {leave}"
        )
    if options.ties == "half" or not ties.any():
        return
    # A win moves scores apart by 2 at least and a tie by 2 at most, unless wins go round in a circle.
    far = np.full((number, number), np.inf)
    tied = ties > 0
    far[pairs.first[tied], pairs.second[tied]] = far[pairs.second[tied], pairs.first[tied]] = 2.0
    far[pairs.first[wins > 0], pairs.second[wins > 0]] = -2.0
    far[pairs.second[losses > 0], pairs.first[losses > 0]] = -2.0
    try:
        bellman_ford(csr_array(np.where(np.isinf(far), 0.0, far)), indices=0)
    except NegativeCycleError:
        return
    raise InputError(
        f"no wins go against the others, so Davidson's model has no finite scores; give {Hint('ties', 'half')}"
    )


def _chances(apart: np.ndarray, log_nu: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The mean of s, the chance of a tie, and the logarithm of the denominator, of differences `[pair]`."""
    half = np.exp(-np.abs(apart) / 2.0)
    terms = 1.0 + half**2 + math.exp(log_nu) * half
    return (
        np.sign(apart) * (1.0 - half**2) / terms,
        math.exp(log_nu) * half / terms,
        np.abs(apart) / 2.0 + np.log(terms),
    )


def _fitted(pairs: _Pairs, number: int, *, models_ties: bool) -> tuple[np.ndarray, float]:
    """The scores `[system]` and log nu of the largest likelihood (-inf without ties), by Newton's method."""
    total, ties = float(pairs.outcomes.sum()), float(pairs.outcomes[:, 1].sum()) * models_ties
    scores, log_nu = np.zeros(number), math.log(2.0 * ties / max(total - ties, 0.5)) if models_ties else -math.inf

    def likelihood(scores: np.ndarray, log_nu: float) -> float:
        apart = scores[pairs.first] - scores[pairs.second]
        won = (pairs.outcomes[:, 0] - pairs.outcomes[:, 2]) @ apart / 2.0
        return float(
            won + (ties * log_nu if models_ties else 0.0) - pairs.outcomes.sum(axis=1) @ _chances(apart, log_nu)[2]
        )

    reached = likelihood(scores, log_nu)
    for _ in range(_STEPS):
        gradient, information = _derivatives(pairs, scores, log_nu)
        step = np.linalg.solve(information, gradient)
        size, moved = 1.0, (scores + step[:-1], log_nu + float(step[-1]))
        while (gained := likelihood(*moved)) < reached - 1e-12 * abs(reached) and size > _SMALL:
            size /= 2.0
            moved = scores + size * step[:-1], log_nu + size * float(step[-1])
        scores, log_nu, reached = moved[0] - moved[0].mean(), moved[1], gained
        if np.abs(step).max() < _SMALL:
            return scores, log_nu
    raise InputError(
        "the scores do not converge: some would be nearly infinite; leave out systems that nearly always win"
    )


def _derivatives(pairs: _Pairs, scores: np.ndarray, log_nu: float) -> tuple[np.ndarray, np.ndarray]:
    """The gradient and the information, of scores and log nu; with a constant, in which scores have none."""
    number, battles = len(scores), pairs.outcomes.sum(axis=1)
    mean, tie, _ = _chances(scores[pairs.first] - scores[pairs.second], log_nu)
    of_pair = (pairs.outcomes[:, 0] - pairs.outcomes[:, 2] - battles * mean) / 2.0
    squares = battles * (1.0 - tie - mean**2) / 4.0, -battles * mean * tie / 2.0, battles * tie * (1.0 - tie)
    gradient = np.append(_spread(pairs, of_pair, number), (pairs.outcomes[:, 1] - battles * tie).sum())
    information = _matrix(pairs, squares, number)
    information[:-1, :-1] += squares[0].mean()
    if log_nu == -math.inf:
        information[-1, -1], gradient[-1] = 1.0, 0.0
    return gradient, information


def _spread(pairs: _Pairs, of_pair: np.ndarray, number: int) -> np.ndarray:
    return np.bincount(pairs.first, of_pair, number) - np.bincount(pairs.second, of_pair, number)


def _matrix(pairs: _Pairs, squares: Sequence[np.ndarray], number: int) -> np.ndarray:
    """A matrix of scores and log nu from what each pair adds: to differences squared, with log nu, and to that."""
    made = np.zeros((number + 1, number + 1))
    of_scores, across, of_ties = squares
    np.add.at(made, (pairs.first, pairs.second), -of_scores)
    made += made.T
    made[np.arange(number), np.arange(number)] = -made[:-1, :-1].sum(axis=1)
    made[-1, :-1] = made[:-1, -1] = _spread(pairs, across, number)
    made[-1, -1] = of_ties.sum()
    return made


def _sandwich(rows: BattleRows, pairs: _Pairs, scores: np.ndarray, log_nu: float) -> tuple[np.ndarray, int]:
    """The covariance of scores `[system, system]`, and the number of units."""
    number, models_ties = len(scores), log_nu > -math.inf
    if rows.clusters is None:
        mean, tie, _ = (each[:, None] for each in _chances(scores[pairs.first] - scores[pairs.second], log_nu))
        move, to_ties = (np.array([1.0, 0.0, -1.0]) - mean) / 2.0, (np.array([0.0, 1.0, 0.0]) - tie) * models_ties
        of_pairs = [(pairs.outcomes * each).sum(axis=1) for each in (move**2, move * to_ties, to_ties**2)]
        spread, units = _matrix(pairs, of_pairs, number), int(pairs.outcomes.sum())
    else:
        from scipy.sparse import csr_array

        mean, tie, _ = _chances(scores[rows.a] - scores[rows.b], log_nu)
        battles, unit = rows.outcomes.sum(axis=1), codes(rows.clusters)
        move = (rows.outcomes[:, 0] - rows.outcomes[:, 2] - battles * mean) / 2.0
        to_ties, units = (rows.outcomes[:, 1] - battles * tie) * models_ties, int(unit.max()) + 1
        at = np.tile(unit, 3), np.concatenate([rows.a, rows.b, np.full(len(unit), number)])
        gradients = csr_array((np.concatenate([move, -move, to_ties]), at), shape=(units, number + 1))
        spread = (gradients.T @ gradients).toarray()
    if units < 2:
        raise InputError("battles needs two clusters or more for standard errors")
    inverse = np.linalg.inv(_derivatives(pairs, scores, log_nu)[1])
    return ((inverse @ spread @ inverse)[:-1, :-1] * units / (units - 1.0)), units
