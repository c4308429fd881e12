"""Spans of tags: every scheme, conlleval's rules, and counts by sets."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sigjax.metrics.matches import f1_score
from sigjax.metrics.ratios import ratio_score
from sigjax.readers.tagging.spans import Spans, count_spans, find_spans, is_span_tag, tag_table
from sigjax.readers.tagging.tokens import encode

TAGS = st.sampled_from(["O", *(f"{prefix}-{name}" for prefix in "BIESLUM" for name in "XY")])


def spans_of(sentences):
    """(sentence, type, first, end) of each span, and what they were found with."""
    codes = {}
    encoded = encode(sum(sentences, []), codes)
    starts = np.cumsum([0, *map(len, sentences)])[:-1]
    table = tag_table(list(codes))
    names = {table.types[code]: tag[2:] for tag, code in codes.items()}
    found = find_spans(encoded, table, starts)
    own = np.searchsorted(starts, found.starts, side="right") - 1
    return [
        (int(s), names[kind], int(first - starts[s]), int(end - starts[s]))
        for s, kind, first, end in zip(own, found.types, found.starts, found.ends, strict=True)
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


def count(gold, predicted):
    """Our counts of two files of sentences."""
    codes = {}
    truth, found = (encode(sum(tags, []), codes) for tags in (gold, predicted))
    starts = np.cumsum([0, *map(len, gold)])[:-1]
    table = tag_table(list(codes))
    return count_spans(find_spans(truth, table, starts), find_spans(found, table, starts), starts)


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


def test_a_span_belongs_to_the_sentence_of_its_first_token():
    spans = Spans(np.array([1, 3]), np.array([3, 5]), np.array([0, 0]))
    counts = count_spans(spans, spans, np.array([0, 2, 4]))
    assert {name: column.tolist() for name, column in counts.items()} == dict.fromkeys(counts, [1, 1, 0])


@pytest.mark.parametrize("tag", ["NN", "", "PER", "b-PER", "B_PER", "BPER", "O-PER", "X-PER", "."])
def test_tags_that_mark_no_span(tag):
    assert not is_span_tag(tag)
