"""Files that would be read as something else than they are: each is refused, or told in a note."""

import pytest

from sigjax import InputError, read

HEADERLESS = "is this a row without a header"
METRICS_ROWS = "seems to hold metrics, one per row|holds metrics"
METRICS_COLUMNS = "seem to hold metrics; expected one column per system"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.csv", "x,1,0\ny,0,1\nz,1,1\n", r"t.csv, line 1: the systems would be named '1', '0'; " + HEADERLESS),
        ("t.tsv", "x\t0.5\t0.25\ny\t0\t1\n", r"t.tsv, line 1: the systems would be named '0.5', '0.25'"),
        ("t.csv", "x,1,1\ny,0,1\n", r"line 1: columns 2 and 3 are both named '1'; " + HEADERLESS),
        ("t.csv", '"x",true,false\n"y",1,0\n', r"the systems would be named 'true', 'false'"),
        ("t.csv", "metric,A,B\nbleu,34.1,33.2\nchrf,60,59\n", r"t.csv: column 'metric' " + METRICS_ROWS),
        ("t.csv", "name,A,B\nBLEU,34.1,33.2\nchrF++,60,59\nROUGE-L,1,2\n", METRICS_ROWS + r" \('BLEU', 'chrF\+\+', 'R"),
        ("t.csv", ",A,B\nndcg@10,0.1,0.2\nMAP,0.3,0.4\n", METRICS_ROWS),
        ("t.jsonl", '{"id": "F1", "A": 1, "B": 2}\n{"id": "accuracy", "A": 1, "B": 0}\n', METRICS_ROWS),
        ("t.csv", "system,metric,value\nA,bleu,34\nA,chrf,60\nB,bleu,33\nB,chrf,59\n", METRICS_ROWS),
        ("t.csv", "name,bleu,COMET\nA,34.1,0.8\nB,33.2,0.7\n", r"columns 'bleu', 'COMET' " + METRICS_COLUMNS),
    ],
)
def test_tables_of_something_else_are_refused(tmp_path, here, name, content, message):
    (tmp_path / name).write_text(content)
    with pytest.raises(InputError, match=message) as caught:
        read(name)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("gold", "systems", "note"),
    [
        ("ref.txt", ("a.txt", "b.txt"), "gold standard: ref.txt"),
        ("out.txt", ("a.txt", "b.txt"), "gold standard: out.txt"),
        (
            "out.txt",
            ("b.txt", "my.gold.txt"),
            "warning: gold standard: out.txt, although 'my.gold.txt' of the systems is named like one: "
            "gold files stand before -i",
        ),
        ("ref.A.txt", ("refB.txt", "reference.txt"), "gold standard: ref.A.txt"),
    ],
)
def test_a_report_says_which_file_was_the_gold_standard(tmp_path, gold, systems, note):
    (tmp_path / gold).write_text("yes\nno\n")
    for name in systems:
        (tmp_path / name).write_text("no\nno\n")
    files = [tmp_path / name for name in systems]
    for reader, metric in (("labels", "accuracy"), ("texts", "wer"), ("terms", "fscore")):
        evaluation = read(tmp_path / gold, input=files, reader=reader, metric=metric)
        assert evaluation.notes[-1] == note


SENTENCES = 447


def naacl(numbers, label=""):
    return "".join(f"{number:04} {word} {word}{label}\n" for number in numbers for word in (1, 2))


def alignments(tmp_path, gold, system=None):
    (tmp_path / "gold.wa").write_text(gold)
    for name in "ab":
        (tmp_path / name).write_text(system or naacl(range(1, 3)))
    return tmp_path / "gold.wa", [tmp_path / name for name in "ab"]


@pytest.mark.parametrize(("last", "gap"), [(4447, 4000), (547, 100), (947, 500)])
def test_one_flipped_digit_in_a_gold_makes_no_sentences(tmp_path, last, gap):
    sound = naacl(range(1, SENTENCES + 1))
    gold, files = alignments(tmp_path, sound.replace("0447 2", f"{last:04} 2"))
    line = 2 * SENTENCES
    with pytest.raises(InputError, match=f"gold.wa, line {line}: sentence {last} comes after {gap - 1} sentences with"):
        read(gold, input=files)
    gold, files = alignments(tmp_path, sound)
    evaluation = read(gold, input=files)
    assert (evaluation.num_instances, evaluation.notes) == (SENTENCES, ("gold standard: gold.wa",))


def test_sentences_without_links_are_told(tmp_path):
    gold, files = alignments(tmp_path, naacl([*range(1, 40), *range(42, 448)]))
    assert ": 2 of 447 sentences have no link, such as sentence 41" in read(gold, input=files).notes[0]
    gold, files = alignments(tmp_path, naacl([*range(1, 448, 2), *range(2, 448, 2)]))
    assert read(gold, input=files).notes == ("gold standard: gold.wa",)


def test_possible_links_of_a_system_alone_are_told(tmp_path):
    gold, files = alignments(tmp_path, naacl(range(1, 3)), naacl(range(1, 3), " P"))
    with pytest.raises(InputError, match="has no sure links"):
        read(files[0], input=[gold, files[1]])
    notes = read(gold, input=files).notes
    assert notes[0].endswith("has links that are only possible, but the gold standard has none: are they swapped?")


def test_gold_among_the_systems_is_a_warning(tmp_path):
    """As after -i *.txt, or where it stands there under another name, or where -i is forgotten."""
    for name in ("a.txt", "b.txt", "truth.txt"):
        (tmp_path / name).write_text("1\n0\n" if name == "truth.txt" else "0\n0\n")
    (tmp_path / "c.txt").write_text("1\n0\n")
    a, b, c, truth = (tmp_path / f"{name}.txt" for name in ("a", "b", "c", "truth"))
    note = "warning: gold standard: truth.txt, but 'truth.txt' of the systems is it: leave one of them out"
    assert read(truth, input=[a, truth], reader="labels").notes[-1] == note
    note = "warning: gold standard: truth.txt, but 'c.txt' of the systems is the same as it: leave one of them out"
    assert read(truth, input=[a, c], reader="labels").notes[-1] == note
    note = "warning: 'truth.txt' is compared as a system; if it is the gold standard, it stands before -i"
    assert read(truth, a, b).notes[-1] == note
    assert read(a, b).notes == ()
