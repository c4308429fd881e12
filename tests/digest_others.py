"""What the digests are of beside reports: files, formats, commands, studies, tests of arrays, and runs that go on."""

import io
import itertools
import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from functools import partial
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any

import digest_data as data
import mutations
from digest_files import MORE, write_tables
from digest_reports import ALTERNATIVES, BOTH, FEW, Case, compared

import sigjax
from sigjax import Evaluation, InputError, Report, compare, read
from sigjax.cli import main

FORMATS = ("text", "json", "markdown", "latex", "csv", "html")
NEEDS = {"parquet": "narwhals pyarrow", "lighteval": "pyarrow", "trec-run": "pytrec_eval", "ranx-json": "pytrec_eval"}
NEEDS["excel"] = "python_calamine openpyxl"


def readers() -> Iterator[Case]:
    """Evaluations from files of every format, and their reports."""
    for name in mutations.SAMPLES:
        yield Case(
            f"reader: {name}",
            lambda _, name=name: [_read(name, each) for each in mutations.SAMPLES[name]()],
            NEEDS.get(name, ""),
        )
    for name, sample in MORE.items():
        yield Case(f"reader: {name}", lambda _, name=name, sample=sample: _read(name.split(",")[0], sample))
        yield Case(f"reader found: {name}", lambda _, sample=sample: _read(None, sample))
    for library in ("pandas", "polars", "pyarrow"):
        yield Case(f"reader: frame of {library}", lambda _, library=library: _frame(library), f"narwhals {library}")
    for missing in ("error", "drop", "zero"):
        yield Case(f"reader: numbers by id, {missing}", lambda _, missing=missing: _by_id(missing))


def _read(reader: str | None, sample: mutations.Sample) -> Any:
    """What files hold, and the report that follows; or why they are refused."""
    for name, content in sample.files.items():
        Path(name).write_bytes(content)
    gold = [name for name in sample.files if name not in sample.systems]
    try:
        evaluation = read(*gold, input=list(sample.systems), **({"reader": reader} | sample.options))
    except InputError as refusal:
        return {"notes": str(refusal)}
    return [evaluation, compare(evaluation, resamples=1_000, device="numpy", progress=False)]


def _frame(library: str) -> Evaluation:
    module, numbers = import_module(library), data.answers(3, 40).stats[:, :, 0]
    make = module.table if library == "pyarrow" else module.DataFrame
    columns = {"id": [f"i{i}" for i in range(40)], "doc": [f"d{i // 3}" for i in range(40)]}
    columns |= {f"s{k}": row.tolist() for k, row in enumerate(numbers)}
    return Evaluation.from_dataframe(make(columns), metric="accuracy", id_column="id", cluster="doc")


def _by_id(missing: Any) -> Any:
    numbers = {"A": {"x": 1, "y": 0.5, "z": 2}, "B": {"z": 1, "y": 3}}
    try:
        return Evaluation.from_arrays(numbers, missing=missing, clusters={"x": "c", "y": "c", "z": "d"})
    except InputError as refusal:
        return {"notes": str(refusal)}


def formats() -> Iterator[Case]:
    """Every writer, by the command line; data frames; and what else the command line says."""
    yield Case("format: schema of JSON", lambda _: Report.json_schema())
    boards = {"demo": ["demo"], "answers": ["compare", "answers.csv", "-m", "accuracy"]}
    boards["answers, both tests"] = [*boards["answers"], "--test", *BOTH, "--resamples", "2000", "--leaderboard"]
    boards["baseline"] = [*boards["answers"], "--baseline", "s1", "--alternative", "greater", "--interval", "none"]
    boards["sampled"] = [*boards["answers"], "--method", "montecarlo", "--resamples", "500"]
    boards["runs"] = ["compare", "runs.csv", "-m", "mean", "--runs", "seed", "--design", "models"]
    boards["strange names"] = ["compare", "strange.csv", "-m", "mean", "--lower-is-better"]
    for (name, words), format in itertools.product(boards.items(), FORMATS):
        yield Case(
            f"{format}: {name}",
            lambda device, words=words, format=format: cli(*words, "--format", format, "--device", device),
        )
    for library in ("pandas", "polars", "pyarrow"):
        yield Case(f"frame: {library}", lambda _, library=library: _to_frame(library), f"narwhals {library}")
    two = ["answers.csv", "-m", "accuracy", "--only", "s0", "s2"]
    studies = {"tests": ["classical", *two, "--resamples", "2000"]}
    studies |= {"audit": ["research", "audit", *two, "--repetitions", "50", "--resamples", "199"]}
    studies |= {"power": ["power", *two, "--instances", "50", "100", "--repetitions", "50", "--resamples", "199"]}
    studies |= {"equivalence": ["equivalence", *two, "--margin", "0.1"]}
    studies |= {"items": ["items", "answers.csv", "-m", "accuracy", "--resamples", "500"]}
    for (name, words), format in itertools.product(studies.items(), ("text", "json")):
        yield Case(f"{format}: {name}", lambda _, words=words, format=format: cli(*words, "--format", format))
    refused = {
        "no file": ["compare", "none.csv"],
        "metric": ["compare", "answers.csv", "-m", "acuracy"],
        "value": ["compare", "runs.csv", "-m", "accuracy"],
        "system": ["compare", "answers.csv", "--baseline", "s9"],
        "level": ["compare", "answers.csv", "--confidence-level", "95"],
        "exact": ["compare", "answers.csv", "-m", "median", "--method", "exact"],
        "design": ["compare", "answers.csv", "--design", "models"],
        "interval": ["compare", "answers.csv", "--interval", "two-way"],
    }
    for name, words in refused.items():
        yield Case(f"refused: {name}", lambda _, words=words: cli(*words))


def cli(*words: str, output: str = "out") -> str:
    """What a command writes, and says."""
    write_tables()
    said, code = io.StringIO(), None
    with redirect_stdout(said), redirect_stderr(said), warnings.catch_warnings():
        try:
            main([*words, "-o", output, *(["-q"] if "--format" in words else [])])
        except SystemExit as end:
            code = end.code
    written = Path(output).read_text(encoding="utf-8") if code == 0 and output == "out" else ""
    return f"exit code {code}\n{said.getvalue()}{written}"


def _to_frame(library: Any) -> dict[str, list[str]]:
    """Columns as text; what is missing is named differently by each library and its versions."""
    report = compare(data.answers(), test=BOTH, device="numpy", progress=False)
    frame, missing = report.to_dataframe(library, columns="all"), ("None", "nan", "<NA>")
    names = frame.column_names if library == "pyarrow" else list(frame.columns)
    columns = {name: [str(each.as_py() if library == "pyarrow" else each) for each in frame[name]] for name in names}
    return {name: ["-" if each in missing else each for each in column] for name, column in columns.items()}


def studies() -> Iterator[Case]:
    """Classical tests, equivalence, power, audits, association, and tests of two arrays."""
    pair = {"answers": partial(data.answers, 2), "decimals": partial(data.decimals, 2), "F1": partial(data.counts, 2)}
    pair |= {"clusters": partial(data.answers, 2, clusters=data.clusters())}
    pair |= {"strata": partial(data.counts, 2, strata=data.strata()), "reals": partial(data.reals, 2)}
    for (name, make), side in itertools.product(pair.items(), ALTERNATIVES):
        some = {"alternative": side, "resamples": 2_000}
        yield Case(f"classical: {name}, {side}", _study(sigjax.classical_tests, make, **some))
    few = {"repetitions": 60, "resamples": 199, "progress": False}
    for name, make in pair.items():
        yield Case(f"audit: {name}", _study(sigjax.audit, make, **few))
        yield Case(f"power: {name}", _study(sigjax.power, make, instances=[30, 90], test=BOTH, **few))
    some = {"instances": [40], "alternative": "greater", "confidence_level": 0.9, "target": 0.5, **few}
    yield Case("power: one-sided", _study(sigjax.power, pair["decimals"], **some))
    yield from gains()
    pair |= {"three": data.decimals, "medians": partial(data.decimals, metric="median")}
    for (name, make), claim in itertools.product(pair.items(), ("equivalence", "non-inferiority")):
        some = {"margin": 0.15, "claim": claim, "resamples": 2_000}
        yield Case(f"equivalence: {name}, {claim}", _study(sigjax.equivalence, make, **some))
        more = some | {"method": "bootstrap"}
        yield Case(f"equivalence: {name}, {claim}, shift", _study(sigjax.equivalence, make, **more))
    yield from associations()
    yield from arrays()


def gains() -> Iterator[Case]:
    """Gains of all pairs, by size, and winners elsewhere."""
    five = {"answers": data.answers, "decimals": data.decimals, "F1": data.counts}
    five |= {"clusters": partial(data.answers, clusters=data.clusters())}
    five |= {"strata": partial(data.counts, strata=data.strata())}
    some = {"resamples": 2_000, "p_range": [0.01, 0.4], "progress": False}
    for name, make in five.items():
        more = some | {"test": BOTH, "sizes": [12, 20]}
        yield Case(f"gains: {name}", _study(sigjax.studies.gains, partial(make, 6), **more))
    more = some | {"alternative": "two-sided", "variant": "flip", "quantile": 0.9, "other": data.counts(6)}
    yield Case("gains: two-sided", _study(sigjax.studies.gains, partial(data.counts, 6), **more))


def _study(study: Callable[..., Any], make: Callable[[], Any], **options: Any) -> Callable[[str], Any]:
    return lambda device: study(make(), device=device, **options)


def associations() -> Iterator[Case]:
    """Labels against gold labels."""
    chance = Random(10)
    for labels, size in ((2, 40), (3, 12), (5, 200)):
        gold = [chance.randrange(labels) for _ in range(size)]
        guessed = [each if chance.random() < 0.3 else chance.randrange(labels) for each in gold]
        for side, method in itertools.product(ALTERNATIVES, ("auto", "montecarlo")):
            some = {"alternative": side, "method": method, "resamples": 2_000}
            yield Case(
                f"association: {size} of {labels} labels, {side}, {method}",
                lambda _, gold=gold, guessed=guessed, some=some: sigjax.association_test(gold, guessed, **some),
            )


def arrays() -> Iterator[Case]:
    """Tests of two arrays."""
    tests = (sigjax.permutation_test, sigjax.bootstrap_test)
    columns = {"mean": data.decimals(2), "accuracy": data.answers(2), "fscore": data.counts(2), "median": data.reals(2)}
    for (metric, each), test, side in itertools.product(columns.items(), tests, ALTERNATIVES):
        a, b = each.stats[..., 0] if metric != "fscore" else each.stats
        some = {"metric": metric, "alternative": side, "resamples": 2_000}
        yield Case(
            f"arrays: {test.__name__} of {metric}, {side}",
            lambda device, test=test, a=a, b=b, some=some: test(a, b, device=device, **some),
        )


def runs() -> Iterator[Case]:
    """Evaluations that were saved, runs that were stopped, reports that get more resamples."""
    yield Case("saved: F1", lambda _: _saved(data.counts(3, 40, clusters=data.clusters(40))))
    yield Case("saved: median", lambda _: _saved(data.reals(metric="median")))
    yield Case("saved: runs", lambda _: _saved(data.answers(**data.trials())))
    yield Case("saved: several metrics", lambda _: _extracted())
    yield Case("run: stopped", _stopped)
    some = {"method": "montecarlo", "interval": "percentile", "test": BOTH, "progress": False}
    for resamples in (3_000, 20_001):
        for name, make in (("F1", data.counts), ("median", partial(data.reals, metric="median"))):
            yield Case(f"run: extended to {resamples}, {name}", partial(_extended, make, some, resamples))
    twice = {"checkpoint": "kept", **FEW}
    yield Case("run: done before", lambda device: [compared(data.counts, **twice)(device) for _ in "12"])


def _saved(evaluation: Evaluation) -> list[Any]:
    evaluation.save("saved.npz")
    again = read("saved.npz")
    return [again, compare(again, resamples=1_000, device="numpy", progress=False)]


def _extracted() -> list[str]:
    first = cli("extract", "answers.csv", "-m", "accuracy", "mean", output="all.npz")
    return [first, cli("compare", "all.npz", "--format", "json")]


def _stopped(device: str) -> Any:
    """A run that ends in the midst of its second test, and goes on."""
    left = [900]

    def middle(x: Any) -> float:
        left[0] -= 1
        if left[0] == 0:
            raise KeyboardInterrupt
        return data.looped(x)

    evaluation = data.reals(2, metric=sigjax.SampleMetric("middle", middle, ("x",)))
    options = {"resamples": 300, "method": "montecarlo", "test": BOTH, "checkpoint": "stopped", "device": device}
    try:
        return [compare(evaluation, **options, progress=False), "not stopped"]
    except KeyboardInterrupt:
        return [compare(evaluation, **options, progress=False), f"stopped, state kept: {os.path.exists('stopped')}"]


def _extended(make: Callable[[], Any], options: dict[str, Any], resamples: int, device: str) -> Any:
    report = compare(make(), resamples=1_500, device=device, **options)
    Path("report.json").write_text(report.to_json(), encoding="utf-8")
    first = report.extend(resamples, device=device, progress=False)
    return [first, compare(make(), resamples=resamples, device=device, extend="report.json", **options)]


def others() -> Iterator[Case]:
    """All of them."""
    for kind in (readers, formats, studies, runs):
        yield from kind()
