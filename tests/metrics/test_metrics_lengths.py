"""Long segments of texts: counted as ever where that is possible, else refused with their line and what to do."""

import pytest

from sigjax import Evaluation, InputError, read
from sigjax.metrics import TEXT_METRICS
from sigjax.metrics.textmetric import Recipe
from sigjax.metrics.texts import extract_stats

MEGABYTE = "the cat sat on a mat " * 50_000
LIBRARIES = dict.fromkeys(("bleu", "chrf", "chrf++", "ter"), "sacrebleu") | {"rouge": "rouge_score"}


def need(metric):
    library = LIBRARIES.get("rouge" if metric.startswith("rouge") else metric)
    if library:
        pytest.importorskip(library)


@pytest.mark.parametrize("metric", [name for name, each in TEXT_METRICS.items() if each.quadratic])
def test_lines_of_a_megabyte_are_refused_by_metrics_that_compare_all_tokens(tmp_path, here, metric):
    need(metric)
    (tmp_path / "ref.txt").write_text(f"a cat\n{MEGABYTE}\n")
    for name in "ab":
        (tmp_path / f"{name}.txt").write_text(f"the cat\n{MEGABYTE}\n")
    with pytest.raises(
        InputError, match=r"^a.txt, line 2: \d+ tokens, and \d+ in ref.txt, are too long for .*; split t"
    ):
        read("ref.txt", input=["a.txt", "b.txt"], metric=metric)
    texts = {"A": ["the cat", MEGABYTE], "B": ["", ""]}
    with pytest.raises(InputError, match=r"^system 'A', segment 2: \d+ tokens, and \d+ in reference 1, are too long"):
        Evaluation.from_texts(texts, ["a cat", MEGABYTE], metric=metric, cache=False)


@pytest.mark.parametrize("metric", ["bleu", "chrf", "rouge1"])
def test_other_metrics_refuse_only_what_no_memory_holds(metric):
    need(metric)
    texts = {"A": ["a " * 1_600_000], "B": ["a"]}
    with pytest.raises(InputError, match=rf"3200000 tokens, and 2000000 in reference 1, .* {metric} \(about 2000000 e"):
        Evaluation.from_texts(texts, ["b " * 1_000_000], metric=metric, cache=False)


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
