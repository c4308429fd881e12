r"""Tilted swaps: permutation p-values far below 1 / (resamples + 1), for any metric of sums (importance sampling).

**Tilts.** Let $D_i$ be the difference of the statistics of the two systems on unit i. A swap e has one sign $e_i$ per
unit, and the signed sum $S = \sum_i e_i D_i$; delta is a function of S. Let g be the slopes of delta at S = 0. Unit i
has the effect $x_i = g \cdot D_i$; the sign of $D_i$ is chosen so that $x_i \ge 0$. A swap changes only signs of $D_i$,
and keeps the sum of both systems. So g and the effects do not depend on which swap was observed. A tilt is a
distribution of swaps under which large sums of signed effects are more probable. Under the tilt $\theta$, unit i has
the sign + with probability $1 / (1 + e^{-2 \theta x_i})$. The tilts $\pm\theta_1, \dots, \pm\theta_J$ grow until nearly
all signs are equal under the last two; together they are called a path. Let P be the uniform distribution of swaps, Q
the equal mixture of the tilts, and $L = \sum e_i x_i$. Then the weight of a swap is

$$w = dP / dQ = 1 \Big/ \frac1J \sum_j \frac{\cosh(\theta_j L)}{\prod_i \cosh(\theta_j x_i)}.$$

If delta is far from linear (for example BLEU, when outputs get shorter than references), slopes at other points S give
more paths, each with effects of its own. Then Q is the equal mixture of the paths. (Below, a mean over all tilts then
gives each path the same total weight.)

**Draws.** A vector U of uniform numbers, one per unit, gives a swap e(c, U) for each tilt c: the sign of unit i is + if
$U_i$ is below the probability of +. The observed swap gets a tilt and a vector, too: c and $U_0$ are drawn at random
from all tilts and vectors for which e(c, U_0) is the observed swap. With B other vectors and C tilts, the p-value is

$$p = \frac{1}{B + 1} \sum_{b=0}^B \frac{1}{C} \sum_c w(e(c, U_b)) \, 1\{|\delta(e(c, U_b))| \ge |\delta|\}.$$

*Proof that P(p <= u) <= u, for any B and any statistic.* Let M be the measure on numbers that has the mass w / (C (B +
1)) at each |delta(e(c, U_b))|. Let F(t) be the mass of M from t on, so p = F(|delta|). If c and all vectors were
uniform, e(c, U_0) would have the distribution Q. Under the null hypothesis, the observed swap has the distribution P.
So c and $U_0, \dots, U_B$ have the density w(e(c, U_0)) relative to the uniform distribution. So P(p <= u) is the mean
of w(e(c, U_0)) 1{F(|delta(e(c, U_0))|) <= u} over the uniform distribution. F is symmetric in the vectors and does not
depend on c. So we may average over all c, and over which vector is the first. The average is the mean of M{t: F(t) <=
u}, which is at most u for every measure M. QED. If the observed delta lies on the side of the alternative, a one-sided
p is half of the two-sided p. The reason: the vector 1 - U gives the opposites of the swaps of U, with the same weights
and the same |delta|. So a small two-sided p is equally likely on both sides. The proof needs tilts that do not depend
on which swap was observed.

*With the floor.* sigjax first draws K plain swaps (from P). Their p-value is (exceed + 1) / (K + 1), where exceed is
the number of extreme swaps. It cannot be below 1 / (K + 1), the floor. If no plain swap is extreme, the result is min(1
/ (K + 1), p), else (exceed + 1) / (K + 1). For u >= 1 / (K + 1), the result is at most u exactly if (exceed + 1) / (K +
1) is. For smaller u, the result is at most u only if p is. Each of these two events has probability at most u, however
p and exceed depend on each other.

*When p stays at the floor 1 / (K + 1).* p keeps its level for every statistic. But the confidence interval of p is
wrong if some extreme swaps lie off the paths, that is, if no tilt makes them likely. This happens if delta is a sine of
a sum, or the larger of two sums. So there are two rules. First, take the mean over c in the formula of p for each
vector alone: p stays at the floor if the standard deviation of these B + 1 numbers is more than about twice their mean.
Second, p stays at the floor if swaps off the paths, likely enough to matter, are as extreme as the observed swap and
have much larger weights than all drawn extreme swaps. Both rules only make p larger, so it keeps its level.

*All tilts for each vector*: if delta is about linear in L, and L about normal, the mean over c is nearly p for any U. A
few hundred vectors then suffice, while independent draws from Q would need 10^5. Reference: Harrison (2012),
"Conservative hypothesis tests and confidence intervals using importance sampling".
"""

from __future__ import annotations

import math

import numpy as np

from sigjax.records import CORRECTIONS, Column, Columns
from sigjax.resample.draws import STREAMS, words
from sigjax.run.context import Context, ahead, num_cores
from sigjax.run.costs import TILTED_NUMBER, TILTED_VECTOR, Cost
from sigjax.testing.problem import Pair, Problem, SumsProblem, exact_budget
from sigjax.testing.special import t_quantile

_MOST_VECTORS, _FEWEST_VECTORS, _MOST_NUMBERS = 512, 64, 2**21
"""Each pair uses at most `_MOST_VECTORS` and at least `_FEWEST_VECTORS` vectors of uniform numbers (one number per
unit). All vectors together have at most about `_MOST_NUMBERS` numbers, and the budget may allow fewer vectors."""
_INNERMOST, _STEPS = 3.0, (1.5, 0.075, 0.005)
"""A tilt is a distribution of swaps under which large deltas are more probable. Its reach is about how many standard
deviations its swaps lie from the mean of all swaps. `_INNERMOST`: the reach of the first tilt, or less if few units
differ. `_STEPS` (x, y, z): from tilt to tilt, the reach r grows by the largest of x / r (at most x / 3), y and z r. The
step x / r makes the normal tail probability beyond r smaller by about the factor e^-x."""
_BENDS, _BENT, _MOST_PATHS = (8.0, 14.0, 20.0, 30.0), 0.5, 4
"""A path is a set of tilts (distributions of swaps) in one direction. More paths are tried in the directions of the
slopes of delta at points far from the mean of all swaps. `_BENDS`: the distances of these points from the mean, in
standard deviations. `_BENT`: a path is added if the distance of its point, times the sine of its angle to every other
path, is above this number. `_MOST_PATHS`: there are at most this many paths."""
_CHORD, _FAR = 0.3, 4.0
"""Distances in standard deviations of a sum. `_CHORD`: half the width of the central differences that give slopes of
delta (1 for the slopes at the mean of all swaps). `_FAR`: slopes are also computed at this distance from a path (a set
of tilts in one direction). A path can miss the kink of BLEU, where outputs become shorter than references."""
_WIDER, _NOISIEST = 1.1, 2.2
"""`_WIDER`: the estimated standard error of log p is multiplied by this, because the weights of swaps have a skewed
distribution. `_NOISIEST`: the largest allowed standard error of log p, times the root of the number of random vectors.
Above it, p depends on too few swaps, and stays at the floor, the smallest Monte Carlo p."""
_LINE_FRACTIONS, _SHARE_BEYOND, _WEIGHT_FACTOR, _ROUNDS = (0.25, 0.5, 0.75, 1.0), 0.05, 10.0, 3
"""Constants of the search for extreme swaps off the paths (sets of tilts, each in one direction). The search goes
outwards along straight lines. `_LINE_FRACTIONS`: the fractions of a line at which sums are tried. `_SHARE_BEYOND`: a
line ends where the probability beyond its end and beyond the opposite end is about this share of p. `_WEIGHT_FACTOR`: a
swap off the paths matters if its weight exceeds the weights of all drawn extreme swaps by this factor. `_ROUNDS`: the
number of rounds, each with new slopes."""
_FAINT = 20.0
"""The weight of a swap is the ratio dP/dQ of the uniform distribution P of swaps to the mixture Q of all tilts (other
distributions of swaps). If an upper bound on the log weight is below the log weight of the observed swap by more than
this, the swap counts as extreme without a check. This makes p only slightly larger."""
_CANCELLED = 1e-9
"""Limit for the effect of a unit on delta, as a share of its largest term. (The effect is a sum with one term per
statistic.) A smaller effect is only rounding."""
_CHUNK = 2**15
"""Vectors are processed in blocks of about this many values, which stay in the cache."""


def importance_sampled(problem: Problem, sampled: Columns, rows: np.ndarray, context: Context) -> Columns:
    """Return the result columns of pairs; p-values at the floor are estimated again by importance sampling.

    The floor is 1/(K + 1), the smallest p of K resamples. `sampled` are the result columns of the pairs at the
    positions `rows`, from plain swaps (drawn uniformly). They are returned unchanged in a shard, if the metric is not a
    function of sums, or if the settings, the statistic z or the design require plain swaps. The number of random
    vectors, from which swaps are made, depends on the numbers of units, statistics and sampled pairs, and on the
    budget, but not on any observed value.
    """
    plain = problem.settings.method != "auto" or CORRECTIONS[problem.settings.correction].is_resampled
    if plain or not isinstance(problem, SumsProblem) or problem.studentizes or problem.exchanges != "units":
        return sampled
    if context.is_part:
        return sampled  # the merge of all shards computes this
    settings, (_, num_units, num_stats) = problem.settings, problem.units.values.shape
    affordable = _FEWEST_VECTORS * exact_budget(settings) / least_cost(len(rows), num_units, num_stats).seconds
    num_vectors = min(max(_MOST_NUMBERS // num_units, 2 * _FEWEST_VECTORS), int(affordable), _MOST_VECTORS)
    at_floor = np.flatnonzero(sampled.column("exceed").values == 0)
    if num_vectors < _FEWEST_VECTORS or not at_floor.size:
        return sampled
    uniforms = draw_uniforms(settings.seed, num_vectors, num_units)

    two_sided, sign = settings.alternative == "two-sided", -1.0 if settings.alternative == "less" else 1.0

    def tilted(pair: Pair) -> tuple[float, float]:
        swaps, tolerance = TiltedSwaps(problem, pair), problem.swap_tolerance(pair)
        if not swaps.paths or not (two_sided or sign * problem.hypotheses.delta(pair) > tolerance):
            return math.nan, math.nan
        log_p, error = swaps.p(*uniforms, tolerance)
        if not error <= _NOISIEST / math.sqrt(num_vectors):
            return math.nan, math.nan
        return log_p if two_sided else log_p - math.log(2.0), error

    log_p, errors = np.full((2, len(rows)), np.nan)
    pairs = [problem.hypotheses.pair(rows[row]) for row in at_floor]
    with context.progress_bar("importance sampling", len(pairs)) as advance:
        for done, found in enumerate(ahead(tilted, pairs, num_cores())):
            log_p[at_floor[done]], errors[at_floor[done]] = found
            advance(done + 1)
    p_value, log10_p = sampled.columns("p_value", "log10_p")
    lower = log_p / math.log(10.0) < log10_p.values
    width = t_quantile(settings.confidence_level, float(num_vectors)) * errors
    ends = np.where(lower, np.minimum(np.exp([log_p - width, log_p + width]), 1.0), np.nan)
    return sampled.with_columns(
        {
            "p_value": Column(np.where(lower, np.exp(log_p), p_value.values)),
            "log10_p": Column(np.where(lower, log_p / math.log(10.0), log10_p.values)),
            "p_interval": Column.unless_nan(ends.T),
            "method": Column(lower.astype(np.int8), None, ("montecarlo", "tilted")),
        }
    )


def least_cost(num_pairs: int, num_units: int, num_stats: int) -> Cost:
    """The least cost of importance sampling for this many pairs; a smaller budget rules this method out."""
    return (TILTED_VECTOR + TILTED_NUMBER * num_units) * (_FEWEST_VECTORS * num_pairs * num_stats)


def draw_uniforms(seed: int, num_vectors: int, num_units: int) -> tuple[np.ndarray, np.ndarray]:
    """Return two arrays of random numbers, from which importance sampling makes the swaps of every pair.

    The first array has log(U / (1 - U)) `[vector, unit]`: each row is made from a vector of uniform numbers U, one per
    unit. The second array has uniform numbers `[unit + 1]`. From them, each pair draws the vector and the tilt (a
    distribution of swaps) that give its observed swap. Each uniform number is the midpoint of one of 2^32 equal parts
    of the interval from 0 to 1.
    """
    rows = STREAMS["vectors"].keys(seed, np.arange(num_vectors + 1))
    numbers = (np.asarray(words(rows, num_units + 2 - num_units % 2)) + 0.5) * 2.0**-32
    return _logit(numbers[1:, :num_units]), numbers[0, : num_units + 1]


class TiltedSwaps:
    """The swaps of two systems, with the units on which they differ and the tilts for importance sampling."""

    def __init__(self, problem: SumsProblem, pair: Pair) -> None:
        a, b = problem.units.values[list(pair)]
        self.units, self._scores = np.flatnonzero((a != b).any(axis=1)), problem.scores
        self.apart = (a - b)[self.units].astype(np.float64)
        self._half = 0.5 * (problem.units.totals[pair[0]] + problem.units.totals[pair[1]])
        self.paths, spread = list[TiltMixture](), np.sqrt(np.einsum("us,us->s", self.apart, self.apart))
        for bend in (0.0, *_BENDS):
            if bend and (not self.paths or self.paths[0].reach[-1] < bend):
                break
            at = np.concatenate([0.0 * spread[None], np.diag(_FAR * spread), np.diag(-_FAR * spread)])
            at = at + self.paths[-1].mean(bend, self.apart) if bend else at
            slopes = self._slopes(at, (_CHORD if bend else 1.0) * spread)
            for slope in slopes[: None if bend else 1]:
                effects = np.einsum("us,s->u", self.apart, slope)
                effects[np.abs(effects) < _CANCELLED * np.abs(self.apart * slope).max(axis=1)] = 0.0
                size = float(np.linalg.norm(effects)) or 1.0
                cosine = max((abs(float(effects @ path.effects)) / size for path in self.paths), default=0.0)
                bent = not bend or bend * math.sqrt(max(0.0, 1.0 - cosine**2)) > _BENT
                if bent and effects.any() and len(self.paths) < _MOST_PATHS:
                    self.paths.append(TiltMixture(self.apart, slope / size, effects / size))

    def deltas(self, sums: np.ndarray) -> np.ndarray:
        """Return delta `[...]` if the difference a* - b* of both systems' sums is S `[..., stat]` (`sums`).

        A swap keeps a* + b*, so S determines both sums. If S changes its sign, the two sums change places, and delta
        changes its sign.
        """
        with np.errstate(all="ignore"):
            return self._scores(self._half + 0.5 * sums) - self._scores(self._half - 0.5 * sums)

    def _unseen(self, log_p: float, least_delta: float, heaviest: float) -> bool:
        """Whether extreme swaps that matter for p seem to lie off all paths, so that importance sampling misses them.

        A path is a set of tilts (distributions of swaps) in one direction. The search first tries the likeliest sums S
        for which one statistic is large. Each later round tries the likeliest sums with a large effect g . S, where g
        are the slopes of delta at the sums of the round before. With many units, sums are about normal. So among the
        sums with the same effect, the likeliest sum is a multiple of C g, where C are the covariances of sums. A swap
        is extreme if |delta| is at least `least_delta`. `log_p` is the logarithm of the estimated p, and `heaviest` the
        largest log weight of the drawn extreme swaps.
        """
        covariance = np.einsum("us,ut->st", self.apart, self.apart)
        spread, reach = np.sqrt(np.diag(covariance)), _normal_reach(log_p + math.log(0.5 * _SHARE_BEYOND))
        slopes = np.diag(np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0.0))
        for _ in range(_ROUNDS):
            ends = np.einsum("ks,st->kt", slopes, covariance)
            sizes = np.sqrt(np.maximum(np.einsum("ks,ks->k", ends, slopes), 0.0))
            ends = reach * ends[sizes > 0.0] / sizes[sizes > 0.0, None]
            sums = np.concatenate([part * ends for part in _LINE_FRACTIONS])
            extreme = sums[~(np.abs(self.deltas(sums)) < least_delta)]
            if (self.log_weights(extreme) > heaviest + math.log(_WEIGHT_FACTOR)).any():
                return True
            slopes = self._slopes(ends, _CHORD * spread)
        return False

    def _slopes(self, at: np.ndarray, half: np.ndarray) -> np.ndarray:
        """Return the slopes of delta `[point, stat]` at the sums `at` `[point, stat]`, by central differences.

        `half` `[stat]` is half the width of a central difference (the distance between its two sums).
        """
        steps = np.diag(half)
        with np.errstate(all="ignore"):
            slopes = (self.deltas(at[:, None] + steps) - self.deltas(at[:, None] - steps)) / half
        return np.where(np.isfinite(slopes), slopes, 0.0)

    def log_weights(self, sums: np.ndarray) -> np.ndarray:
        """Return the logarithms of the weights dP/dQ `[...]` of swaps with the signed sums `sums` `[..., stat]`.

        P is the uniform distribution of swaps, and Q the mixture of all tilts (distributions of swaps).
        """
        ratios = [path.log_ratios(sums @ path.slopes) for path in self.paths]
        return math.log(len(ratios)) - (np.logaddexp.reduce(ratios) if len(ratios) > 1 else ratios[0])

    def p(self, logits: np.ndarray, of_observed: np.ndarray, tolerance: float) -> tuple[float, float]:
        """Return the logarithm of the two-sided p, and its standard error.

        `logits` and `of_observed` come from `draw_uniforms`. Deltas that differ by at most the tolerance are ties. The
        standard error is infinite if the tilts seem to miss extreme swaps that matter for p.
        """
        logits = np.concatenate([self._through_observed(of_observed), logits[:, self.units]])
        least_delta = abs(float(self.deltas(self.apart.sum(axis=0)))) - tolerance
        of_paths = [self._log_sums(path, logits, least_delta) for path in self.paths]
        log_sums = np.logaddexp.reduce([each for each, _ in of_paths])
        values = np.exp(log_sums - log_sums.max())
        mean = float(values.mean())
        log_p = min(math.log(mean) + float(log_sums.max()), 0.0)
        if self._unseen(log_p, least_delta, max(heaviest for _, heaviest in of_paths)):
            return log_p, math.inf
        return log_p, _WIDER * float(values.std(ddof=1)) / mean / math.sqrt(len(values))

    def _through_observed(self, uniforms: np.ndarray) -> np.ndarray:
        """Return log(U / (1 - U)) `[1, unit]` of a random vector U that gives the observed swap under some tilt.

        U has a uniform number for each unit, and a tilt is a distribution of swaps. `uniforms` `[unit + 1]` are from
        `draw_uniforms`. U and 1 - U give the same p. If the effects of the swap sum to less than 0, the swap is
        mirrored. So p does not depend on the order of the two systems.
        """
        side = -1.0 if self.paths[0].effects.sum() < 0.0 else 1.0
        tilts: list[tuple[TiltMixture, float]] = [(path, each) for path in self.paths for each in path.thetas.tolist()]
        tilted: list[np.ndarray] = [
            side * path.thetas * path.effects.sum() - path.log_norms - math.log(path.thetas.size) for path in self.paths
        ]
        logs = np.concatenate(tilted)
        chances = np.cumsum(np.exp(logs - logs.max()))
        chosen = int(np.count_nonzero(chances < uniforms[-1] * chances[-1]))
        path, theta = tilts[min(chosen, len(tilts) - 1)]
        with np.errstate(over="ignore", divide="ignore"):
            numbers: np.ndarray = uniforms[self.units] / (1.0 + np.exp(-2.0 * theta * side * path.effects))
            return (side * path.signs * _logit(numbers))[None]

    def _log_sums(self, path: TiltMixture, logits: np.ndarray, least_delta: float) -> tuple[np.ndarray, float]:
        """Return the logarithms of a path's part of p, one per vector `[vector]`, and the largest log weight.

        A path is a set of tilts (distributions of swaps) in one direction. Each vector U of uniform numbers gives one
        swap per tilt. The weight of a swap is dP/dQ (see `log_weights`), or 0 if |delta| is below `least_delta`. The
        part of p is the mean weight of the path's swaps, divided by the number of paths. A swap with a negligible
        weight (see `_FAINT`) is not checked: it counts with an upper bound on its weight, which needs only the swap's
        own tilt. The largest log weight is over the extreme swaps that were checked. `logits` `[vector, unit]` are
        log(U / (1 - U)) of the vectors U.
        """
        observed, oriented = self.apart.sum(axis=0), self.apart * path.signs[:, None]
        log_tilts, width = math.log(len(path.thetas) * len(self.paths)), len(path.thetas) + 1
        faint, found = float(self.log_weights(observed)) - log_tilts - _FAINT, list[np.ndarray]()
        rows, heaviest = max(1, _CHUNK // max(width, len(self.units))), -math.inf
        with np.errstate(divide="ignore"):
            scale = 0.5 / np.abs(path.effects)
        for block in (logits[start : start + rows] for start in range(0, len(logits), rows)):
            first = np.searchsorted(path.thetas, block * scale, side="right")  # the first tilt at which a sign is +
            flat = (first + width * np.arange(len(block))[:, None]).ravel()
            sums = np.zeros((len(observed), len(block), width - 1))
            for stat in np.flatnonzero(oriented.any(axis=0)):
                steps = np.bincount(flat, np.tile(oriented[:, stat], len(block)), width * len(block))
                sums[stat] = 2.0 * np.cumsum(steps.reshape(-1, width)[:, :-1], axis=1) - oriented[:, stat].sum()
            logs = path.log_norms - path.thetas * np.tensordot(path.slopes, sums, 1)
            near = logs > faint
            near_sums = sums[:, near].T
            hits = ~(np.abs(self.deltas(near_sums)) < least_delta)
            of_near = np.full(len(hits), -math.inf)
            weights = self.log_weights(near_sums[hits])
            heaviest = max(heaviest, float(weights.max(initial=-math.inf)))
            of_near[hits] = weights - log_tilts
            logs[near] = of_near
            found.append(_log_sum(logs))
        return np.concatenate(found), heaviest


class TiltMixture:
    """The tilts of one path, and the ratio dQ/dP of their mixture Q to the uniform distribution P of swaps.

    A tilt is a distribution of swaps under which large deltas are more probable; a path is a set of tilts in one
    direction.
    """

    def __init__(self, apart: np.ndarray, slopes: np.ndarray, effects: np.ndarray) -> None:
        """Choose the tilts (distributions of swaps) of the path.

        `apart` `[unit, stat]` are the differences of the two systems. `slopes` `[stat]`, the slopes of delta, give the
        path its direction. `effects` `[unit]` are the effects of units on delta in the observed swap, scaled to norm 1.
        """
        first = apart[np.arange(len(apart)), (apart != 0.0).argmax(axis=1)]
        self.slopes, self.effects, sizes = slopes, effects, np.abs(effects)
        self.signs = np.where((effects < 0.0) | ((effects == 0.0) & (first < 0.0)), -1.0, 1.0)
        """`[unit]` the signs of the observed swap: 1 if the effect is positive."""
        trial = np.geomspace(1.0, 4096.0, 49)
        entropy = np.array([(each * sizes * np.tanh(each * sizes) - _log_cosh(each * sizes)).sum() for each in trial])
        unsure = math.log(2.0) * np.count_nonzero(effects) - entropy > 0.5
        end = min(int(unsure.sum()) + 1, len(trial))
        trial, reach = trial[:end], np.sqrt(2.0 * entropy[:end])
        steps = [min(_INNERMOST, float(reach[-1]) / 2.0)]
        while steps[-1] < reach[-1]:
            steps.append(steps[-1] + max(_STEPS[0] / max(steps[-1], _INNERMOST), _STEPS[1], _STEPS[2] * steps[-1]))
        self.reach = np.minimum(steps, reach[-1])
        outwards: np.ndarray = np.interp(self.reach, reach, trial)
        norms = np.array([_log_cosh(each * sizes).sum() for each in outwards])
        self.thetas, self.log_norms = np.append(-outwards[::-1], outwards), np.append(norms[::-1], norms)
        """Two arrays `[tilt]`: theta, ascending; and the log of the product of cosh(theta x) over all units."""
        between = np.interp(np.linspace(0.0, 1.0, 640), np.linspace(0.0, 1.0, len(outwards)), outwards)
        means = np.array([(sizes * np.tanh(each * sizes)).sum() for each in between])
        least, largest, most = float(means[0]), float(means[-1]), float(sizes.sum())
        inner, outer = np.linspace(0.0, least, 128, endpoint=False), np.linspace(largest, most, 257)
        # If nearly all signs are certain, several means are equal.
        self._nodes = np.unique(np.concatenate([inner, means, outer]))
        logs = _log_cosh(outwards * self._nodes[:, None]) - norms
        self._values = _log_sum(logs) - math.log(len(outwards))
        logs -= _log_sum(logs)[:, None]
        self._rises = np.sum(np.exp(logs) * outwards * np.tanh(outwards * self._nodes[:, None]), axis=1)

    def mean(self, reach: float, apart: np.ndarray) -> np.ndarray:
        """The mean of the signed sum S `[stat]` of swaps under the tilt with this reach.

        The reach is about how many standard deviations the swaps of the tilt lie from the mean of all swaps. `apart`
        `[unit, stat]` are the differences of the two systems.
        """
        theta = np.interp(reach, self.reach, self.thetas[len(self.reach) :])
        return np.tanh(theta * self.effects) @ apart

    def log_ratios(self, sums: np.ndarray) -> np.ndarray:
        """Return log dQ/dP `[...]` of swaps whose signed effects add up to `sums` `[...]`.

        Q is the mixture of the tilts, and P the uniform distribution of swaps. The logarithms come from cubic Hermite
        interpolation in a table, with an error of 1e-5.
        """
        size = np.minimum(np.abs(sums), self._nodes[-1])
        k = np.clip(np.searchsorted(self._nodes, size) - 1, 0, len(self._nodes) - 2)
        width = self._nodes[k + 1] - self._nodes[k]
        t = (size - self._nodes[k]) / width
        rise, start, end = self._values[k + 1] - self._values[k], self._rises[k] * width, self._rises[k + 1] * width
        return self._values[k] + t * (start + t * (3.0 * rise - 2.0 * start - end + t * (start + end - 2.0 * rise)))


def _normal_reach(log_tail: float) -> float:
    """Return the number that a normal variable exceeds with the probability exp(`log_tail`), accurate to 2%.

    `log_tail` must be below -3.

    >>> round(_normal_reach(math.log(2.87e-7)), 2)
    5.01
    """
    reach = math.sqrt(-2.0 * log_tail)
    for _ in range(9):
        reach = math.sqrt(-2.0 * log_tail - math.log(2.0 * math.pi * reach**2))
    return reach


def _logit(numbers: np.ndarray) -> np.ndarray:
    return np.log(numbers) - np.log1p(-numbers)


def _log_cosh(x: np.ndarray) -> np.ndarray:
    """Log cosh x of numbers x that are not negative."""
    return x + np.log1p(np.exp(-2.0 * x)) - math.log(2.0)


def _log_sum(logs: np.ndarray) -> np.ndarray:
    """Logarithms of the sums of exp(logs) along the last axis."""
    largest = np.maximum(logs.max(axis=-1), -1e300)
    with np.errstate(divide="ignore"):
        return np.log(np.exp(logs - largest[..., None]).sum(axis=-1)) + largest
