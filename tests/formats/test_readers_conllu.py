"""CoNLL-U: the shared task's figures, words that are divided otherwise, and what is refused."""

import functools
import random

import numpy as np
import pytest
from annotated import conllu, row

from sigjax import Evaluation
from sigjax.formats import read
from sigjax.formats.conllu import METRICS, UNMATCHED, count_words, match_words, parse_conllu
from sigjax.records import InputError

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


@pytest.mark.parametrize(("metric", "correct"), [("las", 2), ("uas", 3), ("upos", 4)])
def test_words_of_multiword_tokens_stand_for_those_of_the_same_form(files, metric, correct):
    """Er, geht, zu and Haus stand for words, Ja (the head of zu) and "Ja." for none; Er has another relation."""
    gold, systems = files
    evaluation = read(gold, input=systems, metric=metric, cluster="document")
    assert evaluation.ids == ("s1", "s2")
    assert evaluation.clusters == ("d1", "d2")
    assert evaluation.stats.tolist() == [[[5, 5, 5], [2, 2, 2]], [[correct, 5, 5], [0, 1, 2]]]


def test_other_ends_of_lines_and_a_mark_at_the_start(files, write):
    def change(path):
        return b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n")

    gold, systems = files
    changed = {name: write(f"{name}.txt", change(path)) for name, path in systems.items()}
    stats = read(write("gold", change(gold)), input=changed).stats
    np.testing.assert_array_equal(stats, read(gold, input=systems).stats)


def test_ids_are_positions_where_names_are_lacking_or_repeated(files, write):
    _, systems = files
    for gold in (GOLD.replace("s2", "s1"), GOLD.replace("# sent_id = s2\n", "")):
        assert read(write("g.conllu", gold), input=systems).ids is None


def test_a_blank_within_a_form_is_no_part_of_the_text(write, files):
    gold, systems = files
    spaced = write("c.conllu", GOLD.replace("Haus", "Ha\u00a0us"))
    np.testing.assert_array_equal(
        read(gold, input=[systems["same"], spaced]).stats[1], read(gold, input=systems).stats[0]
    )


def test_an_evaluation_can_be_saved(files, tmp_path):
    gold, systems = files
    evaluation = read(gold, input=systems, metric="uas")
    evaluation.save(tmp_path / "e.npz")
    again = read(tmp_path / "e.npz")
    assert isinstance(again, Evaluation)
    assert (again.metric, again.ids) == (evaluation.metric, evaluation.ids)
    np.testing.assert_array_equal(again.stats, evaluation.stats)


def test_other_metrics_take_the_counts_by_name(files):
    gold, systems = files
    evaluation = read(
        gold, input=systems, metric=lambda sums: sums[..., 0] / sums[..., 1], counts={"x": "uas", "n": "gold"}
    )
    assert evaluation.stats.tolist() == [[[5, 5], [2, 2]], [[3, 5], [0, 2]]]


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
    expected = dict.fromkeys(METRICS, 0)
    for j, i in enumerate(found.tolist()):
        if i != UNMATCHED:
            lemmas = [each[3] for each in gold_columns]
            truth = keys(i, gold_columns, lambda word: word, lemmas.__getitem__)
            lemma = lemmas[i] if lemmas[i] == "_" else None  # gold words without lemmas demand none
            own = keys(j, columns, lambda word: int(found[word]), lambda word, lemma=lemma: lemma or columns[word][3])
            for metric in METRICS:
                content = metric not in ("clas", "mlas", "blex") or gold_columns[i][1] in ("obj", "obl:arg")
                expected[metric] += content and own[metric] == truth[metric]
    counts = {name: int(values[0]) for name, values in count_words(gold, system).items()}
    for name, rows in (("gold", gold_columns), ("predicted", columns)):
        expected |= {name: len(rows), f"content_{name}": sum(each[1] in ("obj", "obl:arg") for each in rows)}
    assert counts == expected


def test_endless_multiword_tokens_are_refused(write):
    rows = [row("1-3000", "y"), *(row(str(i), "x", str(min(i - 1, 1))) for i in range(1, 3001))]
    gold = write("g.conllu", conllu(*rows))
    with pytest.raises(InputError, match=r"g.conllu, line 2: 3000 words in multiword tokens that overlap"):
        read(gold, input={"a": gold, "b": gold})


def test_two_gold_files_are_refused(files):
    gold, systems = files
    with pytest.raises(InputError, match="second gold file"):
        read(gold, gold, input=systems)


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


def test_published_scores_by_the_command_line(data, compared):
    """LAS and CLAS of doc/results.md and doc/conll18_CLAS.md of UDParse; the others by the script, in udtools 0.2.9."""
    folder = data / "conll18_en_ewt"
    systems = [folder / "systems" / f"{name}.conllu.gz" for name in ("HIT-SCIR-18", "UDPipe-Future")]
    rows = compared(folder / "gold.conllu.gz", "-i", *systems, "-m", *METRICS)["systems"]
    rows.sort(key=lambda each: each["name"])
    found = {name: tuple(round(100 * each["score"], 2) for each in rows if each["metric"] == name) for name in METRICS}
    published = {"las": (84.57, 82.51), "clas": (81.64, 79.14)}
    official = {
        **{"uas": (86.79, 85.01), "upos": (95.64, 95.43), "xpos": (95.24, 95.05), "ufeats": (94.6, 95.99)},
        **{"alltags": (91.96, 93.68), "lemmas": (95.88, 97.23), "mlas": (74.79, 74.71), "blex": (78.44, 77.64)},
    }
    assert found == published | official


def test_detection_by_content(write):
    for name in ("gold.txt", "gold"):
        gold = write(name, "# a comment\n\n" + GOLD)
        assert read(gold, input={"a": gold, "b": gold}).metric.name == "las"
