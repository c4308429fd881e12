r"""Tilted swaps: p of the permutation test far below 1 / (resamples + 1), of any metric of sums (importance sampling).

**Tilts.** With $D_i$ the difference of the outputs of unit i, a swap e, one sign per unit, gives $S = \sum_i e_i D_i$,
and delta is a function of S. Its slopes g at S = 0 say how much a unit counts, $x_i = g \cdot D_i$, and the sign of
$D_i$ is chosen so that $x_i \ge 0$. So all of this is a function of the orbit: it is the same whichever swap was
observed, as swaps turn $D_i$ round and keep the sum of both systems. By the tilt $\theta$, unit i has the sign + with
probability $1 / (1 + e^{-2 \theta x_i})$. Tilts $\pm\theta_1, \dots, \pm\theta_J$ are a path outwards, to where all
signs are equal. With $L = \sum e_i x_i$ and Q the equal mixture of the tilts, the weight of a swap is

$$w = dP / dQ = 1 \Big/ \frac1J \sum_j \frac{\cosh(\theta_j L)}{\prod_i \cosh(\theta_j x_i)}.$$

Where delta bends (BLEU, where outputs get shorter than references), slopes farther out make another path, and Q mixes
the tilts of all paths.

**Draws.** A vector U of uniform numbers gives a swap e(c, U) for each tilt c: + where $U_i$ is below that probability.
The observed swap gets a vector, too: $U_0$ is drawn, with a tilt, from all those that give the observed swap. With B
other vectors and C tilts

$$p = \frac{1}{B + 1} \sum_{b=0}^B \frac{1}{C} \sum_c w(e(c, U_b)) \, 1\{|\delta(e(c, U_b))| \ge |\delta|\}.$$

*Proof that P(p <= u) <= u, for any B and any statistic.* Let F(t) be the right side with t for |delta|: what a measure
M on numbers, with masses w / (C (B + 1)) at |delta(e(c, U_b))|, has from t on. Under the null hypothesis the tilt c
and $U_0, \dots, U_B$ have the density w(e(c, U_0)), relative to all of them uniform. So P(p <= u) is the mean of
w(e(c, U_0)) 1{F(|delta(e(c, U_0))|) <= u} over uniform ones. F is symmetric in the vectors and knows no c; averaged
over all c and over which vector is the 0-th, that is the mean of M{t: F(t) <= u}, and this is at most u for every
measure M. QED. A one-sided p is half of this, if delta has its sign: with U and 1 - U taken together, every swap
comes with the opposite one. Tilts chosen by the observed delta would break the symmetry.

*With the floor.* If no plain swap is extreme, the result is min(1 / (K + 1), p), else (exceed + 1) / (K + 1). For u
from 1 / (K + 1) on, it is at most u where (exceed + 1) / (K + 1) is, and for smaller u only where p is: both with
probability at most u, however the two depend on each other.

*Why all tilts for each vector.* Where delta is about linear in L, and L about normal, the sum over c is p itself for
every U. So some hundred vectors do, at any p, where independent draws from Q would take 10^5.

Reference: Harrison (2012), "Conservative hypothesis tests and confidence intervals using importance sampling".
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from sigjax.records import Column, Comparisons
from sigjax.resample.draws import row_keys, words
from sigjax.run.context import Context
from sigjax.testing.hypotheses import Pair, SumsData
from sigjax.testing.p_values import normal_quantile
from sigjax.testing.permutation import exact_budget

Delta = Callable[[np.ndarray], np.ndarray]
"""Sums S `[..., stat]` -> deltas `[...]`, an odd function; some may be NaN or infinite."""

_STREAM = 0x9E3779B97F4A7C15
"""Added to the seed: other words than those of plain swaps."""
_MOST, _FEWEST, _NUMBERS = 1024, 64, 2**21
"""Vectors of a pair: as many as the budget and, for many units, so many random numbers allow."""
_VECTOR, _NUMBER = 5e-6, 3e-9
"""Nominal seconds of a vector and of each of its numbers, both for each statistic."""
_INNERMOST, _STEPS = 3.0, (1.5, 0.075, 0.005)
"""The reach of a tilt is about the normal deviate of what it leads to. The least; and from tilt to tilt: what -log p
grows by, and at least what the reach grows by, alone and in proportion to itself."""
_BENDS, _BENT, _CHORD = (8.0, 14.0, 20.0, 30.0), 0.3, 0.3
"""Reaches where a path may be left for another one; if the sine of their angle, times the reach, is larger than the
second number. The third one is half the width, in standard deviations of a sum, of the differences that are slopes."""
_NODES = 640
"""Between the means of L by the least and the largest tilt."""
_FAINT = 20.0
"""Swaps whose log weights are smaller by this than those that count are counted as extreme without a look."""
_CHUNK = 2**15
"""Numbers that are worked on together, so that they stay in the cache."""


class Uniforms(NamedTuple):
    """Numbers between 0 and 1, the same for all pairs."""

    logits: np.ndarray
    """[vector, unit] log U / (1 - U)."""
    of_observed: np.ndarray
    """[unit + 1]: for the vector of the observed swap, and its tilt."""

    @classmethod
    def of(cls, seed: int, num_vectors: int, num_units: int) -> Uniforms:
        """The numbers of a seed: words of the cipher, in the middle of their steps of 2^-32."""
        rows = row_keys((seed + _STREAM) % 2**64, np.arange(num_vectors + 1))
        numbers = (np.asarray(words(rows, num_units + 2 - num_units % 2)) + 0.5) * 2.0**-32
        return cls(_logit(numbers[1:, :num_units]), numbers[0, : num_units + 1])


def beyond_floor(case: SumsData, sampled: Comparisons, rows: np.ndarray, context: Context) -> Comparisons:
    """The columns of the sampled pairs at the positions `rows`, by tilted swaps where no plain one was extreme.

    The number of vectors depends on nothing observed: on the numbers of units, statistics and sampled pairs.
    """
    settings, (_, num_units, num_stats) = case.settings, case.units.values.shape
    affordable = exact_budget(settings) / len(rows) / (_VECTOR + _NUMBER * num_units) / num_stats
    num_vectors = min(max(_NUMBERS // num_units, 2 * _FEWEST), int(affordable), _MOST)
    at_floor = np.flatnonzero(sampled.column("exceed").values == 0)
    if num_vectors < _FEWEST or not at_floor.size:
        return sampled
    log_p, errors = np.full((2, len(rows)), np.nan)
    uniforms, sign = Uniforms.of(settings.seed, num_vectors, num_units), -1.0 if settings.alternative == "less" else 1.0
    with context.progress_bar("importance sampling", len(at_floor)) as advance:
        for done, row in enumerate(at_floor.tolist(), 1):
            pair = case.hypotheses.pair(rows[row])
            a, b = case.units.values[list(pair)]
            orbit = Orbit((a - b).astype(np.float64), pair_delta(case, pair))
            tolerance, is_two_sided = case.swap_tolerance(pair), settings.alternative == "two-sided"
            if orbit.paths and (is_two_sided or case.hypotheses.delta(pair) * sign > tolerance):
                log_p[row], errors[row] = orbit.p(uniforms, tolerance)
                log_p[row] -= 0.0 if is_two_sided else math.log(2.0)
            advance(done)
    p_value, log10_p = sampled.columns("p_value", "log10_p")
    lower = log_p / math.log(10.0) < log10_p.values
    width = normal_quantile(0.5 + settings.level / 2.0) * errors
    ends = np.where(lower, np.minimum(np.exp([log_p - width, log_p + width]), 1.0), np.nan)
    return sampled.with_columns(
        {
            "p_value": Column(np.where(lower, np.exp(log_p), p_value.values)),
            "log10_p": Column(np.where(lower, log_p / math.log(10.0), log10_p.values)),
            "p_interval": Column.unless_nan(ends.T),
            "method": Column(lower.astype(np.int8), None, ("montecarlo", "tilted")),
        }
    )


def pair_delta(case: SumsData, pair: Pair) -> Delta:
    """Delta as a function of S = a* - b*: swaps keep a* + b*."""
    half = 0.5 * (case.units.totals[pair[0]] + case.units.totals[pair[1]])

    def delta(sums: np.ndarray) -> np.ndarray:
        moved = 0.5 * np.moveaxis(sums, -1, 0)  # in memory, each statistic is an array by itself
        middle = half.reshape(-1, *[1] * (moved.ndim - 1))
        first, second = case.scores(np.moveaxis(np.stack([middle + moved, middle - moved], axis=1), 0, -1))
        with np.errstate(all="ignore"):
            return first - second

    return delta


class Orbit:
    """All swaps of two systems, of which one is observed: the units on which they differ, and the paths outwards."""

    def __init__(self, apart: np.ndarray, delta: Delta) -> None:
        """`apart` `[unit, stat]` are the differences of all units as observed (float64, whole numbers)."""
        self.units = np.flatnonzero(apart.any(axis=1))
        self.apart, self.delta, self.paths = apart[self.units], delta, list[Path]()
        spread = np.sqrt(np.einsum("us,us->s", self.apart, self.apart))
        self.varying = np.flatnonzero(spread)
        at = np.zeros(len(spread))
        for bend in (0.0, *_BENDS):
            if bend and (not self.paths or self.paths[-1].reach[-1] < bend):
                break
            at = self.paths[-1].mean(bend, self.apart) if bend else at
            steps = np.diag((_CHORD if bend else 1.0) * spread)
            with np.errstate(all="ignore"):
                slopes = (delta(at + steps) - delta(at - steps)) / np.diag(steps)
            slopes[~np.isfinite(slopes)] = 0.0
            effects = np.einsum("us,s->u", self.apart, slopes)
            size = float(np.linalg.norm(effects)) or 1.0
            sine = math.sqrt(max(0.0, 1.0 - float(effects @ self.paths[-1].effects / size) ** 2)) if bend else 1.0
            if effects.any() and sine * bend >= (_BENT if bend else 0.0):
                self.paths.append(Path(self.apart, slopes / size, effects / size))

    def log_weights(self, sums: np.ndarray) -> np.ndarray:
        """Logarithms of dP/dQ `[...]` of swaps with the sums S `[..., stat]`."""
        ratios = [path.log_ratios(sums @ path.slopes) for path in self.paths]
        return math.log(len(ratios)) - (np.logaddexp.reduce(ratios) if len(ratios) > 1 else ratios[0])

    def p(self, uniforms: Uniforms, tolerance: float) -> tuple[float, float]:
        """Logarithm of the two-sided p, and its standard error; deltas closer than the tolerance are ties."""
        logits = np.concatenate([self._through_observed(uniforms.of_observed), uniforms.logits[:, self.units]])
        log_sums = np.logaddexp.reduce([self._log_sums(path, logits, tolerance) for path in self.paths])
        values = np.exp(log_sums - log_sums.max())
        mean = float(values.mean())
        error = float(values.std(ddof=1)) / mean / math.sqrt(len(values))
        return min(math.log(mean) + float(log_sums.max()), 0.0), error

    def _through_observed(self, uniforms: np.ndarray) -> np.ndarray:
        """Log U / (1 - U) `[1, unit]` of the vector of the observed swap."""
        tilts = [(path, theta) for path in self.paths for theta in (*path.theta, *-path.theta)]
        logs = np.concatenate([path.log_chances_of(float(path.effects.sum())) for path in self.paths])
        chances = np.cumsum(np.exp(logs - logs.max()))
        path, theta = tilts[min(int(np.searchsorted(chances, uniforms[-1] * chances[-1])), len(tilts) - 1)]
        with np.errstate(over="ignore", divide="ignore"):
            numbers = uniforms[self.units] / (1.0 + np.exp(-2.0 * theta * path.effects))
            return (path.signs * _logit(numbers))[None]

    def _log_sums(self, path: Path, logits: np.ndarray, tolerance: float) -> np.ndarray:
        """Logarithms `[vector]` of the mean, over all paths and tilts, of the weights of extreme swaps of one path.

        Faint swaps count with weights that are too large: those that Q would give if it were of their tilt alone.
        """
        observed = self.apart.sum(axis=0)
        least_delta = abs(float(self.delta(observed))) - tolerance
        log_tilts = math.log(2 * len(path.theta) * len(self.paths))
        least = float(self.log_weights(observed)) - log_tilts - _FAINT
        oriented, num_columns = self.apart * path.signs[:, None], 2 * len(path.theta) + 1
        theta = np.concatenate([-path.theta[::-1], path.theta])
        log_norms, found = np.concatenate([path.log_norms[::-1], path.log_norms]), list[np.ndarray]()
        rows = max(1, _CHUNK // max(num_columns, len(self.units)))
        for block in (logits[start : start + rows] for start in range(0, len(logits), rows)):
            flat = (path.first_tilts(block) + num_columns * np.arange(len(block))[:, None]).ravel()
            sums = np.zeros((self.apart.shape[1], len(block), num_columns - 1))
            for stat in self.varying:
                steps = np.bincount(flat, np.tile(oriented[:, stat], len(block)), num_columns * len(block))
                sums[stat] = 2.0 * np.cumsum(steps.reshape(-1, num_columns)[:, :-1], axis=1) - oriented[:, stat].sum()
            logs = log_norms - theta * np.tensordot(path.slopes, sums, 1)
            near = logs > least
            moved = sums[:, near].T
            deltas = self.delta(moved)
            hits = ~(np.abs(deltas) < least_delta)
            of_near = np.full(len(hits), -math.inf)
            of_near[hits] = self.log_weights(moved[hits]) - log_tilts
            logs[near] = of_near
            found.append(_log_sums(logs))
        return np.concatenate(found)


class Path:
    """Tilts outwards, of swaps in one direction, and the ratio of their mixture to fair coins."""

    def __init__(self, apart: np.ndarray, slopes: np.ndarray, effects: np.ndarray) -> None:
        """`effects` `[unit]` of the norm 1 are those of the observed swap."""
        first = apart[np.arange(len(apart)), (apart != 0.0).argmax(axis=1)]
        self.slopes, self.effects = slopes, effects
        self.signs = np.where((effects < 0.0) | ((effects == 0.0) & (first < 0.0)), -1.0, 1.0)
        """[unit]: of the observed swap, where + is what counts for more."""
        sizes, trial = np.abs(effects), np.geomspace(1.0, 4096.0, 49)
        tilted = trial[:, None] * sizes
        entropy = np.einsum("tu,tu->t", tilted, np.tanh(tilted)) - _log_cosh(tilted).sum(axis=1)
        unsure = math.log(2.0) * np.count_nonzero(effects) - entropy > 0.5
        end = min(int(unsure.sum()) + 1, len(trial))
        trial, reach = trial[:end], np.sqrt(2.0 * entropy[:end])
        steps = [min(_INNERMOST, float(reach[-1]) / 2.0)]
        while steps[-1] < reach[-1]:
            steps.append(steps[-1] + max(_STEPS[0] / max(steps[-1], _INNERMOST), _STEPS[1], _STEPS[2] * steps[-1]))
        theta = np.interp(steps, reach, trial)
        step = float(theta[1] - theta[0]) / 16.0
        places = np.unique(np.rint(theta / step).astype(np.int64))
        self.theta = step * places
        self.reach: np.ndarray = np.interp(self.theta, trial, reach)
        self.log_norms = np.array([_log_cosh(each * sizes).sum() for each in self.theta])
        """[tilt] log of the product of cosh(theta x) over units."""
        # Tilts lie on a grid, so that the first one that gives a unit its + is looked up.
        self._farthest = int(places[-1])
        both = np.concatenate([-places[::-1], places])
        self._first = np.searchsorted(both, np.arange(-self._farthest - 1, self._farthest + 1), side="right")
        with np.errstate(divide="ignore"):
            self._scale = 0.5 / (sizes * step)
        between = np.interp(np.linspace(0.0, 1.0, _NODES), np.linspace(0.0, 1.0, len(self.theta)), self.theta)
        means = np.array([(sizes * np.tanh(each * sizes)).sum() for each in between])
        least, largest, most = float(means[0]), float(means[-1]), float(sizes.sum())
        inner, outer = np.linspace(0.0, least, 128, endpoint=False), np.linspace(largest, most, 257)
        self._nodes = np.concatenate([inner, means, outer[1:]])
        tilted = self.theta * self._nodes[:, None]
        logs = _log_cosh(tilted) - self.log_norms
        self._values = _log_sums(logs) - math.log(len(self.theta))
        self._rises = np.einsum("nt,nt->n", np.exp(logs - _log_sums(logs)[:, None]), self.theta * np.tanh(tilted))

    def mean(self, reach: float, apart: np.ndarray) -> np.ndarray:
        """The mean of S `[stat]` of swaps by the tilt with this reach."""
        return np.tanh(np.interp(reach, self.reach, self.theta) * self.effects) @ apart

    def log_chances_of(self, effect: float) -> np.ndarray:
        """Logarithms `[2 tilt]` of how likely each tilt, and its opposite, gives a swap with L = `effect`."""
        logs = np.concatenate([self.theta * effect, -self.theta * effect]) - np.tile(self.log_norms, 2)
        return logs - math.log(len(logs))

    def first_tilts(self, logits: np.ndarray) -> np.ndarray:
        """The index `[..., unit]` of the first of all tilts, ascending, by which a unit has the sign +."""
        keys = np.clip(logits * self._scale, -self._farthest - 1, self._farthest) + (self._farthest + 1)
        return self._first[keys.astype(np.intp)]

    def log_ratios(self, sums: np.ndarray) -> np.ndarray:
        """Logarithms of dQ/dP `[...]` of swaps whose L are `sums`: Hermite's cubics between nodes, to 1e-5."""
        size = np.abs(sums)
        k = np.clip(np.searchsorted(self._nodes, size) - 1, 0, len(self._nodes) - 2)
        width = self._nodes[k + 1] - self._nodes[k]
        t = (size - self._nodes[k]) / width
        rise, start, end = self._values[k + 1] - self._values[k], self._rises[k] * width, self._rises[k + 1] * width
        return self._values[k] + t * (start + t * (3.0 * rise - 2.0 * start - end + t * (start + end - 2.0 * rise)))


def _logit(numbers: np.ndarray) -> np.ndarray:
    return np.log(numbers) - np.log1p(-numbers)


def _log_cosh(x: np.ndarray) -> np.ndarray:
    """Log cosh of numbers from 0."""
    return x + np.log1p(np.exp(-2.0 * x)) - math.log(2.0)


def _log_sums(logs: np.ndarray) -> np.ndarray:
    """Logarithms of the sums of exp(logs) along the last axis."""
    largest = np.maximum(logs.max(axis=-1), -1e300)
    with np.errstate(divide="ignore"):
        return np.log(np.exp(logs - largest[..., None]).sum(axis=-1)) + largest
