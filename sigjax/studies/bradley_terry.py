r"""Scores and simultaneous ranks from battles of two systems: the Bradley-Terry model, and Davidson's with ties.

System i has the score $\theta_i$. With $x = \theta_i - \theta_j$, i wins, ties or loses a battle against j with
probabilities in the ratio $e^{x/2} : \nu : e^{-x/2}$. Bradley and Terry's model has no ties: $\nu = 0$. The
log-likelihood is concave in $\theta$ and $\log \nu$. Scores add up to 0.

**Standard errors** come from the sandwich estimate of the covariance, $H^{-1} (\sum_u g_u g_u') H^{-1} \, U / (U - 1)$.
H is the information matrix, $g_u$ the gradient of the log-likelihood of unit u, and U the number of units. A unit is a
battle, or a cluster of battles. These standard errors are valid even if the model is wrong. They are then the standard
errors of the scores that fit best.

**Intervals** use Student's t with U - 1 degrees of freedom. The intervals of all differences are simultaneous: their
critical value is a quantile of the largest |t| over all pairs, for jointly normal estimates. The ranks of a system are
all ranks that these intervals do not exclude.

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
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from sigjax.formats.reading import read_rows
from sigjax.multiple.decisions import rank_intervals
from sigjax.readers.frames import frame_table
from sigjax.readers.layouts import battle_columns, battle_rows
from sigjax.readers.options import Options, ReadOptions, listing, quote, suggest
from sigjax.readers.rows import reshape_table
from sigjax.readers.table import DataColumn, DataTable
from sigjax.records import Hint, InputError, Interval, Settings
from sigjax.records.options import check, option, same, takes, values
from sigjax.records.settings import CORRECTIONS, PValueCorrection, adjust
from sigjax.report.document import Block, Document
from sigjax.report.panels import BLUE, BLUES, intervals, label_rows, row_height, set_words
from sigjax.report.report import Result
from sigjax.report.sections import Table
from sigjax.report.words import count, first_of, format_interval, format_p, format_ranks, number_spec, percent
from sigjax.resample.units import codes
from sigjax.studies.study import more_in_json, plot_panels, study_signature
from sigjax.testing.intervals import joint_level, normal_maxima
from sigjax.testing.special import t_quantile, t_tail

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ELO = 400.0 / math.log(10.0)
"""A difference of 1 in log odds is this many points on Elo's scale. The mean of all systems is 1,000 points."""
_STEPS, _SMALL = 200, 1e-8
"""Newton's method has converged if its last step is below `_SMALL`, because the remaining error is about the square of
this step. It fails if it has not converged after `_STEPS` steps."""
_SHOWN, _NAMED, _MOST = 50, 5, 1_000


@dataclass(frozen=True, kw_only=True)
class BattlesOptions:
    """The options of `battles`."""

    cluster: str | None = same(
        ReadOptions, "cluster", doc="Column of users or prompts, whose battles depend on each other.", more=""
    )
    ties: Literal["davidson", "half"] = option(
        "davidson", "How ties count: by Davidson's model, or as half a win (Bradley-Terry).", group="Main options"
    )
    only: Sequence[str] | None = same(ReadOptions, "only", doc="Take the battles among these systems alone.", more="")
    where: str | None = same(ReadOptions, "where")
    missing: Literal["error", "drop"] = option(
        "error", "What to do with battles without a winner: refuse them, or leave them out.", group="Input"
    )
    correction: PValueCorrection = same(Settings, "correction")
    confidence_level: float = same(Settings, "confidence_level")
    resamples: int = same(
        Settings, "resamples", 20_000, doc="Normal draws of all estimates, for joint intervals.", more=""
    )
    seed: int = same(Settings, "seed")


@dataclass(frozen=True, slots=True)
class BattleSystem:
    """The score and the possible ranks of one system.

    Attributes:
        score: log odds of winning against an average system, if ties are ignored; all scores add up to 0.
        interval: confidence interval of this score alone, not simultaneous.
        elo: the score on Elo's scale, 1000 + 400 / log(10) times the score.
        rank_interval: lowest and highest rank that the simultaneous intervals do not exclude; see `rank_intervals`.
        wins: number of battles that the system won.
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
    """The difference between the scores of two systems.

    Attributes:
        a: the system with the higher score.
        b: the system with the lower score.
        delta: score of a - score of b: the log odds that a wins, if ties are ignored.
        interval: interval of delta, simultaneous for all pairs.
        p_value: two-sided p of the hypothesis delta = 0 (Wald test with the sandwich covariance).
        p_adjusted: p_value adjusted for all pairs.
    """

    a: str
    b: str
    delta: float
    standard_error: float
    interval: Interval
    p_value: float
    p_adjusted: float


@dataclass(frozen=True, repr=False)
class Battles(Result):
    """Result of `battles`: systems ranked by battles of two systems.

    Attributes:
        systems: the systems, the best first.
        pairs: all pairs of systems, in the order of `systems`.
        tie_parameter: nu of Davidson's model. For two equal systems it is the probability of a tie, divided by the
            probability that the first system wins. None if ties are not modelled.
        num_units: number of clusters; without clusters, number of battles.
        notes: what was left out, and pairs whose interval and adjusted p-value disagree.
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

    def document(self) -> Document:
        """The document has the best system, and the table of ranks and scores."""
        level, shown = percent(self.options.confidence_level), self.systems[:_SHOWN]
        others = sum(each.rank_interval[0] == 1 for each in self.systems) - 1
        more = f", or {'one of ' * (others > 1)}{count(others, 'other')}," * (others > 0)
        clusters = f" in {count(self.num_units, 'cluster')} ({self.options.cluster})" if self.options.cluster else ""
        fought = f"{count(self.num_battles, 'battle')} of {count(len(self.systems), 'system')}{clusters}"
        verdict = f"{self.systems[0].system}{more} is the best"
        lines: list[Block] = [f"{fought}, {count(self.num_ties, 'tie')}"]
        lines += [f"in about {level} of data sets all ranks are right", ""]
        spec = number_spec([each.score for each in self.systems])
        # The first pair of a system is with the next system. reversed(), because a dict keeps the last value of a key.
        to_next = {each.a: format_p(each.p_adjusted, digits=3) for each in reversed(self.pairs)}
        columns = {
            "rank": [format_ranks(each.rank_interval) for each in shown],
            "system": [each.system for each in shown],
            "score": [f"{each.score:{spec}}" for each in shown],
            f"{level} interval": [format_interval(each.interval, spec) for each in shown],
            "Elo": [f"{each.elo:.0f}" for each in shown],
            "battles": [f"{each.battles:,}" for each in shown],
            "adj. p, to next": [to_next.get(each.system, "") for each in shown],
        }
        lines.append(Table.of(columns, names=(1,)))
        lines += more_in_json(len(self.systems) - _SHOWN, "system")
        title = CORRECTIONS[self.options.correction].title
        model = "Bradley-Terry" if self.tie_parameter is None else f"Davidson, nu = {self.tie_parameter:.3g}"
        lines += [
            "",
            f"score: log odds of a win against the average system ({model})",
            "intervals: of each score alone, not simultaneous",
            f"p: adjusted by {title} over {count(len(self.pairs), 'pair')}",
            *(f"note: {note}" for note in self.notes),
            self.signature,
        ]
        return Document("Battles", fought, verdict, lines)

    plot = plot_panels

    def _panels(self) -> Iterator[tuple[float, Callable[[Axes], None]]]:
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
        set_words(axes, "ranks", f"possible ranks ({percent(self.options.confidence_level)})")


@takes(BattlesOptions)
def battles(data: Any, options: BattlesOptions) -> Battles:
    r"""Rank systems by battles of two: Bradley-Terry scores, standard errors for dependent battles, possible ranks.

    Args:
        data: the path of a table, a data frame, or a dict of columns. Either one row per battle, as Chatbot Arena
            writes them: `model_a`, `model_b` and `winner` (model_a, model_b, the name of a system, or tie). Or one row
            per pair: `model_a`, `model_b`, `wins` and `losses` of model_a and, if there are some, `ties`.
        options: the fields of `BattlesOptions`, as keyword arguments.

    Raises:
        InputError: the columns are missing; two groups of systems never met; a group of systems won, or lost, all
            battles against the other systems, so that scores would be infinite; there are fewer than two systems or
            units.

    References: Bradley and Terry (1952); Davidson (1970); Mogstad et al. (2024); `sigjax help arena` has the titles.

    Example:
        >>> counts = {"model_a": "AAB", "model_b": "BCC", "wins": [30, 40, 35], "losses": [20, 10, 15]}
        >>> study = battles(counts)
        >>> [(each.system, round(each.score, 2), each.rank_interval) for each in study.systems]
        [('A', 0.59, (1, 2)), ('B', 0.15, (1, 2)), ('C', -0.74, (3, 3))]
    """
    check(options)
    reading = Options(**values(options, Options))
    table, own, notes = reshape_table(_table(data, reading), reading)
    if not (columns := battle_columns(table, counts=True)):
        expected = "the columns model_a, model_b and winner, or model_a, model_b, wins, losses and ties"
        raise InputError(f"{table.file}: is no table of battles; expected {expected}; got {listing(table.columns)}")
    if (cluster := options.cluster) is not None and cluster not in table.columns:
        near = suggest(cluster, table.columns, "columns")
        raise InputError(f"{table.file}: {Hint('cluster')}: no column {quote(cluster)}; {near}")
    systems, rows, a, b, outcomes, left_out = battle_rows(table, columns, own)
    number = len(systems)
    if number > _MOST:
        raise InputError(f"battles takes at most {_MOST:,} systems, got {number:,}; name some ({Hint('only')})")
    keys, index = np.unique(np.minimum(a, b) * number + np.maximum(a, b), return_inverse=True)
    turned = np.where((a > b)[:, None], outcomes[:, ::-1], outcomes)
    first, second = np.divmod(keys, number)
    counts = np.stack([np.bincount(index, column) for column in turned.T], axis=1)
    num_battles = int(counts.sum())
    _check_finite(systems, first, second, counts, options)
    halved = counts if options.ties == "davidson" else counts @ [[1.0, 0.0, 0.0], [0.5, 0.0, 0.5], [0.0, 0.0, 1.0]]
    fitted, inverse = _maximum_likelihood(first, second, halved, number)
    if cluster is None:
        num_units, spread = num_battles, _squares(_gradients(first, second, fitted)[0], counts)
    else:
        units = codes(tuple(table.names[cluster][rows].tolist()))
        num_units, spread = int(units.max()) + 1, _squares(_gradients(a, b, fitted)[0], outcomes, units)
    order = np.argsort(-fitted[:-1], kind="stable")
    scores, names = fitted[order], [systems[k] for k in order.tolist()]
    degrees, level = max(num_units - 1.0, 1.0), options.confidence_level
    covariance = (inverse @ spread @ inverse)[np.ix_(order, order)] * num_units / degrees
    errors, (a, b) = np.sqrt(np.diag(covariance)), np.triu_indices(number, 1)
    deltas = scores[a] - scores[b]
    of_deltas = np.sqrt(np.maximum(errors[a] ** 2 + errors[b] ** 2 - 2.0 * covariance[a, b], 0.0))
    if num_units < 2 or (of_deltas < 1e-10).any():
        units = count(num_units, "battle" if cluster is None else "cluster")
        raise InputError(f"{units} of {count(number, 'system')}: too few for the standard errors of all differences")
    roots, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.maximum(roots, 0.0))
    maxima = normal_maxima(root, np.stack([a, b], axis=1), options.resamples, options.seed)
    of_one = t_quantile(level, degrees) * errors
    reach = t_quantile(max(joint_level(maxima, level), level), degrees) * of_deltas
    beats = np.zeros((number, number), bool)
    beats[a, b] = deltas > reach
    p_values = np.array([t_tail(t, degrees, "two-sided") for t in (deltas / of_deltas).tolist()])
    results = np.zeros((number, 3))  # won, tied, lost
    np.add.at(results, first, counts)
    np.add.at(results, second, counts[:, ::-1])
    columns = scores, errors, scores - of_one, scores + of_one, 1000.0 + ELO * scores
    of_pairs = deltas, of_deltas, deltas - reach, deltas + reach, p_values, adjust(p_values, options.correction)
    apart = _disagreeing(names, (a, b), np.abs(deltas) > reach, of_pairs[-1] < 1.0 - level, options)
    of_systems = np.stack(columns, 1).tolist(), rank_intervals(beats), results[order].astype(int).tolist()
    return Battles(
        tuple(
            BattleSystem(name, score, error, Interval(low, high), elo, ranks, sum(fought), *fought[:2])
            for name, (score, error, low, high, elo), ranks, fought in zip(names, *of_systems, strict=True)
        ),
        tuple(
            BattlePair(names[i], names[j], delta, error, Interval(low, high), p, adjusted)
            for i, j, (delta, error, low, high, p, adjusted) in zip(a, b, np.stack(of_pairs, 1).tolist(), strict=True)
        ),
        num_battles,
        int(counts[:, 1].sum()),
        math.exp(fitted[-1]) if fitted[-1] > -math.inf else None,
        num_units,
        (*notes, *left_out, *apart),
        options,
        study_signature("battles", options, metric="score", systems=number, battles=num_battles),
    )


def _disagreeing(
    names: Sequence[str],
    pairs: Sequence[np.ndarray],
    apart: np.ndarray,
    significant: np.ndarray,
    options: BattlesOptions,
) -> Iterator[str]:
    """Yield notes on pairs whose simultaneous interval and adjusted p-value disagree, because their corrections differ.

    `pairs` are two arrays `[pair]`: the positions in `names` of the two systems. `apart` and `significant` `[pair]` say
    whether the systems differ according to the interval and to the p-value.
    """
    alpha = f"{1.0 - options.confidence_level:.3g}"
    for which, what in (
        (significant & ~apart, f"interval with 0, but adjusted p below {alpha}"),
        (apart & ~significant, f"interval without 0, but adjusted p not below {alpha}"),
    ):
        if which.any():
            rows = np.flatnonzero(which).tolist()
            listed = first_of([f"{names[pairs[0][k]]} - {names[pairs[1][k]]}" for k in rows], _NAMED)
            yield f"{what}: {listed}; intervals are simultaneous by the largest |t|, and ranks go by them"


def _table(data: Any, options: Options) -> DataTable:
    if isinstance(data, str | os.PathLike):
        return read_rows(data, options)
    if not isinstance(data, Mapping):
        return frame_table(data, options)
    columns = {str(name): DataColumn(["" if cell is None else str(cell) for cell in own]) for name, own in data.items()}
    if len({len(own) for own in columns.values()}) != 1:
        raise InputError("battles takes columns of equal length, such as model_a, model_b and winner")
    return DataTable("data", columns, range(1, len(next(iter(columns.values()))) + 1), "row")


def _check_finite(
    systems: tuple[str, ...], a: np.ndarray, b: np.ndarray, counts: np.ndarray, options: BattlesOptions
) -> None:
    """Raise an error if no finite scores maximize the likelihood.

    However the systems are divided into two groups, each group must have won a battle against the other group (Ford
    1957). A tie counts as a win of both. If ties are modelled, some cycle of systems must also have more wins than
    ties. `a` and `b` `[pair]` are the positions of two systems, and `counts` `[pair, outcome]` the battles that `a`
    won, tied and lost.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import NegativeCycleError, bellman_ford, connected_components

    won, tied = np.zeros((2, len(systems), len(systems)))
    won[a, b], won[b, a] = counts[:, 0], counts[:, 2]
    tied[a, b] = tied[b, a] = counts[:, 1]
    beats, leave = won + tied, f"leave systems out ({Hint('only', 'A', 'B')}), or add battles"

    def names(group: np.ndarray) -> str:
        return first_of([systems[k] for k in np.flatnonzero(group)], _NAMED)

    groups, of_system = connected_components(csr_array(beats), connection="weak")
    if groups > 1:
        parts = " | ".join(names(of_system == group) for group in range(min(groups, _NAMED)))
        raise InputError(f"these groups of systems never met, so no scores compare them: {parts}; {leave}")
    of_system = connected_components(csr_array(beats), connection="strong")[1]
    for group in np.argsort(np.bincount(of_system), kind="stable"):
        own = of_system == group
        if (wins := beats[own][:, ~own].any()) != beats[~own][:, own].any():
            raise InputError(
                f"{names(own)} {'won' if wins else 'lost'} all battles against the other systems, so that no finite "
                f"scores describe them; {leave}"
            )
    if options.ties == "half" or not tied.any():
        return
    # With ties, scores are finite only if some cycle of systems has more wins than ties. In this graph, a win has the
    # length -2 and a tie the length 2, so such a cycle has a negative length.
    try:
        bellman_ford(csr_array(np.where(won > 0.0, -2.0, 2.0 * (tied > 0.0))), indices=0)
    except NegativeCycleError:
        return
    raise InputError(
        f"no wins go against the others, so Davidson's model has no finite scores; give {Hint('ties', 'half')}"
    )


def _gradients(a: np.ndarray, b: np.ndarray, fitted: np.ndarray) -> tuple[Any, np.ndarray]:
    """Return two arrays: the gradients of the log probabilities of all outcomes, and these log probabilities.

    `a` and `b` `[row]` are the positions of the systems that meet. `fitted` are the scores of all systems, and then the
    logarithm of the tie parameter nu. The gradients are a sparse matrix `[3 * row + outcome, system + 1]`. Its last
    column has the derivatives with respect to log nu. The log probabilities are `[row, outcome]`: `a` wins, ties or
    loses. The largest of the three probabilities is computed from the sum of the two smaller probabilities. So its
    difference from 1 keeps all digits.
    """
    from scipy.sparse import csr_array

    apart, rows = (fitted[a] - fitted[b]) / 2.0, np.arange(3 * len(a))
    logs = np.stack([apart, np.full(len(a), fitted[-1]), -apart], axis=1)
    logs -= logs.max(axis=1, keepdims=True)
    logs -= np.log1p(np.sort(np.exp(logs), axis=1)[:, :2].sum(axis=1, keepdims=True))
    won, tied, lost = np.exp(logs).T
    move = np.stack([lost + tied / 2.0, (lost - won) / 2.0, -won - tied / 2.0], axis=1).ravel()
    to_ties = np.stack([-tied, won + lost, -tied], axis=1).ravel() * (fitted[-1] > -math.inf)
    at = np.tile(rows, 3), np.concatenate([np.repeat(a, 3), np.repeat(b, 3), np.full(len(rows), len(fitted) - 1)])
    return csr_array((np.concatenate([move, -move, to_ties]), at), shape=(len(rows), len(fitted))), logs


def _squares(gradients: Any, counts: np.ndarray, units: np.ndarray | None = None) -> np.ndarray:
    """Return the sum over units of g g', where g is the sum of the gradients of all battles of the unit.

    `gradients` is the matrix from `_gradients`. `counts` `[row, outcome]` are numbers of battles, and `units` `[row]`
    is the unit of all battles of the row. Without `units`, each battle is a unit. The result is
    `[system + 1, system + 1]`.
    """
    from scipy.sparse import csr_array

    cell, battles = np.arange(counts.size), counts.ravel()
    weights = (np.sqrt(battles), (cell, cell)) if units is None else (battles, (np.repeat(units, 3), cell))
    sums = csr_array(weights) @ gradients
    return (sums.T @ sums).toarray()


def _maximum_likelihood(a: np.ndarray, b: np.ndarray, counts: np.ndarray, number: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the maximum-likelihood estimates, and the inverse of the information matrix.

    The estimates are the scores of the systems, and then the logarithm of the tie parameter nu (minus infinity without
    ties). They are found with Newton's method. `counts` `[row, outcome]` are numbers of battles: `a` wins, ties or
    loses against `b`. `a` and `b` `[row]` are positions of systems, and `number` is the number of systems.
    """
    won, tied, lost = counts.sum(axis=0)
    fitted = np.append(np.zeros(number), math.log(2.0 * tied / (won + lost)) if tied else -math.inf)
    step, reached, some = np.zeros(number + 1), -math.inf, counts > 0.0
    for taken in range(_STEPS):
        gradients, logs = _gradients(a, b, fitted + step)
        if (value := counts[some] @ logs[some]) < reached - 1e-12 * abs(reached):
            step = step / 2.0
            continue
        fitted, reached = fitted + step, value
        information = _squares(gradients, counts.sum(axis=1, keepdims=True) * np.exp(logs))
        information[:-1, :-1] += information.trace() / number**2  # else singular: scores are free up to a constant
        information[-1, -1] += not tied
        inverse = np.linalg.inv(information)
        if taken and np.abs(step).max() < _SMALL:
            return fitted - np.append(np.full(number, fitted[:-1].mean()), 0.0), inverse
        step = inverse @ (gradients.T @ counts.ravel())
    raise InputError(
        "the scores do not converge: some would be nearly infinite; leave out systems that nearly always win"
    )
