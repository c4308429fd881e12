r"""Metrics of summaries and simplified texts, against references: ROUGE and SARI.

*ROUGE* is the mean over segments of the F1 that the library rouge-score gives. Words are runs of a-z and 0-9 in lower
case, as in the original; "(stem=true)" after the name takes their stems (Porter 1980), as most published figures do.
With several references a segment takes the one of the largest F1. Reference: Lin (2004), "ROUGE: a package for
automatic evaluation of summaries".

*SARI* says which n-grams of the source were kept and deleted, and which added, as references do. `sari` is the score of
EASSE, of the whole test set: $100/12 \sum_{op, n} 2 c / (s + r)$ over operations and orders to 4, with the numbers of
operations that are correct, of the system, and of the references. `sari(as=evaluate)` and `sari(as=authors)` are means
of sentence scores: of the library evaluate, and of the SARI.py of the authors. References: Xu, Napoles, Pavlick, Chen
and Callison-Burch (2016), "Optimizing statistical machine translation for text simplification"; Alva-Manchego, Martin,
Scarton and Specia (2019), "EASSE: easier automatic sentence simplification evaluation".
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import numpy as np

from sigjax.metrics.ratios import MEAN, PERCENT, divide, stack_counts
from sigjax.metrics.textmetric import Count, Recipe, TextMetric, Texts, sacrebleu_metric
from sigjax.records import Array, InputError, Metric
from sigjax.version import install_command, installed_version

_WORD = re.compile("[a-z0-9]+")
_STEMMED = "(stem=true)"
_SENTENCES = "rougeLsum"
_MOST_STEMS = 2**18
_BREAK = re.compile("<n>|<q>")
"""What stands between sentences where a summary has to be one line: as of PEGASUS, and of BertSum."""


def _num_words(text: str) -> int:
    return len(_WORD.findall(text.lower()))


def _scorer(recipe: Recipe) -> Callable[[Sequence[str], str], float]:
    """The function (references, output) -> F1."""
    try:
        porter, rouge_scorer, tokenizers = map(
            import_module, ("nltk.stem.porter", "rouge_score.rouge_scorer", "rouge_score.tokenize")
        )
    except ImportError:
        command = install_command("rouge-score")
        raise InputError(f"the metric {recipe.metric} of texts needs rouge-score; run: {command}") from None
    variant, stemmed, _ = recipe.metric.partition(_STEMMED)
    # Stems are kept: finding them takes ten times as long as all else.
    stemmer = SimpleNamespace(stem=lru_cache(_MOST_STEMS)(porter.PorterStemmer().stem)) if stemmed else None
    tokenizer = SimpleNamespace(tokenize=partial(tokenizers.tokenize, stemmer=stemmer))
    scorer = rouge_scorer.RougeScorer([variant], tokenizer=tokenizer)

    def score(references: Sequence[str], output: str) -> float:
        if variant == _SENTENCES:
            references, output = [_BREAK.sub("\n", text) for text in references], _BREAK.sub("\n", output)
        return scorer.score_multi(references, output)[variant].fmeasure

    return score


def _start(recipe: Recipe) -> Count:
    score = _scorer(recipe)

    def count(references: Texts, systems: Texts) -> np.ndarray:
        gold = list(zip(*references, strict=True))
        scores = [[score(*segment) for segment in zip(gold, texts, strict=True)] for texts in systems]
        return np.array(scores, float)[..., None]

    return count


def _signature(recipe: Recipe, num_references: int) -> str:
    _scorer(recipe)
    variant, stemmed, _ = recipe.metric.partition(_STEMMED)
    stems = f"stem:{'porter' if stemmed else 'no'}"
    sentences = "|sents:newline,<n>,<q>" if variant == _SENTENCES else ""
    version = installed_version("rouge-score")
    return f"nrefs:{num_references}|case:lc|tok:a-z0-9|{stems}{sentences}|mean:f1|rouge-score:{version}"


def _notes(recipe: Recipe, references: Texts, systems: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Notes on references in which ROUGE sees no word, and on the ends of sentences."""
    count = sum(not any(_WORD.search(text.lower()) for text in texts) for texts in zip(*references, strict=True))
    which = f"{count} of {len(references[0])} segments have no such word in a reference, and score 0"
    notes = [f"ROUGE sees only words of a-z and 0-9: {which}"] if count else []
    marked = any(_BREAK.search(text) for texts in (*references, *systems.values()) for text in texts)
    if not recipe.metric.startswith(_SENTENCES):
        if marked:
            notes.append(f"<n> and <q> count as words n and q; {_SENTENCES} takes them as ends of sentences")
    elif not marked and not any("\n" in text for texts in (*references, *systems.values()) for text in texts):
        same = recipe.metric.replace(_SENTENCES, "rougeL")
        notes.append(f"{recipe.metric} is {same} here: no text has <n>, <q> or a line break between sentences")
    return tuple(notes)


_of_segments = partial(TextMetric, start=_start, signature=_signature, whole=False, extra="rouge", notes=_notes)
_by_table = partial(_of_segments, seconds=1.6e-6, tokens=_num_words, most=5e7, quadratic=True)
ROUGE = tuple(
    counted(
        replace(MEAN, name=variant + stems, title=f"ROUGE-{variant.removeprefix('rouge')}{' (stemmed)' * bool(stems)}")
    )
    for stems in ("", _STEMMED)
    for variant, counted in (
        ("rouge1", partial(_of_segments, seconds=0.2e-6)),
        ("rouge2", partial(_of_segments, seconds=0.2e-6)),
        ("rougeL", _by_table),
        (_SENTENCES, _by_table),
    )
)


_EASSE, _EVALUATE, _AUTHORS = "sari", "sari(as=evaluate)", "sari(as=authors)"
_ORDERS = (1, 2, 3, 4)
_STATS = tuple(f"{kind}_{op}{n}" for n in _ORDERS for op in ("add", "keep", "del") for kind in ("match", "hyp", "ref"))
Grams = Counter[tuple[str, ...]]


def sari_score(sums: Array) -> Array:
    r"""SARI as by EASSE: the mean of 12 F1, of three operations and four orders, in percent.

    Sums `[..., stat]` with stat = (match, hyp, ref) of each order and operation give scores `[...]` in [0, 100].

    Example:
        >>> float(sari_score(np.array([1.0, 2.0, 2.0] * 6 + [1.0, 1.0, 1.0] * 6)))
        75.0
    """
    total: Any = 0.0
    for first in range(0, sums.shape[-1], 3):
        match, hyp, ref = (sums[..., first + i] for i in range(3))
        total = total + divide(match + match, hyp + ref)
    return (100.0 * total) / (len(_STATS) // 3)


def _start_sari(recipe: Recipe) -> Count:
    """Texts of references are those of the source, and then of each reference."""
    tokenizer = _tokenizer(recipe)
    separator = None if recipe.metric == _EASSE else " "  # the others take an empty text for an empty word
    value = _VALUES[recipe.metric]

    def grams(text: str) -> list[Grams]:
        words = tokenizer(text.lower()).split(separator)
        return [Counter(zip(*(words[i:] for i in range(n)), strict=False)) for n in _ORDERS]

    def count(references: Texts, systems: Texts) -> np.ndarray:
        sources, *gold = references
        before = [_times(len(gold), grams(text)) for text in sources]
        targets = [
            [sum(orders, Grams()) for orders in zip(*map(grams, texts), strict=True)]
            for texts in zip(*gold, strict=True)
        ]
        return np.array(
            [
                [
                    value(zip(source, _times(len(gold), grams(text)), target, strict=True))
                    for source, text, target in zip(before, texts, targets, strict=True)
                ]
                for texts in systems
            ]
        )

    return count


def _times(number: int, orders: list[Grams]) -> list[Grams]:
    return [Counter({gram: number * count for gram, count in grams.items()}) for grams in orders]


def _tokenizer(recipe: Recipe) -> Any:
    """That of sacrebleu: 13a unless another is chosen; texts for the code of the authors have their words apart."""
    usual = "none" if recipe.metric == _AUTHORS else None
    return sacrebleu_metric(replace(recipe, tokenize=recipe.tokenize or usual), 1).tokenizer


def _counts(orders: Any) -> list[int]:
    """The statistics of a sentence from the n-grams of its source, output and references, for each order."""
    stats: list[int] = []
    for source, output, target in orders:
        added, to_add = output.keys() - source.keys(), target.keys() - source.keys()
        kept, to_keep, cut, to_cut = source & output, source & target, source - output, source - target
        stats += len(added & to_add), len(added), len(to_add)
        stats += (kept & to_keep).total(), kept.total(), to_keep.total()
        stats += (cut & to_cut).total(), cut.total(), to_cut.total()
    return stats


def _of_sentence(orders: Any, *, empty: float) -> list[float]:
    """The score of a sentence; 0/0 is `empty`: 1 for the library evaluate, where recall of kept n-grams is one ratio.

    Precision of kept and deleted n-grams is a mean over different ones, and so is recall in the code of the authors.
    """
    total = 0.0
    for source, output, target in orders:
        added, to_add = output.keys() - source.keys(), target.keys() - source.keys()
        both = len(added & to_add)
        total += _f1(_ratio(both, len(added), empty), _ratio(both, len(to_add), empty))
        kept, to_keep, cut = source & output, source & target, source - output
        good = kept & to_keep
        precision = _ratio(_sum_of_ratios(good, kept), len(kept), empty)
        recall = (good.total(), to_keep.total()) if empty else (_sum_of_ratios(good, to_keep), len(to_keep))
        total += _f1(precision, _ratio(*recall, empty)) + _ratio(_sum_of_ratios(cut - target, cut), len(cut), empty)
    return [100.0 * total / (len(_STATS) // 3)]


def _ratio(count: float, whole: int, empty: float) -> float:
    return count / whole if whole else empty


def _sum_of_ratios(grams: Grams, whole: Grams) -> float:
    return sum(count / whole[gram] for gram, count in grams.items())


def _f1(precision: float, recall: float) -> float:
    return 2.0 * precision * recall / (precision + recall) if precision or recall else 0.0


def _sari_signature(recipe: Recipe, num_references: int) -> str:
    name, tokenizer = recipe.metric, _tokenizer(recipe)
    kind = "as:EASSE|del:f1|mean:no" if name == _EASSE else f"as:{name[8:-1]}|del:precision|mean:sentences"
    return f"nrefs:{num_references}|case:lc|tok:{tokenizer.signature()}|{kind}"


_VALUES: dict[str, Callable[[Any], list[Any]]] = {
    _EASSE: _counts,
    _EVALUATE: partial(_of_sentence, empty=1.0),
    _AUTHORS: partial(_of_sentence, empty=0.0),
}
_LIMITS = [(first, first + i) for first in range(0, len(_STATS), 3) for i in (1, 2)]
_extract = partial(stack_counts, _STATS, _LIMITS)
_CORPUS = Metric(
    _EASSE,
    sari_score,
    _STATS,
    _extract,
    _STATS,
    shared_inputs=_STATS[2::3],
    portable=True,
    bounds=PERCENT,
    title="SARI",
)
_of_texts = partial(TextMetric, start=_start_sari, signature=_sari_signature, seconds=0.8e-6, source=True, extra="mt")
SARI = (
    _of_texts(_CORPUS),
    *(_of_texts(replace(MEAN, name=name, title="SARI"), whole=False) for name in (_EVALUATE, _AUTHORS)),
)
