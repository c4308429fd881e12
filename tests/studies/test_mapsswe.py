"""sclite's alignments and MAPSSWE: against SCTK 2.4.10 (Debian's package), and the least cost of all readings."""

import random
import re
from itertools import product

import pytest

from sigjax import Evaluation, classical_tests, read
from sigjax.metrics.edits import align, tokens_of, words_of
from sigjax.studies.tests import segments

WORDS = "the a cat dog sat ran on in mat rain it was not".split()


def kinds(reference, output):
    return "".join(kind[0].upper() for kind, _ in align(words_of(reference), words_of(output)))


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


def noisy(words, share, chance):
    for word in words:
        x = chance.random()
        if x < share:
            yield chance.choice(WORDS)
        elif x >= 1.5 * share:
            yield from [chance.choice(WORDS), word] if x < 2 * share else [word]


@pytest.fixture(scope="module")
def transcripts():
    chance = random.Random("mapsswe")
    gold = [chance.choices(WORDS, k=chance.randrange(4, 16)) for _ in range(12)]
    systems = [[list(noisy(words, share, chance)) for words in gold] for share in (0.06, 0.14)]
    return [[" ".join(words) for words in texts] for texts in (gold, *systems)]


def test_mapsswe_is_that_of_sc_stats(transcripts):
    """sc_stats -t mapsswe -v: 21 segments, 9.90 and 25.74% errors, mean -0.762, sd 1.091, Z -3.200."""
    gold, a, b = transcripts
    found = [pair for texts in zip(gold, a, b, strict=True) for pair in segments(*texts)]
    assert len(found) == 21
    result = classical_tests(Evaluation.from_texts({"a": a, "b": b}, gold, metric="wer-sclite"), resamples=200)
    test = result["MAPSSWE"]
    assert (round(test.statistic, 3), test.paired) == (-3.2, True)
    assert test.p_value == pytest.approx(0.0013742758758, rel=1e-9)
    turned = classical_tests(Evaluation.from_texts({"b": b, "a": a}, gold, metric="wer-sclite"), resamples=200)
    assert (turned["MAPSSWE"].statistic, turned["MAPSSWE"].p_value) == (-test.statistic, test.p_value)


def test_systems_that_take_other_alternatives_stay_in_step():
    reference = "{ a b c / @ } d e f g h x y"
    assert list(segments(reference, "d e f x h x y", "a b c d e f x g x y")) == [(1, 2)]
    assert list(segments("a b { c / @ } d", "a b d x", "a b c d")) == [(1, 0)]
    assert list(segments("", "x", "")) == [(1, 0)]


@pytest.mark.parametrize(
    ("outputs", "references", "reason"),
    [
        (["a b", "b b"], ["a b"], "it takes two segments with errors or more, got 1"),
        (["a b", "a b"], ["a b"], "it takes two segments with errors or more, got 0"),
        (["b", "a"], [["a"], ["b"]], "it aligns transcripts with one reference"),
    ],
)
def test_mapsswe_is_left_out_with_the_reason(outputs, references, reason):
    evaluation = Evaluation.from_texts(
        {name: [text] for name, text in zip("ab", outputs, strict=True)}, references, metric="wer-sclite"
    )
    (left_out,) = [each for each in classical_tests(evaluation, resamples=200).left_out if each.name == "MAPSSWE"]
    assert left_out.reason.startswith(reason)


def test_the_published_count_of_sclite(data):
    """lvc.raw: 1,779 words, 1,013 correct, 540 substitutions, 226 deletions, 171 insertions; sc_stats on less of it."""
    folder = data / "sclite"
    gold, output = folder / "lvc_ref.stm", folder / "lvc_hyp.ctm"
    evaluation = read(gold, input={"a": output, "b": output})
    assert evaluation.stats.sum(axis=1).tolist() == [[540 + 226 + 171, 1779]] * 2
    texts = evaluation.transcripts
    found = "".join(map(kinds, texts.references, texts.outputs["a"]))
    assert [found.count(kind) for kind in "CSDI"] == [1013, 540, 226, 171]
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


def test_mapsswe_of_real_systems(data, tmp_path):
    """sc_stats: 246 segments, Z -2.972, where every 17th line is left out, and alternatives of the ctm."""
    folder = data / "sclite"
    lines = (folder / "lvc_hyp.ctm").read_text().splitlines(keepends=True)
    fewer = (line for number, line in enumerate(lines, start=1) if number % 17 and "<ALT" not in line)
    (tmp_path / "b.ctm").write_text("".join(fewer))
    evaluation = read(folder / "lvc_ref.stm", input=[folder / "lvc_hyp.ctm", tmp_path / "b.ctm"])
    test = classical_tests(evaluation, resamples=200)["MAPSSWE"]
    assert (round(test.statistic, 3), test.assumes[-12:]) == (-2.972, "246 segments")
