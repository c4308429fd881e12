"""WER, CER and TER against a recursion by hand and sacrebleu; confusion matrices; long segments."""

import math
import unicodedata
from functools import lru_cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics.ter import TER

from sigjax import Evaluation, InputError, compare, read
from sigjax.metrics import CLASS_METRICS, METRICS, TEXT_METRICS, class_metric
from sigjax.metrics.edits import edit_distance
from sigjax.metrics.textmetric import Recipe
from sigjax.metrics.texts import extract_stats
from sigjax.run.files import read_segments

OUTPUTS = {
    "A": ["The cat sat", "", "on the mat today", "  a  b "],
    "B": ["the cat sat down", "oh", "mat the on", "a b"],
}
GOLD = ["the cat sat", "", "on the mat", "a b c"]
OTHER = ["The big cat sat", "oh no", "mat", "b"]


def recursive(one, other):
    """The definition, letter by letter."""

    @lru_cache(None)
    def distance(i, j):
        if i == 0 or j == 0:
            return i + j
        return min(
            distance(i - 1, j) + 1, distance(i, j - 1) + 1, distance(i - 1, j - 1) + (one[i - 1] != other[j - 1])
        )

    return distance(len(one), len(other))


def errors_of(metric, systems=OUTPUTS, references=GOLD, **options):
    evaluation = Evaluation.from_texts(systems, references, metric=metric, **options)
    return dict(zip(evaluation.systems, evaluation.stats.tolist(), strict=True))


@given(one=st.text("abc", max_size=9), other=st.text("abcd", max_size=9))
def test_edit_distance_is_the_recursion(one, other):
    assert edit_distance(one, other) == recursive(one, other)
    assert edit_distance(list(one), tuple(other)) == recursive(one, other)


@given(one=st.lists(st.integers(0, 3), max_size=90), other=st.lists(st.integers(0, 3), max_size=90))
def test_edit_distance_of_sequences_longer_than_a_machine_word(one, other):
    assert edit_distance(one, other) == recursive(tuple(one), tuple(other))


@pytest.mark.parametrize("lowercase", [False, True])
@pytest.mark.parametrize(("metric", "split"), [("wer", str.split), ("cer", str.strip)])
def test_errors_are_those_of_the_recursion(metric, split, lowercase):
    def tokens(text):
        return tuple(split(text.lower() if lowercase else text))

    for system, counts in errors_of(f"{metric}(lowercase=true)" if lowercase else metric).items():
        pairs = zip(OUTPUTS[system], GOLD, strict=True)
        expected = [[recursive(tokens(text), tokens(gold)), len(tokens(gold))] for text, gold in pairs]
        assert counts == expected


def test_of_several_references_the_one_with_the_fewest_errors_for_its_length():
    """By hand: of segment 1 of A, 1 of 3 words against 2 of 4; of segment 3 of B, 2 of 3 against 2 of 1."""
    found = errors_of("wer", references=[GOLD, OTHER])
    assert found == {"A": [[1, 4], [0, 0], [1, 3], [1, 3]], "B": [[1, 3], [1, 2], [2, 3], [1, 3]]}


@pytest.mark.parametrize("num_references", [1, 2, 3])
def test_ter_keeps_whole_numbers_and_the_score_of_sacrebleu(num_references):
    """With several references their mean length is a fraction, which no exact test could take."""
    references = [GOLD, OTHER, ["The cat", "", "x y z", "c"]][:num_references]
    evaluation = Evaluation.from_texts(OUTPUTS, references, metric="ter")
    assert evaluation.stats.dtype == np.int64
    expected = {name: TER().corpus_score(texts, references).score for name, texts in OUTPUTS.items()}
    report = compare(evaluation, resamples=100)
    assert {system.name: system.score for system in report.systems} == pytest.approx(expected, rel=1e-14)
    assert report.comparisons[0].method == "exact"
    assert evaluation.notes[0].startswith(f"ter: TER|nrefs:{num_references}|case:lc|tok:tercom|")


MEGABYTE = "the cat sat on a mat " * 50_000
LIBRARIES = dict.fromkeys(("bleu", "chrf", "chrf++", "ter"), "sacrebleu") | {"rouge": "rouge_score"}


def need(metric):
    library = LIBRARIES.get("rouge" if metric.startswith("rouge") else metric)
    if library:
        pytest.importorskip(library)


@pytest.mark.parametrize("metric", [name for name, each in TEXT_METRICS.items() if each.longest < 1_000_001])
def test_lines_of_a_megabyte_are_refused_by_metrics_that_compare_all_tokens(tmp_path, here, metric):
    need(metric)
    (tmp_path / "ref.txt").write_text(f"a cat\n{MEGABYTE}\n")
    for name in "ab":
        (tmp_path / f"{name}.txt").write_text(f"the cat\n{MEGABYTE}\n")
    with pytest.raises(InputError, match=r"^ref.txt, line 2: 1,050,000 characters are too long for .*; split it"):
        read("ref.txt", input=["a.txt", "b.txt"], metric=metric)
    texts = {"A": ["the cat", MEGABYTE], "B": ["", ""]}
    with pytest.raises(InputError, match=r"^reference 1, segment 2: 1,050,000 characters are too long for"):
        Evaluation.from_texts(texts, ["a cat", MEGABYTE], metric=metric, cache=False)


@pytest.mark.parametrize("metric", ["bleu", "chrf", "rouge1"])
def test_other_metrics_refuse_only_what_no_memory_holds(metric):
    need(metric)
    texts = {"A": ["a " * 1_600_000], "B": ["a"]}
    with pytest.raises(InputError, match=rf"'A', segment 1: 3,200,000 characters .* {metric} \(at most 2,000,000"):
        Evaluation.from_texts(texts, ["b " * 1_000_000], metric=metric, cache=False)


@pytest.mark.parametrize("metric", ["wer", "cer"])
def test_punctuation_is_left_out_where_asked(metric, write):
    """What Unicode calls punctuation, as jiwer's RemovePunctuation; an independent table of distances."""
    references = ["Hello, world: it's me!", "“Quoted” — text…", "a+b = c $5", "?!"]
    outputs = ["hello world its me", "quoted text.", "a+b=c, $5", "no"]

    def bare(text):
        return "".join(letter for letter in text if not unicodedata.category(letter).startswith("P")).lower()

    def distance(a, b):
        table = list(range(len(b) + 1))
        for i, x in enumerate(a, 1):
            table, before = [i], table
            for j, y in enumerate(b, 1):
                table.append(min(before[j] + 1, table[-1] + 1, before[j - 1] + (x != y)))
        return table[-1]

    split = str.split if metric == "wer" else str.strip
    expected = [
        [distance(split(bare(gold)), split(bare(own))), len(split(bare(gold)))]
        for gold, own in zip(references, outputs, strict=True)
    ]
    name = f"{metric}(lowercase=true, punctuation=false)"
    made = Evaluation.from_texts({"A": outputs, "B": references}, references, metric=name, cache=False)
    assert (made.metric.name, made.stats[0].tolist()) == (name, expected)
    assert made.notes[0].endswith(f"nrefs:1|case:lc|unit:{'words' if metric == 'wer' else 'characters'}|punct:no")
    usual = f"{metric}(punctuation=true)"
    plain = Evaluation.from_texts({"A": outputs, "B": references}, references, metric=usual, cache=False)
    assert plain.metric.name == metric
    assert plain.stats.tolist() != made.stats.tolist()
    ref, own = write("ref.txt", "\n".join(references) + "\n"), write("own.txt", "\n".join(outputs) + "\n")
    assert read(ref, input=[own, write("b.txt", "a\nb\nc\nd\n")], metric=name).stats[0].tolist() == expected


def test_long_texts_of_few_words_are_counted():
    words = ["x" * 300_000, "y" * 300_000]
    evaluation = Evaluation.from_texts({"A": [" ".join(words)], "B": [words[0]]}, [words[0]], metric="wer", cache=False)
    assert evaluation.stats[:, 0].tolist() == [[1, 1], [0, 1]]


@pytest.mark.parametrize("metric", ["bleu", "chrf", "wer"])
def test_a_block_of_long_segments_is_counted_in_parts(monkeypatch, metric):
    need(metric)
    references = [[f"the {i} cat sat on mat {i % 7}" for i in range(150)]]
    systems = [[f"a {i} cat sat on the mat {i % k}" for i in range(150)] for k in (5, 7)]
    whole = extract_stats(Recipe(metric), references, systems, workers=1, advance=lambda done: None)
    for most in (1, 200, 1000):
        monkeypatch.setattr("sigjax.metrics.texts._MOST_CHARACTERS", most)
        parts = extract_stats(Recipe(metric), references, systems, workers=1, advance=lambda done: None)
        assert parts.tolist() == whole.tolist()


PAIRS = st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("abcd")), min_size=1, max_size=30)
CLASSES = "abcd"


def score(name, pairs):
    """Our score of (gold, predicted) pairs, from the sums of the statistics."""
    metric = class_metric(name, CLASSES)
    right = {f"correct:{k}": sum(g == p == k for g, p in pairs) for k in CLASSES}
    predicted = {f"predicted:{k}": sum(p == k for _, p in pairs) for k in CLASSES}
    gold = {f"gold:{k}": sum(g == k for g, _ in pairs) for k in CLASSES}
    sums = right | predicted | gold | {"correct": sum(g == p for g, p in pairs)}
    return float(metric.score(np.array([sums[name] for name in metric.stat_names], float)))


def by_hand(name, pairs):
    """The definitions, from the matrix `[gold][predicted]`."""
    n = len(pairs)
    matrix = [[sum(pair == (g, p) for pair in pairs) for p in CLASSES] for g in CLASSES]
    row, column = [sum(each) for each in matrix], [sum(each) for each in zip(*matrix, strict=True)]
    if name in ("mcc", "kappa"):
        # Sums over all cells: covariances of the indicators of the classes.
        covariance = sum(matrix[k][k] / n - row[k] * column[k] / n**2 for k in range(4))
        if name == "kappa":
            chance = sum(r * c for r, c in zip(row, column, strict=True)) / n**2
            return covariance / (1 - chance) if chance < 1 else 0.0
        spread = math.prod(sum(x / n * (1 - x / n) for x in sizes) for sizes in (row, column))
        return covariance / math.sqrt(spread) if spread else 0.0
    values, weights = [], []
    for k in range(4):
        if row[k] + column[k]:
            precision = matrix[k][k] / column[k] if column[k] else 0.0
            recall = matrix[k][k] / row[k] if row[k] else 0.0
            both = precision + recall
            f1 = 2 * precision * recall / both if both else 0.0
            macro = {"macro-fscore": f1, "macro-precision": precision, "macro-recall": recall}
            weight = row[k] if name == "weighted-fscore" else 1 if name in macro or row[k] else 0
            weights.append(weight)
            values.append((macro | {"weighted-fscore": f1, "balanced-accuracy": recall})[name] * weight)
    return sum(values) / sum(weights)


@pytest.mark.parametrize("name", CLASS_METRICS)
@given(pairs=PAIRS)
def test_scores_are_those_of_the_confusion_matrix(name, pairs):
    assert score(name, pairs) == pytest.approx(by_hand(name, pairs), abs=1e-12)


@pytest.mark.parametrize("name", CLASS_METRICS)
@given(pairs=PAIRS)
def test_scores_are_those_of_scikit_learn(name, pairs):
    theirs = pytest.importorskip("sklearn.metrics")
    gold, predicted = zip(*pairs, strict=True)
    options = {"average": "macro", "zero_division": 0}
    if name in ("mcc", "kappa") and len({*gold, *predicted}) == 1:
        return  # a warning or no number there; 0 here
    expected = {
        "macro-fscore": lambda: theirs.f1_score(gold, predicted, **options),
        "macro-precision": lambda: theirs.precision_score(gold, predicted, **options),
        "macro-recall": lambda: theirs.recall_score(gold, predicted, **options),
        "weighted-fscore": lambda: theirs.f1_score(gold, predicted, average="weighted", zero_division=0),
        "balanced-accuracy": lambda: theirs.recall_score(gold, predicted, labels=sorted({*gold}), **options),
        "mcc": lambda: theirs.matthews_corrcoef(gold, predicted),
        "kappa": lambda: theirs.cohen_kappa_score(gold, predicted),
    }[name]()
    assert score(name, pairs) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("metric", "one"), [("ter", 100.0), ("wer", 1.0), ("cer", 1.0)])
def test_no_reference_is_all_wrong_unless_nothing_was_put_out(metric, one):
    sums = np.array([[0.0, 0.0], [7.0, 0.0], [2.0, 4.0]])
    assert METRICS[metric].score(sums).tolist() == [0.0, one, one / 2]
    assert METRICS[metric].score(sums.astype(int)).tolist() == [0.0, one, one / 2]
    if metric == "ter":
        assert [TER()._compute_score_from_stats(list(each)).score for each in sums] == [0.0, one, one / 2]


def test_numbers_below_zero_are_refused():
    with pytest.raises(InputError, match="system 'a': the number of edits must not be below 0, got -1 at instance 2"):
        Evaluation.from_arrays({"a": [[1, 2], [-1, 2]], "b": [[1, 2], [1, 2]]}, metric="ter")
    with pytest.raises(InputError, match="ref_len must not be below 0, got -2 at instance 1"):
        Evaluation.from_arrays({"a": [[1, -2], [1, 2]], "b": [[1, 2], [1, 2]]}, metric="wer")


@pytest.mark.slow
def test_ter_of_real_outputs(data):
    """The first paragraphs only: sacrebleu needs a tenth of a second for each."""
    references, *systems = (
        read_segments(data / "wmt23_ende" / f"{name}.txt.gz")[:8]
        for name in ("refA", "systems/AIRC", "systems/ONLINE-W")
    )
    evaluation = Evaluation.from_texts({"A": systems[0], "B": systems[1]}, references, metric="ter")
    expected = [TER().corpus_score(texts, [references]).score for texts in systems]
    assert METRICS["ter"].score(evaluation.stats.sum(axis=1)) == pytest.approx(expected, rel=1e-14)
