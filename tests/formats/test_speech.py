"""Speech: transcripts with ids, stm and ctm; errors by a recount and by SCTK 2.4.10 (Debian's package)."""

import random

import pytest

from sigjax import InputError, compare, read

pytestmark = pytest.mark.usefixtures("here")


WORDS = "the cat sat on a mat <unk> [noise] (uh) Ünïon it's 3 x".split()


def distance(one, other):
    """Levenshtein's table, row by row."""
    row = list(range(len(other) + 1))
    for i, left in enumerate(one, start=1):
        last, row = row, [i]
        for j, right in enumerate(other, start=1):
            row.append(min(last[j] + 1, row[-1] + 1, last[j - 1] + (left != right)))
    return row[-1]


def transcripts(seed, number=40):
    chance = random.Random(seed)
    return {f"spk{i // 8:02}-utt{i:03}": chance.choices(WORDS, k=chance.choice((0, 1, 2, 5))) for i in range(number)}


def as_kaldi(found):
    return "".join(" ".join([id, *words]) + "\n" for id, words in found.items())


def as_trn(found):
    return "".join(" ".join([*words, f"({id})"]) + "\n" for id, words in found.items())


def shuffled(found, seed):
    return dict(random.Random(seed).sample(sorted(found.items()), len(found)))


@pytest.mark.parametrize("write_as", [as_kaldi, as_trn])
@pytest.mark.parametrize("metric", ["wer", "cer"])
def test_errors_are_those_of_a_recount(write, write_as, metric):
    gold, systems = transcripts("gold"), {name: transcripts(name) for name in "ab"}
    split = list if metric == "cer" else str.split
    expected = [
        [[distance(split(" ".join(gold[id])), split(" ".join(own[id]))), len(split(" ".join(gold[id])))] for id in gold]
        for own in systems.values()
    ]
    files = [write(name, write_as(own)) for name, own in systems.items()]
    found = read(write("gold", write_as(gold)), input=files, metric=metric)
    assert found.stats.tolist() == expected
    assert found.ids == tuple(gold)
    again = [write(f"{name}2", write_as(shuffled(own, name))) for name, own in systems.items()]
    other = read("gold", input=again, metric=metric)
    assert (other.stats.tolist(), other.ids) == (expected, found.ids)


@pytest.mark.parametrize(
    "ids", [("4T0C0203", "4T0C020F"), ("61-70968-0000", "1089-134686-12"), ("F0_SI1279", "MXYZ1_SI2")]
)
def test_usual_ids_are_recognized(write, ids):
    kaldi, trn = ("".join(line.format(id) for id in ids) for line in ("{} the cat\n", "the cat ({})\n"))
    for content in (kaldi, trn):
        files = [write(name, content) for name in "rab"]
        assert read(files[0], input=files[1:], metric="wer").ids == ids


@pytest.mark.parametrize(
    ("reader", "content", "message"),
    [
        ("kaldi", "x1 a\nx2 b\nx1 c\n", r"a, line 3: utterance 'x1' is also on line 1; leave one of them out"),
        ("kaldi", "x1 a\nx4 b\nx5 b\n", r"a, line 2: id 'x4' is not in .*/g, .* out \(and 1 others\)"),
        ("trn", "a (x1)\nb\n", r"a, line 2: expected words and then \(ID\), got 'b'"),
        ("trn", "a (x1)\nthe { cat / hat } (x2)\n", r"a, line 2: alternatives such as '{ cat / hat }' are"),
    ],
)
def test_files_that_cannot_be_used(write, reader, content, message):
    gold = "x1 a\nx2 b\n" if reader == "kaldi" else "a (x1)\nb (x2)\n"
    with pytest.raises(InputError, match=message):
        read(write("g", gold), input=[write("a", content), write("b", gold)], reader=reader)


PLAIN = {
    "sentences": "The cat sat.\nIt rained all day.\nWe left.\n",
    "numbered": "1. The cat sat.\n2. It rained.\n3. We left.\n",
    "numbers": "1 The cat sat.\n2 It rained.\n3 We left.\n",
    "questions": "Q1 Who sat?\nQ2 What fell?\nQ3 Who left?\n",
    "ordinals": "1st the cat\n2nd a dog\n3rd a cow\n",
    "years": "Alien (1979)\nHeat (1995)\nUp (2009)\n",
    "dates": "2026-01-30 it rained\n2026-01-31 it snowed\n2026-02-01 it stopped\n",
    "speakers": "A: the cat\nB: it rained\nC: we left\n",
    "asides": "We left (he laughs) (laughs)\nNo (he coughs)\nYes (sighs)\n",
    "bullets": "- the cat\n- it rained\n* we left\n",
    "one line": "spk1-utt1 the cat sat\n",
    "labels": "spk01-utt01 B-X\nspk01-utt02 O\nspk01-utt03 B-Y\n",
}


@pytest.mark.parametrize("name", PLAIN)
def test_plain_texts_are_not_taken_for_transcripts(write, name):
    """Also where all files have the same text, and so begin with the same words, or have them in another order."""
    lines = PLAIN[name].splitlines(keepends=True)
    for gold in ("r", "text"):
        for second in (PLAIN[name], "".join(reversed(lines))):
            files = [write("a", PLAIN[name]), write("b", second)]
            found = read(write(gold, PLAIN[name]), input=files, metric="wer")
            assert found.ids is None
            assert found.stats[0, :, 1].sum() == len(PLAIN[name].split())


@pytest.mark.parametrize(
    ("gold", "other", "reader"),
    [
        ("utt1 the cat\nutt2 it rained\n", "utt1 the cat\nutt2 rain\n", "kaldi"),
        ("GPT-4 beats it\nR2-D2 beeps now\n", "GPT-4 beats it\nR2-D2 beeps\n", "kaldi"),
        ("spk01-utt01 the cat\nspk01-utt02 it is\n", "spk01-utt01 the cat\n", "kaldi"),
        ("spk01-utt01 the cat\nspk01-utt02 it is\n", "the cat\nit\n", "kaldi"),
        ("the cat (utt1)\nit rained (utt2)\n", "the cat (utt1)\nrain (utt2)\n", "trn"),
        (as_kaldi(transcripts(0)) + "noid it is\n", as_kaldi(transcripts(1)) + "noid it\n", "kaldi"),
        (as_trn(transcripts(0)) + "it is\n", as_trn(transcripts(1)) + "it was\n", "trn"),
    ],
)
def test_what_is_only_nearly_so_is_asked_about(write, gold, other, reader):
    files = [write("r", gold), write("a", gold), write("b", other)]
    with pytest.raises(InputError, match=r"r: are these transcripts with ids\?") as caught:
        read(files[0], input=files[1:], metric="wer")
    assert f"--reader {reader} to join them by id, or --reader texts to score lines" in caught.value.flags
    assert "\n" not in caught.value.flags


STM = """\
;; LABEL "O" "Overall" "Overall Scores"
call1 A ann 0.00 2.00 <o,f> well { um / uh / @ } i've;tag seen (the) cat
call1 A bob 2.00 4.50 <o,m> it sat
call1 A ann 4.50 5.00 <o,f>
call1 A inter_segment_gap 5.00 6.00 <o,f> ignore_time_segment_in_scoring
call1 A ann 6.00 8.00 <o,f> and { seventy-two / seventy two } cats
call1 B cat 0.00 9.00 <o,f> yes
call2 A dan 0.00 3.00 <o,m> so it rained
"""
CTM = """\
;; words of a recognizer
call1 A 0.10 0.30 WELL 0.99
call1 A 0.50 0.20 I'VE 0.80
call1 A 0.80 0.30 SEEN 0.70
call1 A 1.90 0.30 A
call1 A 2.30 0.30 IT
call1 A 2.70 0.30 SAT
call1 A 4.60 0.10 OH
call1 A 5.10 0.10 NOISE
call1 A 6.10 0.20 AND
call1 A 6.40 0.30 SEVENTY
call1 A 6.80 0.30 TWO
call1 A * * <ALT_BEGIN>
call1 A 7.80 0.10 CAT
call1 A * * <ALT>
call1 A 7.80 0.10 CATS
call1 A * * <ALT_END>
call1 A 8.10 0.10 MORE
call1 B 8.80 0.60 YES
call1 B 9.80 0.60 OK
call2 A 0.10 0.30 SO
call2 A 0.50 0.30 RAINED
"""
ERRORS = [[1, 5], [1, 2], [1, 0], [1, 4], [1, 1], [1, 3]]
"""sclite -D -r r.stm stm -h a.ctm ctm: A begins the second segment, as its middle is beyond 2.00."""
OTHER = "".join(f"call{k} {channel} 1.0 .5 it\n" for k, channel in ((1, "A"), (1, "B"), (2, "A")))


@pytest.fixture
def files(write):
    return write("r.stm", STM), [write("a.ctm", CTM), write("b.ctm", OTHER)]


def test_errors_are_those_of_sclite(files):
    gold, systems = files
    found = read(gold, input=systems, cluster="speaker", strata="label")
    assert found.stats[0].tolist() == ERRORS
    assert found.ids[:2] == ("call1 A ann 0.00", "call1 A bob 2.00")
    assert found.clusters == ("ann", "bob", "ann", "ann", "cat", "dan")
    assert found.strata == ("o,f", "o,m", "o,f", "o,f", "o,f", "o,m")
    assert read(gold, input=systems, cluster="file").clusters == ("call1",) * 5 + ("call2",)
    assert read(gold, input=systems, cluster="channel").clusters[-2:] == ("call1 b", "call2 a")
    assert found.metric.name == "wer-sclite"
    report = compare(found, device="numpy")
    assert report.comparisons[0].a == "a"


@pytest.mark.parametrize(
    ("stm", "ctm", "message"),
    [
        ("call1 A ann 0 x it\n", None, r"r.stm, line 1: expected FILE CHANNEL SPEAKER BEGIN END WORD"),
        ("call1 A ann 0\n", None, r"r.stm, line 1: expected FILE CHANNEL SPEAKER BEGIN END"),
        (STM + "call1 A ann 4.50 5.00 so\n", None, r"r.stm, line 9: segment 'call1 A ann 4.50' is also on line 4"),
        (STM.replace("um /", "} um /"), None, r"r.stm, line 2: expected alternatives as { a / b }, got .well"),
        (STM.replace("/ @ }", "/ @"), None, r"r.stm, line 2: expected alternatives as { a / b }"),
        (None, "call1 A 0.1 it\n", r"a.ctm, line 1: expected FILE CHANNEL BEGIN DURATION WORD, with times"),
        (None, "call1 A 0.1 -0.2 it\n", r"a.ctm, line 1: expected FILE CHANNEL BEGIN DURATION WORD"),
        (None, "call1 A 0.1 0.2\n", r"a.ctm, line 1: expected FILE CHANNEL BEGIN DURATION WORD"),
        (None, "call1 C 0.1 0.2 it\n", r"a.ctm, line 1: r.stm has no segment of 'call1 C'; leave its words out"),
        (None, "call1 A 0.1 0.2 {\n", r"a.ctm, line 1: expected a word, or alternatives from <ALT_BEGIN> to"),
        (None, "call1 A * * <ALT>\n", r"a.ctm, line 1: expected a word, or alternatives from <ALT_BEGIN> to"),
        (None, "call1 A * * <ALT_BEGIN>\ncall1 A 0 1 so\n", r"a.ctm, line 2: ends within alternatives"),
        (None, CTM.replace(" CATS", " CAT/S"), r"a.ctm, line 16: expected a word, or alternatives from"),
        (None, "so it rained (call2)\n", r"a.ctm, line 1: r.stm has no segment of 'so it'"),
    ],
)
def test_stm_that_cannot_be_used(write, stm, ctm, message):
    gold = write("r.stm", stm or STM)
    with pytest.raises(InputError, match=message) as caught:
        read(gold.name, input=[write("a.ctm", ctm or CTM).name, write("b.ctm", OTHER).name], reader="stm")
    assert "\n" not in str(caught.value)


def test_alternatives_and_optional_words_of_trn(write):
    """As stm; other metrics take words as they are, and no alternatives."""
    gold = write("g.trn", ";; a comment\nA { b c / D / @ } (uh) e (s1-u1)\nf* (s2-u1)\n")
    systems = [write("a", "a d E (s1-u1)\nF (s2-u1)\n"), write("b", "f x (s2-u1)\na (um) e (s1-u1)\n")]
    found = read(gold, input=systems, metric="wer-sclite", cluster="speaker")
    assert found.stats.tolist() == [[[0, 4], [0, 1]], [[1, 3], [1, 1]]]
    assert found.clusters == ("s1", "s2")
    with pytest.raises(
        InputError, match=r"g.trn, line 2: alternatives such as '{ b c / D / @ }' are for metric=.wer-sclite"
    ):
        read(gold, input=systems, metric="wer")
    with pytest.raises(InputError, match=r"g.trn, line 1: expected alternatives as { a / b }, got 'a { b'"):
        read(write("g.trn", "a { b (s1-u1)\nf (s2-u1)\n"), input=systems, metric="wer-sclite")


def test_utterances_that_a_system_lacks(write):
    gold = write("g.trn", "a b (x1)\nc (x2)\nd e f (x3)\n")
    files = [write("a", "d e (x3)\n(x1)\n"), write("b", "c (x2)\na b (x1)\nd (x3)\n")]
    with pytest.raises(InputError, match=r"'a' lacks 1 of 3 \(first: 'x2'\)"):
        read(gold, input=files)
    dropped = read(gold, input=files, missing="drop")
    assert (dropped.ids, dropped.stats.tolist()) == (("x1", "x3"), [[[2, 2], [1, 3]], [[0, 2], [2, 3]]])
    empty = read(gold, input=files, missing="zero")
    assert empty.stats.tolist() == [[[2, 2], [1, 1], [1, 3]], [[0, 2], [0, 1], [2, 3]]]
    assert "a: 1 of 3 utterances are missing, and count as empty" in empty.notes
