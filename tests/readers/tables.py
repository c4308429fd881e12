"""Tables as people have them, made at random with what they mean: layouts, names, nuisance columns, orders.

Each `Case` has files, and the reading that is meant: the scores of each system on each instance, and which of two is
better; or none, where no comparison of systems on instances is meant (metrics of one system, the steps of one run, one
system on two tasks). `played` gives it to a reader as a person would, and types what refusals propose.

    python tests/readers/tables.py 20000
"""

import itertools
import random
import re
import shlex
import sys
import tempfile
from collections import Counter
from contextlib import chdir
from dataclasses import dataclass, field
from pathlib import Path

import sigjax

HIGHER = ("accuracy", "f1", "bleu", "auc", "ndcg@10", "success", "rougeL", "recall", "score", "correct_rate", "quux")
LOWER = ("wer", "RMSE", "loss", "perplexity", "mae", "cer", "error_rate", "latency_ms", "val_loss")
ASKED = ("time_sec", "distance_m", "penalty", "query_time", "train_cost")
SYSTEM_NAMES = (
    "system",
    "model",
    "Model",
    "method",
    "agent",
    "algo",
    "algorithm",
    "classifier",
    "Methode",
    "Algoritmo",
)
SYSTEM_NAMES += ("codec", "pipeline", "Tested_Model", "config", "system_name", "run_name")
STRANGE_SYSTEMS = ("who", "entry", "contender")
ID_NAMES = ("id", "qid", "question", "doc_id", "item", "task_id", "Sent_ID")
WORD_IDS = ("filename", "image", "url", "passage", "audio", "patient", "game", "fichier")
NUMBERINGS = ("", "Unnamed: 0", "index", "#", "step", "order", "rank", "no")
SYSTEMS = ("otter", "heron", "lynx", "GPT-x", "svm", "mlp", "bert-base", "v2", "Zeta")
METRIC_SETS = (("bertscore_f1", "rougeL_f1", "meteor"), ("OVRL", "SIG", "BAK"), ("sen", "spe", "mcc"))
METRIC_SETS += (("MAE", "MSE", "R2"), ("success", "cost_usd"), ("passed", "style_score"), ("acc_x", "roc_auc_x"))
PROPERTIES = ("difficulty", "year", "length", "n_tokens", "category", "cost", "latency")
LAYOUTS = ("wide", "wide_mean", "wide_std", "wide_rank", "wide_diff", "wide_complement", "long", "long_two_scores")
LAYOUTS += ("long_metrics", "long_repeated", "long_aliases", "files", "files_disjoint", "one_system", "curve")
LAYOUTS += ("metrics", "predictions", "board", "leaderboard", "settings", "ranks")
DATA_SETS = ("hindi", "tamil", "AMI", "TED", "SQuAD", "xsum", "cora", "aime24", "v1")


@dataclass
class Case:
    """Files, and what they mean."""

    layout: str
    files: dict[str, str]
    scores: dict[str, dict[str, float]] = field(default_factory=dict)
    """system -> instance -> score; none where nothing may be compared."""
    more: list[dict[str, dict[str, float]]] = field(default_factory=list)
    """Other readings that are right, too: another score column of the same table."""
    lower: bool | None = None
    """Whether lower scores are better; None where both may be said."""
    options: dict[str, object] = field(default_factory=dict)


def table(columns, rng, *, shuffle_columns=True, keep_first=0):
    names = list(columns)
    if shuffle_columns:
        rest = names[keep_first:]
        rng.shuffle(rest)
        names = names[:keep_first] + rest
    rows = zip(*(columns[name] for name in names), strict=True)
    return "\n".join([",".join(names), *(",".join(map(str, row)) for row in rows)]) + "\n"


def numbers(rng, count, *, binary, base=0.5):
    if binary:
        return [rng.randint(0, 1) for _ in range(count)]
    return [round(min(0.999, max(0.001, rng.gauss(base, 0.2))), 3) for _ in range(count)]


def nuisance(rng, count, ids):
    """Columns of properties and texts, which hold no scores of systems."""
    made = {}
    for name in rng.sample(PROPERTIES, rng.randint(0, 2)):
        made[name] = [rng.choice(["law", "math"]) if name == "category" else rng.randint(3, 900) for _ in ids]
    if rng.random() < 0.3:
        made["response"] = [f"text {rng.random():.6f}" for _ in ids]
    return made


def instances(rng, count):
    """The names of instances, and the column that they stand in."""
    if rng.random() < 0.5:
        return rng.choice(ID_NAMES), [f"q{k:03d}" for k in range(count)]
    return rng.choice(WORD_IDS), [f"{rng.choice('abcdef')}{k:03d}.png" for k in range(count)]


def made(seed):
    """A case."""
    rng = random.Random(seed)
    layout = rng.choice(LAYOUTS)
    count = rng.choice([6, 9, 14, 25])
    systems = rng.sample(SYSTEMS, rng.choice([2, 2, 3]))
    id_name, ids = instances(rng, count)
    binary = rng.random() < 0.35
    own = {name: numbers(rng, count, binary=binary, base=rng.choice([0.45, 0.5, 0.55])) for name in systems}
    scores = {name: dict(zip(ids, values, strict=True)) for name, values in own.items()}
    kind = rng.random()
    names, lower = (HIGHER, False) if kind < 0.5 else (LOWER, True) if kind < 0.8 else (ASKED, None)
    score_name = rng.choice(names)
    system_name = rng.choice(SYSTEM_NAMES if rng.random() < 0.9 else STRANGE_SYSTEMS)
    numbering = rng.choice(NUMBERINGS) if rng.random() < 0.5 else None

    if layout.startswith("wide"):
        columns, hidden = {id_name: ids, **own}, layout.partition("_")[2]
        if hidden == "mean":
            columns[rng.choice(["MEAN", "avg", "zz"])] = [
                round(sum(v) / len(v), 6) for v in zip(*own.values(), strict=True)
            ]
        elif hidden == "diff":
            a, b = list(own.values())[:2]
            columns[rng.choice(["diff", "delta", "zz"])] = [round(x - y, 6) for x, y in zip(a, b, strict=True)]
        elif hidden == "std":
            for name in systems:
                columns[name + rng.choice(["_std", "_stderr", " std"])] = [
                    round(rng.uniform(0.001, 0.3), 3) for _ in ids
                ]
        elif hidden == "rank":
            for name in systems:
                column = [1 + sum(other[k] > own[name][k] for other in own.values()) for k in range(count)]
                columns[f"{name}_rank"] = column
        elif hidden == "complement":
            columns[rng.choice(["wrong", "zz"])] = [round(1 - value, 3) for value in own[systems[0]]]
        columns |= {n: c for n, c in nuisance(rng, count, ids).items() if n != "response"}
        if numbering is not None:
            columns = {numbering: range(count), **columns}
        return Case(
            layout, {"t.csv": table(columns, rng, shuffle_columns=rng.random() < 0.5 and numbering is None)}, scores
        )

    if layout.startswith("long"):
        order = [(s, k) for s in systems for k in range(count)]
        if rng.random() < 0.5:
            rng.shuffle(order)
        columns = {
            system_name: [s for s, _ in order],
            id_name: [ids[k] for _, k in order],
            score_name: [own[s][k] for s, k in order],
        }
        case = Case(layout, {}, scores, lower=lower)
        if layout == "long_two_scores":
            second = rng.choice([n for n in ("precision", "latency", "cost", "em", "length") if n != score_name])
            other = {s: dict(zip(ids, numbers(rng, count, binary=False), strict=True)) for s in systems}
            columns[second] = [other[s][ids[k]] for s, k in order]
            case.more.append(other)
            case.lower = None
        elif layout == "long_metrics":
            metric = rng.choice(["metric", "measure", "Metrik"])
            both = rng.sample(["bleu", "chrf", "comet", "ter"], 2)
            other = {s: {i: 10 + 50 * rng.random() for i in ids} for s in systems}
            case.more.append(other)
            columns = {
                system_name: columns[system_name] * 2,
                id_name: columns[id_name] * 2,
                metric: [both[0]] * len(order) + [both[1]] * len(order),
                score_name: columns[score_name] + [other[s][ids[k]] for s, k in order],
            }
            case.lower = None
        elif layout == "long_repeated":
            again = {s: {i: own[s][k] for k, i in enumerate(ids)} for s in systems}
            twice = numbers(rng, len(order), binary=binary)
            columns = {name: [*cells, *cells] for name, cells in columns.items()}
            columns[score_name] = [*columns[score_name][: len(order)], *twice]
            for (s, k), value in zip(order, twice, strict=True):
                again[s][ids[k]] = (again[s][ids[k]] + value) / 2
            case.scores = again
            if rng.random() < 0.5:
                columns[rng.choice(["seed", "run", "trial"])] = [1] * len(order) + [2] * len(order)
        elif layout == "long_aliases":
            columns[rng.choice(["provider", "model_id", "model_name", "vendor"])] = [f"lab/{s}" for s, _ in order]
            case.more.append({f"lab/{s}": own for s, own in scores.items()})
        rows = len(columns[score_name])
        if numbering is not None and layout not in ("long_metrics", "long_repeated"):
            columns = {numbering: range(rows), **columns}
        case.files = {"t.csv": table(columns, rng, shuffle_columns=numbering is None, keep_first=0)}
        return case

    if layout in ("files", "files_disjoint"):
        files, case = {}, Case(layout, {}, scores, lower=lower)
        properties = {n: c for n, c in nuisance(rng, count, ids).items() if n not in ("response", "cost", "latency")}
        for which, name in enumerate(systems[:2]):
            order = list(range(count))
            if rng.random() < 0.6:
                rng.shuffle(order)
            keys = [f"x{which}{k}" for k in range(count)] if layout == "files_disjoint" else [ids[k] for k in order]
            columns = {id_name: keys, score_name: [own[name][k] for k in order]}
            columns |= {n: [c[k] for k in order] for n, c in properties.items()}
            if numbering is not None:
                columns = {numbering: range(count), **columns}
            files[f"{name}.csv"] = table(columns, rng, shuffle_columns=numbering is None)
        case.files = files
        case.scores = {} if layout == "files_disjoint" else {name: scores[name] for name in systems[:2]}
        return case

    if layout == "one_system":
        files, agent = {}, rng.choice(["agent", "model", "algo"])
        for task in ("walk", "run"):
            columns = {agent: ["DrQ"] * count, "task": [task] * count}
            columns |= {"seed": range(count), "reward": numbers(rng, count, binary=False)}
            files[f"{task}.csv"] = table(columns, rng)
        return Case(layout, files)

    if layout == "curve":
        step = rng.choice(["Step", "step", "iteration", "global_step", "frame"])
        files = {}
        for name in systems[:2]:
            columns = {step: range(0, 100 * count, 100), "Value": numbers(rng, count, binary=False)}
            files[f"{name}.csv"] = table(columns, rng, shuffle_columns=False)
        return Case(layout, files)

    if layout == "metrics":
        chosen = rng.choice(METRIC_SETS)
        columns = {id_name: ids}
        for at, name in enumerate(chosen):
            columns[name] = numbers(rng, count, binary=binary and at == 0, base=rng.choice([0.3, 0.5, 0.8]))
        if numbering is not None:
            columns = {numbering: range(count), **columns}
        return Case(layout, {"t.csv": table(columns, rng, shuffle_columns=numbering is None)})

    if layout in ("board", "leaderboard"):
        data = rng.sample(DATA_SETS, rng.choice([3, 4, 6]))
        measured = {name: numbers(rng, len(systems), binary=False) for name in data}
        columns = {rng.choice(SYSTEM_NAMES): systems}
        if layout == "leaderboard":
            return Case(
                layout,
                {"t.csv": table(columns | dict(zip(rng.choice(METRIC_SETS), measured.values(), strict=False)), rng)},
            )
        columns |= measured
        if rng.random() < 0.5:
            mean = [round(sum(own) / len(own), 6) for own in zip(*measured.values(), strict=True)]
            columns[rng.choice(["Average", "MEAN", "avg"])] = mean
        if rng.random() < 0.3:
            columns["License"] = [rng.choice(["MIT", "Open"]) for _ in systems]
        meant = {name: {d: own[k] for d, own in measured.items()} for k, name in enumerate(systems)}
        return Case(layout, {"t.csv": table(columns, rng)}, meant)

    if layout == "settings":
        start, step = rng.choice([(0.1, 0.1), (5, 5), (0.001, 10.0)])
        grid = [round(start * step**k if step > 5 else start + k * step, 9) for k in range(count)]
        columns = {rng.choice(["n", "threshold", "k", "alpha", "shots"]): grid, **own}
        keyed = {name: {str(k): own[name][k] for k in range(count)} for name in systems}
        return Case(layout, {"t.csv": table(columns, rng, shuffle_columns=False)}, keyed)

    if layout == "ranks":
        systems = rng.sample(SYSTEMS, rng.choice([3, 4, 5]))
        columns = {name: [] for name in systems}
        for _ in ids:
            drawn = [rng.randint(0, 9) for _ in systems]
            for name, value in zip(systems, drawn, strict=True):
                less, alike = sum(each < value for each in drawn), drawn.count(value)
                columns[name].append(less + (alike + 1) / 2)
        ranked = {name: dict(zip(ids, own, strict=True)) for name, own in columns.items()}
        return Case(layout, {"t.csv": table({id_name: ids, **columns}, rng)}, ranked, lower=True)

    # predictions, and a file of gold labels with a fold and, often, row numbers
    gold = [rng.randint(0, 1) for _ in range(count)]
    gold[:2] = [0, 1]
    files, label = {}, rng.choice(["y_true", "label", "gold", "target", "class"])
    predicted = label if rng.random() < 0.3 else rng.choice(["prediction", "y_pred", "pred"])
    right = {}
    columns = {id_name: ids, "fold": [k % 2 for k in range(count)], label: gold}
    if numbering is not None:
        columns = {numbering: range(count), **columns}
    files["gold.csv"] = table(columns, rng, shuffle_columns=False)
    for name in systems[:2]:
        guess = [rng.randint(0, 1) for _ in ids]
        guess[:2] = [1, 0]
        order = list(range(count))
        rng.shuffle(order)
        columns = {id_name: [ids[k] for k in order], "fold": [k % 2 for k in order]}
        columns[predicted] = [guess[k] for k in order]
        if numbering is not None:
            columns = {numbering: range(count), **columns}
        files[f"{name}.csv"] = table(columns, rng, shuffle_columns=False)
        right[name] = {ids[k]: float(guess[k] == gold[k]) for k in range(count)}
    return Case(layout, files, right, options={"gold": "gold.csv"}, lower=False)


FLAG = re.compile(r"--[a-z-]+")
SHAPES = ("systems", "system_column", "score_column", "id_column", "runs", "where", "transpose", "ignore")
SHAPES += ("lower_is_better", "higher_is_better", "melt", "prediction", "gold")


def proposals(message):
    """The options that a refusal proposes, each with values, and that it says what they compare."""
    found = []
    body = re.split(r"; give |\? give ", message, maxsplit=1)
    for part in re.split(r"\)(?:, | or |; |$)", body[1]) if len(body) > 1 else ():
        text, *compared = re.split(r" \((?=\d+ systems?: )", part, maxsplit=1)
        if not text.startswith("--") or not compared:
            continue
        words, options, name = shlex.split(text), dict[str, list[str]](), ""
        for word in words:
            if word.startswith("--"):
                name = word[2:].replace("-", "_")
                options[name] = []
            else:
                options[name].append(word)
        if all(name in SHAPES for name in options):
            listed = {"systems", "ignore", "melt", "prediction"}
            found.append({n: (v if n in listed else (v[0] if v else True)) for n, v in options.items()})
    return found


def judged(case, evaluation):
    """Whether a reading is one that is meant."""
    if not case.scores:
        return False
    for meant in (case.scores, *case.more):
        if {*evaluation.systems} != {*meant}:
            continue
        rows = evaluation.stats[:, :, 0] / evaluation.stats[:, :, -1] if evaluation.stats.shape[2] == 2 else None
        rows = evaluation.stats[:, :, 0] if rows is None else rows
        given = {}
        for k, name in enumerate(evaluation.systems):
            of = {}
            for id, value in zip(evaluation.ids or (), rows[k].tolist(), strict=True):
                of.setdefault(id, []).append(value)
            given[name] = {id: sum(own) / len(own) for id, own in of.items()}
        pairs = sorted(zip(*(given[name].values() for name in meant), strict=True))
        expected = sorted(zip(*(meant[name].values() for name in meant), strict=True))
        near = len(pairs) == len(expected) and all(
            abs(x - y) < 1e-9
            for one, other in zip(pairs, expected, strict=True)
            for x, y in zip(one, other, strict=True)
        )
        if near:
            return case.lower is None or evaluation.metric.higher_is_better != case.lower
    return False


def played(case, folder, *, most=4):
    """What comes of a case: each way to the end as (outcome, options)."""
    for name, text in case.files.items():
        (folder / name).write_text(text)
    inputs = [name for name in case.files if name != "gold.csv"]
    outcomes, todo, seen = [], [dict(case.options)], set()
    while todo:
        options = todo.pop(0)
        key = repr(sorted(options.items()))
        if key in seen:
            outcomes.append(("loop", options, ""))
            continue
        seen.add(key)
        try:
            evaluation = sigjax.read(*inputs, progress=False, **options)
        except sigjax.InputError as error:
            said = error.flags
            ways = proposals(said)
            outcomes.append(("asked" if ways else "refused", options, said))
            for way in ways:
                more = {**options, **way}
                if more == options:
                    outcomes.append(("same", options, said))
                elif len(more) <= most:
                    todo.append(more)
            continue
        outcomes.append(("right" if judged(case, evaluation) else "wrong", options, str(evaluation.notes)))
    return outcomes


def counts(number, start=0):
    """How `number` cases end: at the first try, and after what is proposed; and those that are wrong."""
    first, after, wrong = Counter(), Counter(), []
    with tempfile.TemporaryDirectory() as name, chdir(name):
        for seed in range(start, start + number):
            case = made(seed)
            outcomes = played(case, Path(name))
            first[case.layout, outcomes[0][0]] += 1
            for outcome, options, said in outcomes:
                after[outcome] += 1
                if outcome in ("wrong", "loop", "same"):
                    wrong.append((seed, case.layout, outcome, options, said))
            for file in case.files:
                Path(name, file).unlink()
    return first, after, wrong


if __name__ == "__main__":
    first, after, wrong = counts(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0)
    for layout, group in itertools.groupby(sorted(first.items()), key=lambda item: item[0][0]):
        print(f"{layout:18}", "  ".join(f"{outcome} {count}" for (_, outcome), count in group))
    print("all tries:", dict(after))
    for each in wrong[:40]:
        print(*each, sep=" | ")
    print(len(wrong), "wrong")
