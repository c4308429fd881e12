"""sclite's alignments: against SCTK 2.4.10 (Debian's package), and the least cost of all readings."""

import os
import random
import re
from itertools import product

import pytest

from sigjax import read
from sigjax.metrics import edits
from sigjax.metrics.edits import align, tokens_of, words_of


def kinds(reference, output):
    return "".join(kind[0].upper() for kind in align(words_of(reference), words_of(output)))


@pytest.mark.parametrize(
    ("reference", "output", "expected"),
    [
        ("a b c d", "b c x d", "DCCIC"),
        ("a b c", "x y", "DSS"),
        ("a a b", "a b b", "CSC"),
        ("a b c d e f g h", "b c d e x f g h a", "DCCCCICCCI"),
        ("a b a b a b", "b a b a b a", "DCCCCCI"),
        ("a { b c / d } e", "a d c e", "CCIC"),
        ("{ a / @ } b { c d / e }", "b c e", "CIC"),
        ("a { b { c / @ } / d } e", "a { b / f } e", "CCC"),
        ("{ a/b } c", "b C", "CC"),
        ("a b", "", "DD"),
        ("{ a / @ }", "", ""),
        ("(uh) a b (um)", "a uh b", "CCICC"),
        ("a b", "A (uh) B*", "CCC"),
        ("don't;aux stop", "DON'T stop;x", "CC"),
    ],
)
def test_alignments_are_those_of_sclite(reference, output, expected):
    """sclite -D -i spu_id -o sgml on these lines of trn."""
    assert kinds(reference, output) == expected


def readings(tokens):
    """Every choice of alternatives, by recursion."""
    if not tokens:
        return [()]
    if tokens[0] != "{":
        return [(() if tokens[0] == "@" else tokens[:1]) + rest for rest in readings(tokens[1:])]
    depth, end, parts = 0, 0, [()]
    for end, token in enumerate(tokens):
        depth += (token == "{") - (token == "}")
        if depth == 0:
            break
        if depth == 1 and token == "/":
            parts.append(())
        elif end:
            parts[-1] += (token,)
    return [one + rest for part in parts for one in readings(part) for rest in readings(tokens[end + 1 :])]


def least_cost(one, other):
    """Substitutions cost 4, other errors 3: the table, row by row."""
    row = [3 * j for j in range(len(other) + 1)]
    for i, left in enumerate(one, start=1):
        last, row = row, [3 * i]
        for j, right in enumerate(other, start=1):
            row.append(min(last[j] + 3, row[-1] + 3, last[j - 1] + 4 * (left != right)))
    return row[-1]


def some_text(chance, depth=0):
    def word():
        if depth < 2 and chance.random() < 0.2:
            parts = [some_text(chance, depth + 1) or "@" for _ in range(chance.choice((2, 3)))]
            return f"{{ {' / '.join(parts)} }}"
        return chance.choice("abcd@" if depth else "abcd")

    return " ".join(word() for _ in range(chance.randrange(5 - depth)))


def test_alignments_cost_least_of_all_readings():
    chance = random.Random(7)
    for _ in range(150):
        texts = some_text(chance), some_text(chance)
        found = kinds(*texts)
        cost = 4 * found.count("S") + 3 * (found.count("D") + found.count("I"))
        assert cost == min(least_cost(*pair) for pair in product(*(readings((*tokens_of(text),)) for text in texts)))


def test_the_published_count_of_sclite(data, monkeypatch):
    """lvc.raw: 1,779 words, 1,013 correct, 540 substitutions, 226 deletions, 171 insertions."""
    folder = data / "sclite"
    gold, output = folder / "lvc_ref.stm", folder / "lvc_hyp.ctm"
    found = []
    monkeypatch.setenv("SIGJAX_CACHE_DIR", os.devnull)
    monkeypatch.setattr(edits, "align", lambda *pair: found.extend(kinds := align(*pair)) or kinds)
    evaluation = read(gold, input={"a": output, "b": output})
    assert evaluation.stats.sum(axis=1).tolist() == [[540 + 226 + 171, 1779]] * 2
    names = ("correct", "substitution", "deletion", "insertion")
    assert [found.count(kind) for kind in names] == [1013, 540, 226, 171]  # equal outputs are aligned once
    rows = re.findall(r"\| (\S+) +\| +(\d+) +(\d+) \| +\d+ +\d+ +\d+ +\d+ +(\d+) ", (folder / "lvc.raw").read_text())
    *speakers, total = rows
    assert (len(speakers), total) == (4, ("Sum", "61", "1779", "937"))
    labelled = read(gold, input={"a": output, "b": output}, cluster="speaker")
    for speaker, sentences, words, errors in speakers:
        own = [cluster == speaker for cluster in labelled.clusters or ()]
        assert [sum(own), *evaluation.stats[0, own].sum(axis=0)] == [int(sentences), int(errors), int(words)]


def test_alternatives_of_trn(data):
    """sclite -i wsj -o rsum: 64 words, 8 substitutions, a deletion, an insertion."""
    folder = data / "sclite"
    evaluation = read(
        folder / "csrnab1.ref", input={"a": folder / "csrnab1.hyp", "b": folder / "csrnab1.ref"},
        reader="trn", metric="wer-sclite",
    )  # fmt: skip
    assert evaluation.ids == ("4T0C0203", "4T0C020F")
    assert evaluation.stats.tolist() == [[[5, 38], [5, 26]], [[0, 38], [0, 26]]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [("a { b", "a { b }"), ("a } b", "a b"), ("{ { a / b", "{ { a / b } }"), ("a/b {c/d}", "a/b { c / d }")],
)
def test_braces_are_always_closed(text, expected):
    assert " ".join(tokens_of(text)) == expected
