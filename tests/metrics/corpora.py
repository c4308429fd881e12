"""A small test set, shared by the tests of metrics of texts."""

from sigjax import Evaluation

OUTPUTS = {
    "A": ["the cat sat on the mat.", "", "dogs bark loudly at night, said he", "猫坐在垫子上"],
    "B": ["a cat sat on a mat.", "what?", "", "猫在垫子上"],
}
GOLD = ["the cat sat on a mat.", "what is it?", "dogs bark loudly at night", "一只猫坐在垫子上"]


def stats_of(**options):
    return Evaluation.from_texts(OUTPUTS, GOLD, **({"metric": "chrf"} | options)).stats
