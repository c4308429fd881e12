"""Phrase structure, dependencies, segmentation, alignments, terms: published figures and second computations."""

import functools
import json
import random

import numpy as np
import pytest
from annotated import SEGMENTED, SEGMENTS, SEGMENTS_TWO, TREES, TREES_ONE, TREES_TWO, conllu, evalb, row
from hypothesis import given
from hypothesis import strategies as st

from sigjax import InputError, read
from sigjax.formats import FORMATS
from sigjax.formats.conll import common_subsequence
from sigjax.formats.trees import NOTE, UNMATCHED, count_words, match_words, parse_conllu, parse_tree

# (matched, gold, test) of the valid sentences of the sample that comes with evalb, whose summary says 87.76 and 90.53.
SAMPLE = [
    (4, 4, 4), (3, 4, 4), (4, 4, 4), (3, 4, 4), (3, 4, 4), (2, 4, 3), (1, 4, 1), (0, 4, 0), (4, 4, 5), (4, 4, 8), None,
    None, None, None, (4, 4, 4), None, None, (4, 4, 4), (4, 4, 4), None, (4, 4, 4), (34, 34, 34), (4, 4, 4), (4, 4, 4),
]  # fmt: skip


def scores(evaluation):
    return evaluation.metric.score(evaluation.stats.sum(axis=1) * 1.0)


def test_the_sample_of_evalb(write):
    files = [write("one.txt", evalb(SAMPLE)), write("two.txt", evalb(SAMPLE).replace("\n", "\r\n"))]
    for metric, expected in (("recall", 87.76), ("precision", 90.53), ("fscore", 2 * 86 / (95 + 98) * 100)):
        evaluation = read(*files, metric=metric)
        assert evaluation.stats.shape[1] == 17
        np.testing.assert_allclose(100 * scores(evaluation), expected, atol=0.005)
    assert evaluation.ids is not None
    assert evaluation.ids[10] == "15"
    left_out = "'11', '12', '13', '14', '16', '17', '20'"
    assert evaluation.notes[1].endswith(
        f"two.txt: left out 7 sentences with a Stat. other than 0, as evalb does: {left_out}"
    )


@pytest.fixture
def trees(write):
    gold, one, two = (
        write(name, "\n".join(lines) + "\n")
        for name, lines in (("gold", TREES), ("one", TREES_ONE), ("two", TREES_TWO))
    )
    return gold, [one, two]


def test_brackets_by_hand(trees):
    gold, systems = trees
    evaluation = read(gold, input=systems, missing="zero")
    # Gold: S NP VP NP, S VP ADVP, NP NP NP; a second S over the same words is one too many.
    assert evaluation.stats.tolist() == [[[3, 4, 4], [3, 3, 3], [0, 0, 3]], [[2, 5, 4], [2, 4, 3], [1, 2, 3]]]
    assert evaluation.notes[0] == NOTE
    with pytest.raises(InputError, match=r"'one' lacks 1 of 3 \(first: 3\)"):
        read(gold, input=systems)


def test_the_sample_trees_of_evalb(write):
    """Pairs of the sample that comes with evalb; the numbers are its (matched, gold, test)."""
    gold = "(S (A (P this)) (B (Q is) (A (R a) (T test))))"
    pairs = {
        "(S (A (P this)) (B (Q is) (C (R a) (T test))))": (3, 4, 4),
        "(S (C (P this)) (B (Q is) (A (R a) (U test))))": (3, 4, 4),
        "(S (A (P this)) (B (Q is) (R a) (A (T test))))": (3, 4, 4),
        "(S (A (P this) (Q is)) (A (R a) (T test)))": (2, 4, 3),
        "(S (P this) (Q is) (R a) (T test))": (1, 4, 1),
        "(P this) (Q is) (R a) (T test)": (0, 4, 0),
        "(S (A (P this)) (B (Q is) (A (A (R a) (T test)))))": (4, 4, 5),
        "(S (A (P this)) (B (Q is) (A (A (A (A (A (R a) (T test))))))))": (4, 4, 8),
        "(TOP (S (A (P this)) (B (Q is) (A (R a) (T test)))))": (4, 4, 4),
        "(S (A-SBJ-1 (P this)) (B-WHATEVER (Q is) (A (R a) (T test))) (-NONE- *))": (4, 4, 4),
    }
    system = write("system", "\n".join(pairs))
    evaluation = read(write("gold", "\n".join([gold] * len(pairs))), input={"a": system, "b": system})
    assert evaluation.stats[0].tolist() == [[matched, test, size] for matched, size, test in pairs.values()]


def naive_brackets(node, place=0):
    """Brackets of a nested tuple (label, child, ...) whose words are text, by recursion; and where it ends."""
    label, *children = node
    if [type(child) for child in children] == [str]:
        return [], place + 1
    found, end = [], place
    for child in children:
        inner, end = naive_brackets(child, end)
        found += inner
    return found if label == "TOP" else [*found, (label, place, end)], end


def random_tree(chooser, words):
    """A tree over some words, with unary nodes that repeat a label."""
    if len(words) == 1 and chooser.random() < 0.6:
        return (chooser.choice("XY"), words[0])
    label = chooser.choice(["A", "B", "TOP"])
    if len(words) == 1 or chooser.random() < 0.2:
        return (label, random_tree(chooser, words))
    cut = chooser.randrange(1, len(words))
    return (label, random_tree(chooser, words[:cut]), random_tree(chooser, words[cut:]))


def written(node):
    return "(" + " ".join(each if isinstance(each, str) else written(each) for each in node) + ")"


def naive_matches(one, other):
    """Brackets of one that find one of other, each of which is taken once."""
    rest, matched = list(other), 0
    for bracket in one:
        if bracket in rest:
            rest.remove(bracket)
            matched += 1
    return matched


def test_random_trees_by_a_second_way(write):
    chooser = random.Random(0)
    pairs = []
    for size in chooser.choices(range(1, 9), k=200):
        words = [f"w{i}" for i in range(size)]
        pairs.append([random_tree(chooser, words) for _ in range(2)])
    gold, system = (write(name, "\n".join(written(pair[k]) for pair in pairs)) for k, name in enumerate(("g", "s")))
    stats = read(gold, input={"gold": gold, "system": system}, reader="trees").stats
    for (tp, predicted, size), pair in zip(stats[1], pairs, strict=True):
        right, own = (naive_brackets(tree)[0] for tree in pair)
        assert (tp, predicted, size) == (naive_matches(right, own), len(own), len(right))
    assert (stats[0] == stats[0, :, :1]).all()


def test_deep_trees_need_no_deep_stack(write):
    words, brackets = parse_tree("(A " * 200_000 + "x" + ")" * 200_000)
    assert (words, brackets.total()) == (["x"], 199_999)


GOLD = "\n".join(
    [
        "# newdoc id = d1", "# sent_id = s1",
        row("1", "Er", "2", "nsubj", "PRON"), row("2", "geht", "0", "root", "VERB"),
        row("3-4", "zum"), row("3", "zu", "5", "case", "ADP"), row("4", "dem", "5", "det", "DET"),
        row("5", "Haus", "2", "obl:goal", "NOUN"), row("5.1", "hin"), "",
        "# newdoc id = d2", "# sent_id = s2", "# text = Ja.",
        row("1", "Ja", "0", "root", "INTJ"), row("2", ".", "1", "punct", "PUNCT"), "", "",
    ]
)  # fmt: skip
SYSTEM = "\n".join(
    [
        row("1", "Er", "2", "obj", "PRON"), row("2", "geht", "0", "root", "VERB"),
        row("3-5", "zum Haus"), row("3", "Zu", "5", "case", "ADP"), row("4", "Haus", "2", "obl", "NOUN"),
        row("5", "Ja", "4", "flat", "INTJ"), "",
        row("1", "Ja.", "0", "root", "INTJ"), "", "",
    ]
)  # fmt: skip


@pytest.fixture
def files(write):
    return write("gold.conllu", GOLD), {"same": write("a.conllu", GOLD), "other": write("b.conllu", SYSTEM)}


def made_up(text, chooser, annotator=None):
    """A sentence over a text, in words and multiword tokens; span, form and kind of each word, and its annotation."""
    lines, words, columns, place = [], [], [], 0
    while place < len(text):
        token = text[place : place + chooser.randint(1, 4)]
        parts = [chooser.choice([token[0], token[-1].upper(), token, "x"]) for _ in range(chooser.randint(1, 3))]
        multiword = chooser.random() < 0.3
        if multiword:
            lines.append(row(f"{len(words) + 1}-{len(words) + len(parts)}", token))
        for form in parts if multiword else [token]:
            columns.append(annotation(len(words), annotator or chooser))
            lines.append(row(str(len(words) + 1), form, *columns[-1]))
            words.append((place, place + len(token), form.lower(), multiword))
        place += len(token)
    return parse_conllu("made up", "\n".join([*lines, "", ""]).encode()), words, columns


def annotation(number, chooser):
    """Head, relation, UPOS, LEMMA, XPOS and FEATS of a word with so many before it, mostly the same for a number."""
    chooser = random.Random(number) if chooser.random() < 0.9 else chooser
    head = chooser.randint(min(number, 1), min(number, 2))
    values = [["obj", "obl:arg", "det", "case:x", "punct"], ["X", "Y"], ["_", "l"], ["p", "q"]]
    features = chooser.choice(["_", "Typo=Yes", "Case=Nom|Poss=Yes", "Poss=Yes|Typo=No|Case=Nom", "Case=Nom=x"])
    return (str(head), *map(chooser.choice, values), features)


def naive_stretches(words):
    """Sets of characters of multiword tokens, joined while two overlap."""
    sets = [set(range(start, end)) for start, end, _, multiword in words if multiword]
    while True:
        pair = next(((a, b) for a in sets for b in sets if a is not b and a & b), None)
        if pair is None:
            return sets
        sets = [each for each in sets if each is not pair[0] and each is not pair[1]] + [pair[0] | pair[1]]


def longest_common(one, other):
    @functools.cache
    def length(i, j):
        if i == len(one) or j == len(other):
            return 0
        return max(length(i + 1, j), length(i, j + 1), (one[i] == other[j]) * (1 + length(i + 1, j + 1)))

    return length(0, 0)


@pytest.mark.parametrize("seed", range(200))
def test_words_are_matched_by_the_described_rule(seed):
    """Outside of multiword tokens the same characters; within, as many as a longest common subsequence, in order."""
    chooser = random.Random(seed)
    text = "".join(chooser.choices("abcdef", k=chooser.randint(1, 20)))
    (gold, gold_words, _), (system, system_words, _) = made_up(text, chooser), made_up(text, chooser)
    found = match_words(gold, system)
    pairs = {(int(i), j) for j, i in enumerate(found) if i != UNMATCHED}
    stretches = naive_stretches(gold_words + system_words)
    for stretch in stretches:
        own, other = (
            [k for k, (start, end, *_) in enumerate(words) if set(range(start, end)) <= stretch]
            for words in (gold_words, system_words)
        )
        within = sorted((i, j) for i, j in pairs if i in own and j in other)
        forms = [[words[k][2] for k in each] for words, each in ((gold_words, own), (system_words, other))]
        assert len(within) == longest_common(*map(tuple, forms))
        assert all(gold_words[i][2] == system_words[j][2] for i, j in within)
        assert [j for _, j in within] == sorted({j for _, j in within})
        assert [i for i, _ in within] == sorted({i for i, _ in within})
        pairs -= set(within)
    touched = set().union(*stretches)
    assert pairs == {
        (i, j)
        for i, one in enumerate(gold_words)
        for j, other in enumerate(system_words)
        if one[:2] == other[:2] and not touched & set(range(*one[:2]))
    }


def keys(word, columns, gold_word, lemmas):
    """What the official script compares of two words that match, by metric; `gold_word` is the gold word of a word."""
    head, relation, upos, _, xpos, features = columns[word]
    attached = gold_word(int(head) - 1) if head != "0" else "root", relation.partition(":")[0]
    tags = upos, sorted(each for each in features.split("|") if each[:4] not in ("_", "Typo"))
    children = [
        (gold_word(child), *keys(child, columns, gold_word, lemmas)["mlas"][:2])
        for child, (own, kind, *_) in enumerate(columns)
        if int(own) - 1 == word and kind in ("det", "case:x")
    ]
    return {
        **{"las": attached, "uas": attached[:1], "upos": upos, "xpos": xpos, "ufeats": tags[1]},
        **{"alltags": (xpos, tags), "lemmas": lemmas(word), "clas": attached},
        **{"mlas": (attached, tags, children), "blex": (attached, lemmas(word))},
    }


@pytest.mark.parametrize("seed", range(60))
def test_words_are_right_by_the_definitions_of_the_shared_task(seed):
    text = "".join(random.Random(seed).choices("abcdef", k=20))
    gold, _, gold_columns = made_up(text, random.Random(seed), random.Random(seed))
    system, _, columns = made_up(text, random.Random(seed - seed % 2), random.Random(-seed - 1))
    found = match_words(gold, system)
    expected = dict.fromkeys(FORMATS["conllu"].metrics, 0)
    for j, i in enumerate(found.tolist()):
        if i != UNMATCHED:
            lemmas = [each[3] for each in gold_columns]
            truth = keys(i, gold_columns, lambda word: word, lemmas.__getitem__)
            lemma = lemmas[i] if lemmas[i] == "_" else None  # gold words without lemmas demand none
            own = keys(j, columns, lambda word: int(found[word]), lambda word, lemma=lemma: lemma or columns[word][3])
            for metric in FORMATS["conllu"].metrics:
                content = metric not in ("clas", "mlas", "blex") or gold_columns[i][1] in ("obj", "obl:arg")
                expected[metric] += content and own[metric] == truth[metric]
    counts = {name: int(values[0]) for name, values in count_words(gold, system).items()}
    for name, rows in (("gold", gold_columns), ("predicted", columns)):
        expected |= {name: len(rows), f"content_{name}": sum(each[1] in ("obj", "obl:arg") for each in rows)}
    assert counts == expected


def test_endless_multiword_tokens_are_refused(write):
    rows = [row("1-3000", "y"), *(row(str(i), "x", str(min(i - 1, 1))) for i in range(1, 3001))]
    gold = write("g.conllu", conllu(*rows))
    with pytest.raises(InputError, match=r"g.conllu, line 2: 3000 and 3000 parts of one word"):
        read(gold, input={"a": gold, "b": gold})


def test_published_scores_by_the_command_line(data, compared):
    """LAS and CLAS of doc/results.md and doc/conll18_CLAS.md of UDParse; the others by the script, in udtools 0.2.9."""
    folder = data / "conll18_en_ewt"
    systems = [folder / "systems" / f"{name}.conllu.gz" for name in ("HIT-SCIR-18", "UDPipe-Future")]
    rows = compared(folder / "gold.conllu.gz", "-i", *systems, "-m", *FORMATS["conllu"].metrics)["systems"]
    rows.sort(key=lambda each: each["name"])
    found = {
        name: tuple(round(100 * each["score"], 2) for each in rows if each["metric"] == name)
        for name in FORMATS["conllu"].metrics
    }
    published = {"las": (84.57, 82.51), "clas": (81.64, 79.14)}
    official = {
        **{"uas": (86.79, 85.01), "upos": (95.64, 95.43), "xpos": (95.24, 95.05), "ufeats": (94.6, 95.99)},
        **{"alltags": (91.96, 93.68), "lemmas": (95.88, 97.23), "mlas": (74.79, 74.71), "blex": (78.44, 77.64)},
    }
    assert found == published | official


@pytest.fixture
def segmented(write):
    return write("gold.tsv", SEGMENTED), {
        "one": write("1.predictions", SEGMENTS),
        "two": write("2.predictions", SEGMENTS_TWO),
    }


def test_counts_of_morphemes(segmented):
    gold, systems = segmented
    evaluation = read(gold, input=systems, strata="category")
    assert evaluation.ids is None
    assert evaluation.strata == ("110", "100", "100", "000")
    assert evaluation.stats.tolist() == [
        [[1, 2, 3], [2, 2, 2], [0, 1, 2], [0, 3, 1]],
        [[3, 3, 3], [0, 1, 2], [2, 3, 2], [1, 1, 1]],
    ]
    exact = read(gold, input=systems, metric="accuracy")
    assert exact.stats[..., 0].tolist() == [[0, 1, 0, 0], [1, 0, 0, 1]]


def naive_length(one, other):
    """By the definition: of all subsequences of one, the longest that is one of the other."""
    best = 0
    for mask in range(1 << len(one)):
        rest = iter(other)
        chosen = [item for i, item in enumerate(one) if mask >> i & 1]
        if all(item in rest for item in chosen):
            best = max(best, len(chosen))
    return best


@given(st.lists(st.sampled_from("abc"), max_size=8), st.lists(st.sampled_from("abcd"), max_size=12))
def test_common_subsequences_by_enumeration(one, other):
    pairs = common_subsequence(one, other)
    assert len(pairs) == naive_length(one, other)
    assert all(one[i] == other[j] for i, j in pairs)
    assert all(i < k and j < n for (i, j), (k, n) in zip(pairs, pairs[1:], strict=False))


def test_published_scores_of_segmentation(data, compared):
    folder = data / "sigmorphon22_seg_eng"
    systems = [f"{name}={folder}/raw_{name}.eng.word.test.predictions.gz" for name in ("DeepSPIN-3", "CLUZH")]
    segmented, metrics = ((folder / "eng.word.test.gold.tsv.gz", "-i", *systems), ("fscore", "precision", "recall"))
    report = compared(*segmented, "--strata", "category", "-m", *metrics)
    scores = {(each["name"], each["metric"]): each["score"] for each in report["systems"]}
    published = json.loads((folder / "published_eng.json").read_text())
    for each in published:
        if each["system"] in ("DeepSPIN-3", "CLUZH"):
            for metric, name in (("fscore", "f_measure"), ("precision", "precision"), ("recall", "recall")):
                assert 100 * scores.pop((each["system"], metric)) == pytest.approx(each[name], abs=1e-9)
    assert not scores


def test_an_instance_is_a_term_of_any_list(write):
    gold, one, two = (
        write(name, text) for name, text in (("g", "a\nb b\nc\n"), ("one", "c\nx\n"), ("two", "y\nb b\n"))
    )
    evaluation = read(gold, input=[one, two], reader="terms")
    assert evaluation.ids == ("a", "b b", "c", "x", "y")
    assert evaluation.stats.tolist() == [
        [[0, 0, 1], [0, 0, 1], [1, 1, 1], [0, 1, 0], [0, 0, 0]],
        [[0, 0, 1], [1, 1, 1], [0, 0, 1], [0, 0, 0], [0, 1, 0]],
    ]
    assert evaluation.notes[:-1] == ()


@pytest.mark.parametrize(
    ("metric", "score", "one_sided", "two_sided"),
    [
        ("fscore", (0.4747, 0.3521), 0.0147756858, 0.0295513715),
        ("precision", (0.4947, 0.6410), 0.980005711, 0.0399885791),
        ("recall", (0.4563, 0.2427), 9.75627918e-05, 0.000195125584),
    ],
)
def test_the_example_of_yeh_by_the_command_line(data, compared, metric, score, one_sided, two_sided):
    """Exact values by sums over two binomials in rational numbers, as the source of the data has them."""
    folder = data / "art_yeh2000"
    files = (folder / "yeh.gold", "-i", folder / "yeh.s1", folder / "yeh.s2")
    for alternative, expected in (("greater", one_sided), ("two-sided", two_sided)):
        report = compared(*files, "--reader", "terms", "-m", metric, "--alternative", alternative)
        (pair,) = report["pairs"]
        assert (pair["a"], pair["b"]) == ("yeh.s1", "yeh.s2")
        scores = {each["name"]: each["score"] for each in report["systems"]}
        np.testing.assert_allclose([scores["yeh.s1"], scores["yeh.s2"]], score, atol=5e-5)
        assert pair["p_value"] == pytest.approx(expected, rel=5e-9)
        assert pair["resamples"] is None


@pytest.mark.slow
def test_all_parsers_of_the_shared_task(data):
    """Every count of every sentence is that of a table made with the official script's figures."""
    folder = data / "conll18_en_ewt"
    systems = sorted((folder / "systems").iterdir())
    for metric in ("las", "uas", "upos"):
        counts = {"tp": f"{metric}_correct", "predicted": "sys_words", "gold": "gold_words"}
        expected = read(folder / "per_sentence_stats.tsv.gz", metric="fscore", counts=counts, cluster="doc_id")
        found = read(folder / "gold.conllu.gz", input=systems, metric=metric, cluster="document")
        assert (found.ids, found.clusters) == (expected.ids, expected.clusters)
        order = [expected.systems.index(name) for name in found.systems]
        np.testing.assert_array_equal(found.stats, expected.stats[order])


def test_a_sentence_that_one_parser_failed_on(write):
    one, two = write("one", evalb([(3, 4, 4), (2, 5, 3)])), write("two", evalb([(4, 4, 4), None]))
    with pytest.raises(InputError, match=r"'two' lacks 1 of 2 \(first: '2'\); use missing=.drop. or missing=.zero."):
        read(one, two)
    assert read(one, two, missing="drop").stats.tolist() == [[[3, 4, 4]], [[4, 4, 4]]]
    assert read(one, two, missing="zero").stats.tolist() == [[[3, 4, 4], [2, 3, 5]], [[4, 4, 4], [0, 0, 5]]]
