"""Reports for the digests: tests, intervals, corrections, methods, designs and leaderboards."""

import itertools
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import digest_data as data

from sigjax import Evaluation, compare
from sigjax.records import CORRECTIONS

BOTH = ("permutation", "bootstrap")
SAMPLED = {"method": "montecarlo", "resamples": 20_000, "test": BOTH}
"""More resamples than NumPy's buffer holds (8,192), where older versions begin a sum anew."""
FEW = {"method": "montecarlo", "resamples": 2_000, "test": BOTH}
SWAPPED = {"method": "montecarlo", "resamples": 5_000, "interval": "none"}
NO_INTERVAL = {"interval": "none"}
ALTERNATIVES = ("two-sided", "greater", "less")
INTERVALS = ("auto", "percentile", "basic", "bca", "studentized", "simultaneous")
NEEDS = {"bleu": "sacrebleu", "chrf": "sacrebleu", "chrf++": "sacrebleu", "ter": "sacrebleu"}
NEEDS |= dict.fromkeys(("rouge1", "rouge2", "rougeL", "rougeLsum(stem=true)"), "rouge_score")


class Case(NamedTuple):
    """One result."""

    name: str
    make: Callable[[str], Any]
    """Device -> report, evaluation, record, text, or a list or dictionary of these."""
    needs: str = ""
    """Packages."""
    compiled: bool = False
    """Whether it is also made by JAX: only where no other case runs the same kernels."""


def compared(make: Callable[[], Any], **options: Any) -> Callable[[str], Any]:
    """Device -> report."""
    return lambda device: compare(make(), device=device, progress=False, **options)


def metrics() -> Iterator[Case]:
    """Every metric as it is compared by default, and sampled by both tests."""
    makes = {"accuracy": data.answers, "mean": data.decimals, "mean of reals": data.reals}
    makes |= {name: partial(data.counts, metric=name) for name in ("fscore", "precision", "recall", "f2", "las")}
    makes |= {"f_half": partial(data.counts, metric=data.f_half), "odds": partial(data.counts, metric=data.odds)}
    makes |= {name: partial(data.integers, 2, name) for name in ("ratio", "alignment-precision", "fscore-errors")}
    makes |= {"aer": partial(data.integers, 4, "aer"), "fscore-ratios": partial(data.integers, 4, "fscore-ratios")}
    makes |= {name: partial(data.judged, name) for name in ("correlation", "spearman", "kendall", "auc")}
    makes |= {name: partial(data.reals, metric=name) for name in ("median", "variance")}
    makes |= {f"function, {name}": partial(data.reals, metric=each) for name, each in data.FUNCTIONS.items()}
    makes |= {name: partial(data.texts, name) for name in ("bleu", "chrf", "chrf++", "ter", "wer", "cer")}
    makes |= {name: partial(data.texts, name) for name in ("rouge1", "rouge2", "rougeL", "rougeLsum(stem=true)")}
    slow = {"function, looped": 200, "function, vectorized": 500}
    compiled = {"fscore", "odds", "median", "variance", "spearman", "auc", "function, traced", "function, weighted"}
    for name, make in makes.items():
        needs, few = NEEDS.get(name, ""), {"resamples": slow.get(name, 2_000)}
        yield Case(f"metric: {name}", compared(make, test=BOTH, **few), needs)
        yield Case(f"metric: {name}, sampled", compared(make, **FEW | few), needs, compiled=name in compiled)
    yield Case("metric: bleu of characters", compared(partial(data.texts, "bleu(tokenize=char)"), **FEW), "sacrebleu")
    yield Case("metric: chrf, two references", compared(partial(data.texts, "chrf", two=True), **FEW), "sacrebleu")
    yield Case("metric: wer, lower case", compared(partial(data.texts, "wer(lowercase=true)", two=True)))
    for measure in ("ndcg@10", "ap", "p@5"):
        yield Case(f"metric: {measure}", compared(partial(data.retrieval, measure)), "pytrec_eval")


def intervals() -> Iterator[Case]:
    """Every kind of interval for every family of metrics, and for units that are clusters in strata."""
    grouped = {"clusters": data.clusters(), "strata": data.strata()}
    makes = {"answers": data.answers, "decimals": data.decimals, "F1": partial(data.counts, 3, 150)}
    makes |= {"reals": data.reals, "F1 in clusters": partial(data.counts, **grouped)}
    makes |= {"answers in clusters": partial(data.answers, clusters=data.clusters())}
    makes |= {"few units": partial(data.reals, 2, 9), "median": partial(data.reals, metric="median")}
    makes |= {"spearman": partial(data.judged, "spearman")}
    for (name, make), kind in itertools.product(makes.items(), INTERVALS):
        whole = name in ("median", "spearman")
        if whole and kind == "studentized":
            continue
        options = (SAMPLED if name == "F1" else FEW) | {"interval": kind}
        compiled = name == "F1" or (name == "median" and kind in ("bca", "simultaneous"))
        yield Case(f"interval: {kind} of {name}", compared(make, **options), compiled=compiled)
    for level in (0.5, 0.9, 0.999):
        yield Case(f"interval: level {level}", compared(data.answers, confidence_level=level))
        yield Case(
            f"interval: percentile at {level}",
            compared(data.counts, **FEW, interval="percentile", confidence_level=level),
        )
    for kind in ("percentile", "basic", "bca"):  # by the law of the bootstrap
        yield Case(f"interval: exact {kind}", compared(data.decimals, test="bootstrap", interval=kind))


def corrections() -> Iterator[Case]:
    """Every correction of sampled and of exact p-values, within a metric and over all."""
    both = lambda: [data.counts(4, 100), data.counts(4, 100, "precision")]  # noqa: E731
    for each in CORRECTIONS:
        test = "permutation" if each == "maxt" else BOTH
        some = {"correction": each, "test": test, "resamples": 5_000}
        yield Case(
            f"correction: {each}", compared(partial(data.counts, 5, 100), **SWAPPED | some), compiled=each == "maxt"
        )
        yield Case(f"correction: {each} of exact p", compared(partial(data.answers, 5, 400), **NO_INTERVAL | some))
        yield Case(f"correction: {each} over metrics", compared(both, **SWAPPED | some, family="report"))
    some = {"correction": "maxt", **SWAPPED}
    yield Case("correction: maxt, one-sided", compared(data.counts, **some, alternative="greater"))
    yield Case("correction: maxt, baseline", compared(partial(data.counts, 5), **some, baseline="s2"))


def methods() -> Iterator[Case]:
    """Every method for every alternative; what makes a test exact, bracketed or sampled."""
    for method, side in itertools.product(("auto", "exact", "montecarlo", "dp", "tree"), ALTERNATIVES):
        some = {"method": method, "alternative": side, "resamples": 3_000, "interval": "none"}
        yield Case(f"method: {method}, {side}", compared(partial(data.counts, 3, 40), **some))
    for method, side in itertools.product(("exact", "dp", "tree"), ALTERNATIVES):
        some = {"method": method, "alternative": side, "mid_p": True, "interval": "none"}
        yield Case(f"method: {method}, {side}, mid-p", compared(partial(data.decimals, 3, 30), **some))
    for side, variant in itertools.product(ALTERNATIVES, ("shift", "flip")):
        some = {"test": "bootstrap", "alternative": side, "variant": variant, "interval": "none"}
        yield Case(f"method: bootstrap, {side}, {variant}", compared(data.counts, **FEW | some))
        yield Case(f"method: exact bootstrap, {side}, {variant}", compared(data.decimals, method="exact", **some))
        yield Case(f"method: reals, {side}, {variant}", compared(partial(data.reals, 2), **FEW | some))
    unlike = lambda: Evaluation.from_arrays({"A": [1] * 3000, "B": [0] * 2999 + [1], "C": [1] * 3000})  # noqa: E731
    extremes = {
        "tiny p": unlike,
        "brackets": partial(data.reals, 3, 200),
        "few units": partial(data.reals, 2, 14),
        "fixed point": lambda: Evaluation.from_arrays({"A": [1e-3, 2.5, 3e9, 4.0], "B": [0.25, 2.5, 1e9, 7.5]}),
        "large numbers": lambda: Evaluation.from_arrays({"A": [10**9 + i * i for i in range(30)], "B": [10**9] * 30}),
        "signs": lambda: Evaluation.from_arrays({"A": [0.1, -0.2, 0.3, -5.0] * 5, "B": [-0.1, 0.2, 0.0, 2.5] * 5}),
        "one instance": lambda: Evaluation.from_arrays({"A": [3], "B": [1]}),
    }
    for (name, make), side in itertools.product(extremes.items(), ALTERNATIVES):
        yield Case(f"method: {name}, {side}", compared(make, alternative=side, interval="none"))
    yield Case("method: past the budget", compared(partial(data.counts, 2, 200), **NO_INTERVAL, budget=1e-9))
    yield Case("method: past the memory", compared(partial(data.counts, 2, 200), **NO_INTERVAL, memory=1e-6))
    yield Case("method: both sampled", compared(partial(data.reals, 4, 300), **SAMPLED), compiled=True)
    yield Case("method: both exact", compared(partial(data.answers, 5, 400), test=BOTH))
    for number in (2, 7, 1023, 1024, 1025, 8193):
        some = SWAPPED | {"resamples": number, "test": BOTH}
        yield Case(f"method: {number} resamples", compared(data.counts, **some), compiled=number in (7, 1025))
    for seed in (0, 1, 2**64 - 1):
        yield Case(f"method: seed {seed}", compared(data.counts, **SWAPPED | {"test": BOTH}, seed=seed))
    for name, make in (
        ("F1", partial(data.counts, 3)),
        ("F1 in clusters", partial(data.counts, clusters=data.clusters())),
    ):
        some = SWAPPED | {"statistic": "studentized"}
        yield Case(f"method: studentized {name}", compared(make, **some), compiled=name == "F1")
    yield Case(
        "method: studentized BLEU", compared(partial(data.texts, "bleu"), **FEW, statistic="studentized"), "sacrebleu"
    )


def designs() -> Iterator[Case]:
    """What is swapped and drawn: clusters, strata, repeated runs."""
    groups = {"clusters": data.clusters(), "strata": data.strata()}
    for names in (("clusters",), ("strata",), ("clusters", "strata")):
        some = {name: groups[name] for name in names}
        title = " and ".join(names)
        yield Case(f"design: {title}", compared(partial(data.counts, **some), test=BOTH, resamples=3_000))
        yield Case(f"design: {title}, sampled", compared(partial(data.counts, **some), **FEW), compiled=len(names) == 1)
        yield Case(f"design: {title}, answers", compared(partial(data.answers, **some), test=BOTH, resamples=3_000))
        yield Case(f"design: {title}, median", compared(partial(data.reals, 3, 120, "median", **some), **FEW))
    runs = data.trials()
    repeated = {"F1": partial(data.counts, **runs), "answers": partial(data.answers, **runs)}
    few = data.trials(48)
    repeated |= {"clusters": partial(data.counts, 3, 48, **few, clusters=[i // 8 for i in range(48)])}
    tests = {"together": BOTH, "crossed": "permutation", "nested": BOTH, "models": "permutation"}
    for (name, make), (design, test) in itertools.product(repeated.items(), tests.items()):
        some = {"design": design, "test": test, "resamples": 3_000}
        yield Case(f"design: {design} of {name}", compared(make, **some))
        yield Case(f"design: {design} of {name}, one-sided", compared(make, **some, alternative="less"))
        if name == "F1":
            yield Case(f"design: {design}, sampled", compared(make, **some, method="montecarlo"), compiled=True)
    many = partial(data.counts, 2, 120, **data.trials(120, 12))
    yield Case("design: models, 12 runs", compared(many, design="models", resamples=3_000), compiled=True)
    yield Case("design: crossed, bootstrap intervals", compared(repeated["F1"], design="crossed", interval="bca"))
    nested = {"design": "nested", "interval": "simultaneous", "test": "bootstrap", "resamples": 2_000}
    yield Case("design: nested, simultaneous", compared(repeated["F1"], **nested))


def boards() -> Iterator[Case]:
    """Leaderboards, baselines, ties, and runs that stop by themselves."""
    makes = {"F1": partial(data.counts, 6, 200), "answers": partial(data.answers, 6), "clusters": None}
    makes["clusters"] = partial(data.counts, 4, clusters=data.clusters(), strata=data.strata())
    makes |= {"medians": partial(data.reals, 4, metric="median"), "errors": partial(data.integers, 4, "aer")}
    makes |= {
        "equal systems": lambda: Evaluation.from_arrays({n: [1, 0, 1, 1, 0, 1] * 6 for n in "ABC"} | {"D": [0] * 36})
    }
    makes |= {"two metrics": lambda: [data.counts(4), data.counts(4, metric="recall")]}
    for name, make in makes.items():
        some = {"leaderboard": True, "resamples": 4_000}
        yield Case(f"board: {name}", compared(make, **some))
        yield Case(
            f"board: {name}, percentile, 90%", compared(make, **some, interval="percentile", confidence_level=0.9)
        )
    ranked = SWAPPED | {"correction": "maxt", "leaderboard": True}
    yield Case("board: maxt", compared(makes["F1"], **ranked))
    yield Case("board: 12 systems", compared(partial(data.answers, 12, 60), correction="bh"))
    for name, make in (("F1", makes["F1"]), ("answers", makes["answers"]), ("medians", makes["medians"])):
        yield Case(f"board: baseline of {name}", compared(make, baseline="s1", test=BOTH, resamples=2_000))
        some = {"method": "montecarlo", "resamples": "auto", "interval": "none"}
        yield Case(f"decided: {name}", compared(make, **some), compiled=name == "F1")
        yield Case(f"decided: {name}, baseline, one-sided", compared(make, **some, baseline="s0", alternative="less"))
        for each in ("bh", "none"):
            yield Case(f"decided: {name}, {each}", compared(make, **some, correction=each))
    some = {"method": "montecarlo", "resamples": "auto", "test": BOTH}
    yield Case("decided: beside a bootstrap", compared(data.counts, **some))


def reports() -> Iterator[Case]:
    """All of them."""
    for kind in (metrics, intervals, corrections, methods, designs, boards):
        yield from kind()
