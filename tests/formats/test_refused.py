"""Annotated files that cannot be used: one line that names the file, the line, what was expected and what was found."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import pytest
from annotated import (
    CLASSES,
    CLASSIFIED,
    EVALB_RULE,
    HIPE,
    HIPE_GOLD,
    HIPE_HEAD,
    PAIRS,
    SEGMENTED,
    SEGMENTS,
    SEGMENTS_TWO,
    TAGGED,
    TREES,
    TREES_TWO,
    conllu,
    evalb,
    row,
)

from sigjax import InputError, read


class Kind(NamedTuple):
    """Sound files beside the one that cannot be used, and how they are read."""

    files: Mapping[str, str]
    bad: str
    gold: tuple[str, ...]
    options: Mapping[str, Any]


def lines(labels):
    return "\n".join(labels) + "\n"


def swapped(text, one, other):
    rows = text.split("\n")
    rows[one], rows[other] = rows[other], rows[one]
    return "\n".join(rows)


def tree(line):
    """The trees of a system, of which the third is another line."""
    return "\n".join([*TREES_TWO[:2], line]).encode("utf-8", "surrogateescape")


EVALB = evalb([(3, 4, 4)])
ONE, TWO = row("1", "Ja", "0"), row("2", ".", "1")
HALVES = {"1.predictions": SEGMENTS, "2.predictions": SEGMENTS_TWO}
TIMBL = lines(",".join(("f", "=", *pair)) for pair in zip(CLASSES, CLASSIFIED["one"], strict=True))
KINDS = {
    "conll": Kind({"a.txt": PAIRS}, "b.txt", ("a.txt", "b.txt"), {}),
    "conll gold": Kind(
        {"b.txt": TAGGED, "c.txt": TAGGED},
        "gold.txt",
        ("gold.txt",),
        {"input": ["b.txt", "c.txt"], "reader": "conll-gold", "metric": "fscore"},
    ),
    "hipe": Kind({"gold.tsv": HIPE_GOLD}, "a.tsv", ("gold.tsv",), {"input": ["a.tsv", "gold.tsv"]}),
    "segmentation": Kind(
        {"gold.tsv": SEGMENTED, **HALVES}, "b", ("gold.tsv",), {"input": {"one": "1.predictions", "b": "b"}}
    ),
    "segmentation gold": Kind(HALVES, "g.tsv", ("g.tsv",), {"input": [*HALVES]}),
    "terms": Kind({"g": "a\n"}, "b", ("g",), {"input": {"a": "g", "b": "b"}, "reader": "terms"}),
    "labels": Kind(
        {"gold.txt": lines(CLASSES), "two.pred": lines(CLASSIFIED["two"])},
        "one.pred",
        ("gold.txt",),
        {"input": ["one.pred", "two.pred"]},
    ),
    "timbl": Kind({"one.out": TIMBL}, "two.out", ("one.out", "two.out"), {}),
    "brackets": Kind({"a.rsl": EVALB}, "b.rsl", ("a.rsl", "b.rsl"), {"reader": "brackets"}),
    "trees": Kind(
        {"gold": lines(TREES), "two": lines(TREES_TWO)}, "b", ("gold",), {"input": ["two", "b"], "missing": "zero"}
    ),
    "trees gold": Kind({"two": lines(TREES_TWO)}, "gold.txt", ("gold.txt",), {"input": {"a": "two", "b": "two"}}),
    "conllu": Kind({"g.conllu": conllu(ONE, TWO)}, "b.conllu", ("g.conllu",), {"input": ["g.conllu", "b.conllu"]}),
}

BAD = {
    "conll": [
        (PAIRS.replace(" POS", ""), r"b.txt, line 2: expected 4 columns as on line 1, got 3"),
        (PAIRS.replace("flew VBD O O\n", ""), r"b.txt: has 4 tokens, but a.txt has 5"),
        (PAIRS.replace("jets", "jet"), r"b.txt, line 5: token 'jet', but 'jets' on line 5 of a.txt"),
        (swapped(PAIRS, 2, 3), r"b.txt, line 4: a sentence starts here, but in a.txt it does not \(line 3\)"),
        (PAIRS.replace("\n\n", "\n"), r"b.txt, line 4: a sentence does not start here, but .* it does \(line 5\)"),
        (PAIRS.replace("B-NP B-VP", "I-NP B-VP"), r"b.txt, line 5: gold tag 'I-NP', but 'B-NP' on line 5 of a.txt"),
        (PAIRS.replace("B-VP", "VP"), r"b.txt, line 5: expected a tag such as B-PER.*, got 'VP'; the metric accur"),
        ("-DOCSTART- -X- O O\n", r"b.txt: has no tokens"),
        ("B-NP\n", r"b.txt, line 1: expected a token and its tag, got 'B-NP'"),
        (PAIRS, r"the format conll has no metric 'bleu'; it gives fscore, precision, recall, accu", {"metric": "bleu"}),
        (PAIRS, r"filter means nothing for the format conll", {"filter": "x"}),
        (PAIRS, r"counts: no column of numbers 'x'; columns: 'tp', 'predicted', 'gold'", {"counts": {"tp": "x"}}),
    ],
    "conll gold": [
        (TAGGED.replace("747", "757"), r"b.txt, line 3: token '747', but '757' on line 3 of gold.txt"),
        (TAGGED.replace("B-NP", "NP"), r"gold.txt, line 1: expected a tag such as"),
        ("a\nb\n", r"gold.txt, line 1: expected a token and its tag, got 'a'; .* reader=.labels."),
    ],
    "hipe": [
        (HIPE.replace("TOKEN", "WORD"), r"a.tsv, line 1: no column 'TOKEN'; columns: 'NE-COARSE-LIT', 'WORD'"),
        (HIPE, r"gold.tsv, line 1: no column 'NE-FINE'; did you mean 'NE-FINE-LIT'", {"filter": "NE-FINE"}),
        (HIPE, r"a.tsv, line 1: no column 'NE-FINE-LIT'; did you mean 'NE-COARSE-LIT'", {"filter": "NE-FINE-LIT"}),
        (HIPE.replace("\tJean", ""), r"a.tsv, line 2: expected 2 columns as in the header, got 1"),
        (HIPE.replace("\tBon", "\tBon\t"), r"a.tsv, line 3: expected 2 columns as in the header, got 3"),
        (HIPE.replace("_\tBon\n", ""), r"a.tsv, line 3: token 'dit', but 'Bon' on line 5 of gold.tsv"),
        (HIPE[: HIPE.index("B-Loc")], r"a.tsv: has 4 tokens, but gold.tsv has 6"),
        (HIPE.replace("S-PERS", "pers"), r"a.tsv, line 2: expected a tag such as B-PER, I-PER or O, got 'pers'"),
        (HIPE_HEAD, r"a.tsv: has a header but no tokens"),
    ],
    "segmentation": [
        (SEGMENTS.replace("\t", " "), r"b, line 1: expected 2 or 3 fields: a word, a tab .* got 'undone un @@done'"),
        (
            SEGMENTS.replace("cats\tcats", "cats"),
            r"b, line 3: expected 2 fields: a word, a tab .*, got 'cats'",
        ),
        (SEGMENTS.replace("cats\tcats", "\tcats"), r"b, line 3: expected 2 fields: a word, a tab .* got '\\tcats'"),
        (SEGMENTS.replace("xylem\tx", "xylem\tx\tx\tx"), r"b, line 4: expected 2 fields"),
        (SEGMENTS.partition("xylem")[0], r"b: has 3 lines, but .*gold.tsv has 4; expected one for each gold line"),
        (
            SEGMENTS.replace("\ncats", "\ndogs"),
            r"b, line 2: expected the word 'cats', as in .*gold.tsv, got 'dogs'; .* order",
        ),
    ],
    "segmentation gold": [
        (SEGMENTED.replace("\t100", "", 1), r"g.tsv, line 2: expected 3 fields: a word, a tab and morphemes")
    ],
    "terms": [("a\n\0", "b, line 2: .*NUL"), (b"a\n\xe9\n", "b, line 2: expected UTF-8")],
    "labels": [
        ("a\nb\n", r"one.pred: has 2 labels, but gold.txt has 10"),
        ("a\n" * 5 + "\n" + "a\n" * 4, r"one.pred, line 6: expected a label, got an empty line"),
        ("a\n" * 10, r"counts means nothing for the format labels", {"metric": len, "counts": {"x": "y"}}),
    ],
    "timbl": [
        (TIMBL.partition("\n")[0], r"two.out: has 1 instances, but one.out has 10"),
        ("f,=,a,a\n" + "f,=,a\n" * 9, r"two.out, line 2: expected 4 fields as on line 1, got 3"),
        ("f,=,a,a\n" * 10, r"two.out, line 3: instance 'f = a', but 'f = b' on line 3 of one.out"),
        ("f,=,a,\n" * 10, r"two.out, line 1: expected a gold label and a predicted one"),
        ("f\n", r"two.out, line 1: expected features, the gold label and the predicted one, got one field"),
    ],
    "brackets": [
        (EVALB.rpartition(EVALB_RULE)[0], r"b.rsl: the table has no end \(a line of ====\)"),
        (EVALB.replace("Len.", "Length"), r"b.rsl: has no line 'ID Len. Stat. Recal Prec. ...'"),
        (EVALB.replace("50.00", "high"), r"b.rsl, line 4: expected a row of evalb's table"),
        (evalb([(5, 4, 5)]), r"b.rsl, line 4: 5 matched brackets are more than there are"),
        (evalb([(3, 5, 4)]), r"b.rsl: instance '1' of .* has another number of gold brackets"),
        (
            evalb([(3, 4, 4), (3, 4, 4)]).replace("   2  ", "   1  "),
            r"b.rsl, row 2: instance '1' .* is also on row 1; ids must be unique",
        ),
    ],
    "trees": [
        (
            tree("(S (NN Tea)"),
            r"b, line 3: expected one tree per line, got 1 opening bracket\(s\) without a closing one",
        ),
        (tree("(S (NN Tea)))"), r"b, line 3: expected a tree in brackets, got '\)' outside of all brackets"),
        (tree("(NP (NN Tea) (CC or))"), "b, line 3: expected the words of the gold tree, 'gin' here, got 'the end'"),
        (
            tree("(NP (NN Tea) (CC and) (NN gin))"),
            "b, line 3: expected the words of the gold tree, 'or' here, got 'and'",
        ),
        (
            tree("(NP (NN Tea) (CC or) (NN gin) (X x))"),
            "b, line 3: expected the words of the gold tree, 'the end' here, got 'x'",
        ),
        (tree("(NP (NN Tea)\n(CC or) (NN gin))"), "b: has 4 lines, but "),
    ],
    "trees gold": [("\n".join([TREES[0], "(())", TREES[2]]), "gold.txt, line 2: expected a tree, got no words")],
    "conllu": [
        ("# only a comment\n", r"b.conllu: has no words; expected CoNLL-U"),
        (conllu(ONE, TWO[:-2]), r"b.conllu, line 2: expected 10 columns between tabs, got 9"),
        (conllu(ONE.replace("\t", " ")), r"line 1: expected 10 columns between tabs, got 1"),
        (conllu(ONE, row("3", ".", "1")), r"line 2: expected the ID 2, got 3; an empty line ends a sentence"),
        (conllu("# c", ONE, row("x", ".", "1")), r"line 3: expected a whole number as ID, got 'x'"),
        (conllu(ONE, row("2", ".", "_")), r"line 2: expected a whole number as HEAD, got '_'"),
        (conllu(ONE, row("2", ".", "3")), r"line 2: HEAD 3 is beyond the sentence, which has 2 words"),
        (conllu(ONE, row("2", ".", "0")), r"line 1: the sentence has 2 roots; expected one word with HEAD 0"),
        (conllu(row("1", "Ja", "1"), TWO), r"line 1: the sentence has 0 roots; expected one"),
        (conllu(ONE, row("2", ".", "2")), r"line 2: the heads lead around in a circle; expected a tree"),
        (conllu(ONE, row("2", ".", "3"), row("3", "x", "2")), r"line 2: the heads lead around in a circle"),
        (conllu(ONE, row("2", "", "1")), r"line 2: expected a FORM, got nothing"),
        (
            conllu(row("1-2", "Ja."), ONE),
            r"line 1: expected a range of the words that follow, .* got '1-2'",
        ),
        (
            conllu(ONE, row("1-2", "Ja."), TWO, row("3", "x", "1")),
            r"line 2: expected a range of the words that follow, .* got '1-2'",
        ),
        (
            conllu(row("1-2", "Ja."), ONE, row("2-2", "."), TWO),
            r"line 3: expected a range .* in no other range, got",
        ),
        (
            conllu(ONE, row("2", "!", "1")),
            r"b.conllu, line 2: the text .* of .*g.conllu, line 2: expected '.', got '!'",
        ),
        (conllu(ONE), r"b.conllu, line 1: the text is not that of .*g.conllu, line 2: expected '.', and here the file"),
    ],
}


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(("kind", "case"), [(kind, case) for kind, cases in BAD.items() for case in cases])
def test_files_that_cannot_be_used(write, kind, case):
    content, message, *options = case
    files, bad, gold, usual = KINDS[kind]
    for name, own in {**files, bad: content}.items():
        write(name, own)
    with pytest.raises(InputError, match=message) as caught:
        read(*gold, **{**usual, **dict(*options)})
    assert "\n" not in str(caught.value)


@pytest.mark.usefixtures("here")
def test_two_gold_files(write):
    for name in ("a", "b", "gold.txt"):
        write(name, TAGGED)
    with pytest.raises(InputError, match="gold.txt: is a second gold file"):
        read("a", "gold.txt", input=["a", "b"], reader="conll-gold")
