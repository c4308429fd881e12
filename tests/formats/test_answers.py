"""Answers to questions: scores by the formulas of SQuAD's scripts, joined by id, clustered by article; refusals."""

import collections
import json
import random
import re
import string

import pytest

from sigjax import InputError, read

pytestmark = pytest.mark.usefixtures("here")


def normalized(text):
    text = "".join(c for c in text.lower() if c not in set(string.punctuation))
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", text).split())


def f1(answer, gold, version):
    """`f1_score` of evaluate-v1.1.py, and `compute_f1` of evaluate-v2.0.py."""
    one, other = normalized(answer).split(), normalized(gold).split()
    if version == 2 and (len(one) == 0 or len(other) == 0):
        return int(one == other)
    same = sum((collections.Counter(one) & collections.Counter(other)).values())
    if same == 0:
        return 0
    precision, recall = 1.0 * same / len(one), 1.0 * same / len(other)
    return (2 * precision * recall) / (precision + recall)


def official(answer, golds, version):
    if version == 2:
        golds = [each for each in golds if normalized(each)] or [""]
    exact = max(int(normalized(answer) == normalized(each)) for each in golds)
    return exact, max(f1(answer, each, version) for each in golds)


def questions(version, seed=0, number=60):
    """The gold answers of each question."""
    chance = random.Random(seed)
    least = 1 if version == 1 else 0
    return {f"q{i}": [phrase(chance) for _ in range(chance.randint(least, 3))] for i in range(number)}


def phrase(chance):
    words = "The the a an U.S. Navy navy. cat's cats 'cat' Ünïon \u2014 1,000 theme Rome! x\u00a0y".split(" ")
    return " ".join(chance.choices(words, k=chance.choice((0, 1, 1, 2, 3, 4))))


def squad(gold, version):
    """As SQuAD has it, three paragraphs to an article."""
    paragraphs = [
        {"context": "...", "qas": [question(id, gold[id], version) for id in list(gold)[start : start + 4]]}
        for start in range(0, len(gold), 4)
    ]
    articles = [
        {"title": f"Article_{i}", "paragraphs": paragraphs[i : i + 3]} for i in range(0, len(paragraphs), 3)
    ]  # fmt: skip
    return json.dumps({"version": "1.1" if version == 1 else "v2.0", "data": articles})


def question(id, answers, version):
    own = {"id": id, "question": "?", "answers": [{"text": each, "answer_start": 0} for each in answers]}
    return own | ({"is_impossible": not answers} if version == 2 else {})


def predictions(gold, seed):
    """Answers in another order: some right, some not."""
    chance = random.Random(seed)
    found = {id: chance.choice([*own, phrase(chance), ""]) for id, own in gold.items()}
    return dict(chance.sample(sorted(found.items()), len(found)))


@pytest.mark.parametrize("version", [1, 2])
def test_scores_are_those_of_the_scripts(write, version):
    gold = questions(version)
    given = {name: predictions(gold, name) for name in ("a.json", "b.json")}
    files = [write(name, json.dumps(own)) for name, own in given.items()]
    for k, metric in enumerate(("exact_match", "f1")):
        found = read(write("gold.json", squad(gold, version)), input=files, metric=metric, cluster="article")
        expected = [[official(own[id], gold[id], version)[k] for id in gold] for own in given.values()]
        assert found.ids == tuple(gold)
        assert found.stats[:, :, 0].tolist() == expected
        assert found.metric.name == metric
        assert 0 < sum(expected[0]) < len(gold)
        assert found.clusters == tuple(f"Article_{i // 12 * 3}" for i in range(len(gold)))
    if version == 2:
        strata = read("gold.json", input=files, strata="answerable").strata
        assert strata == tuple("yes" if own else "no" for own in gold.values())


def test_gold_answers_by_id(write):
    gold = questions(1)
    files = [write(name, json.dumps(predictions(gold, name))) for name in "ab"]
    plain = read(write("gold.json", json.dumps(gold)), input=files)
    assert read(write("gold", squad(gold, 1)), input=files).stats.tolist() == plain.stats.tolist()
    one = write("one.json", json.dumps({id: own[0] for id, own in gold.items()}))
    assert read(one, input=files, reader="squad").num_instances == 60


def test_questions_that_a_system_lacks(write):
    gold = write("g", squad({"x": ["a cat"], "y": ["Rome"], "z": ["1"]}, 1))
    files = [write("a", '{"z": "1", "x": "cat"}'), write("b", '{"x": "", "z": "2", "y": null, "other": "4"}')]
    with pytest.raises(InputError, match=r"'a' lacks 1 of 3 \(first: 'y'\), 'b' lacks 1 of 3"):
        read(gold, input=files)
    found = read(gold, input=files, missing="zero")
    assert found.stats[:, :, 0].tolist() == [[1, 0, 1], [0, 0, 0]]
    assert "b: 1 of 3 answers are to questions that the gold file does not have" in found.notes
    assert read(gold, input=files, missing="drop").ids == ("x", "z")


GOLD = {"x": ["a cat"], "y": ["Rome"]}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('["x"]', "a: expected an object, got a list"),
        ('{"x": "cat", "y"', "a, line 1, character 17: not readable as JSON"),
        ('{"x": "cat", "x": "dog"}', "a: field 'x' occurs twice"),
        ('{"x": 3, "y": "cat"}', "a, field 'x': expected a text, got the number 3"),
        (f'{{"x": {"1234567890" * 9}, "y": "cat"}}', r"got the number 12345678901234567890123456789$"),
        ('{"q": "cat"}', "a: answers none of the questions of .*g, such as 'x'"),
        ("{}", "a: answers none of the questions"),
    ],
)
def test_answers_that_cannot_be_used(write, content, message):
    files = [write("a", content), write("b", '{"x": "cat", "y": "Rome"}')]
    with pytest.raises(InputError, match=message):
        read(write("g", squad(GOLD, 1)), input=files)


def with_both():
    return squad({"x": ["cat"]}, 2).replace('"is_impossible": false', '"is_impossible": true')


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"data": []}', "g: has no questions"),
        ('{"data": [{"title": "T"}]}', "g, article 1: no field 'paragraphs'"),
        ('{"data": [{"paragraphs": [{"qas": [{"answers": []}]}]}]}', "paragraph 1, question 1: no field 'id'"),
        ('{"data": [{"paragraphs": [{"qas": [{"id": "x"}]}]}]}', "question 1: no field 'answers'"),
        ('{"data": [{"paragraphs": [{"qas": [{"id": "x", "answers": [{"text": 3}]}]}]}]}', "answer 1, field 'text'"),
        (with_both(), "field 'answers': expected none where is_impossible is true; remove them"),
        (squad(GOLD, 1).replace('"y"', '"x"'), "g: question 'x' occurs twice"),
        ('{"x": [3]}', "g, field 'x': expected an answer or a list of answers, as text"),
        ('{" ": ["cat"]}', "g: expected a name, got an empty text"),
    ],
)
def test_gold_answers_that_cannot_be_used(write, content, message):
    files = [write(name, '{"x": "cat", "y": "Rome"}') for name in "ab"]
    with pytest.raises(InputError, match=message):
        read(write("g", content), input=files, reader="squad")
