"""Tagged tokens: spans of tags by conlleval, seqeval, nervaluate and sets; columns, gold files, MBT and HIPE tables."""

import csv

import numpy as np
import pytest
from annotated import MBT, PAIRS, TAGGED
from hypothesis import given
from hypothesis import strategies as st

from sigjax import InputError, compare, read
from sigjax.formats.conll import count_spans, encode, find_spans, tag_table
from sigjax.formats.reading import choose_formats
from sigjax.metrics.ratios import f1_score, ratio_score

pytestmark = pytest.mark.usefixtures("here")


TAGS = st.sampled_from(["O", *(f"{prefix}-{name}" for prefix in "BIESLUM" for name in "XY")])


def spans_of(sentences):
    """(sentence, type, first, end) of each span, and what they were found with."""
    codes = {}
    encoded = encode(sum(sentences, []), codes)
    starts = np.cumsum([0, *map(len, sentences)])[:-1]
    table = tag_table(list(codes))
    names = {table[0][code]: tag[2:] for tag, code in codes.items()}
    found = find_spans(encoded, table, starts)
    own = np.searchsorted(starts, found[0], side="right") - 1
    return [
        (int(s), names[kind], int(first - starts[s]), int(end - starts[s]))
        for s, kind, first, end in zip(own, found[2], found[0], found[1], strict=True)
    ]


def conlleval_spans(tags):
    """(type, first, end) by the tables of conlleval, token by token."""
    found, start, before, before_type = [], 0, "O", ""
    for i, tag in enumerate([*tags, "O"]):
        prefix, _, kind = tag.partition("-")
        differs = before_type != kind
        ended = (
            (before, prefix) in {("B", "B"), ("B", "O"), ("I", "B"), ("I", "O"), ("E", "E"), ("E", "I"), ("E", "O")}
        ) or (before != "O" and differs)
        started = (
            (before, prefix) in {("B", "B"), ("I", "B"), ("O", "B"), ("O", "I"), ("E", "E"), ("E", "I"), ("O", "E")}
        ) or (prefix != "O" and differs)
        if ended:
            found.append((before_type, start, i))
        if started:
            start = i
        before, before_type = prefix, kind
    return found


def write_tags(spans, length, scheme):
    """The tags of spans (type, first, end) in a scheme, written from its definition."""
    tags = ["O"] * length
    for kind, first, end in spans:
        follows = any((k, e) == (kind, first) for k, _, e in spans)
        precedes = any((k, f) == (kind, end) for k, f, _ in spans)
        inner = ["I"] * (end - first)
        if scheme == "IOB1" and follows or scheme == "IOB2":
            inner[0] = "B"
        elif scheme == "IOE1" and precedes or scheme == "IOE2":
            inner[-1] = "E"
        elif scheme in ("BIOES", "BILOU", "BMES"):
            last, single, middle = {"BIOES": "ESI", "BILOU": "LUI", "BMES": "ESM"}[scheme]
            inner = [single] if end - first == 1 else ["B", *[middle] * (end - first - 2), last]
        tags[first:end] = [f"{prefix}-{kind}" for prefix in inner]
    return tags


@st.composite
def disjoint_spans(draw):
    """Spans of two types, in order, some next to each other, and the length of their sentence."""
    spans, place = [], 0
    for kind, gap, length in draw(st.lists(st.tuples(st.sampled_from("XY"), st.integers(0, 2), st.integers(1, 4)))):
        spans.append((kind, place + gap, place + gap + length))
        place += gap + length
    return spans, place + draw(st.integers(0, 2))


@pytest.mark.parametrize("scheme", ["IOB1", "IOB2", "IOE1", "IOE2", "BIOES", "BILOU", "BMES"])
@given(case=disjoint_spans())
def test_every_scheme_comes_back(scheme, case):
    spans, length = case
    found = spans_of([write_tags(spans, length, scheme), ["I-X"]])
    assert found == [*((0, *span) for span in spans), (1, "X", 0, 1)]


@pytest.mark.parametrize("prefixes", ["BI", "IE"])
@given(data=st.data())
def test_any_tags_as_conlleval_reads_them(prefixes, data):
    """Also where a tag breaks its scheme: I after O, or after another type."""
    tag = st.sampled_from(["O", *(f"{prefix}-{kind}" for prefix in prefixes for kind in "XY")])
    tags = data.draw(st.lists(tag, min_size=1))
    assert [span for _, *span in spans_of([tags])] == [list(span) for span in conlleval_spans(tags)]


SENTENCES = st.lists(
    st.integers(1, 6).flatmap(lambda n: st.tuples(*[st.lists(TAGS, min_size=n, max_size=n)] * 2)), min_size=1
)


def count(gold, predicted, match="strict"):
    """Our counts of two files of sentences."""
    codes = {}
    truth, found = (encode(sum(tags, []), codes) for tags in (gold, predicted))
    starts = np.cumsum([0, *map(len, gold)])[:-1]
    table = tag_table(list(codes))
    return count_spans(find_spans(truth, table, starts), find_spans(found, table, starts), starts, match)


@given(SENTENCES)
def test_counts_are_those_of_sets(pairs):
    gold, predicted = ([list(side) for side in sides] for sides in zip(*pairs, strict=True))
    counts = count(gold, predicted)
    for i, (truth, found) in enumerate(pairs):
        a, b = set(spans_of([truth])), set(spans_of([found]))
        assert [counts[name][i] for name in ("tp", "predicted", "gold")] == [len(a & b), len(b), len(a)]


@given(SENTENCES)
def test_scores_are_those_of_seqeval(pairs):
    seqeval = pytest.importorskip("seqeval.metrics.sequence_labeling")
    known = str.maketrans("LUM", "ESI")  # seqeval's default reader knows BIOES
    gold, predicted = (
        [[tag[0].translate(known) + tag[1:] for tag in side] for side in sides] for sides in zip(*pairs, strict=True)
    )
    sums = {name: column.sum() for name, column in count(gold, predicted).items()}
    tp, found, truth = (np.float64(sums[name]) for name in ("tp", "predicted", "gold"))
    options = {"zero_division": 0}
    ours = (
        f1_score(np.array([tp, found, truth])),
        ratio_score(np.array([tp, found])),
        ratio_score(np.array([tp, truth])),
    )
    theirs = (
        seqeval.f1_score(gold, predicted, **options),
        seqeval.precision_score(gold, predicted, **options),
        seqeval.recall_score(gold, predicted, **options),
    )
    np.testing.assert_allclose(ours, theirs, rtol=1e-12)


# Sentences (gold, guess), one letter per token: its type, large where a span starts.
PARTIAL = [
    *[("Xx..Yyy.", "Xx..Yyy."), ("Xxx.Y", "Xx..X"), ("XYyy.X", "Xxx.YX"), ("Xxxx.", "XxYy.")],
    *[("Yyyy.", "XYyy."), (".Xx.Yy.", ".YyyyX."), ("..X", ".YX"), ("XxYy", "....")],
]


def tag(letter):
    return "O" if letter == "." else f"{'B' if letter.isupper() else 'I'}-{letter.upper()}"


@pytest.fixture
def partial_files(write):
    """A gold file, and one of a system that is wrong as in `PARTIAL`, and one that is right."""
    gold, guess = ("\n\n".join("\n".join(f"w {tag(c)}" for c in pair[i]) for pair in PARTIAL) for i in (0, 1))
    return write("gold.conll", gold), {"wrong": write("a.conll", guess), "right": write("b.conll", gold)}


@pytest.mark.parametrize(
    ("match", "right"),
    [
        ("strict", [2, 0, 1, 0, 0, 0, 1, 0]),
        ("exact", [2, 1, 1, 0, 0, 0, 1, 0]),
        ("partial", [2, 1.5, 1.5, 0.5, 0.5, 1, 1, 0]),
        ("type", [2, 1, 2, 1, 0, 1, 1, 0]),
        ("fuzzy", [2, 1, 2, 1, 0, 0, 1, 0]),
    ],
)
def test_counts_of_nervaluate_and_of_the_scorer_of_hipe(partial_files, match, right):
    """Correct, and half of partial, of nervaluate 1.2.1; of ner_eval.py of HIPE-scorer for fuzzy."""
    gold, systems = partial_files
    evaluation = read(gold, input=systems, metric=f"fscore(match={match})")
    predicted, truth = [2, 2, 3, 2, 2, 2, 2, 0], [2, 2, 3, 1, 1, 2, 1, 2]
    assert evaluation.stats[0].T.tolist() == [right, predicted, truth]
    assert evaluation.stats[1].T.tolist() == [truth] * 3
    assert any("(match=" in note for note in evaluation.notes) == (match != "strict")
    (comparison,) = compare(evaluation, test="permutation", interval="none", device="numpy")
    assert comparison.method == "exact"
    assert comparison.score_a == pytest.approx(2 * sum(right) / (sum(predicted) + sum(truth)), rel=1e-14)


@pytest.mark.parametrize("match", ["strict", "exact", "partial", "type"])
@given(SENTENCES)
def test_counts_are_those_of_nervaluate(match, pairs):
    strategies, entity = (pytest.importorskip(f"nervaluate.{name}") for name in ("strategies", "entities"))
    kinds = {"strict": "Strict", "exact": "Exact", "partial": "Partial", "type": "EntityType"}
    strategy = getattr(strategies, f"{kinds[match]}Evaluation")()
    gold, predicted = ([list(side) for side in sides] for sides in zip(*pairs, strict=True))
    counts = count(gold, predicted, match)
    for i, pair in enumerate(pairs):
        truth, found = (
            [entity.Entity(kind, start, end - 1) for _, kind, start, end in spans_of([tags])] for tags in pair
        )
        result, _ = strategy.evaluate(truth, found, [])
        assert counts["tp"][i] == result.correct + result.partial / 2


def test_a_span_that_counts_belongs_to_the_sentence_of_its_gold_span():
    """Entities of HIPE cross the ends of sentences: no sentence may have more right spans than gold ones."""
    gold, found = (np.array([[start], [4], [0]]) for start in (1, 2))
    counts = count_spans(gold, found, np.array([0, 2]), "fuzzy")
    assert {name: column.tolist() for name, column in counts.items()} == dict.fromkeys(counts, [1, 0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metric": "accuracy(match=fuzzy)"}, "the metric accuracy takes no parameters, got 'match'"),
        ({"unit": "response"}, "--unit response: with match=fuzzy a span may take the gold span of another"),
        ({"metric": "f2(match=loose)"}, "f2 takes (match=strict|exact|partial|type|fuzzy), got 'match=loose'"),
        ({"reader": "labels"}, "metric 'fscore(match=fuzzy)': match means nothing for the format labels; leave it out"),
    ],
)
def test_matches_that_mean_nothing_are_refused(partial_files, options, message):
    gold, systems = partial_files
    with pytest.raises(InputError) as refused:
        read(gold, input=systems, **{"metric": "fscore(match=fuzzy)", **options})
    assert message in refused.value.flags


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


def by_line(change, text):
    """A text whose lines of tokens are changed."""
    return "\n".join(change(line.split()) if line else "" for line in text.split("\n"))


SMALL_HIPE = "TOKEN\tNE-COARSE-LIT\tMISC\nRome\tB-loc\t_\n"
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
        (SMALL_HIPE, True, None, "hipe"),
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


@pytest.mark.parametrize("match", ["strict", "fuzzy"])
def test_published_counts(compared, data, match):
    """The campaign's own table: true positives, false positives and false negatives."""
    folder = data / "hipe_fr_coarse"
    regime = f"NE-COARSE-LIT-micro-{match}-TIME-ALL-LED-ALL"
    with (folder / "published_hipe2022.tsv").open(newline="") as lines:
        published = {
            row["System"]: [int(row[name]) for name in ("TP", "FP", "FN")]
            for row in csv.DictReader(lines, delimiter="\t")
            if (row["Evaluation"], row["Label"]) == (regime, "ALL")
        }
    names = "neurbsl_bundle3_hipe2020_fr_1", "team4_bundle4_hipe2020_fr_1"
    gold, files = folder / "raw" / "gold.tsv.gz", [folder / "raw" / f"{name}.tsv.gz" for name in names]
    metrics = [f"{metric}(match={match})" for metric in ("fscore", "precision", "recall")]
    report = compared(gold, "-i", *files, "-m", *metrics, "--cluster", "document")
    scores = {(each["name"], each["metric"].partition("(")[0]): each["score"] for each in report["systems"]}
    evaluation = read(gold, input=files, cluster="document", metric=f"fscore(match={match})")
    assert evaluation.stats.shape == (2, 1462, 3)
    assert len(set(evaluation.clusters)) == 43
    for name, stats in zip(names, evaluation.stats, strict=True):
        tp, fp, fn = published[name]
        assert stats.sum(axis=0).tolist() == [tp, tp + fp, tp + fn]
        assert scores[name, "precision"] == tp / (tp + fp)
        assert scores[name, "recall"] == tp / (tp + fn)
        assert scores[name, "fscore"] == 2 * tp / (2 * tp + fp + fn)
    expected = {"strict": [[1256, 464, 344], [1051, 451, 549]], "fuzzy": [[1438, 282, 162], [1237, 265, 363]]}
    assert [published[name] for name in names] == expected[match]


def table(words, tags):
    return "\n".join(["TOKEN\tNE-COARSE-LIT", *map("\t".join, zip(words, tags, strict=True)), ""])


WORDS = "de la ville de Rome de la gare de la ville".split()
TAGS_OF_HIPE = ["O", "O", "O", "O", "B-loc", "O", "O", "O", "O", "B-loc", "I-loc"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["ville", "Rome", "ville", "gare"], "a.tsv, line 2: token 'ville', but 'de' on line 2 of .*gold.tsv"),
        ([*WORDS, "!"], "a.tsv: has 12 tokens, but .*gold.tsv has 11"),
        (WORDS[:-1], "a.tsv: has 10 tokens, but .*gold.tsv has 11"),
    ],
)
def test_other_texts_are_refused(write, words, message):
    gold = write("gold.tsv", table(WORDS, TAGS_OF_HIPE))
    with pytest.raises(InputError, match=message):
        read(gold, input={"a": write("a.tsv", table(words, ["O"] * len(words))), "b": gold}, reader="hipe")


@pytest.mark.parametrize("nothing", ["O", "_", "-"])
def test_what_stands_for_no_entity_in_tables_of_hipe_is_outside(write, nothing):
    tags = {"gold": "B-pers I-pers O O B-loc O".split(), "a": "B-pers O O B-loc B-loc O".split()}
    files = {}
    for name, own in tags.items():
        rows = [f"w{k}\t{nothing if tag == 'O' else tag}" for k, tag in enumerate(own)]
        files[name] = write(f"{name}.tsv", "\n".join(["TOKEN\tNE-COARSE-LIT", *rows, ""]))
    found = read(files["gold"], input=[files["a"], files["gold"]], reader="hipe", metric="fscore")
    assert found.stats.sum(axis=1).tolist() == [[1, 3, 2], [2, 2, 2]]


def test_other_annotation_is_no_guess(write):
    """CoNLL-2003 before it is tagged: words, parts of speech, chunks, entities."""
    files = (
        write("gold.txt", "EU NNP B-NP B-ORG\nleft VBD B-VP O\n"),
        write("a.txt", "EU NNP B-NP O\nleft VBD B-VP B-PER\n"),
    )
    with pytest.raises(InputError, match=r"gold.txt: the last column has types such as 'ORG', the one before it 'NP'"):
        read(*files)
    assert read(files[0], input=files).stats.tolist() == [[[1, 1, 1]], [[0, 1, 1]]]
