"""Make what `sigjax demo` compares and what `sigjax demo --write` writes: made-up counts, translations, logs, a board.

`sigjax/data/demo.tsv`: named-entity counts of five taggers on 200 sentences of 20 documents; `bilstm` and `bilstm-copy`
are identical, `crf` and `bilstm` are close, `rules` is far behind. `sigjax/data/examples`: three translation systems on
120 sentences of 12 documents; three language models on 50 stories with 3 questions each, as lm-evaluation-harness logs
them; 12 systems with right or wrong answers to 240 questions on 24 documents.

    python benchmarks/make_examples.py sigjax/data
"""

import hashlib
import json
import sys
from pathlib import Path

import numpy as np

CHANCE_TO_FIND = {"transformer": 0.90, "bilstm": 0.84, "crf": 0.82, "rules": 0.55}
FALSE_ALARMS = {"transformer": 0.15, "bilstm": 0.25, "crf": 0.27, "rules": 0.40}


def demo() -> str:
    """A long table of counts."""
    rng = np.random.default_rng(2000)
    gold = rng.poisson(1.6, 200)
    difficulty = rng.normal(0.0, 0.08, 200)
    counts = {}
    for system, chance in CHANCE_TO_FIND.items():
        tp = rng.binomial(gold, np.clip(chance - difficulty, 0.0, 1.0))
        counts[system] = (tp, tp + rng.poisson(FALSE_ALARMS[system], 200))
    counts["bilstm-copy"] = counts["bilstm"]
    rows = ["system\tsentence\tdocument\ttp\tpredicted\tgold"]
    for system, (tp, predicted) in counts.items():
        rows += [f"{system}\ts{i + 1:03d}\td{i // 10 + 1:02d}\t{tp[i]}\t{predicted[i]}\t{gold[i]}" for i in range(200)]
    return "\n".join(rows) + "\n"


SLOTS = (
    ("The minister", "The secretary", "The government official"),
    ("said", "announced", "has stated"),
    ("on Monday", "this Monday", "at the start of the week"),
    ("that",),
    ("the new railway", "the recently built railway", "a new train line"),
    ("to the coast", "towards the sea", "to the seaside"),
    ("will open", "is going to open", "opens"),
    ("before the summer", "ahead of summer", "by the start of summer"),
)
OTHERS = {
    0: ("The mayor", "A teacher", "Our reporter", "The director of the museum", "The fishermen", "Two engineers"),
    2: ("on Friday", "last night", "in a short letter", "after the meeting", "in Geneva", "at noon"),
    4: ("the old bridge", "the library", "the night market", "a small theatre", "the swimming pool", "the mill"),
    5: ("near the harbour", "behind the station", "in the upper town", "on the island", "by the lake"),
    6: ("must close", "needs repair", "has been sold", "may move", "attracts more visitors", "was flooded"),
    7: ("again", "for the first time", "within two years", "despite the cost", "because of the storm"),
}
MISTAKES = {"small": 0.22, "base": 0.10, "big": 0.06}
"""The chance that a system garbles a phrase."""
PARAPHRASES = {"small": 0.30, "base": 0.24, "big": 0.22}
STORIES = (
    ("A bakery sells {n} loaves a day at {p} euros each.", "loaves"),
    ("A ferry carries {n} passengers a day at {p} euros each.", "passengers"),
    ("A printer makes {n} posters a day and sells each for {p} euros.", "posters"),
)
MODELS = {"otter-1b": -0.5, "otter-7b": 0.5, "heron-7b": 0.6}
BOARD = {"amber": 1.30, "birch": 0.10, "cedar": 0.92, "dune": -0.60, "ember": 0.55, "fjord": 0.95, "grove": 0.50}
BOARD |= {"heath": -0.15, "iris": 0.60, "jade": 0.05, "kelp": -1.20, "lark": 0.48}


def translations(rng: np.random.Generator) -> dict[str, str]:
    """The reference, a text per system, and the document of each sentence."""
    lines: dict[str, list[str]] = {"ref": [], **{name: [] for name in MISTAKES}}
    for _document in range(12):
        hard = rng.uniform(0.4, 1.6)
        for _sentence in range(10):
            phrases = [rng.choice((slot[0], *OTHERS.get(place, ()))) for place, slot in enumerate(SLOTS)]
            lines["ref"].append(" ".join(phrases) + ".")
            for name in MISTAKES:
                lines[name].append(" ".join(_translated(phrases, name, hard, rng)) + ".")
    made = {f"mt/{name}.txt": "\n".join(text) + "\n" for name, text in lines.items()}
    return made | {"mt/documents.txt": "".join(f"d{segment // 10 + 1:02d}\n" for segment in range(120))}


def _translated(phrases: list[str], name: str, hard: float, rng: np.random.Generator) -> list[str]:
    translated = []
    for phrase, slot in zip(phrases, SLOTS, strict=True):
        words = str(phrase).split()
        if phrase == slot[0] and slot[1:] and rng.random() < PARAPHRASES[name]:
            words = str(rng.choice(slot[1:])).split()
        if rng.random() < MISTAKES[name] * hard:
            words = words[1:] if rng.random() < 0.5 else words[::-1]
        translated += words
    return translated


def logs(rng: np.random.Generator) -> dict[str, str]:
    """The samples of each model, as lm-evaluation-harness writes them."""
    lines: dict[str, list[str]] = {name: [] for name in MODELS}
    for story in range(50):
        text, things = STORIES[story % len(STORIES)]
        n, p = int(rng.integers(20, 400)), int(rng.integers(2, 30))
        questions = {
            f"How many {things} in a week?": 7 * n,
            "How many euros a day?": n * p,
            "And in a week?": 7 * n * p,
        }
        hard = rng.normal(0.0, 0.8)
        for question, answer in questions.items():
            harder = rng.normal(0.0, 1.5)
            for name, skill in MODELS.items():
                right = bool(rng.random() < 1.0 / (1.0 + np.exp(hard + harder - skill)))
                given = answer if right else answer + int(rng.choice([-10, -1, 1, 7, 10, 100]))
                asked = f"{text.format(n=n, p=p)} {question}"
                lines[name].append(_sample(len(lines[name]), f"s{story + 1:02d}", asked, answer, given))
    return {f"llm/{name}/samples_stories_2026-01-31T12-00-00.000000.jsonl": "".join(x) for name, x in lines.items()}


def _sample(number: int, story: str, question: str, answer: int, given: int) -> str:
    line = {"doc_id": number, "doc": {"story": story, "question": question, "answer": str(answer)}}
    line |= {"target": str(answer), "resps": [[f" {given}"]], "filtered_resps": [str(given)], "filter": "none"}
    line |= {"metrics": ["exact_match"], "doc_hash": hashlib.sha256(question.encode()).hexdigest()[:16]}
    return json.dumps(line | {"exact_match": float(given == answer)}) + "\n"


BOARD_FILE = """\
title = "Made-up questions"
source = "the examples of sigjax"
licence = "MIT"
files = ["board.tsv"]
metric = "accuracy"
cluster = "document"
correction = "holm"
"""


def board(rng: np.random.Generator) -> dict[str, str]:
    """A table of right and wrong answers, with the document of each question; and the file that makes it a board."""
    rows = ["\t".join(["id", "document", *BOARD])]
    for document in range(24):
        hard = rng.normal(0.0, 0.7)
        for question in range(10 * document, 10 * document + 10):
            harder = rng.normal(0.0, 1.6)
            right = [rng.random() < 1.0 / (1.0 + np.exp(hard + harder - 1.6 * skill)) for skill in BOARD.values()]
            rows.append("\t".join([f"q{question + 1:03d}", f"d{document + 1:02d}", *(f"{each:d}" for each in right)]))
    return {"board.tsv": "\n".join(rows) + "\n", "board.toml": BOARD_FILE}


def main(folder: Path) -> None:
    """Write the files."""
    made = [make(np.random.default_rng(seed)) for seed, make in enumerate((translations, logs, board), start=2026)]
    examples = {f"examples/{name}": text for name, text in (made[0] | made[1] | made[2]).items()}
    for name, text in {"demo.tsv": demo(), **examples}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
