"""Logs of programs that evaluate language models and agents: harnesses, benchmarks of agents, tests of prompts.

Each has a `Log`. Inspect's .eval is a zip archive, of which only the members that are needed are unpacked, into memory
and within bounds. Each of its samples holds one value per scorer; the epochs of a sample are its runs, as are several
trials of a task. Where the log was reduced by another rule than the mean (pass@k, a majority), the reduced values are
the scores.

SWE-bench has reports of its harness, boards of its web site, and the results of its repository of experiments. A report
or `per_instance_details.json` says which instances there were. `results.json` of the experiments lists those that are
resolved and, where something went wrong, those without a prediction or a log, but not the others: not even all systems
together name all instances. So it is read after a list of all.
"""

import io
import json
import math
import os
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from hashlib import sha256
from itertools import chain, zip_longest
from pathlib import PurePath
from typing import Any

from sigjax.formats.logs import TOLERANCE, Log, Row, Scores, SystemLog, choose, grouped
from sigjax.formats.table import FORMATS
from sigjax.readers.frames import parquet_table, refusing_damage
from sigjax.readers.join import Sources, Tasks
from sigjax.readers.json_files import (
    Item,
    Object,
    item_at,
    load_entries,
    load_item,
    load_lines,
    number,
    parse_json,
    parse_json_lines,
    text,
    type_of,
)
from sigjax.readers.options import Options, listing, quote
from sigjax.readers.table import parse_number
from sigjax.records import Hint, InputError, Line
from sigjax.run.files import (
    ZIP_MAGIC,
    decode_text,
    files_inside,
    growth_limit,
    naming,
    read_bytes,
    read_head,
    read_text,
)


def _helm(file: str, options: Options) -> Iterator[SystemLog]:
    rows = [_helm_row(entry) for entry in load_entries(file)]
    # HELM publishes one score per split: a score of all splits has to be asked for, by their shares.
    if options.filter is not None or "split" not in (options.strata, options.cluster):
        chosen = choose(file, [row.labels["split"] for row in rows], options.filter, "split")
        rows = [row for row in rows if row.labels["split"] == chosen]
    notes = ()
    if any(row.labels["perturbation"] != "none" for row in rows):
        notes = ("perturbed instances count as instances; --cluster instance keeps each with its original",)
    path = str(PurePath(file).with_name("run_spec.json"))
    spec = load_item(path) if os.path.isfile(path) else Item(path, {})
    task = re.sub(r"(?<=[:,])model(_deployment)?=[^,]*,?", "", spec.name("name?")).rstrip(":,")
    facts = {"scenario": str(spec.get("scenario_spec") or "")}
    yield SystemLog(file, rows, spec.name("adapter_spec.model?"), notes, facts, task=task)


def _helm_row(entry: Item) -> Row:
    instance = entry.text("instance_id")
    perturbation = "none" if entry.get("perturbation") is None else entry.item("perturbation").text("name")
    split, scores = _helm_scores(entry)
    labels = {"split": split, "instance": instance, "perturbation": perturbation}
    id = instance if perturbation == "none" else f"{instance}/{perturbation}"
    return Row(scores, id, entry.text("train_trial_index", 0), labels)


def _helm_scores(entry: Item) -> tuple[str, dict[str, float | InputError]]:
    """The split of an instance, and the mean of each statistic that has been counted."""
    scores: dict[str, float | InputError] = {}
    split = "none"
    for entry_stat in entry.items("stats", "stat"):
        about = entry_stat.item("name")
        name, split = about.text("name"), about.text("split", split)
        if about.get("sub_split"):
            name += f"/{about.get('sub_split')}"
        count = entry_stat.number("count")
        if name in scores:
            scores[name] = InputError(f"{entry_stat.where}: {quote(name)} occurs twice in an entry; expected it once")
        elif count > 0:
            scores[name] = entry_stat.number("sum") / count
    return split, scores


HELM = Log(results=_helm)


_DECIMALS = 15
"""1.9816872352 - 1 is 0.98168723520000009 in doubles; rounding gives the decimal that it stands for."""


def _win_rate(entry: Item) -> dict[str, float]:
    """None where the annotator gave no preference."""
    if entry.value("preference") is None:
        return {}
    value = entry.number("preference")
    if not 1 <= value <= 2:
        raise InputError(f"{entry.field('preference')}: expected a number from 1 to 2, or null, got {value:g}")
    return {"win_rate": round(value - 1, _DECIMALS)}


def _annotations(file: str) -> tuple[Item, Iterator[Item]]:
    def instance(entry: Item) -> Item:
        dataset = entry.text("dataset", "all")
        about = {"id": f"{dataset}: {entry.text('instruction')}", "labels": {"dataset": dataset}}
        return Item(entry.at, entry.fields | about)

    return Item(file, {}), map(instance, load_entries(file))


ALPACA_EVAL = Log(
    load=_annotations,
    scores=_win_rate,
    system="generator_2",
    facts={"reference": "generator_1", "annotator": "annotator?"},
    must_agree={
        "reference": "compare models by their preferences over the same one",
        "annotator": "compare models by preferences of the same one; annotate all outputs with it",
    },
    labels="labels",
    filter="annotator",
)

# MTEB: a folder per model, with model_meta.json and one file per task; tasks are instances.

_META = "model_meta.json"
_USUAL_SPLIT = "test"
"""The split that is taken where a task has several, and `--filter` names none."""


def _mteb(file: str, options: Options) -> list[SystemLog]:
    if not _is_meta(file):
        return [SystemLog(file, [_mteb_task(file, options)])]  # one task
    tasks = [each for each in files_inside(os.path.dirname(file) or ".", "*.json") if not _is_meta(each)]
    if not tasks:
        raise InputError(f"{file}: no results of tasks (TASK.json) stand beside it")
    return [SystemLog(file, [_mteb_task(each, options) for each in tasks], load_item(file).name("name?"))]


def _is_meta(file: str) -> bool:
    return PurePath(file).name.removesuffix(".gz") == _META


def _mteb_task(file: str, options: Options) -> Row:
    """The mean of the main score over the subsets (languages) of a task, as MTEB takes it."""
    found = load_item(file)
    scores = found.item("scores")
    asked = options.filter or (_USUAL_SPLIT if _USUAL_SPLIT in scores.fields else None)
    split = choose(file, scores.fields, asked, "split")
    values = [one.number("main_score") for one in scores.items(split, f"{split}, subset")]
    if not values:
        raise InputError(f"{scores.field(split)}: is empty; expected scores")
    return Row({"main_score": sum(values) / len(values)}, found.text("task_name"))


MTEB = Log(results=_mteb)


_LONG = frozenset("arguments resps filtered_resps".split())
_NOT_METRICS = _LONG | frozenset("doc_id doc target filter metrics doc_hash prompt_hash target_hash".split())
_SAMPLES = re.compile(r"samples_(?P<task>.+)_(?P<date>\d{4}-\d\d-\d\dT[\d.:-]+)\.jsonl(\.gz)?")
_DETAILS = re.compile(r"details_(?P<task>.+)_(?P<date>\d{4}-\d\d-\d\dT[\d.:-]+)\.parquet(\.gz)?")


def _lm_eval_labels(line: Item, asked: str | None) -> object:
    """The fields of the document; also the target, which stands beside it, if it is asked for."""
    doc = line.get("doc")
    return {"target": line.get("target"), **doc} if asked == "target" and isinstance(doc, dict) else doc


def _lm_eval(file: str, options: Options) -> Iterator[SystemLog]:
    lines = list(load_lines(file, unread=_LONG))
    filters = [line.text("filter") for line in lines if "filter" in line.fields]
    unfiltered = set(filters) == {"none"}  # no filter is another than itself: a suite has such tasks beside others
    asked = None if unfiltered else options.filter
    chosen = choose(file, filters, asked, "filter") if filters or options.filter else None
    labels = partial(_lm_eval_labels, asked=options.strata)
    rows = [
        Row(_lm_eval_scores(line), line.text("doc_id"), None, labels(line), line.get("doc_hash") or line.get("doc"))
        for line in lines
        if chosen is None or line.get("filter") == chosen
    ]
    named = _SAMPLES.fullmatch(PurePath(file).name)
    task = named["task"] if named else ""
    means = str(PurePath(file).with_name(f"results_{named['date']}.json")) if named else ""
    published = partial(_lm_eval_published, file, means, task, chosen or "none") if os.path.isfile(means) else None
    lacks = unfiltered and options.filter not in (None, "none")
    notes = (f"there is no filter {options.filter}: took the only results",) if lacks else ()
    yield SystemLog(file, rows, notes=notes, task=task, published=published)


def _lm_eval_scores(line: Item) -> Scores:
    if isinstance(line.get("metrics"), list):
        names = line.texts("metrics")
    else:
        names = [name for name, own in line.fields.items() if name not in _NOT_METRICS and isinstance(own, float | int)]
    return {name: _lm_eval_value(line, name) for name in names if line.fields.get(name, 0) is not None}


def _lm_eval_value(line: Item, name: str) -> float | InputError:
    if isinstance(line.get(name), list | dict | str):
        return InputError(
            f"{line.field(name)}: holds parts of a metric of the whole corpus, not a score of the document; name "
            f"another score with {Hint('metric', 'NAME')}, or compare the texts themselves"
        )
    return line.number(name)


def _lm_eval_published(
    samples: str, file: str, task: str, filter: str, score: str, mean: float
) -> tuple[list[str], bool]:
    """A note where results_{date}.json beside the samples has another mean, and whether lower is better there."""
    try:
        results = load_item(file)
        published = results.item("results", {}).item(task, {}).get(f"{score},{filter}")
        lower_is_better = results.item("higher_is_better", {}).item(task, {}).get(score) is False
    except InputError as error:
        return [f"not checked against the published results: {error.flags}"], False
    if not isinstance(published, int | float) or abs(mean - published) <= TOLERANCE * max(1.0, abs(published)):
        return [], lower_is_better
    return [f"{samples}: the mean of {score} is {mean:.6g}, but {published:.6g} in {file}"], lower_is_better


LM_EVAL = Log(results=_lm_eval, content="document (doc_hash, or doc)")

# Every Eval Ever: the instance schema of that project, with one line per instance and evaluation.

_UNREAD = frozenset("input output messages answer_attribution".split())


def _every_eval(file: str, _: Options) -> Iterator[SystemLog]:
    for model, lines in grouped(load_lines(file, unread=_UNREAD), lambda line: line.text("model_id")).items():
        yield SystemLog(file, _every_eval_rows(lines), model)


def _every_eval_rows(lines: Sequence[Item]) -> list[Row]:
    """One row per sample, with the scores of all its lines."""
    scores: dict[str, dict[str, float]] = {}
    rows: dict[str, Row] = {}
    for line, name in zip(lines, _evaluations(lines), strict=True):
        sample = line.text("sample_id")
        own = scores.setdefault(sample, {})
        if name in own:
            raise InputError(f"{line.where}: evaluation {quote(name)} of sample {quote(sample)} is on another line too")
        evaluation = line.item("evaluation")
        own[name] = evaluation.number("is_correct" if evaluation.get("score") is None else "score")
        rows.setdefault(sample, Row(own, sample, labels=line.get("metadata"), content=line.get("sample_hash")))
    return list(rows.values())


def _evaluations(lines: Sequence[Item]) -> list[str]:
    """What each line scores: its evaluation, or its result where an evaluation has several."""
    pairs = [(line.text("evaluation_name"), line.get("evaluation_result_id")) for line in lines]
    counts = Counter(name for name, _ in {pair for pair in pairs if isinstance(pair[1], str)})
    return [result if counts[name] > 1 and isinstance(result, str) else name for name, result in pairs]


EEE = Log(results=_every_eval, content="content (sample_hash)")


_DOC, _METRIC = ("doc", "__doc__"), ("metric", "__metric__")


def _lighteval(file: str, _: Options) -> Iterator[SystemLog]:
    with refusing_damage(file):
        docs, metrics = _details(file, read_bytes(file))
    rows = list[Row]()
    for i, (doc, metric) in enumerate(zip(docs, metrics, strict=True), start=1):
        doc, scores = item_at((file, "row", i), doc).fields, item_at((file, "row", i), metric).numbers()
        rows.append(Row(scores, str(doc.get("id") or ""), labels=doc, content=doc.get("query")))
    if len({row.id for row in rows if row.id}) < len(rows):
        rows = [replace(row, id=str(i)) for i, row in enumerate(rows, start=1)]
    named = _DETAILS.fullmatch(PurePath(file).name)
    yield SystemLog(file, rows, task=named["task"] if named else "")


def _details(file: str, data: bytes) -> list[list[Any]]:
    """The documents and the metrics, as objects `[row]` of the fields with one value; others are of the corpus."""
    from pyarrow import types  # pyright: ignore[reportMissingImports]

    names: list[str] = []

    def choose(schema: Any) -> list[str]:
        names[:] = [next((name for name in each if name in schema.names), "") for each in (_DOC, _METRIC)]
        if not all(names) or not all(types.is_struct(schema.field(name).type) for name in names):
            raise InputError(
                f"{file}: expected the columns doc and metric of lighteval's details, with an object in each row; "
                f"columns: {listing(schema.names)}"
            )
        fields = [(name, field) for name in names for field in schema.field(name).type]
        return [f"{name}.{field.name}" for name, field in fields if not types.is_nested(field.type)]

    table = parquet_table(file, data, choose)
    lacking = [name for name in names if name not in table.column_names]
    if lacking:
        raise InputError(f"{file}, column {quote(lacking[0])}: holds no values of single documents")
    return [table.column(name).to_pylist() for name in names]


LIGHTEVAL = Log(results=_lighteval, content="query")


_WHOLE = ("header.json", "reductions.json")
_SAMPLE = re.compile(r"samples/.*\.json", re.DOTALL)
_READ = ("id", "epoch", "scores", "metadata")
"""The fields of a sample that are kept; the others, its messages and events, can be long."""
_WORDS = {"c": 1.0, "p": 0.5, "i": 0.0, "n": 0.0, "yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
_REMEDY = f"name another score with {Hint('metric', 'NAME')}"


def _inspect_results(file: str, _: Options) -> Iterator[SystemLog]:
    log = _load_log(file, read_bytes(file))
    about, status = log.item("eval"), log.get("status")
    samples = log.items("samples", "sample", [])
    reductions = list(log.items("reductions", "reduction", []))
    rules = dict.fromkeys(str(reduction.get("reducer") or "mean") for reduction in reductions)
    others = " and ".join(rule for rule in rules if rule != "mean")
    if reductions and (others or not log.get("samples")):
        rows = _reduced_rows(reductions, several=len(rules) > 1)
    elif log.get("samples"):
        rows = (Row(_inspect_scores(one), one.text("id"), one.text("epoch", 1), one.get("metadata")) for one in samples)
    else:
        raise InputError(f"{file}: holds no samples, only their aggregate; expected a log written with its samples")
    notes = () if status == "success" else (f"{file}: the run has the status {status}",)
    notes += (f"took the values reduced over epochs by {others}",) if others else ()
    facts = {"reduction over epochs": others or "mean"}
    yield SystemLog(file, rows, about.name("model?"), notes, facts, about.name("task?"))


def _reduced_rows(reductions: Sequence[Item], *, several: bool) -> list[Row]:
    """One row per sample, of values that the log reduced; a scorer reduced by several rules has a score for each."""
    scores: dict[str, dict[str, float | InputError]] = {}
    for reduction in reductions:
        scorer = reduction.text("scorer")
        name = f"{scorer}/{reduction.get('reducer') or 'mean'}" if several else scorer
        for sample in reduction.items("samples", "sample"):
            own = scores.setdefault(sample.text("sample_id"), {})
            own |= _inspect_scores(Item(sample.at, {"scores": {name: sample.fields}}))
    return [Row(own, id) for id, own in scores.items()]


def _inspect_scores(sample: Item) -> dict[str, float | InputError]:
    """Name of each scorer, or SCORER/KEY where its value has parts -> the value as a number, by Inspect's own rules.

    Unscored values are left out.

    >>> _inspect_scores(Item("log", {"scores": {"a": {"value": "C"}, "b": {"value": {"tone": 3, "fact": None}}}}))
    {'a': 1.0, 'b/tone': 3.0}
    """
    found: dict[str, float | InputError] = {}
    scores = sample.item("scores", {})
    for scorer in scores.fields:
        value = scores.item(scorer).get("value")
        for key, part in value.items() if isinstance(value, dict) else ((None, value),):
            try:
                as_number = _inspect_value(part)
            except InputError as error:
                as_number = InputError(f"{sample.where}, score {quote(scorer)}: {error.neutral}")
            if as_number is not None:
                found[scorer if key is None else f"{scorer}/{key}"] = as_number
    return found


def _inspect_value(value: object) -> float | None:
    """A grade, a word or a numeral as a number; None where the sample was left unscored."""
    word = value.strip().lower() if isinstance(value, str) else ""
    if value is None or word.strip("+-") == "nan" or (isinstance(value, float) and math.isnan(value)):
        return None
    if word in _WORDS:
        return _WORDS[word]
    if isinstance(value, list | dict):
        raise InputError(f"expected one value, got several in one; {_REMEDY}")
    if isinstance(value, str):
        return parse_number(word, hint=f"write C, I, P, N, yes or no, or {_REMEDY}", missing=_REMEDY)
    return number(value)


def _load_log(file: str, data: bytes) -> Item:
    """The log as one object, from JSON or from an archive."""
    if not data.startswith(ZIP_MAGIC):
        return item_at(file, parse_json(file, decode_text(file, data)))
    parts: Object = {}
    samples: list[Object] = []
    for name, content in read_members(file, data, lambda name: name in _WHOLE or bool(_SAMPLE.fullmatch(name))):
        where = f"{file}, {name}"
        part = parse_json(where, decode_text(where, content))
        if name in _WHOLE:
            parts[name] = part
        else:
            found = item_at(where, part).fields
            samples.append({field: found[field] for field in _READ if field in found})
    if "header.json" not in parts:
        raise InputError(f"{file}: holds no header.json: the run did not end, or this is not a log of Inspect")
    header = item_at(f"{file}, header.json", parts["header.json"]).fields
    reductions = parts.get("reductions.json", header.get("reductions"))
    return Item(file, {**header, "samples": samples, "reductions": reductions})


def read_members(file: str, data: bytes, choose: Callable[[str], bool]) -> Iterator[tuple[str, bytes]]:
    """(name, content) of each chosen member of a zip archive; of several with one name the last one, which counts."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = {each.filename: each for each in archive.infolist()}
            chosen = [member for name, member in members.items() if choose(name)]
            limit = growth_limit(len(data))
            if sum(member.file_size for member in chosen) > limit:
                raise InputError(f"{file}: {len(data)} bytes unpack to more than {limit}: this is not a log")
            # No member gives more than the size it declares: zipfile stops there, and its checksum is then wrong.
            for member in chosen:
                yield member.filename, archive.read(member)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{file}: damaged or locked zip archive ({error}); write the log again, as .json") from None


INSPECT = Log(results=_inspect_results, must_agree={"reduction over epochs": "score them with one rule"})


_SUCCESS = "success"
"""The score that the pass rates of promptfoo and DeepEval are means of; others are beside it."""
_ERROR = 2
"""The `failureReason` of a row that the provider gave no answer for."""


def _promptfoo(file: str) -> tuple[Item, Iterator[Item]]:
    """Tests with their system, a column of promptfoo's table: a provider, and its prompt where there are several.

    The format is version 3 or newer. A test that is repeated has the same content, and the first number as id.
    """
    outer = load_item(file)
    tests = list(outer.item("results").items("results", "result"))
    tests.sort(key=lambda test: (int(test.number("promptIdx")), test.number("testIdx")))
    columns = grouped(tests, lambda test: int(test.number("promptIdx"))).values()
    prompts = [" ".join(_label(own[0], "prompt", "raw").split()) for own in columns]
    names, records = list[str](), list[Item]()
    for prompt, own in zip(prompts, columns, strict=True):
        names.append(_label(own[0], "provider", "id") + f": {prompt}" * (len(set(prompts)) > 1))
        first = dict[str, str]()
        for test in own:
            content = _content(test)
            id = first.setdefault(content, test.text("testIdx"))
            records.append(Item(test.at, test.fields | {"system": names[-1], "id": id, "content": content}))
    if repeated := [name for name, count in Counter(names).items() if count > 1]:
        raise InputError(f"{file}: several columns are {quote(repeated[0])}; give each provider a label of its own")
    return outer, iter(records)


def _content(test: Item) -> str:
    """A hash of what is tested: the variables, and the description and the assertions of the test."""
    case = test.item("testCase", {})
    parts = [test.get("vars"), case.get("description"), case.get("assert")]
    return sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _label(test: Item, field: str, other: str) -> str:
    """The label of a provider or a prompt, or else another name that it has."""
    if isinstance(test.get(field), str):
        return test.text(field)
    return test.name(f"{field}.label?") or test.item(field).text(other)


def _promptfoo_scores(test: Item) -> dict[str, float]:
    score = {} if test.get("score") is None else {"score": test.number("score")}
    return test.item("namedScores", {}).numbers() | {_SUCCESS: test.number("success")} | score


PROMPTFOO = Log(
    load=_promptfoo,
    scores=_promptfoo_scores,
    trial="#",
    system="system",
    labels="vars",
    same=("content",),
    content="variables or assertions",
    lacking=(
        lambda test: test.get("failureReason") == _ERROR,
        "results are errors of the provider; they count as failed, as in promptfoo",
    ),
    main=_SUCCESS,
)


def _deepeval(file: str) -> tuple[Item, Iterator[Item]]:
    """Test cases of one turn, and conversations, of a test run or of .deepeval/.latest_test_run.json."""
    run = load_item(file)
    if run.get("testRunData") is not None:
        run = run.item("testRunData")
    conversations = run.items("conversationalTestCases", "conversation", [])
    return run, chain(run.items("testCases", "test case", []), conversations)


def _deepeval_scores(case: Item) -> dict[str, float]:
    """Those of the metrics that did not fail to run, and whether the case passed."""
    metrics = [metric for metric in case.items("metricsData", "metric", []) if metric.get("score") is not None]
    scores = {metric.text("name"): metric.number("score") for metric in metrics}
    return scores if case.get("success") is None else scores | {_SUCCESS: case.number("success")}


DEEPEVAL = Log(
    load=_deepeval,
    scores=_deepeval_scores,
    id="name",
    labels="metadata",
    same=("input", "scenario"),
    content="input",
    main=_SUCCESS,
)


def _evalplus(file: str) -> tuple[Item, Iterator[Item]]:
    """The samples of each task: objects since version 0.2.2, before lists in two lists, which begin with a status."""
    whole = load_item(file)
    tasks = whole.item("eval")

    def samples() -> Iterator[Item]:
        for task, held in tasks.fields.items():
            if isinstance(held, list):
                found = tasks.items(task, f"{quote(task)}, sample")
            else:
                own = tasks.item(task)
                lists = [own.value("base"), own.get("plus") or []]
                pairs = zip_longest(*(each if isinstance(each, list) else [each] for each in lists))
                both = ([each[0] if isinstance(each, list) and each else each for each in pair] for pair in pairs)
                found = (
                    Item((own.at, "sample", i), {"base_status": base, "plus_status": plus})
                    for i, (base, plus) in enumerate(both, start=1)
                )
            yield from (Item(sample.at, sample.fields | {"task": task}) for sample in found)

    return whole, samples()


def _evalplus_scores(sample: Item) -> dict[str, float]:
    """Whether a sample passes the tests of HumanEval or MBPP (base), and those of EvalPlus besides (plus)."""
    passed = {"base": _passes(sample, "base_status")}
    if sample.get("plus_status") is None:
        return passed
    return passed | {"plus": min(passed["base"], _passes(sample, "plus_status"))}


def _passes(sample: Item, field: str) -> float:
    status = sample.text(field)
    if status not in _EVALPLUS:
        raise InputError(f"{sample.field(field)}: expected one of {', '.join(_EVALPLUS)}, got {quote(status)}")
    return _EVALPLUS[status]


_EVALPLUS = {"pass": 1.0, "success": 1.0, "fail": 0.0, "failed": 0.0, "timeout": 0.0}
EVALPLUS = Log(
    load=_evalplus,
    scores=_evalplus_scores,
    id="task",
    trial="#",
    facts={"hash of the data": "/hash?"},
    must_agree={"hash of the data": "compare results on the same version of the data"},
    main="plus",
)


def _terminal_bench(file: str) -> tuple[Item, Iterator[Item]]:
    """The trials of results.json of `tb run`, one file per run."""
    whole = load_item(file)
    return whole, whole.items("results", "trial")


TERMINAL_BENCH = Log(
    load=_terminal_bench,
    scores=lambda trial: {"resolved": 0.0 if trial.get("is_resolved") is None else trial.number("is_resolved")},
    id="task_id",
    trial="#",
    lacking=(
        lambda trial: trial.value("is_resolved") is None,
        "trials have no outcome (is_resolved null); they count as not resolved",
    ),
    files_are_runs=True,
    main="resolved",
)


def _tau(file: str) -> tuple[Item, Iterator[Item]]:
    """The trials: of tau-bench a list; of tau2-bench `simulations`, or `simulation_index` where each has a file."""
    loaded = parse_json(file, read_text(file))
    if isinstance(loaded, list):
        return Item(file, {}), load_entries(file)
    whole = item_at(file, loaded)
    name = "simulation_index" if not whole.get("simulations") and whole.get("simulation_index") else "simulations"
    return whole, whole.items(name, "simulation")


def _tau_scores(trial: Item) -> dict[str, float]:
    holder = trial if trial.get("reward_info") is None else trial.item("reward_info")
    if holder.get("reward") is None:
        return {}
    reward = holder.number("reward")
    return {"reward": reward, "success": float(abs(reward - 1) <= 1e-6)}


TAU_BENCH = Log(
    load=_tau,
    scores=_tau_scores,
    id="task_id",
    trial="trial",
    system="/info.agent_info.llm?",
    facts={"domain": "/info.environment_info.domain_name?", "simulated user": "/info.user_info.llm?"},
    must_agree={"domain": "compare agents on the same tasks"},
    lacking=(lambda trial: not _tau_scores(trial), "simulations have no reward; they are missing results, as in tau2"),
    main="reward",
)


_RESOLVED = "resolved"
"""The score; boards hold cost and calls beside it. Also the list of results.json."""
_WITHOUT = ("no_generation", "no_logs")
_ID = "instance_id"
_LIST = "one id per line, or JSON with instance_id, such as all_preds.jsonl"


def _swebench(file: str, options: Options) -> list[SystemLog]:
    found = load_item(file)
    if "leaderboards" in found.fields:
        return _leaderboard(file, found, options)
    if options.filter is not None:
        raise InputError(
            f"{file}: {Hint('filter')} names a board of leaderboards.json; a report has none; leave it out"
        )
    if "submitted_ids" in found.fields:
        return [_swebench_report(file, found)]
    if isinstance(found.get(_RESOLVED), list):
        raise InputError(
            f"{file}: lists the instances that are resolved, but not the others; give a list of all first "
            f"({_LIST}): {Hint('sigjax compare', 'ALL', '-i', file, '...')}"
        )
    if not found.fields or any(isinstance(value, list) for value in found.fields.values()):
        found.value("submitted_ids")  # refuses its absence
    return [SystemLog(file, _issues(found))]


def _swebench_report(file: str, report: Item) -> SystemLog:
    submitted, resolved = report.texts("submitted_ids"), report.texts("resolved_ids")
    stray = set(resolved).difference(submitted)
    if stray:
        raise InputError(f"{file}: {quote(min(stray))} is resolved, but not among the submitted ids; repair the report")
    if not submitted:
        raise InputError(f"{file}: no instance is submitted; expected at least one")
    without = len(report.texts("incomplete_ids", []))
    what = "instances were not submitted; --missing zero counts them as unresolved"
    lacking = without, len(submitted) + without, what
    return SystemLog(file, _outcomes(submitted, resolved), lacking=lacking)


def _outcomes(ids: Sequence[str], resolved: Sequence[str]) -> list[Row]:
    known = set(resolved)
    return [_issue({_RESOLVED: float(id in known)}, id) for id in ids]


def _leaderboard(file: str, leaderboards: Item, options: Options) -> list[SystemLog]:
    """The systems of one board for which it holds the results of single instances."""
    boards: dict[str, list[Item]] = {}
    for board in leaderboards.items("leaderboards", "board"):
        entries = board.items("results", f"{quote(board.text('name'))}, system")
        detailed = [entry for entry in entries if entry.get("per_instance_details")]
        if detailed:
            boards[board.text("name")] = detailed
    if not boards:
        raise InputError(f"{file}: no board holds the results of single instances (per_instance_details)")
    systems = boards[choose(file, boards, options.filter, "board")]
    names = [system.text("name") for system in systems]
    if len(set(names)) < len(names):
        names = [system.text("folder") for system in systems]
    return [
        SystemLog(file, _issues(system.item("per_instance_details")), name)
        for name, system in zip(names, systems, strict=True)
    ]


def _issues(details: Item) -> list[Row]:
    rows = []
    for id, own in details.fields.items():
        with naming(details.where):
            text(id)
        issue = item_at((details.at, id), own)
        rows.append(_issue(issue.numbers(), id))
    return rows


def _issue(scores: dict[str, float], id: str) -> Row:
    return Row(scores, id, labels={"repository": id.rpartition("-")[0] or id})


SWEBENCH = Log(results=_swebench, main=_RESOLVED)


def _instances(file: str) -> list[str]:
    """The ids of all instances, each once: lines, or JSON of ids, or of objects that have them."""
    content = read_text(file)
    start = content.lstrip()[:1]
    if start not in ("[", "{"):
        return list(dict.fromkeys(line.strip() for line in content.split("\n") if line.strip()))
    ids = dict[str, None]()
    values = parse_json(file, content) if start == "[" else [item.fields for item in parse_json_lines(file, content)]
    for i, value in enumerate(values, start=1):
        if not isinstance(value, str | dict):
            raise InputError(f"{Line(file, i, 'entry')}: expected an id, or an object with {_ID}, got {type_of(value)}")
        entry = value if isinstance(value, dict) else {_ID: value}
        ids[Item((file, "entry", i), entry).text(_ID)] = None
    return list(ids)


def _listed(all_file: str, ids: Sequence[str], file: str, _: Options) -> list[SystemLog]:
    """A system by its results.json: what it does not list is not resolved."""
    found = load_item(file)
    resolved, without = found.texts(_RESOLVED), [found.texts(name, []) for name in _WITHOUT]
    stray = set(chain(resolved, *without)).difference(ids)
    if stray:
        raise InputError(
            f"{file}: lists {quote(min(stray))}, which {all_file} does not have; expected a list of all instances"
        )
    what = "instances have no prediction or no log; they count as not resolved"
    return [SystemLog(file, _outcomes(ids, resolved), lacking=(len(set(chain(*without))), len(ids), what))]


def read_listed(sources: Sources, options: Options) -> Tasks:
    """A list of all instances, and results.json of each system."""
    gold = sources.gold()
    results = partial(_listed, gold, _instances(gold))
    return Log(results=results, main=_RESOLVED).read(replace(sources, files=()), options)


def are_listed(_: Sequence[str], outputs: Sequence[str]) -> bool:
    """Whether the systems' files, or those in their folders, are results.json."""
    inside = [
        next(iter(files_inside(file, FORMATS["swebench-results"].folder)), file) if os.path.isdir(file) else file
        for file in outputs
    ]
    return all(FORMATS["swebench"].fits(*read_head(file)) for file in inside)
