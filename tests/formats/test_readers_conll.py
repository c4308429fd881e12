"""Tagged tokens in columns: conlleval's numbers through the command line, gold files, and MBT."""

import gzip

import numpy as np
import pytest
from annotated import MBT, PAIRS, TAGGED

from sigjax import InputError, read
from sigjax.formats.conll import parse_columns
from sigjax.formats.reading import choose_formats

pytestmark = pytest.mark.usefixtures("here")


def conlleval_file():
    """Tokens with 459 gold phrases and 539 guesses, of which 371 are right, and 838 of 961 tags."""
    right = [["B-NP B-NP"]] * 371
    split = [["B-NP B-NP", "I-NP B-NP", "I-NP I-NP"]] * 80
    wrong = [["B-NP B-VP", *["I-NP I-VP"] * 35], *[["B-NP B-PP"]] * 7]
    outside = [["O O"]] * 307
    sentences = [right[i::9] + split[i::9] + wrong[i::9] + outside[i::9] for i in range(9)]
    return "\n\n".join("\n".join(f"w NN {pair}" for phrase in each for pair in phrase) for each in sentences) + "\n"


def test_the_numbers_of_conlleval(compared, write):
    """Published with conlleval: processed 961 tokens with 459 phrases; found: 539 phrases; correct: 371."""
    content = conlleval_file()
    perfect = by_line(lambda fields: " ".join([*fields[:3], fields[2]]), content)
    files = write("a.txt", content), write("b.txt", perfect)
    report = compared(*files, "-m", "fscore", "precision", "recall", "accuracy")
    scores = {(each["name"], each["metric"]): each["score"] for each in report["systems"]}
    printed = {metric: f"{100 * score:.2f}" for (system, metric), score in scores.items() if system == "a"}
    assert printed == {"accuracy": "87.20", "precision": "68.83", "recall": "80.83", "fscore": "74.35"}
    assert {score for (system, _), score in scores.items() if system == "b"} == {1.0}
    evaluation = read(*files)
    assert evaluation.metric.name == "fscore"
    assert evaluation.stats[0].sum(axis=0).tolist() == [371, 539, 459]
    assert evaluation.stats.shape[1] == 9


def test_gold_and_guess_of_each_sentence(write):
    evaluation = read(write("a.txt", PAIRS), write("b.txt", PAIRS.replace("B-VP", "B-NP")))
    assert evaluation.stats.tolist() == [[[0, 1, 2], [0, 1, 1]], [[0, 1, 2], [1, 1, 1]]]
    accuracy = read("a.txt", "b.txt", metric="accuracy")
    assert accuracy.stats.tolist() == [[[2, 3], [1, 2]], [[2, 3], [2, 2]]]
    assert accuracy.metric.name == "accuracy"


def by_line(change, text):
    """A text whose lines of tokens are changed."""
    return "\n".join(change(line.split()) if line else "" for line in text.split("\n"))


def test_a_gold_file_and_tagged_files(write):
    gold = write("gold.txt", TAGGED)
    guess = write("a.conll", by_line(lambda fields: f"{fields[0]}\t{fields[-1]}", PAIRS))
    perfect = write("b.iob.gz", gzip.compress(TAGGED.encode(), mtime=0))
    pairs = write("p.txt", PAIRS), write("q.txt", by_line(lambda fields: " ".join([*fields, fields[-1]]), TAGGED))
    for metric in ("fscore", "f2", "recall", "accuracy"):
        by_gold = read(gold, input=[guess, perfect], metric=metric)
        assert by_gold.systems == ("a", "b")
        np.testing.assert_array_equal(by_gold.stats, read(*pairs, metric=metric).stats)


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: "\ufeff" + text,
        lambda text: text.replace(" ", "\t"),
        lambda text: text.replace(" ", "  \t "),
        lambda text: text.replace("\n\n", "\n \t\n\n\n"),
        lambda text: "\n\n" + text + "\n\n\n",
        lambda text: text.rstrip("\n"),
        lambda text: text.replace("747", "7\u00a047").replace("jets", "\u2028\x85"),
        lambda text: "-DOCSTART- -X- O O\n\n" + text,
        lambda text: "# made by a program, version 2\n" + text,
        lambda text: text.replace("\n\n", "\n\n# id = 1\n# text = one of the sentences\n"),
        lambda text: text.replace(" ", "\t").replace("\n\n", "\n\n# id\t8b7dc2e9\tx\tdomain=en\n"),
        lambda text: text.replace("\n\n", "\n\n# id 8b7dc2e9 domain=en\n"),  # as many columns
        lambda text: text.replace("\n\n", "\n\n# id 8b7dc2e9\tdomain=en\n"),
        lambda text: text.replace("747", "#").replace("jets", "#B"),
        lambda text: text.replace("747 ", "# ").replace("\n\n", "\n\n# id = 1\n"),
    ],
)
def test_ways_to_write_a_file(write, change):
    expected = read(write("a.txt", PAIRS), write("b.txt", PAIRS.replace("B-VP", "B-NP")))
    found = read(write("a.txt", change(PAIRS)), write("b.txt", change(PAIRS.replace("B-VP", "B-NP"))))
    np.testing.assert_array_equal(found.stats, expected.stats)


@pytest.mark.parametrize("text", ["# O\nb B-X\n", "# O\n\n# O\nb B-X\n", "b\tB-X\n#\tO\n", "#a O\nb B-X\n# O\n"])
def test_a_number_sign_is_a_token_where_it_has_tags(text):
    tokens = parse_columns("t", text).tokens
    assert list(tokens.words) == [line.split()[0] for line in text.split("\n") if line]
    assert list(tokens.tags) == [line.split()[1] for line in text.split("\n") if line]


def test_tokens_with_blanks_between_tabs(write):
    text = "New York\tB-LOC\tB-LOC\nis\tO\tO\n"
    assert read(write("a.txt", text), write("b.txt", text)).stats[0].tolist() == [[1, 1, 1]]


def test_documents(write):
    start = "-DOCSTART- -X- O O\n\n"
    text = start + PAIRS + "\n" + start + PAIRS
    evaluation = read(write("a.txt", text), write("b.txt", text), cluster="document")
    assert evaluation.clusters == ("1", "1", "2", "2")
    with pytest.raises(InputError, match="cluster: no column and no file 'document'"):
        read(write("c.txt", PAIRS), write("d.txt", PAIRS), cluster="document")


def test_accuracy_takes_any_tags(write):
    gold = write("gold.txt", "a\tDT\nb\tNN\n\nc\tVB\n")
    systems = write("x", "a\tDT\nb\tVB\n\nc\tVB\n"), write("y", "a\tDT\nb\t_\n\nc\tNN\n")
    evaluation = read(gold, input=systems, metric="accuracy")
    assert evaluation.stats.tolist() == [[[1, 2], [1, 1]], [[1, 2], [0, 1]]]


def test_mbt(compared, write):
    report = compared(write("gold", MBT), "-i", write("one.mbt", MBT.replace("NN", "JJ")), write("two.mbt", MBT))
    scores = {(each["name"], each["metric"]): each["score"] for each in report["systems"]}
    assert scores == {("one", "accuracy"): pytest.approx(2 / 3), ("two", "accuracy"): 1.0}
    assert report["pairs"][0]["p_value"] == 1.0
    blank = MBT.replace("<utt>", "")
    evaluation = read(write("gold", blank), input=["one.mbt", "two.mbt"], reader="mbt")
    assert evaluation.stats.tolist() == [[[1, 2], [1, 1]], [[2, 2], [1, 1]]]


def test_numbers_for_a_function_of_ones_own(write):
    def share(sums):
        return sums[..., 0] / sums[..., 1]

    counts = {"right": "correct", "all": "tokens"}
    evaluation = read(write("a.txt", PAIRS), write("b.txt", PAIRS), metric=share, counts=counts)
    assert evaluation.stats[0].sum(axis=0).tolist() == [3, 5]


def test_other_annotation_is_no_guess(write):
    """CoNLL-2003 before it is tagged: words, parts of speech, chunks, entities."""
    files = (
        write("gold.txt", "EU NNP B-NP B-ORG\nleft VBD B-VP O\n"),
        write("a.txt", "EU NNP B-NP O\nleft VBD B-VP B-PER\n"),
    )
    with pytest.raises(InputError, match=r"gold.txt: the last column has types such as 'ORG', the one before it 'NP'"):
        read(*files)
    assert read(files[0], input=files).stats.tolist() == [[[1, 1, 1]], [[0, 1, 1]]]


HIPE = "TOKEN\tNE-COARSE-LIT\tMISC\nRome\tB-loc\t_\n"
LABELS = "yes\nno\n"
TIMBL = "a,b,yes,no\na,c,no,no\n"


@pytest.mark.parametrize(
    ("content", "gold", "metric", "expected"),
    [
        (PAIRS, False, None, "conll"),
        (PAIRS, False, "f0.5", "conll"),
        (PAIRS, True, None, "conll-gold"),
        (TAGGED, True, "accuracy", "conll-gold"),
        ("-DOCSTART- O\n\na O\n", True, None, "conll-gold"),
        (MBT, True, None, "mbt"),
        (HIPE, True, None, "hipe"),
        (LABELS, True, None, "labels"),
        (LABELS, True, "mcc", "labels"),
        (TIMBL, False, None, "timbl"),
        (TIMBL.replace(",", " "), False, "kappa", "timbl"),
        ("id,A,B\nx,1,0\n", False, None, None),
        ("This is text.\nAnd this.\n", True, None, None),
        ("a b c\nd e f\n", False, None, None),
        ("0.5\n0.25\n", False, None, None),
        ("x 1 1\ny 0 1\n", False, None, None),
        ("[1, 2, 3]\n", False, None, None),
    ],
)
def test_formats_are_known_by_their_content(write, content, gold, metric, expected):
    """None: it is none of these formats."""
    name = str(write("file", content))
    arguments = ([name], [name]) if gold else ([name, name], [])
    try:
        found = choose_formats(*arguments, reader=None, metrics=[metric])[0].name
    except InputError:
        found = None
    if expected is None:
        assert found not in ("conll", "conll-gold", "mbt", "hipe", "labels", "timbl")
    else:
        assert found == expected
