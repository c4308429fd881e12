"""Responses as instances: the example of Yeh (2000) in every format, all assignments of few responses, and refusals."""

import itertools
import json
import math
import random
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from test_phrases import naive_brackets, random_tree, written

from sigjax import InputError, audit, classical_tests, compare, equivalence, power, read
from sigjax.cli import _run

WIDTH = 8
"""Words of a sentence in files made of marks."""


# A response is a word that is marked; all formats can say which words of which sentences are marked.
def tagged(marks, size, *, end="", head="", gold=None):
    """A token a line with its tag, after that of `gold` where there are both."""
    lines = []
    for place in range(size):
        tags = ["B-X" if place in each else "O" for each in (gold, marks) if each is not None]
        lines.append("\t".join([f"w{place}", *tags]) + "\n" + (end + "\n" if place % WIDTH == WIDTH - 1 else ""))
    return head + "".join(lines)


def linked(marks, size):
    return "".join(
        " ".join(f"{word}-0" for word in range(WIDTH) if line * WIDTH + word in marks) + "\n"
        for line in range(size // WIDTH)
    )


def parsed(marks, size):
    def word(place):
        return f"(NP (T w{place}))" if place in marks else f"(T w{place})"

    return "".join(f"(TOP {' '.join(word(line * WIDTH + i) for i in range(WIDTH))})\n" for line in range(size // WIDTH))


def listed(marks, size):
    return "".join(f"{place}\n" for place in range(size) if place in marks)


WRITERS = {
    "conll-gold": tagged,
    "mbt": lambda marks, size: tagged(marks, size, end="<utt>"),
    "hipe": lambda marks, size: tagged(marks, size, head="TOKEN\tNE-COARSE-LIT\n"),
    "alignment": linked,
    "trees": parsed,
    "terms": listed,
}
METRICS = {name: {each: each for each in ("fscore", "precision", "recall")} for name in ("conll", *WRITERS)}
METRICS["alignment"] = {"fscore": "aer", "precision": "alignment-precision", "recall": "alignment-recall"}


def read_marks(write, reader, gold, given, size, **options):
    if reader == "conll":
        files = {name: write(name, tagged(marks, size, gold=gold)) for name, marks in given.items()}
        return read(input=files, reader=reader, **options)
    files = {name: write(name, WRITERS[reader](marks, size)) for name, marks in given.items()}
    return read(write("gold", WRITERS[reader](gold, size)), input=files, reader=reader, **options)


def score(metric, tp, predicted, gold):
    top, bottom = {"fscore": (2 * tp, predicted + gold), "precision": (tp, predicted), "recall": (tp, gold)}[metric]
    return Fraction(top, bottom) if bottom else Fraction(0)


# The counts of the example in section 3.3: relations of interest found by both, by one only, and spurious ones.
BOTH, ONE, OTHER, MISSED = 19, 28, 6, 50
SPURIOUS_BOTH, SPURIOUS_ONE, SPURIOUS_OTHER = 5, 43, 9
YEH = {
    "fscore": (0.0147756858, 0.0295513715),
    "precision": (0.980005711, 0.0399885791),
    "recall": (9.75627918e-05, 0.000195125584),
}
"""Exact p-values, one-sided and two-sided, of the same example as term lists, in rational numbers."""


def yeh_marks():
    ends = list(
        itertools.accumulate((BOTH, ONE, OTHER, MISSED, SPURIOUS_BOTH, SPURIOUS_ONE, SPURIOUS_OTHER), initial=0)
    )
    both, one, other, missed, spurious, of_one, of_other = (set(range(*pair)) for pair in itertools.pairwise(ends))
    places = list(range(ends[-1]))
    random.Random(1).shuffle(places)
    gold, *systems = (
        {places[i] for i in side}
        for side in (both | one | other | missed, both | one | spurious | of_one, both | other | spurious | of_other)
    )
    return gold, {"I": systems[0], "II": systems[1]}, ends[-1]


def two_binomials(metric, extreme):
    """P of the deltas that are extreme: of 34 right and 52 wrong responses, how many system I has is binomial."""
    right, wrong, gold = ONE + OTHER, SPURIOUS_ONE + SPURIOUS_OTHER, BOTH + ONE + OTHER + MISSED
    found = 0
    for i, j in itertools.product(range(right + 1), range(wrong + 1)):
        tp, others = BOTH + i, BOTH + right - i
        all_of_one, all_of_other = tp + SPURIOUS_BOTH + j, others + SPURIOUS_BOTH + wrong - j
        delta = score(metric, tp, all_of_one, gold) - score(metric, others, all_of_other, gold)
        found += math.comb(right, i) * math.comb(wrong, j) * extreme(delta)
    return found / 2 ** (right + wrong)


@pytest.mark.parametrize("metric", YEH)
@pytest.mark.parametrize("reader", METRICS)
def test_the_example_of_yeh_in_every_format(write, reader, metric):
    """The sentences do not matter: swapped are the 86 responses of one method only, as the paper has them."""
    gold, systems, size = yeh_marks()
    evaluation = read_marks(write, reader, gold, systems, size, metric=METRICS[reader][metric], unit="response")
    counts = [score(metric, len(own & gold), len(own), len(gold)) for own in systems.values()]
    observed = counts[0] - counts[1]
    lower = METRICS[reader][metric] == "aer"  # 1 - F, as all gold links are sure
    for alternative, expected, extreme in (
        ("greater", YEH[metric][0], lambda delta: delta >= observed),
        ("two-sided", YEH[metric][1], lambda delta: abs(delta) >= abs(observed)),
    ):
        asked = "less" if lower and alternative == "greater" else alternative
        (found,) = compare(evaluation, alternative=asked)
        scores = [1 - each for each in (found.score_a, found.score_b)] if lower else [found.score_a, found.score_b]
        assert scores == pytest.approx([float(each) for each in counts], rel=1e-14)
        assert found.method == "exact"
        assert found.p_value == pytest.approx(two_binomials(metric, extreme), rel=5e-10)
        assert found.p_value == pytest.approx(expected, rel=5e-9)


def every_assignment(a, b, gold, metric):
    """p over all ways to give each response of one system only to either; responses and gold are multisets."""
    moved = [each for each in {**a, **b} if a[each] != b[each]]
    sides = [(Counter(a), Counter(b))]
    for response in moved:
        sides += [
            (Counter({**one, response: other[response]}), Counter({**other, response: one[response]}))
            for one, other in sides
        ]

    def value(own):
        return score(metric, (own & gold).total(), own.total(), gold.total())

    deltas = [value(one) - value(other) for one, other in sides]
    assert len(deltas) == 2 ** len(moved)
    return sum(abs(delta) >= abs(deltas[0]) for delta in deltas) / len(deltas)


def random_tags(chooser):
    """Valid IOB2 tags of a sentence."""
    tags = []
    for _ in range(chooser.randrange(1, 4)):
        name = chooser.choice(["PER", "LOC"])
        tags += ["O"] * chooser.randrange(2) + [f"B-{name}"] + [f"I-{name}"] * chooser.randrange(2)
    return (tags + ["O"] * 8)[:5]


@pytest.mark.parametrize("metric", ["fscore", "precision", "recall"])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.slow
def test_every_assignment_of_spans(write, metric, seed):
    """Spans as seqeval finds them; those of two systems may overlap, of one system only before the swap."""
    seqeval = pytest.importorskip("seqeval.metrics.sequence_labeling")
    chooser = random.Random(seed)
    sides = {name: [random_tags(chooser) for _ in range(3)] for name in ("gold", "a", "b")}
    files = {
        name: write(name, "\n\n".join("\n".join(f"w {tag}" for tag in tags) for tags in sentences))
        for name, sentences in sides.items()
    }
    found = {
        name: Counter((i, *span) for i, tags in enumerate(sentences) for span in seqeval.get_entities(tags))
        for name, sentences in sides.items()
    }
    gold = files.pop("gold")
    evaluation = read(gold, input=files, reader="conll-gold", metric=metric, unit="response")
    (comparison,) = compare(evaluation)
    assert evaluation.num_instances == len(set().union(*found.values()))
    assert comparison.p_value == every_assignment(found["a"], found["b"], found["gold"], metric)


@pytest.mark.parametrize("metric", ["fscore", "precision", "recall"])
@pytest.mark.parametrize("seed", range(4))
def test_every_assignment_of_brackets(write, metric, seed):
    """A bracket that a tree has several times moves with all of them, so that it counts as in a tree."""
    chooser = random.Random(seed)
    sides = {name: [random_tree(chooser, ["u", "v", "w"]) for _ in range(2)] for name in ("gold", "a", "b")}
    files = {name: write(name, "\n".join(written(tree) for tree in trees)) for name, trees in sides.items()}
    found = {
        name: Counter((i, *bracket) for i, tree in enumerate(trees) for bracket in naive_brackets(tree)[0])
        for name, trees in sides.items()
    }
    assert any(count > 1 for each in found.values() for count in each.values())
    gold = files.pop("gold")
    evaluation = read(gold, input=files, reader="trees", metric=metric, unit="response")
    (comparison,) = compare(evaluation)
    assert comparison.p_value == every_assignment(found["a"], found["b"], found["gold"], metric)


@pytest.mark.parametrize("seed", range(4))
def test_every_assignment_of_links(write, seed):
    rng = np.random.default_rng(seed)
    sure, possible, a, b = ({tuple(map(int, link)) for link in rng.integers(0, 3, (5, 2))} for _ in range(4))
    possible |= sure
    gold = " ".join([*(f"{s}-{t}" for s, t in sure), *(f"{s}p{t}" for s, t in possible - sure)])
    files = {name: write(name, " ".join(f"{s}-{t}" for s, t in own)) for name, own in (("a", a), ("b", b))}
    (found,) = compare(read(write("gold", gold), input=files, unit="response"))

    def rate(own):
        return Fraction(len(own & sure) + len(own & possible), len(own) + len(sure))

    deltas = []
    for taken in itertools.product([0, 1], repeat=len(a ^ b)):
        one = (a & b) | {link for link, take in zip(sorted(a ^ b), taken, strict=True) if take}
        deltas.append(rate(one) - rate((a & b) | ((a ^ b) - one)))
    observed = rate(a) - rate(b)
    assert found.delta == pytest.approx(float(-observed))
    assert found.p_value == sum(abs(delta) >= abs(observed) for delta in deltas) / len(deltas)


def test_a_report_has_no_errors_and_says_so(write, capsys):
    gold, systems, size = yeh_marks()
    files = [str(write(name, tagged(marks, size))) for name, marks in (("gold", gold), *systems.items())]
    command = ["compare", files[0], "-i", *files[1:], "--reader", "conll-gold", "--unit", "response"]
    assert _run([*command, "--format", "json"], debug=False) == 0
    report = json.loads(capsys.readouterr().out)
    assert "|units:160 responses|" in report["signature"]
    assert report["settings"]["interval"] == "none"
    assert any("instances are responses" in note for note in report["notes"])
    for row in (*report["systems"], *report["pairs"]):
        assert (row["standard_error"], row["interval"]) == (None, None)
    saved = write("saved.npz", b"")
    assert _run(["extract", *command[1:], "-o", str(saved)], debug=False) == 0
    assert _run(["compare", str(saved), "--format", "json"], debug=False) == 0
    assert json.loads(capsys.readouterr().out) == report


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cluster": "document"}, "cluster is for instances such as sentences"),
        ({"strata": "document"}, "strata is for instances such as sentences"),
        ({"metric": "accuracy"}, "accuracy is of tokens"),
        ({"unit": "span"}, "unit must be one of instance, response, got 'span'"),
    ],
)
def test_options_that_do_not_go_together(write, options, message):
    files = {name: write(name, "a B-X\nb O\n") for name in "ab"}
    with pytest.raises(InputError, match=message):
        read(write("gold", "a B-X\nb O\n"), input=files, reader="conll-gold", **({"unit": "response"} | options))


def test_what_draws_instances_refuses_responses(write):
    evaluation = read_marks(write, "terms", {1, 2}, {"a": {1, 3}, "b": {2, 4, 5}}, WIDTH, unit="response")
    for study in (
        lambda: compare(evaluation, test="bootstrap"),
        lambda: compare(evaluation, leaderboard=True),
        lambda: equivalence(evaluation, margin=0.1),
        lambda: power(evaluation, instances=[10], repetitions=2, test="permutation"),
        lambda: audit(evaluation, repetitions=2),
    ):
        with pytest.raises(InputError, match="draws instances, but these are responses"):
            study()
    assert audit(evaluation, repetitions=2, test="permutation").tests[0].test == "permutation"
    found = classical_tests(evaluation)
    assert [each.test for each in found.comparisons] == ["permutation"]
    assert ("bootstrap", "responses are not a random sample of instances") in [
        (each.name, each.reason) for each in found.left_out
    ]


@pytest.mark.slow
def test_sums_are_those_of_sentences_on_real_data(data):
    hipe, align = data / "hipe_fr_coarse" / "raw", data / "align_enfr"
    files = {name: hipe / f"{name}_hipe2020_fr_1.tsv.gz" for name in ("neurbsl_bundle3", "team4_bundle4")}
    links = sorted((align / "systems").iterdir())
    given = [(hipe / "gold.tsv.gz", files, metric) for metric in ("fscore", "precision", "recall")]
    given += [(align / "gold.test.wa.nonullalign", links, metric) for metric in METRICS["alignment"].values()]
    for gold, systems, metric in given:
        one, two = (read(gold, input=systems, metric=metric, unit=unit) for unit in ("instance", "response"))
        assert one.stats.sum(axis=1).tolist() == two.stats.sum(axis=1).tolist()
