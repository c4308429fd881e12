"""What this machine can do at most, and what part of a time that explains.

    python benchmarks/ceilings.py [--quick] [--output FILE.json] [--device cpu|gpu]

Each ceiling is the rate of one bare step, written in JAX without the rest of sigjax. A case needs so much of each for a
resample; that, divided by the ceiling, is the least time that the step takes. Ceilings are of the run of the times.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array
from timing import cores, machine, markdown_table, options, save, timed

from sigjax.metrics.ratios import FSCORE
from sigjax.metrics.textmetric import BLEU, CHRF
from sigjax.records import Metric
from sigjax.resample.draws import threefry2x32

_METRICS = {"fscore": FSCORE, "bleu": BLEU, "chrf": CHRF}
_UNROLLED = 8
"""Ciphers or look-ups between two writes."""
_UNITS = 2000


class Sizes(NamedTuple):
    """How much each ceiling is measured with."""

    repeats: int
    seconds: float
    """What one repeat takes at least."""
    rows: int
    """Vectors of so many numbers stay in the cache, or fill a GPU."""
    product: int
    """Rows, which are also units and columns."""
    copied: int
    """Bytes: more than all caches hold."""


_SIZES = {
    "cpu": Sizes(repeats=3, seconds=0.1, rows=2**13, product=2**11, copied=2**29),
    "gpu": Sizes(repeats=3, seconds=0.1, rows=2**22, product=2**13, copied=2**32),
    "quick": Sizes(repeats=2, seconds=0.02, rows=2**13, product=2**10, copied=2**26),
}


class Ceilings(NamedTuple):
    """Rates of bare steps, per second."""

    fused_words: float
    """Random words of 32 bits, used as they are drawn."""
    written_words: float
    """Random words, written to memory."""
    looked_up: float
    """Random words made into units, whose statistics (8 bytes) are looked up and added."""
    flops: float
    """Of a large product in float32 at full precision."""
    copied_bytes: float
    """Read and written, of more than the caches hold."""
    scores: Mapping[str, float]
    """Metric -> scores in float64, from sums in the cache."""
    deltas: float
    """Differences of two scores in the cache, compared with a threshold and counted."""


class Needs(NamedTuple):
    """What one resample of a case needs."""

    words: float
    """Random words of 32 bits."""
    product: tuple[int, int] | None = None
    """Units and columns of a matrix product; None where sums are added up as words are drawn."""
    looked_up: int = 0
    """Units looked up, where sums of draws are added up as words are drawn."""
    scores: Mapping[str, int] = {}
    """Metric -> scores."""
    deltas: int = 0


def least_seconds(needs: Needs, ceilings: Ceilings) -> dict[str, float]:
    """Step -> the seconds that a resample takes at least for it.

    "unpack" is one float32 a unit, written and read again, as a product takes them, or the units looked up.
    """
    units, columns = needs.product or (0, 0)
    return {
        "bits": needs.words / (ceilings.written_words if needs.product else ceilings.fused_words),
        "unpack": 8.0 * units / ceilings.copied_bytes + needs.looked_up / ceilings.looked_up,
        "product": 2.0 * units * columns / ceilings.flops,
        "score": sum(count / ceilings.scores[name] for name, count in needs.scores.items()),
        "pairs": needs.deltas / ceilings.deltas,
    }


def shares(needs: Needs, ceilings: Ceilings, seconds: float) -> dict[str, float]:
    """Step -> the least time for it as a part of the `seconds` that a resample took; the rest is what they leave."""
    parts = {step: least / seconds for step, least in least_seconds(needs, ceilings).items()}
    return {"us per resample": seconds * 1e6} | parts | {"the rest": 1.0 - sum(parts.values())}


def shares_table(cases: Mapping[str, Mapping[str, float]]) -> str:
    """A line a case, a column a step."""
    lines = [[name, *(_cell(step, share) for step, share in parts.items())] for name, parts in cases.items()]
    return markdown_table(["case", *next(iter(cases.values()))], lines)


def _cell(step: str, share: float) -> str:
    return f"{share:.3g}" if step == "us per resample" else f"{share:.0%}"


def ceilings_table(ceilings: Ceilings) -> str:
    """The ceilings in billions a second."""
    rates = {
        "random words, used as they are drawn": ceilings.fused_words,
        "random words, written": ceilings.written_words,
        "units looked up and added": ceilings.looked_up,
        "float32 operations of a product": ceilings.flops,
        "bytes copied (read and written)": ceilings.copied_bytes,
        **{f"scores, {name}": rate for name, rate in ceilings.scores.items()},
        "deltas counted": ceilings.deltas,
    }
    return markdown_table(["ceiling", "10^9 a second"], [[name, f"{rate / 1e9:.3g}"] for name, rate in rates.items()])


def measure(device: str, *, quick: bool) -> Ceilings:
    """Measure all ceilings."""
    sizes = _SIZES["quick" if quick else device]
    with jax.enable_x64(True), jax.default_device(jax.local_devices(backend=device)[0]):  # noqa: FBT003
        best = partial(_best_rate, device, sizes)
        rows, side, values = sizes.rows, sizes.product, sizes.copied // 8
        factor, drawn = jnp.ones((side, side), jnp.float32), jnp.zeros((rows // 4, 64), jnp.uint32)
        return Ceilings(
            fused_words=best(_fused_words, jnp.zeros(rows, jnp.uint32), 2.0 * rows * _UNROLLED),
            written_words=best(_written_words, drawn, drawn.size),
            looked_up=best(_look_up, jnp.zeros(rows, jnp.uint64), 1.0 * rows * _UNROLLED),
            flops=best(_product, factor, 2.0 * side**3, shared=True),
            copied_bytes=best(_copy, jnp.zeros(values), 16.0 * values, shared=True),
            scores={name: _score_rate(metric, best, rows // 8) for name, metric in _METRICS.items()},
            deltas=best(_deltas, jnp.ones((64, rows // 8)), 8.0 * rows),
        )


def _score_rate(metric: Metric, best: Callable[..., float], rows: int) -> float:
    """Scores of 4 systems, whose sums `[stat, system, row]` stand as those of a projection do."""
    sums = 9.0 + jnp.arange(float(len(metric.stat_names)))[::-1, None, None] + jnp.zeros((1, 4, rows))
    return best(partial(_scores, metric.score), sums, 4.0 * rows)


def _best_rate(
    device: str,
    sizes: Sizes,
    step: Callable[[Array, Array], Array],
    state: Array,
    amount: float,
    *,
    shared: bool = False,
) -> float:
    """Units of work a second of `step(state, number of the turn) -> state`, an `amount` each time.

    XLA does not spread every step over all cores: so as many copies run at once as there are cores, or one, whichever
    is faster. `shared` work runs once: it spreads by itself, or its bound is memory.
    """

    def run(state: Array, turns: Array) -> Array:
        return jax.lax.fori_loop(0, turns, lambda turn, state: step(state, turn), state)

    wide: dict[str, str | bool] | None = {"xla_cpu_prefer_vector_width": "512"} if device == "cpu" else None
    # Compiled beforehand: 64 bits are switched on in this thread only.
    compiled = jax.jit(run).lower(state, jnp.int32(1)).compile(compiler_options=wide)
    turns, seconds = 1, 0.0
    while seconds < sizes.seconds:
        turns = max(2 * turns, int(turns * sizes.seconds / seconds)) if seconds else 1
        seconds, _ = timed(partial(_together, compiled, state, jnp.int32(turns), 1))
    counts = {1} if shared or device != "cpu" else {1, cores()}
    call = partial(_together, compiled, state, jnp.int32(turns))
    times = [(n, timed(partial(call, n))[0]) for n in counts for _ in range(sizes.repeats)]
    return max(threads * turns * amount / seconds for threads, seconds in times)


def _together(compiled: Callable[..., Array], state: Array, turns: Array, threads: int) -> None:
    """Run the same work in several threads."""
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda _: jax.block_until_ready(compiled(state, turns)), range(threads)))


def _fused_words(state: Array, turn: Array) -> Array:
    """Ciphers, two words each, for every row."""
    rows, key = jnp.arange(len(state), dtype=jnp.uint32), state[:1]
    for i in range(_UNROLLED):
        lane = jnp.uint32(_UNROLLED) * turn.astype(jnp.uint32)[None] + jnp.uint32(i)
        first, second = threefry2x32(key, key, rows, lane)
        state = state ^ first ^ second
    return state


def _written_words(state: Array, turn: Array) -> Array:
    """The same words, `[word of a cipher and row, lane]`, in memory."""
    rows = jnp.arange(len(state) // 2, dtype=jnp.uint32)[:, None]
    key = jnp.zeros((1, 1), jnp.uint32)
    lanes = jnp.arange(state.shape[1], dtype=jnp.uint32)[None, :]
    return jnp.concatenate(threefry2x32(key, key + turn.astype(jnp.uint32), rows, lanes))


def _look_up(state: Array, turn: Array) -> Array:
    """Units for every row, from words that cost next to nothing."""
    # Part of the state: a table that is known beforehand would be computed, not looked up.
    rows, table = jnp.arange(len(state), dtype=jnp.uint32), state[:_UNITS]
    for i in range(_UNROLLED):
        word = (rows + jnp.uint32(_UNROLLED) * turn.astype(jnp.uint32) + jnp.uint32(i)) * jnp.uint32(0x9E3779B1)
        unit = word.astype(jnp.uint64) * jnp.uint64(_UNITS) >> jnp.uint64(32)
        state = state + table.at[unit].get(mode="promise_in_bounds")
    return state


def _product(state: Array, _: Array) -> Array:
    return jnp.matmul(state, state, precision="highest") * jnp.float32(1.0 / len(state))


def _copy(state: Array, turn: Array) -> Array:
    return state + jnp.float64(turn)


def _scores(score: Callable[[Array], Array], state: Array, turn: Array) -> Array:
    found = score(jnp.moveaxis(state + jnp.float64(turn), 0, -1))
    return state.at[0].add(0.0 * found)


def _deltas(state: Array, turn: Array) -> Array:
    """Deltas of 64 pairs."""
    hits = jnp.sum(abs(state - state[::-1]) >= 1e-9 * jnp.float64(turn), axis=1)
    return state + 1e-9 * hits[:, None]


def main() -> None:
    """Print the ceilings."""
    chosen = options(__doc__)
    on = machine(chosen.device)
    print(json.dumps(on, indent=2))
    found = measure(chosen.device, quick=chosen.quick)
    print(ceilings_table(found))
    save(chosen.output, on, [], ceilings=found._asdict())


if __name__ == "__main__":
    main()
