"""sclite's stm and ctm: errors by SCTK 2.4.10 (Debian's package), joined by segment, and what is refused."""

import gzip

import pytest

from sigjax import InputError, compare, read
from sigjax.formats.doctor import diagnose
from sigjax.readers.options import Options

pytestmark = pytest.mark.usefixtures("here")

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


def test_packed_under_other_names_and_in_another_order(write, files, tmp_path):
    expected = read(files[0], input=files[1]).stats.tolist()
    (tmp_path / "r.gz").write_bytes(gzip.compress(STM.encode()))
    head, *lines = CTM.splitlines(keepends=True)
    block = "".join(lines[11:16])  # the alternatives
    others = [*lines[:11], block, *lines[16:]]
    write("x.txt", head + "".join(reversed(others)).replace("\n", "\r\n"))
    write("y.txt", OTHER.upper().replace(" ", "\t"))
    again = read("r.gz", input=["x.txt", "y.txt"])
    assert (again.stats.tolist(), again.ids) == (expected, read(files[0], input=files[1]).ids)


def test_a_channel_that_a_system_lacks(write, files):
    gold, (_, other) = files
    fewer = write("c.ctm", "".join(line for line in CTM.splitlines(keepends=True) if not line.startswith("call1 B")))
    with pytest.raises(InputError, match=r"'c' lacks 1 of 6 \(first: 'call1 B cat 0.00'\)"):
        read(gold, input=[fewer, other])
    dropped = read(gold, input=[fewer, other], missing="drop")
    assert dropped.stats[0].tolist() == [*ERRORS[:4], ERRORS[5]]
    assert len(dropped.transcripts.references) == len(dropped.transcripts.outputs["c"]) == 5
    assert read(gold, input=[fewer, other], missing="zero").stats[0].tolist()[4] == [1, 1]
    third = write("d.ctm", OTHER)
    assert read(gold, input=[fewer, other, third], missing="pairwise").transcripts is None


def test_doctor_names_the_fields(files):
    found = diagnose(files[0], input=files[1], options=Options())
    assert (found.format, found.metrics, found.refusal) == ("stm", ("wer-sclite",), None)
    assert found.fields == {"speaker": 4, "file": 2, "channel": 3, "label": 2}


@pytest.mark.parametrize(
    ("stm", "ctm", "message"),
    [
        (
            "call1 A ann 0 x it\n",
            None,
            r"r.stm, line 1: expected FILE CHANNEL SPEAKER BEGIN END WORD",
        ),
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
        (
            None,
            "call1 A * * <ALT_BEGIN>\ncall1 A 0 1 so\n",
            r"a.ctm, line 2: ends within alternatives",
        ),
        (None, CTM.replace(" CATS", " CAT/S"), r"a.ctm, line 16: expected a word, or alternatives from"),
        (None, "so it rained (call2)\n", r"a.ctm, line 1: r.stm has no segment of 'so it'"),
    ],
)
def test_files_that_cannot_be_used(write, stm, ctm, message):
    gold = write("r.stm", stm or STM)
    with pytest.raises(InputError, match=message) as caught:
        read(gold.name, input=[write("a.ctm", ctm or CTM).name, write("b.ctm", OTHER).name], reader="stm")
    assert "\n" not in str(caught.value)


def test_other_metrics_are_refused_with_the_answer(files):
    with pytest.raises(InputError, match="the format stm has no metric 'wer'; it gives wer-sclite"):
        read(files[0], input=files[1], metric="wer")


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


def test_braces_of_kaldi_are_words_for_other_metrics(write):
    files = [write(name, "s1-u1 a { b / c } d\n") for name in ("text", "a", "b")]
    assert read(files[0], input=files[1:], reader="kaldi").stats[0].tolist() == [[0, 7]]
    assert read(files[0], input=files[1:], reader="kaldi", metric="wer-sclite").stats[0].tolist() == [[0, 3]]


def test_ids_without_a_mark_have_no_speaker(write):
    files = [write(name, "a (4T0C0203)\nb (4T0C020F)\n") for name in ("g.trn", "a", "b")]
    with pytest.raises(InputError, match="no column and no file 'speaker'"):
        read(files[0], input=files[1:], cluster="speaker")


def test_numbers_are_not_taken_for_times(write):
    """Lines as of an stm whose systems have no words with times are plain texts."""
    files = [write(name, "it was about 3 4 of them\nthen came only 5 6\n") for name in "rab"]
    assert read(files[0], input=files[1:], metric="wer").ids is None
