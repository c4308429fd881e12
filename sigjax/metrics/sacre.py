"""Texts -> statistics of each segment, by sacrebleu: BLEU, chrF, chrF++ and TER."""

from typing import Any

import numpy as np

from sigjax.metrics.recipe import Count, Extraction, Recipe, Texts, num_words
from sigjax.records import InputError


def sacrebleu_metric(recipe: Recipe, num_references: int) -> Any:
    """The metric of sacrebleu.

    Raises:
        InputError: sacrebleu is missing, its version is not one that sigjax knows, or the tokenizer cannot be used.
    """
    name = recipe.metric
    try:
        import sacrebleu
        from sacrebleu.metrics.chrf import CHRF
        from sacrebleu.metrics.ter import TER
    except ImportError:
        raise InputError(f"the metric {name} of texts needs sacrebleu; install sigjax[mt]") from None
    # The statistics come from methods that are theirs to change, but have not changed since 2.0.
    if not (2, 5) <= tuple(int(part) for part in sacrebleu.__version__.split(".")[:2]) < (3, 0):
        raise InputError(f"sacrebleu {sacrebleu.__version__} is not supported (2.5 to 2.x are); install sigjax[mt]")
    references = [[""]] * num_references
    if name == "bleu":
        return _bleu(recipe, references)
    if name == "ter":  # which ignores case anyway
        return TER(references=references)
    return CHRF(word_order=2 if name == "chrf++" else 0, lowercase=recipe.lowercase, references=references)


def _bleu(recipe: Recipe, references: Texts) -> Any:
    """BLEU with the tokenizer asked for, which may need a library or a model of its own."""
    from sacrebleu.metrics.bleu import BLEU

    tokenize = recipe.tokenize
    if tokenize is not None and tokenize not in BLEU.TOKENIZERS:
        raise InputError(f"tokenize: sacrebleu has no tokenizer {tokenize!r}; it has {', '.join(BLEU.TOKENIZERS)}")
    try:
        # Forced: without warnings; the score is the same.
        return BLEU(force=True, lowercase=recipe.lowercase, tokenize=tokenize, references=references)
    except Exception as error:  # libraries that are missing, downloads that fail
        raise InputError(f"tokenize: {tokenize!r} cannot be used: {' '.join(str(error).split())}") from None


def _start(recipe: Recipe) -> Count:
    metric = sacrebleu_metric(recipe, 1)

    def count(references: Texts, systems: Texts) -> np.ndarray:
        # The n-grams of a block's references are made once for all systems and then forgotten.
        metric._ref_cache = metric._cache_references(references)
        stats = np.array([metric._extract_corpus_statistics(texts, None) for texts in systems])
        # TER divides by the mean length of the references; times their number, both of its statistics are whole.
        return np.rint(stats * len(references)).astype(np.int64) if recipe.metric == "ter" else stats

    return count


def _signature(recipe: Recipe, num_references: int) -> str:
    return str(sacrebleu_metric(recipe, num_references).get_signature())


SACREBLEU = {
    "bleu": Extraction(_start, _signature, 0.45e-6),
    "chrf": Extraction(_start, _signature, 1.1e-6),
    "chrf++": Extraction(_start, _signature, 1.2e-6),
    "ter": Extraction(_start, _signature, 130e-6, block=4, tokens=num_words, most=4e6, quadratic=True),
}
