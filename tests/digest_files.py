"""Small files for the digests of readers and commands, beside those of `mutations.SAMPLES`."""

import gzip
from pathlib import Path
from random import Random
from typing import Any

import digest_data as data
import logs
from mutations import Sample, of_text

ANSWERS = {"a": [1, 0, 1, 1, 1, 1], "b": [0, 0, 1, 0, 1, 0]}
LONG = "system,item,tp,n,gold,doc,topic,seed\n" + "".join(
    f"{name},i{i},{(i + k) % 3},{2 + (i * k) % 2},{3 + i % 2},d{i // 3},t{i // 6},{seed}\n"
    for k, name in enumerate(("A", "B", "C"))
    for seed in (1, 2)
    for i in range(9)
)
COUNTS = {
    "metric": "fscore",
    "counts": {"tp": "tp", "predicted": "n", "gold": "gold"},
    "id_column": "item",
    "runs": "seed",
}
GAPS = "id,A,B,C,doc\nv,1,0,1,d\nw,0,,1,d\nx,1,1,,e\ny,0,1,0,e\nz,1,0,1,f\n"
TAGS = {
    "g": "a B-X\nb I-X\nc O\n\nd B-Y\ne O\nf B-X\n\ng O\nh B-Y\ni I-Y\n",
    "a": "a B-X\nb O\nc O\n\nd B-Y\ne O\nf B-X\n\ng B-X\nh B-Y\ni I-Y\n",
    "b": "a B-X\nb I-X\nc B-Y\n\nd B-X\ne O\nf O\n\ng O\nh I-Y\ni I-Y\n",
}
GUESSED = {
    name: "".join(
        f"{gold} {guess.split()[1]}\n" if gold else "\n"
        for gold, guess in zip(TAGS["g"].splitlines(), TAGS[name].splitlines(), strict=True)
    )
    for name in "ab"
}
COARSE = {
    name: "TOKEN\tNE-COARSE-LIT\tNE-FINE-LIT\tMISC\n"
    + "".join(
        f"# h:document_id = d{k}\n"
        + "".join(f"t\t{tag}\t{tag + '.q' * (tag != 'O')}\t{'EndOfSentence' * (tag == 'O')}\n" for tag in tags)
        for k, tags in enumerate(documents)
    )
    for name, documents in {
        "g": (("B-x", "I-x", "O"), ("B-y", "O", "B-x", "O")),
        "a": (("B-x", "O", "O"), ("B-y", "O", "B-x", "O")),
        "b": (("B-x", "I-x", "O"), ("B-x", "O", "O", "O")),
    }.items()
}
PARSES = {
    "g": ((2, "nsubj", "N"), (0, "root", "V"), (2, "obj", "N")),
    "a": ((2, "nsubj", "N"), (0, "root", "V"), (1, "obj", "N")),
    "b": ((3, "obj", "A"), (0, "root", "V"), (2, "obj", "N")),
}
TREEBANK = {
    name: "".join(
        f"# newdoc\n# sent_id = {s}\n"
        + "".join(f"{i}\tw{i}\tw{i}\t{tag}\t_\t_\t{head}\t{rel}\t_\t_\n" for i, (head, rel, tag) in enumerate(rows, 1))
        + "\n"
        for s in range(3)
    )
    for name, rows in PARSES.items()
}
TREES = {
    "g": "(TOP (S (NP (D a) (N b)) (VP (V c) (NP (N d)))))\n(S (NP (N e)) (VP (V f)))\n",
    "a": "(TOP (S (NP (D a) (N b)) (VP (V c) (N d))))\n(S (NP (N e)) (VP (V f)))\n",
    "b": "(TOP (S (NP (D a)) (N b) (VP (V c) (NP (N d)))))\n(S (VP (N e) (V f)))\n",
}
LINKS = {"g": "0-0 1p1 2-2\n0-1 1-0\n2-3 3?3\n", "a": "0-0 1-1\n0-1\n2-3\n", "b": "0-0 2-2\n1-0\n3-2 3-3\n"}
LABELS = {"g": "x\ny\nz\nx\ny\nx\nz\ny\n", "a": "x\ny\nx\nx\nz\nx\nz\ny\n", "b": "x\nx\nz\ny\ny\nx\nz\nz\n"}
MORPHS = {
    "g": "undo\tun @@do\t010\ncats\tcat @@s\t100\nredone\tre @@do @@ne\t110\n",
    "a": "undo\tun @@do\ncats\tcats\nredone\tre @@done\n",
    "b": "undo\tundo\ncats\tcat @@s\nredone\tre @@do @@ne\n",
}
TERMS = {"g": "x\ny z\nw\nq r\n", "a": "x\nw\nv\n", "b": "y z\nx\nq r\nu\n"}
TEXTS = {"r": "A cat sat.\nIt rained all day.\nNo.\n", "a": "The cat sat.\nIt rains.\nNo.\n", "b": "\nIt.\nYes.\n"}
EPOCHS = {"a": [[1, 0], [1, 1], [0, 0], [1, 0]], "b": [[0, 0], [1, 0], [0, 1], [1, 1]]}


def _gold(files: dict[str, str], *systems: str, **options: Any) -> Sample:
    return of_text(*(systems or ("a", "b")), options=options, **files)


BOARDS = logs.swebench_boards({"one": [*ANSWERS.items()], "two": [("c", [1, 1])]})

MORE: dict[str, Sample] = {
    "csv, long": of_text(t=LONG, options=COUNTS),
    "csv, clusters and strata": of_text(t=LONG, options=COUNTS | {"cluster": "doc", "strata": "topic"}),
    "csv, some systems": of_text(t=GAPS, options={"only": ["C", "A"], "missing": "drop", "ignore": ["doc"]}),
    "csv, missing as 0": of_text(t=GAPS, options={"missing": "zero", "cluster": "doc", "metric": "accuracy"}),
    "csv, lower is better": of_text(
        t=GAPS, options={"missing": "drop", "id_column": "id", "strata": "doc", "lower_is_better": True}
    ),
    "csv, packed": Sample({"t": gzip.compress(GAPS.encode())}, options={"missing": "drop", "ignore": ["doc"]}),
    "conll, F2": _gold(GUESSED, metric="f2"),
    "conll, accuracy": _gold(GUESSED, metric="accuracy"),
    "conll-gold, by response": _gold(TAGS, metric="fscore", unit="response"),
    "conll-gold, precision": _gold(TAGS, metric="precision"),
    "hipe, fine": _gold(COARSE, cluster="document", filter="NE-FINE-LIT"),
    "hipe, by response": _gold(COARSE, unit="response"),
    "conllu, las": _gold(TREEBANK, metric="las"),
    "conllu, upos": _gold(TREEBANK, metric="upos"),
    "trees, recall": _gold(TREES, metric="recall"),
    "trees, by response": _gold(TREES, unit="response"),
    "alignment, turned": _gold(LINKS, metric="aer", reader="alignment(swap=b)"),
    "alignment, precision": _gold(LINKS, metric="alignment-precision"),
    "labels, macro": _gold(LABELS, metric="macro-fscore"),
    "labels, mcc": _gold(LABELS, metric="mcc"),
    "labels, accuracy": _gold(LABELS, metric="accuracy"),
    "segmentation, strata": _gold(MORPHS, strata="category"),
    "terms, by response": _gold(TERMS, unit="response"),
    "texts, wer without case": _gold(TEXTS, metric="wer(lowercase=true)"),
    "lm-eval, filter": _gold(
        {n: logs.lm_eval(v, filters=("none", "strict")) for n, v in ANSWERS.items()}, filter="strict", cluster="topic"
    ),
    "inspect, epochs": _gold({n: logs.inspect(v, model=n) for n, v in EPOCHS.items()}, cluster="topic"),
    "helm, perturbed": _gold(
        {n: logs.helm(v, perturbations=(None, "typos"), trials=(0, 1)) for n, v in ANSWERS.items()},
        filter="test",
    ),
    "eee, clusters": _gold({n: logs.every_eval(v, model=n) for n, v in ANSWERS.items()}, cluster="subject"),
    "alpaca-eval, strata": _gold(
        {n: logs.alpaca_eval(v, model=n) for n, v in ANSWERS.items()}, strata="dataset"
    ),
    "swebench, clusters": _gold({n: logs.swebench(v) for n, v in ANSWERS.items()}, cluster="repository"),
    "swebench, a board": of_text("a", a=BOARDS, options={"filter": "one"}),
}  # fmt: skip
"""Reader and what is particular -> files."""


def write_tables() -> None:
    """Write the files that commands are given."""
    numbers = data.answers(4, 60).stats[:, :, 0].T.tolist()
    rows = ["s0,s1,s2,s3", *(",".join(map(str, row)) for row in numbers)]
    Path("answers.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    Path("strange.csv").write_text("\n".join(["<b>&|,=1+1,a_b%$x^2,数\\学", *rows[1:]]) + "\n", encoding="utf-8")
    chance = Random(9)
    lines = [f"{s},i{i},{r},{chance.randint(0, 9) / 4}\n" for s in "AB" for i in range(12) for r in range(5)]
    Path("runs.csv").write_text("system,id,seed,value\n" + "".join(lines), encoding="utf-8")
