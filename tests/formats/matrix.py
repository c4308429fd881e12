"""Sound files of every format as records, of which one can be left out or all shuffled, for `test_matrix.py`."""

import io
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import logs
import mutations
from mutations import A, B

from sigjax.formats.declarations import FORMATS, HARNESSES

Records = tuple[list[Any], Callable[[list[Any]], str | bytes]]
"""The parts of a file that can be shuffled, and how they are a file again."""
Split = Callable[[Any], Records]


def lines(content: str, *, between: str = "\n", head: int = 0, tail: int = 0) -> Records:
    """Lines, or blocks of lines, after so many of a header and before so many at the end."""
    parts = content.removesuffix(between).split(between)
    first, own, last = parts[:head], parts[head : len(parts) - tail], parts[len(parts) - tail :]
    return own, lambda records: between.join([*first, *records, *last]) + between


def blocks(content: str) -> Records:
    return lines(content, between="\n\n")


def after_header(content: str) -> Records:
    header, _, rest = content.partition("\n")
    records, joined = blocks(rest)
    return records, lambda records: f"{header}\n{joined(records)}"


def inside(*path: str) -> Split:
    """The list at a place of a JSON file; of an object its fields."""

    def split(content: str) -> Records:
        whole = json.loads(content)
        holder = whole
        for name in path[:-1]:
            holder = holder[name]
        found = holder[path[-1]] if path else whole

        def joined(records: list[Any]) -> str:
            made = dict(records) if isinstance(found, dict) else records
            if not path:
                return json.dumps(made)
            holder[path[-1]] = made
            return json.dumps(whole)

        return (list(found.items()) if isinstance(found, dict) else list(found)), joined

    return split


def sheet_rows(content: bytes) -> Records:
    """The rows of a spreadsheet below the first."""
    import openpyxl

    head, *rows = openpyxl.load_workbook(io.BytesIO(content)).worksheets[0].values
    columns = lambda records: dict(zip(head, zip(*records, strict=True), strict=True))  # noqa: E731
    return rows, lambda records: mutations.spreadsheet(first=columns(records))


def rows(content: bytes) -> Records:
    """The rows of a Parquet file."""
    from pyarrow.parquet import read_table, write_table

    table = read_table(io.BytesIO(content))

    def joined(records: list[Any]) -> bytes:
        buffer = io.BytesIO()
        write_table(table.take(records), buffer)
        return buffer.getvalue()

    return list(range(table.num_rows)), joined


@dataclass(frozen=True)
class Case:
    """Files of a format, of which the last is changed."""

    files: dict[str, str | bytes]
    split: Split | None = lines
    """None where each record holds all systems."""
    cluster: str = ""
    """A field of the format; empty where it has none."""
    lacking: int = 1
    """The record of the last file to leave out."""
    options: dict[str, Any] = field(default_factory=dict)


def of_harness(name: str) -> Case:
    """Logs of the file of a harness, which keep their names where these are needed."""
    about = logs.SAMPLES[name]
    if about.alone:
        return Case({f"all/{about.file}": about.make(A)}, None)
    named = re.fullmatch(FORMATS[name].names, "a") is None
    contents = {"a": about.make(A), "b": about.make(B, **about.other)}
    made = {f"{k}/{about.file}" if named else k: content for k, content in contents.items()}
    packed = any(isinstance(each, bytes) for each in made.values())
    by_line = rows if packed else partial(lines, head=about.header)
    split = by_line if about.records is None else inside(*about.records)
    return Case(made, split, cluster=about.cluster, options=dict(about.options))


def gold(split: Split = lines, *, cluster: str = "", **files: str | bytes) -> Case:
    return Case({"gold": files.pop("g"), **files}, split, cluster=cluster)


TOKENS = ("a B-X\nb O", "c O\nd B-Y\ne I-Y", "f B-X", "g O\nh B-Y")
OTHER = (*TOKENS[:1], "c B-X\nd B-Y\ne O", *TOKENS[2:])


def tagged(*sentences: str, between: str = "\n\n") -> str:
    return between.join(sentences) + between


def guessed(sentences: Sequence[str]) -> str:
    """The gold tags and those of a system."""
    both = zip("\n\n".join(TOKENS).split("\n"), "\n\n".join(sentences).split("\n"), strict=True)
    return "".join(f"{gold} {own.split()[-1]}\n" if own else "\n" for gold, own in both) + "\n"


def hipe(sentences: Sequence[str]) -> str:
    documents = (sentence.replace(" ", "\t").replace("\n", "\t_\n") + "\tEndOfSentence" for sentence in sentences)
    parts = (f"# h:document_id = d{k // 2}\n{own}" for k, own in enumerate(documents))
    return "TOKEN\tNE-COARSE-LIT\tMISC\n" + "\n\n".join(parts) + "\n\n"


def numbered(make: str, values: Sequence[Any]) -> str:
    """A line for each value."""
    return "".join(make.format(i=i, doc=f"d{i // 2}", value=value) for i, value in enumerate(values, 1))


def written(make: str, **values: Sequence[Any]) -> dict[str, str | bytes]:
    """Name -> a file with a line for each value."""
    return {name: numbered(make, own) for name, own in values.items()}


def folders() -> Case:
    files: dict[str, str | bytes] = {f"{name}/r/model_meta.json": "{}" for name in "ab"}
    files |= {f"{name}/r/T{i}.json": logs.mteb(0.5 - i / 8, task=f"T{i}") for name in "ab" for i in range(3)}
    return Case(files, None)


WORDS = ("the cat sat", "it is", "a dog ran", "no more")
EDITS = "S w{i} b c\nA 1 2|||R|||{value}|||REQUIRED|||-NONE-|||0\n\n"
CONLLU = "# newdoc id = {doc}\n# sent_id = {i}\n1\tw{i}\tw{i}\tX\t_\t_\t0\troot\t_\t_\n" + (
    "2\tb\tb\tX\t_\t_\t{value}\tobj\t_\t_\n3\tc\tc\tX\t_\t_\t1\tobj\t_\t_\n\n"
)
TREE = "(TOP (S (NP (N w{i})) (VP ({value} b))))\n"
EVALB = "   {i}    4    0  75.00 100.00     3     4    {value}      0      4     4   100.00\n"
EVALB_HEAD = "".join(mutations.EVALB.splitlines(keepends=True)[:3])
MQM, SEVERITIES = "system\tdoc\tdoc_id\trater\tcategory\tseverity\n", ("Major", "Minor", "Minor", "Neutral")
SQUAD = {"title": "T", "paragraphs": [{"qas": [{"id": f"q{i}", "answers": [{"text": "cat"}]} for i in range(4)]}]}
TOPICS = {f"{i}": {"d1": 1, "d2": 2 * (i % 2)} for i in range(7, 11)}

CASES: dict[str, Callable[[], Case]] = {
    **{name: partial(of_harness, name) for name in HARNESSES},
    "mteb": folders,
    "swebench-results": lambda: gold(
        inside("resolved"), g=logs.swebench_ids(5), a=logs.swebench_results(A), b=logs.swebench_results(B),
        cluster="repository",
    ),
    "trec-eval": lambda: Case(written("map\t{i}\t{value}\n", a=A, b=B), options={"metric": "map"}),
    "brackets": lambda: Case(
        {
            name: EVALB_HEAD + numbered(EVALB, own) + "=" * 76 + "\n"
            for name, own in (("a", (3, 3, 4, 3)), ("b", (3, 4, 3, 3)))
        },
        partial(lines, head=3, tail=1),
    ),
    "conll": lambda: Case(
        {name: f"-DOCSTART- O O\n\n{guessed(own)}" for name, own in (("a", TOKENS), ("b", OTHER))},
        partial(lines, between="\n\n", head=1), cluster="document",
    ),
    "numbers": lambda: Case(written("{value}\n", a=A, b=B)),
    "alignment": lambda: gold(
        g=numbered("{i:04} 1 1 S\n{i:04} 2 2 P\n", A), a=numbered("{i:04} 1 1\n", A),
        b=numbered("{i:04} {value} 2\n", (2, 3, 4, 2, 2)),
    ),
    "trec-run": lambda: gold(
        g=numbered("{i} 0 d1 1\n", A), a=numbered("{i} Q0 d1 1 2 x\n", A), b=numbered("{i} Q0 d{value} 1 2 x\n", B)
    ),
    "ranx-json": lambda: gold(
        inside(), g=json.dumps(TOPICS), a=json.dumps(TOPICS),
        b=json.dumps({topic: {"d1": 2.5, f"d{i}": 3} for i, topic in enumerate(TOPICS)}),
    ),
    "squad": lambda: gold(
        inside(), g=json.dumps({"data": [SQUAD]}), cluster="article",
        **{name: json.dumps({f"q{i}": "cat" if i % 2 else name for i in range(4)}) for name in "ab"},
    ),
    "errant": lambda: Case(
        dict.fromkeys("ab", mutations.ERRANT), partial(lines, between="-" * 40 + "\nOriginal", head=1)
    ),
    "m2": lambda: gold(blocks, **written(EDITS, g="xyzx", a="xxxx", b="xyyx")),
    "hipe": lambda: gold(
        after_header, g=hipe(TOKENS), a=hipe(TOKENS), b=hipe(OTHER),
        cluster="document",
    ),
    "mbt": lambda: gold(
        partial(lines, between="\n<utt>\n"),
        **{name: tagged(*own, between="\n<utt>\n") for name, own in (("g", TOKENS), ("a", TOKENS), ("b", OTHER))},
    ),
    "conllu": lambda: gold(blocks, cluster="document", **written(CONLLU, g="1311", a="1111", b="3333")),
    "segmentation": lambda: gold(
        cluster="category",
        **{
            name: numbered(f"undo{{i}}\tun @@{{value}}{{i}}{category}\n", own)
            for name, own, category in (("g", A, "\t010"), ("a", A, ""), ("b", B, ""))
        },
    ),
    "trees": lambda: gold(**written(TREE, g="VVVV", a="VNVV", b="NVNV")),
    "conll-gold": lambda: gold(
        partial(lines, between="\n\n", head=1), cluster="document",
        **{name: tagged("-DOCSTART- O", *own) for name, own in (("g", TOKENS), ("a", TOKENS), ("b", OTHER))},
    ),
    "terms": lambda: gold(g="x\ny z\nw\nv\n", a="x\ny z\n", b="w\nx\nq\n"),
    "stm": lambda: gold(
        g=numbered("f{i} A {doc} 0 9 {value}\n", WORDS), **written("f{i} A 1 2 {value}\n", a="ABCD", b="EFGH"),
        cluster="speaker",
    ),
    "kaldi": lambda: gold(
        **written("1089-134686-000{i} {value}\n", g=WORDS, a=WORDS, b=WORDS[::-1]), cluster="speaker"
    ),
    "trn": lambda: gold(
        **written("{value} (1089-134686-000{i})\n", g=WORDS, a=WORDS, b=WORDS[::-1]), cluster="speaker"
    ),
    "id-labels": lambda: gold(
        g="id\tdoc\tlabel\n" + numbered("x{i}\t{doc}\t{value}\n", "YNYN"), a=numbered("x{i}\t{value}\n", "YYYN"),
        b=numbered("x{i}\t{value}\n", "NNYN"), cluster="doc",
    ),
    "labels": lambda: Case(
        written("{value}\n", gold="YNNY", a="YYNN", b="NNNY"), options={"metric": "accuracy"}
    ),
    "texts": lambda: Case(
        written("{value}\n", gold=WORDS, a=WORDS, b=WORDS[::-1]), options={"metric": "chrf"}
    ),
    "timbl": lambda: Case(written("a{i},b,Y,{value}\n", a="YYN", b="NYN")),
    "npz": lambda: Case({"all.npz": mutations.arrays(A=A, B=B, ids=list("vwxyz"))}, None),
    "paired-perm": lambda: Case({"all": "8,6\n3,4\n0,0\n5,4\n"}, None),
    "mt-metrics-eval": lambda: Case(
        {"all.seg.score": numbered("A\t{value}\n", A) + numbered("B\t{value}\n", B)}, lacking=7
    ),
    "comet": lambda: Case(
        {"all.json": json.dumps(
            {f"o/{k}": [{"src": f"s{i}", "COMET": v} for i, v in enumerate(own)] for k, own in (("A", A), ("B", B))}
        )},
        inside("o/B"),
    ),
    "comet-text": lambda: Case(
        {k: mutations.comet_text(k, v) for k, v in (("a", A), ("b", B))}, partial(lines, tail=1)
    ),
    "mqm": lambda: Case(
        {"all": MQM + "".join(numbered(name + "\t{doc}\t{i}\tr\tOther\t{value}\n", SEVERITIES) for name in "AB")},
        partial(lines, head=1), cluster="document", lacking=5,
    ),
    "appraise": lambda: Case({"all": mutations.APPRAISE}, cluster="document", lacking=2),
    **{
        name[1:] or "spaces": lambda mark=mark, name=name: Case(
            {f"{k}{name}": f"id{mark}doc{mark}score\n" + numbered(mark.join(("x{i}", "{doc}", "{value}\n")), own)
             for k, own in (("a", A), ("b", B))},
            partial(lines, head=1), cluster="doc",
        )
        for name, mark in ((".csv", ","), (".tsv", "\t"), ("", " "))
    },
    "markdown": lambda: Case(
        {f"{k}.md": "| id | doc | score |\n|---|---|---|\n" + numbered("| x{i} | {doc} | {value} |\n", own)
         for k, own in (("a", A), ("b", B))},
        partial(lines, head=2), cluster="doc",
    ),
    "latex": lambda: Case(
        {f"{k}.tex": "\\begin{tabular}{lll}\nid & doc & score \\\\\n\\hline\n"
         + numbered("x{i} & {doc} & {value} \\\\\n", own) + "\\end{tabular}\n" for k, own in (("a", A), ("b", B))},
        partial(lines, head=3, tail=1), cluster="doc",
    ),
    "jsonl": lambda: Case(
        written('{{"id": "x{i}", "doc": "{doc}", "score": {value}}}\n', **{"a.jsonl": A, "b.jsonl": B}), cluster="doc"
    ),
    "json": lambda: Case(
        {f"{k}.json": json.dumps([{"id": f"x{i}", "doc": f"d{i // 2}", "score": v} for i, v in enumerate(own)])
         for k, own in (("a", A), ("b", B))}, inside(), cluster="doc",
    ),
    "parquet": lambda: Case(
        {f"{k}.parquet": mutations.parquet({"id": list("vwxyz"), "doc": list("ddeef"), "score": own})
         for k, own in (("a", A), ("b", B))}, rows, cluster="doc",
    ),
    "excel": lambda: Case(
        {f"{k}.xlsx": mutations.spreadsheet(first={"id": list("vwxyz"), "doc": list("ddeef"), "score": own})
         for k, own in (("a", A), ("b", B))}, sheet_rows, cluster="doc",
    ),
}  # fmt: skip
"""Format -> files of it; those with other names than a and b are of all systems."""
