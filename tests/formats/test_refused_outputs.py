"""Outputs of tools of translation, retrieval and alignment that cannot be used: one line that names file and place."""

import json

import pytest
from test_alignment import GOLD, SYSTEMS
from test_refused import Kind
from test_texts import GOLD as REFERENCE
from test_texts import A, B
from test_translation import comet
from test_trec import EVAL, OTHER, QRELS, RUN

from sigjax import InputError, read
from sigjax.metrics import METRICS

TEXTS = {f"{name}.txt": "\n".join(texts) + "\n" for name, texts in (("ref", REFERENCE), ("A", A), ("B", B))}
KINDS = {
    "segment scores": Kind({}, "x.seg.score", ("x.seg.score",), {}),
    "comet": Kind({}, "c.json", ("c.json",), {"reader": "comet"}),
    "run": Kind({"qrels": QRELS, "b": OTHER}, "a", ("qrels",), {"input": ["a", "b"]}),
    "judgments": Kind({"a": RUN, "b": OTHER}, "qrels", ("qrels",), {"input": ["a", "b"], "reader": "trec-run"}),
    "trec_eval": Kind({"b": EVAL}, "a", ("a", "b"), {"metric": "map", "reader": "trec-eval"}),
    "texts": Kind(TEXTS, "", ("ref.txt",), {"input": ["A.txt", "B.txt"], "metric": "bleu"}),
    "alignment": Kind({"gold": GOLD, "y": GOLD}, "x", ("gold",), {"input": ["x", "y"]}),
    "alignment gold": Kind(SYSTEMS, "gold", ("gold",), {"input": [*SYSTEMS], "reader": "alignment"}),
}


def other_source():
    content = comet(A=[1, 0], B=[0, 0])
    content["out/B.txt"][1]["src"] = "another"
    return content


BAD = {
    "segment scores": {
        "fields": ("A 1\nA 2 3\n", r"x.seg.score, line 2: expected SYSTEM SCORE, got 'A 2 3'"),
        "empty line": ("A 1\n\nB 1\n", r"line 2: expected SYSTEM SCORE, got ''"),
        "text": ("A 1\nB good\n", r"line 2: expected a number, got 'good'; write None where"),
        "nan": ("A 1\nB nan\n", r"x.seg.score: holds no scores of single instances"),
        "lengths": ("A 1\nA 2\nB 1\n", r"system 'B' has 1 scores, 'A' has 2; expected one for each segment"),
    },
    "comet": {
        "cut": ('{"A": [{"COMET": 0.5},\n {"CO', r"c.json, line 2, character 3: not readable as JSON"),
        "list": ('[{"COMET": 1}]', r"c.json: expected an object, got a list"),
        "no list": ('{"A": {"COMET": 1}}', r"field 'A': expected a list, got an object"),
        "no segments": ('{"A": [], "B": [{"COMET": 1}]}', r"system 'B' has 1 scores, 'A' has 0; expected one for each"),
        "no systems": ("{}", r'expected an object such as {"system.txt": '),
        "no score": (
            '{"A": [{"COMET": 1}, {"mt": "x"}]}',
            r"system 'A', segment 2: no field 'COMET'; fields: 'mt'",
        ),
        "nan": ('{"A": [{"COMET": NaN}]}', r"system 'A', segment 1, field 'COMET': expected a finite number, got nan"),
        "source": (json.dumps(other_source()), r"instance '2' of 'B' has another source or reference than of 'A'"),
    },
    "run": {
        "fields": ("7 Q0 d1 1 2.5\n", r"a, line 1: expected 6 fields \(topic Q0 document rank score tag\), got 5"),
        "many fields": (RUN + "7 Q0 d8 1 2.5 my tag\n", r"a, line 7: expected 6 fields .*got 7"),
        "score": (RUN + "7 Q0 d8 1 high x\n", r"a, line 7, score: expected a number, got 'high'"),
        "document twice": (RUN + "7 Q0 d1 1 2 x\n", r"a, line 7: document 'd1' occurs twice for topic '7'"),
        "no topic": ("1 Q0 d1 1 2 x\n", r"a: has none of the topics of .*qrels, such as '7'"),
        "JSON cut off": ('{"7": {"d1": 1.5', r"a, line 1, character 17: not readable as JSON: .*cut off"),
        "JSON list": ('{"7": [1, 2]}', r"a, field '7': expected an object, got a list"),
        "JSON text": ('{"7": {"d1": "1"}}', r"a, field '7', field 'd1', score: expected a number, got the text '1'"),
        "JSON deep value": (f'{{"7": {{"d1": {"[" * 900}{"]" * 900}}}}}', r"score: expected a number, got a list"),
        "JSON empty": ("{}", r"a: has no topics; expected some"),
    },
    "judgments": {
        "fields": ("7 0 d1\n", r"qrels, line 1: expected 4 fields \(topic iteration document relevance\), got 3"),
        "relevance": (QRELS + "7 0 d8 1.5\n", r"line 7, relevance: expected a whole number up to 1000, got 1.5"),
        "too large": (QRELS + "7 0 d8 99999999\n", r"qrels, line 7, relevance: expected a whole number up to 1000"),
        "JSON": ('{"7": {"d1": 0.5}}', r"field 'd1', relevance: expected a whole number up to 1000, got 0.5"),
    },
    "trec_eval": {
        "aggregate": ("map                   \tall\t0.5\n", r"a: has no values of single topics; run trec_eval with"),
        "fields": (EVAL + "map \t8\n", r"a, line 5: expected measure, topic and value with tabs .* got 'map \\t8'"),
        "number": (EVAL + "map \t8\thigh\n", r"a, line 5, 'map': expected a number, got 'high'"),
        "twice": (EVAL + EVAL, r"a, line 6, 'map': occurs twice for topic '7'"),
        "text": ("Results:\n" + EVAL, r"a, line 1: expected measure, topic and value"),
    },
    "texts": {
        "lines": ({"B.txt": "x\n"}, {}, r"B.txt: has 1 lines, but .*ref.txt has 4; expected one segment per line"),
        "empty": ({"B.txt": ""}, {}, r"B.txt: is empty; expected one segment per line"),
        "latin": ({"A.txt": "a\nJosé\nb\nc\n".encode("latin-1")}, {}, r"A.txt, line 2: expected UTF-8 .* byte 0xe9"),
        "metric": ({}, {"metric": "fscore"}, r"the format texts has no metric 'fscore'; it gives bleu, chrf"),
        "record": ({}, {"metric": METRICS["mean"]}, r"takes no metric of your own; it gives bleu"),
        "tokenizer": ({}, {"metric": "bleu(tokenize=13b)"}, r"sacrebleu has no tokenizer '13b'; it has none, zh, 13a"),
        "no tokenizer": ({}, {"metric": "wer(tokenize=zh)"}, r"metric wer takes \(lowercase=true.*, got 'tokenize'"),
    },
    "alignment": {
        "fewer lines": ("0-0\n\n", {}, r"x: has 2 lines, but .*gold has 3 sentences; expected one line per sentence"),
        "more lines": ("0-0\n\n\n\n", {}, r"x: has 4 lines"),
        "further sentence": ("1 1 1\n4 1 1\n", {}, r"x: has links in sentence 4, but .*gold has 3 sentences"),
        "no link": ("0-0\n0-0 1:1\n\n", {}, r"x, line 2: expected a link such as 0-3.*got '1:1'"),
        "other blank": ("0-0\n0-0\u20031-1\n\n", {}, r"x, line 2: expected a link .*got '0-0\\u20031-1'"),
        "long word": ("0-0\n65536-1\n\n", {}, r"x, line 2: a word has number 65536; expected at most 65535"),
        "mixed kinds": ("0-0\n1 1 1 S\n\n", {}, r"x, line 2: expected a link such as"),
        "mixed kinds, NAACL": ("1 1 1 S\n0-0\n", {}, r"x, line 2: expected a link as '1 4 5 S 0.9'"),
        "label": ("1 1 1 S\n1 2 2 Q\n", {}, r"x, line 2: expected a link as.*got '1 2 2 Q'"),
        "many fields": ("1 1 1 S\n1 2 2 S 1 1\n", {}, r"x, line 2: expected a link as"),
        "sentence 0": ("1 1 1 S\n0 2 2 S\n", {}, r"x, line 2: expected the number of a sentence from 1 to 10.*, got 0"),
        "one-based": ("1-1\n0-1\n\n", {"reader": "alignment(one_based=true)"}, r"line \d: a link has word 0"),
        "text": ("The cat sat.\n" * 3, {}, r"x, line 1: expected links such as '0-0 2-1 .* '1 4 5 S'.*got 'The cat"),
        "unknown system": (GOLD, {"reader": "alignment(swap=y, swap=z)"}, r"swap=z: no system 'z'; systems: 'x', 'y'"),
    },
    "alignment gold": {
        "only possible": ("0p0\n\n1?1\n", r"gold: has no sure links; expected some to compare with"),
        "only NULL": ("1 0 1 S\n", r"gold: has no sure links"),
        "sentence": (f"1 1 1 S\n{2**20 + 1} 1 1 S\n", r"gold, line 2: expected the number of a sentence"),
    },
}  # fmt: skip


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(("kind", "case"), [(kind, case) for kind, cases in BAD.items() for case in cases])
def test_outputs_that_cannot_be_used(write, kind, case):
    files, bad, gold, usual = KINDS[kind]
    content, *options, message = BAD[kind][case]
    for name, own in {**files, **(content if isinstance(content, dict) else {bad: content})}.items():
        write(name, own)
    with pytest.raises(InputError, match=message) as caught:
        read(*gold, **{**usual, **dict(*options)})
    assert "\n" not in str(caught.value)
