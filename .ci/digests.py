"""The same numbers with every version: digests of small reports of many kinds, checked against `digests.json`.

`python .ci/digests.py` fails where a report is not the one that was written; `--write` writes the digests of a change
of numbers that is meant; `--show NAME` prints a report, to be compared with that of another environment. It needs
sigjax alone: reports of extras that are not installed are left out, and named.

A digest leaves out versions. Of p-values, of what limits them, and of intervals by t, it has ten digits: functions such
as exp are rounded differently by libraries and processors (README.md, Conventions).
"""

import argparse
import hashlib
import json
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import Any

os.environ.setdefault("JAX_PLATFORMS", "cpu")

from sigjax import Evaluation, Report, SampleMetric, compare, read  # noqa: E402

DIGESTS = Path(__file__).with_name("digests.json")
SAMPLED = {"method": "montecarlo", "resamples": 20_000, "test": ("permutation", "bootstrap")}
SWAPPED = SAMPLED | {"test": "permutation"}
"""More resamples than NumPy's buffer holds (8,192), where older versions begin a sum anew."""
TEN_DIGITS = ("p_value", "log10_p", "p_interval", "p_adjusted", "log10_p_adjusted", "error_bound")
BY_T = ("t", "skew-t", "two-way")
INTERVALS = ("auto", "percentile", "basic", "bca", "studentized", "inversion", "simultaneous")
FRAMES = ("pandas", "polars", "pyarrow")
SLOW_TO_COMPILE = {"several metrics", "leaderboard", "a summary", "clusters and strata", "bleu, chrf and ter", "rouge"}
"""Left to NumPy: other reports run the same kernels."""


def answers(systems: int, instances: int) -> dict[str, list[int]]:
    """0 or 1 by system."""
    chance = Random(1)
    return {f"s{k}": [int(chance.random() < 0.6 + 0.03 * k) for _ in range(instances)] for k in range(systems)}


def counts(systems: int, instances: int, **options: Any) -> Evaluation:
    """Counts of F1."""
    chance = Random(2)
    gold = [chance.randint(1, 8) for _ in range(instances)]
    of = {f"s{k}": [_found(size, k, chance) for size in gold] for k in range(systems)}
    return Evaluation.from_arrays(of, metric="fscore", **options)


def _found(gold: int, system: int, chance: Random) -> tuple[int, int, int]:
    tp = sum(chance.random() < 0.7 + 0.02 * system for _ in range(gold))
    return tp, tp + chance.randint(0, 2), gold


def reals(systems: int, instances: int, metric: Any = "mean") -> Evaluation:
    """Numbers with too many digits for decimals."""
    chance = Random(3)
    of = {f"s{k}": [chance.random() ** 2 + 0.05 * k for _ in range(instances)] for k in range(systems)}
    return Evaluation.from_arrays(of, metric=metric)


def texts(*metrics: str) -> list[Evaluation]:
    """Outputs of three systems."""
    chance, words = Random(4), "the a cat dog sat ran on under mat tree and then , .".split()
    references = [" ".join(chance.choices(words, k=chance.randint(4, 12))) for _ in range(60)]
    outputs = {f"s{k}": [_worse(text, 0.2 + 0.03 * k, chance) for text in references] for k in range(3)}
    return [Evaluation.from_texts(outputs, references, metric=each, cache=False) for each in metrics]


def _worse(text: str, share: float, chance: Random) -> str:
    return " ".join("it" if chance.random() < share else word for word in text.split())


def retrieval(folder: Path) -> Evaluation:
    """Judgments and two runs on 20 topics."""
    chance = Random(5)
    qrels = [f"{topic} 0 d{k} {chance.randint(0, 2)}\n" for topic in range(20) for k in range(12)]
    (folder / "qrels.txt").write_text("".join(qrels), encoding="utf-8")
    for name in "ab":
        run = [f"{topic} Q0 d{k} 1 {chance.random()} x\n" for topic in range(20) for k in range(12)]
        (folder / f"{name}.run").write_text("".join(run), encoding="utf-8")
    return read(folder / "qrels.txt", input=[folder / f"{name}.run" for name in "ab"], metric="ndcg@10")


def frame(library: str) -> Evaluation:
    """The answers as a data frame."""
    make = import_module(library)
    made = make.table if library == "pyarrow" else make.DataFrame
    return Evaluation.from_dataframe(made(answers(3, 80)), metric="accuracy")


def parquet(folder: Path) -> Evaluation:
    """The answers as a Parquet file."""
    table = import_module("pyarrow").table(answers(3, 80))
    import_module("pyarrow.parquet").write_table(table, folder / "answers.parquet")
    return read(folder / "answers.parquet", metric="accuracy")


def spread(x: Any) -> Any:
    """A function of whole columns."""
    return x.max() - x.min()


def sources(folder: Path) -> Iterator[tuple[str, tuple[str, ...], Callable[[], Any], dict[str, Any]]]:
    """Name of a report, the packages that it needs, what makes its evaluations, and options."""
    clusters, strata = [f"c{i % 37}" for i in range(120)], ["even" if i % 37 % 2 else "odd" for i in range(120)]
    runs = {"ids": [i // 4 for i in range(120)], "runs": [i % 4 for i in range(120)]}
    exact = {"test": ("permutation", "bootstrap")}
    yield "answers, exact", (), lambda: Evaluation.from_arrays(answers(5, 400), metric="accuracy"), exact
    yield "F1, exact", (), lambda: counts(3, 120), {"interval": "none"}
    yield "reals, brackets", (), lambda: reals(3, 200), {"interval": "none"}
    yield "reals, sampled", (), lambda: reals(4, 300), SAMPLED
    minp = {"correction": "minp", "family": "report"}
    yield "several metrics", (), lambda: [reals(4, 120), counts(4, 120)], SWAPPED | minp
    yield "leaderboard", (), lambda: counts(6, 200), SWAPPED | {"correction": "maxt", "leaderboard": True}
    grouped = {"clusters": clusters, "strata": strata}
    yield "clusters and strata", (), lambda: counts(3, 120, **grouped), SAMPLED | {"interval": "bca"}
    yield "a summary", (), lambda: counts(3, 120), SAMPLED | {"resamples": 140_000, "memory": 0.003}
    yield "until settled", (), lambda: counts(4, 300), {**SWAPPED, "resamples": "auto", "interval": "none"}
    yield "runs, crossed", (), lambda: counts(2, 120, **runs), SAMPLED | {"design": "crossed"}
    yield "runs, nested", (), lambda: counts(2, 120, **runs), SAMPLED | {"design": "nested"}
    yield "runs, models", (), lambda: counts(2, 120, **runs), {"design": "models"}
    yield "median", (), lambda: reals(3, 90, "median"), SAMPLED | {"interval": "bca"}
    yield "variance", (), lambda: reals(2, 90, "variance"), SAMPLED
    yield "a function of columns", (), lambda: reals(2, 60, SampleMetric("spread", spread, ("x",))), SAMPLED
    for kind in INTERVALS:
        yield f"interval {kind}", (), lambda: counts(3, 150), SAMPLED | {"interval": kind}
    yield "bleu, chrf and ter", ("sacrebleu",), lambda: texts("bleu", "chrf", "ter"), SAMPLED
    yield "rouge", ("rouge_score",), lambda: texts("rougeL"), SAMPLED
    yield "retrieval", ("pytrec_eval",), lambda: retrieval(folder), {}
    for library in FRAMES:
        yield f"frame of {library}", ("narwhals", library), lambda library=library: frame(library), {}
    yield "parquet", ("narwhals", "pyarrow"), lambda: parquet(folder), {}


def reports(device: str, only: str | None = None) -> Iterator[tuple[str, Report | None]]:
    """Name and report, which is None where a package is missing."""
    with tempfile.TemporaryDirectory() as folder:
        for name, packages, make, options in sources(Path(folder)):
            if only not in (None, name) or (device == "cpu" and name in SLOW_TO_COMPILE):
                continue
            there = all(find_spec(package) for package in packages)
            yield name, compare(make(), device=device, progress=False, **options) if there else None


def digest(report: Report) -> str:
    """Of all that a report says, but for versions."""
    found = json.loads(report.to_json())
    del found["versions"]
    found["notes"] = [re.sub(r"version:[^|]*", "", note) for note in found["notes"]]  # of sacrebleu, in its signature
    for pair in found["pairs"]:
        pair |= {name: rounded(pair[name]) for name in TEN_DIGITS}
    for one in (*found["systems"], *found["pairs"]):
        if one["interval_kind"] in BY_T:
            one["interval"] = rounded(one["interval"])
    return hashlib.sha256(json.dumps(found).encode()).hexdigest()[:16]


def digests(device: str) -> Iterator[tuple[str, str | None]]:
    """Name and digest of all reports."""
    return ((name, None if report is None else digest(report)) for name, report in reports(device))


def rounded(value: Any) -> Any:
    """Ten digits of a number, or of each."""
    if isinstance(value, list):
        return [rounded(each) for each in value]
    return float(f"{value:.10g}") if isinstance(value, float) else value


def main() -> None:
    """Check, write or show."""
    parser = argparse.ArgumentParser(description="Check that reports of many kinds are the ones that were written.")
    parser.add_argument("--write", action="store_true", help="write digests.json anew")
    parser.add_argument("--show", metavar="NAME", help="print a report")
    asked = parser.parse_args()
    if asked.show:
        print(*(report.to_json() for _, report in reports("numpy", asked.show) if report))
        return
    found = {(name, device): made for device in ("numpy", "cpu") for name, made in digests(device)}
    if asked.write:
        written = {name: each for (name, device), each in found.items() if device == "numpy"}
        DIGESTS.write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")
    known = json.loads(DIGESTS.read_text(encoding="utf-8"))
    missing = sorted({name for (name, _), each in found.items() if each is None})
    wrong = [of for of, each in found.items() if each is not None and each != known.get(of[0])]
    for name, device in wrong:
        print(f"not the report that was written: {name} ({device})")
    print(
        f"{len(found)} reports, {len(wrong)} not as written; left out for want of packages: {', '.join(missing) or '-'}"
    )
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
