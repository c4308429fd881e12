"""Damaged files of every format: each is read, or refused in one line; any other end is shown.

    python tests/mutations.py READER... --number 20000 --seed 1

A mutation depends only on the reader, the seed and its number, so `--first N --number 1` repeats one.
"""

import argparse
import io
import json
import random
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import logs
import numpy as np

from sigjax import InputError, read
from sigjax.formats.declarations import HARNESSES

ODD = (
    "1_000 9007199254740993 9007199254740993.0 1e-400 1e400 -1 nan inf -0 0x1F ١٢ 99999999999999999999999 4447 0447 "
    '"" null true [] {} [[[[ {"a": {"a": NaN , \t \r \x00 \ufeff \ud7ff \U0010ffff \x1b[31m = " \\ \\ud800 S P '
    "0-0 3p3 _"
).split(" ")
LONG = ("9" * 5000, "0." + "0" * 400 + "1", "[" * 2000, "x" * 5000)


@dataclass(frozen=True)
class Sample:
    """Sound files of one format, small."""

    files: dict[str, bytes]
    systems: tuple[str, ...] = ()
    """Names of the files after -i; the others stand before it."""
    options: dict[str, Any] = field(default_factory=dict)


def of_text(*systems: str, options: dict[str, Any] | None = None, **files: str) -> Sample:
    return Sample({name: content.encode() for name, content in files.items()}, systems, options or {})


def values(evaluation: Any) -> dict[str, Any]:
    """First statistic of each system."""
    return {name: evaluation.stats[k, :, 0].tolist() for k, name in enumerate(evaluation.systems)}


def arrays(**values: Any) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **values)
    return buffer.getvalue()


def saved() -> bytes:
    metric = {"name": "mean", "stat_names": ["value", "count"], "higher_is_better": True, "notes": []}
    header = {"schema": "sigjax-evaluation/1", "systems": ["A", "B"], "ids": ["x", "y"], "metrics": [metric]}
    return arrays(header=np.frombuffer(json.dumps(header).encode(), np.uint8), stats_0=np.ones((2, 2, 2)))


def comet_text(system: str, values: list[int]) -> str:
    """What comet-score prints of a system."""
    lines = [f"{system}\tSegment {i}\tscore: {value:.4f}\n" for i, value in enumerate(values)]
    return "".join([*lines, f"{system}\tscore: {sum(values) / len(values):.4f}\n"])


def parquet(columns: dict[str, Any], compression: str = "snappy") -> bytes:
    import pyarrow
    from pyarrow.parquet import write_table

    buffer = io.BytesIO()
    write_table(pyarrow.table(columns), buffer, compression=compression)
    return buffer.getvalue()


def spreadsheet(**sheets: dict[str, Any]) -> bytes:
    import openpyxl

    book = openpyxl.Workbook()
    book.remove(book.worksheets[0])
    for name, columns in sheets.items():
        sheet = book.create_sheet(name)
        for row in [list(columns), *zip(*columns.values(), strict=True)] if columns else []:
            sheet.append([each.item() if isinstance(each, np.generic) else each for each in row])
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def tables() -> list[Sample]:
    import datetime
    from decimal import Decimal

    columns = {"id": list("wxyz"), "A": [1, 0, 1, 1], "B": [0.5, None, 1, 0], "C": [True, False, None, True]}
    columns |= {"note": [[1], [], None, [2, 3]], "D": [Decimal("1.5")] * 4, "t": [datetime.date(2026, 1, 1)] * 4}
    ignored = {"ignore": ["note", "t"], "missing": "drop"}
    return [
        Sample({"t": parquet(columns, compression)}, options=options)
        for compression in ("none", "snappy", "gzip", "zstd", "brotli")
        for options in (ignored, {"missing": "drop"})
    ]


def of_harness(name: str) -> list[Sample]:
    """The logs of the file of a harness."""
    about = logs.SAMPLES[name]
    found = list[Sample]()
    for make in (about.make, *about.more):
        made = {"a": make(A)} if about.alone else {"a": make(A), "b": make(B, **about.other)}
        files = {key: each.encode() if isinstance(each, str) else each for key, each in made.items()}
        found.append(Sample(files, () if about.alone else tuple(files), dict(about.options)))
    return found


A, B = [1, 0, 1, 1, 0], [0, 0, 1, 1, 1]
WIDE = "id,A,B,doc\nw,1,0.5,d\nx,0,0,d\ny,1,,e\nz,1e-3,2,e\n"
TABULAR = r"""\begin{tabular}{l r@{.}l} % two systems
\toprule
id & \textbf{A} & B \\
\midrule
x & 1 & $0.5$ \\[2pt]
y\_1 & \emph{0} & 1 \\
\bottomrule
\end{tabular}
"""
CLUSTERED = {"cluster": "doc", "missing": "drop"}
LONG_TABLE = "system\tid\ttp\tpredicted\tgold\nA\tx\t1\t2\t3\nA\ty\t0\t1\t1\nB\tx\t2\t2\t3\nB\ty\t1\t1\t1\n"
NAACL = "".join(f"{i:04} {j} {j} {'SP'[j % 2]} 0.5\n" for i in range(1, 6) for j in range(1, 4))
TAGGED = "-DOCSTART- -X- O O\n\na NN B-X B-X\nb NN I-X O\n\nc NN O B-Y\n"
HIPE = "TOKEN\tNE-COARSE-LIT\tMISC\n# h:document_id = d\na\tB-x\t_\nb\tI-x\t_\nc\t_\tEndOfSentence\n"
CONLLU = "# sent_id = 1\n1-2\tab\t_\t_\t_\t_\t_\t_\t_\t_\n" + "".join(
    f"{i}\t{form}\t{form}\tX\t_\t_\t{head}\t{relation}\t_\t_\n"
    for i, form, head, relation in ((1, "a", 0, "root"), (2, "b", 1, "obj"), (3, "c", 1, "nsubj"))
)
EVALB = """  Sent.                        Matched  Bracket   Cross        Correct Tag
 ID  Len.  Stat. Recal  Prec.  Bracket gold test Bracket Words  Tags Accracy
============================================================================
   1    4    0  75.00 100.00     3     4    3      0      4     4   100.00
   2    3    0  50.00  50.00     1     2    2      0      3     3   100.00
============================================================================
"""
COMET = json.dumps(
    {"out/A": [{"src": "s", "ref": "r", "COMET": 0.5}] * 2, "out/B": [{"src": "s", "ref": "r", "COMET": 1}] * 2}
)
EVAL = "map\t7\t0.5\nP_5\t7\t0.2\nmap\t8\t1e-3\nP_5\t8\t1\nmap\tall\t0.3\n"
QRELS, RUN = "7 0 d1 1\n7 0 d2 0\n8 0 d1 2\n", "7 Q0 d1 1 2.5 x\n7 Q0 d2 2 1e-3 x\n8 Q0 d1 1 0 x\n"
RANX = json.dumps({"7": {"d1": 1, "d2": 0}, "8": {"d1": 2}}), json.dumps({"7": {"d1": 2.5, "d2": 1}, "8": {"d1": 0.5}})
SQUAD = """{"version": "v2.0", "data": [{"title": "T", "paragraphs": [{"context": "c", "qas": [
{"id": "q1", "question": "?", "answers": [{"text": "the cat", "answer_start": 0}, {"text": "A", "answer_start": 1}]},
{"id": "q2", "question": "?", "is_impossible": true, "answers": []}]}]}]}
"""
ANSWERS = '{"x": ["a cat", "cats"], "y": "Rome"}'
M2 = "S the mouses run\nA 1 2|||R:NOUN|||mice|||REQUIRED|||-NONE-|||0\n\nS a\n\nS b\n" + (
    "A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||1\n"
)
MQM = "system\tdoc\tdoc_id\trater\tcategory\tseverity\n" + "".join(
    f"{system}\td\t{i}\tr{i % 2}\t{category}\n"
    for system, category in (("A", "Fluency/Punctuation\tMinor"), ("B", "No-error\tNo-error"), ("A", "Other\tMajor"))
    for i in range(3)
)
APPRAISE = "".join(
    f"r{k},{name},{i},{kind},eng,deu,{10 * i + k},d{i // 2}{mark},False,{spans},17.{i},18.{i}\n"
    for i in range(1, 4)
    for k, name in enumerate("AB")
    for kind, mark, spans in (("TGT", "", "[]"), ("BAD", "#bad", '"[{""start_i"":8,""severity"":""minor""}]"'))
)
ERRANT = "".join(
    f"{'-' * 40}\nOriginal sentence {i}: a {i}\n{'-' * 40}\nSENTENCE {i} - HYP 0 - REF 1\nHYPOTHESIS EDITS : []\n"
    f"Local TP/FP/FN   : {i} 1 0\n^^ HYP 0, REF 1 chosen for sentence {i}\n"
    for i in range(4)
)
ERRANT += f"\n{' Span-Based Correction ':=^46}\nTP\tFP\tFN\tPrec\tRec\tF0.5\n6\t4\t0\t0.6\t1.0\t0.65\n"
BOARDS = logs.swebench_boards({"only": [("a", A), ("b", B)]})
KALDI = "s1-u1 the cat sat\ns1-u2 it is\n"
STM = ";; c\nc A ann 0.00 2.00 <o,f> well { um / @ } (the) cat\nc A bob 2.00 4.5 it sat;tag\n"
CTM = "c A 0.1 0.3 WELL 0.9\nc A * * <ALT_BEGIN>\nc A 1 .5 A\nc A * * <ALT>\nc A * * <ALT_END>\nc A 3 .2 IT\n"
TRN = "a cat <unk> (s1-u1)\n(uh) it is (s1-u2)\n"

SAMPLES: dict[str, Callable[[], list[Sample]]] = {
    **{name: partial(of_harness, name) for name in HARNESSES},
    "csv": lambda: [of_text(t=WIDE, options=CLUSTERED), of_text(t='"id","A","B"\n"x, y",1,"2"\n"z",0,1\n')],
    "tsv": lambda: [
        of_text(t=LONG_TABLE, options={"metric": "fscore"}),
        of_text(t=WIDE.replace(",", "\t"), options=CLUSTERED),
    ],
    "spaces": lambda: [of_text(t="id A B\nx 1 0.5\ny NA 1e-3\n", options={"missing": "drop"})],
    "markdown": lambda: [of_text(t="Our\n| id | **A** | B |\n|---|--:|:-:|\n| x | 1 | 0.5 |\n| y | 0 | 1 |\n\nAll\n")],
    "latex": lambda: [of_text(t=TABULAR)],
    "json": lambda: [of_text(t='[{"id": "x", "A": 1, "B": 0.5},\n {"id": "y", "A": true, "B": 1e-3, "C": [1]}]\n')],
    "jsonl": lambda: [of_text(t='{"id": "x", "A": 1, "B": 0.5}\n{"id": "y", "A": true, "B": 1e-3}\n')],
    "npz": lambda: [
        Sample({"t": arrays(A=A, B=np.array(B, float), ids=list("vwxyz"), clusters=[1, 1, 2, 2, 2])}),
        Sample({"t": saved()}),
    ],
    "parquet": tables,
    "excel": lambda: [
        Sample({"t": spreadsheet(first={"id": list("wxyz"), "A": [1, 0, 1, 1], "B": [0.5, 1, 1, 0]}, second={})})
    ],
    "numbers": lambda: [
        of_text("a", "b", a="1\n0.5\n1e-3\n", b="0\n1\n2\n"),
        of_text("a", "b", a="1 2\n3 5\n", b="0 2\n4 6\n"),
    ],
    "paired-perm": lambda: [of_text(t="8,6\n3,4\n0,0\n"), of_text(t="8,1,6,2\n3,0,2,2\n")],
    "mt-metrics-eval": lambda: [of_text(t="A 1\nA 0.5\nB None\nB 2\n", options={"missing": "drop"})],
    "comet": lambda: [of_text(t=COMET)],
    "comet-text": lambda: [
        of_text("a", "b", a=comet_text("a", A), b=comet_text("out/b", B)),
        of_text(t=comet_text("a", A) + comet_text("b", B)),
    ],
    "texts": lambda: [
        of_text(*"ab", r="A cat.\nIt rained.\n", a="The cat.\nIt rains.\n", b="\nIt.\n", options={"metric": metric})
        for metric in ("wer", "cer")
    ],
    "kaldi": lambda: [
        of_text(*"ab", text=KALDI, a=KALDI.replace("cat", "hat"), b="s1-u2 so it is\ns1-u1\n")
    ],
    "trn": lambda: [of_text("a", "b", r=TRN, a=TRN.replace("a cat", "a hat"), b="it (s1-u2)\n(s1-u1)\n")],
    "stm": lambda: [of_text("a", "b", r=STM, a=CTM, b="c A 2 1 IT\n", options={"cluster": "speaker"})],
    "conll": lambda: [of_text("a", "b", a=TAGGED, b=TAGGED)],
    "conll-gold": lambda: [of_text("a", "b", g=TAGGED, a=TAGGED, b=TAGGED, options={"metric": "fscore"})],
    "mbt": lambda: [of_text("a", "b", **dict.fromkeys("gab", "a B-X\nb O\n<utt>\nc O\n<utt>\n"))],
    "hipe": lambda: [of_text("a", "b", g=HIPE, a=HIPE, b=HIPE, options={"cluster": "document"})],
    "labels": lambda: [of_text("a", "b", g="yes\nno\n", a="yes\nyes\n", b="no\nno\n", options={"metric": "kappa"})],
    "id-labels": lambda: [
        of_text("a", "b", g="id\tlabel\n1\tyes\n2\tno\n3\tno\n", a="1\tyes\n3\tyes\n2\tno\n", b="2,no\n3,yes\n1,no\n"),
        of_text("a", "b", g="id,doc,label\nx1,d,yes\nx2,d,no\n", a="x1 yes\nx2 no\n", b="x2 no\nx1 no\n"),
        of_text(
            *"ab", g='{"x": "A",\n"y": "B"}', a='{"y": "B", "x": "A"}', b='{"y": "A"}', options={"missing": "zero"}
        ),
    ],
    "timbl": lambda: [of_text("a", "b", a="a,b,yes,no\nb,b,no,no\n", b="a,b,yes,yes\nb,b,no,no\n")],
    "terms": lambda: [of_text("a", "b", g="x\ny z\n", a="x\nw\n", b="y z\n")],
    "conllu": lambda: [of_text("a", "b", g=CONLLU + "\n", a=CONLLU + "\n", b=CONLLU + "\n")],
    "trees": lambda: [of_text("a", "b", **dict.fromkeys("gab", "(TOP (S (NP (N a)) (VP (V b))))\n(S (N c))\n"))],
    "brackets": lambda: [of_text("a", "b", a=EVALB, b=EVALB)],
    "segmentation": lambda: [of_text(*"ab", g="undo\tun @@do\t010\n", a="undo\tundo\n", b="undo\tun @@do\n")],
    "alignment": lambda: [
        of_text("a", "b", g=NAACL, a=NAACL, b="0001 1 1\n0003 2 2\n"),
        of_text("a", "b", g="0-0 1p1\n\n2-3 3?3\n", a="0-0\n1-1\n\n", b="0-1\n\n2-3\n"),
    ],
    "trec-run": lambda: [of_text("a", "b", g=QRELS, a=RUN, b=RUN, options={"metric": "ap"})],
    "ranx-json": lambda: [of_text("a", "b", g=RANX[0], a=RANX[1], b=RANX[1], options={"metric": "ap"})],
    "mqm": lambda: [of_text(t=MQM, options={"cluster": "document"}), of_text(t=MQM.replace("doc\t", "page\t"))],
    "appraise": lambda: [
        of_text(t=APPRAISE, options={"cluster": "document"}),
        of_text(t="r,A,1,TGT,ces,ukr,50,1.5,2.5\nr,B,1,TGT,ces,ukr,1,3,4\nr,B,2,CHK,ces,ukr,1,5,6\n"),
    ],
    "errant": lambda: [of_text("a", "b", a=ERRANT, b=ERRANT)],
    "m2": lambda: [of_text("a", "b", g=M2, a=M2.replace("mice", "rats"), b=M2)],
    "squad": lambda: [
        of_text("a", "b", g=SQUAD, a='{"q1": "The cat.", "q2": ""}', b='{"q2": "Rome", "q1": "Cats"}'),
        of_text("a", "b", g=ANSWERS, a='{"x": "Cat", "y": ""}', b='{"y": "In Rome"}', options={"missing": "zero"}),
    ],
    "trec-eval": lambda: [of_text("a", "b", a=EVAL, b=EVAL, options={"metric": "map"})],
    "swebench": lambda: [*of_harness("swebench"), of_text("a", a=BOARDS)],
    "swebench-results": lambda: [
        of_text(*"ab", ids=logs.swebench_ids(5), a=logs.swebench_results(A), b=logs.swebench_results(B)),
        of_text(*"ab", ids='[{"instance_id": "o__r-1"},\n "o__r-2"]', **dict.fromkeys("ab", '{"resolved": ["o__r-2"]}'))
    ],
}  # fmt: skip
"""Format -> sound files, which may need a library."""


def flip(data: bytearray, chance: random.Random) -> None:
    """Change bytes; half of the time near the end, where Parquet and zip archives have their tables."""
    for _ in range(chance.choice((1, 1, 2, 4))):
        start = chance.choice((0, max(0, len(data) - 1500)))
        data[chance.randrange(start, len(data))] = chance.choice((chance.randrange(256), 0, 48, 57, 127, 128, 255))


def cut(data: bytearray, chance: random.Random) -> None:
    """Cut the end off, or the start."""
    place = chance.randrange(len(data) + 1)
    data[:] = data[:place] if chance.random() < 0.7 else data[place:]


def change_lines(data: bytearray, chance: random.Random) -> None:
    """Leave a line out, repeat it, or exchange it with another."""
    lines = bytes(data).split(b"\n")
    i, j = (chance.randrange(len(lines)) for _ in range(2))
    kind = chance.randrange(3)
    if kind == 0:
        del lines[i]
    elif kind == 1:
        lines.insert(j, lines[i])
    else:
        lines[i], lines[j] = lines[j], lines[i]
    data[:] = b"\n".join(lines)


def insert(data: bytearray, chance: random.Random) -> None:
    """Put an odd value in, or in place of a word or number."""
    value = chance.choice(ODD if chance.random() < 0.95 else LONG).encode("utf-8", "surrogatepass")
    words = [match.span() for match in re.finditer(rb"[\w.-]+", data)]
    start, end = chance.choice(words) if words and chance.random() < 0.7 else [chance.randrange(len(data) + 1)] * 2
    data[start:end] = value


def mutate(data: bytes, chance: random.Random) -> bytes:
    """The content of a file with one change, or a few."""
    changed = bytearray(data)
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        if changed:
            chance.choice((flip, flip, cut, change_lines, insert, insert, insert))(changed, chance)
    return bytes(changed)


def attempt(reader: str, samples: list[Sample], folder: Path, seed: str) -> str:
    """How reading one mutation ends: read, refused, or what is wrong."""
    chance = random.Random(seed)
    sample = chance.choice(samples)
    damaged = chance.choice(list(sample.files))
    for name, content in sample.files.items():
        (folder / name).write_bytes(mutate(content, chance) if name == damaged else content)
    gold = [folder / name for name in sample.files if name not in sample.systems]
    options = dict(sample.options)
    if chance.random() < 0.2:
        options["missing"] = chance.choice(("drop", "zero"))
    try:
        evaluation = read(*gold, input=[folder / name for name in sample.systems], reader=reader, **options)
    except InputError as refusal:
        return "refused" if re.fullmatch(r"[^\n]+", str(refusal)) else f"not one line: {refusal!r}"
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:200]}"
    return "read" if np.isfinite(evaluation.stats).all() else "not finite"


def run(reader: str, folder: Path, *, number: int, seed: int = 1, first: int = 0) -> Counter[str]:
    """How reading mutations of a format ended; what is neither read nor refused is named with its number."""
    samples = SAMPLES[reader]()
    ends: Counter[str] = Counter()
    for i in range(first, first + number):
        end = attempt(reader, samples, folder, f"{reader} {seed} {i}")
        ends[end if end in ("read", "refused") else f"{i}: {end}"] += 1
    return ends


def main() -> int:
    """Run the mutations that the command line asks for; 1 where one ended otherwise than it should."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("readers", nargs="+", choices=SAMPLES, metavar="READER")
    for name, default in (("number", 20_000), ("seed", 1), ("first", 0)):
        parser.add_argument(f"--{name}", type=int, default=default)
    asked = parser.parse_args()
    wrong = 0
    for reader in asked.readers:
        with tempfile.TemporaryDirectory() as folder:
            ends = run(reader, Path(folder), number=asked.number, seed=asked.seed, first=asked.first)
        others = {end: count for end, count in ends.items() if end not in ("read", "refused")}
        wrong += len(others)
        print(
            f"{reader}: {ends.total()} mutations, {ends['read']} read, {ends['refused']} refused, {len(others)} other"
        )
        for end in others:
            print(f"    {end}")
        sys.stdout.flush()
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main())
