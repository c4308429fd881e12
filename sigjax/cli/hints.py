"""What is said of a failure: what to type instead of an option that other tools have, and after Ctrl-C."""

from __future__ import annotations

from collections.abc import Sequence

from cyclopts import CycloptsError, MissingArgumentError, UnknownOptionError

from sigjax.records import CORRECTIONS, InputError
from sigjax.records.visible import visible
from sigjax.run.resume import kept_in
from sigjax.run.share import ProcessLost

OTHER_OPTIONS = {
    "--alpha": "--level",
    "--significance": "--level",
    "--confidence": "--level",
    "--confidence-level": "--level",
    "--ci": "--level",
    "--n": "--resamples",
    "--num-resamples": "--resamples",
    "--n-resamples": "--resamples",
    "--iterations": "--resamples",
    "--permutations": "--resamples",
    "--n-permutations": "--resamples",
    "--bootstrap-samples": "--resamples",
    "--n-bootstrap": "--resamples",
    "--paired-bs-n": "--resamples",
    "--paired-ar-n": "--resamples",
    "--random-state": "--seed",
    "--adjust": "--correction",
    "--p-adjust": "--correction",
    "--adjustment": "--correction",
    "--reference": "--baseline",
    "--control": "--baseline",
    "--tail": "--alternative",
    "--tails": "--alternative",
    "--sided": "--alternative",
    "--out": "--output",
    "--hypothesis": "--input",
    "--hypotheses": "--input",
    "--hyp": "--input",
    "--outputs": "--input",
    "--src": "--source",
    "--sources": "--source",
    "--orig-sents-path": "--source",
    "--groups": "--cluster",
    "--group": "--cluster",
    "--document": "--cluster",
    "--paired": "--test bootstrap",
    "--paired-bs": "--test bootstrap",
    "--paired-ar": "--test permutation",
    "--bootstrap": "--test bootstrap",
    "--permutation": "--test permutation",
    "--one-sided": "--alternative greater",
    **{f"--{name}": f"--correction {name}" for name in CORRECTIONS if name != "none"},
    "--chrf-word-order": "--metric chrf++",
    "--level-for-rel": "--metric 'ap(rel=2)'",
    "-l": "--metric 'ap(rel=2)'",
    "--stem": "--metric 'rouge1(stem=true)'",
    "--stemmer": "--metric 'rouge1(stem=true)'",
    "--use-stemmer": "--metric 'rouge1(stem=true)'",
    "--json": "--format json",
    "--csv": "--format csv",
    "--html": "--format html",
    "--latex": "--format latex",
    "--markdown": "--format markdown",
}


def failure(error: Exception, tokens: Sequence[str]) -> tuple[str, int]:
    """A failed command, as it was typed -> the line that says why, and the exit code."""
    if isinstance(error, UnknownOptionError):
        text = _unknown_option(error, tokens)
    elif isinstance(error, MissingArgumentError) and error.argument and not error.argument.tokens and not error.keyword:
        text = f"{error.argument.name} is required; see `sigjax {' '.join(error.command_chain or tokens[:1])} --help`"
    else:
        text = " ".join((error.flags if isinstance(error, InputError) else str(error)).split())
    if not isinstance(error, InputError | CycloptsError | ProcessLost):
        text = f"{type(error).__name__}: {text} (--debug shows where)"
    return visible(text), 2 if isinstance(error, InputError | CycloptsError) else 1


def _unknown_option(error: UnknownOptionError, tokens: Sequence[str]) -> str:
    """The message on an unknown option: what to write, with the value where it is another one.

    `tokens` are all that was typed.
    """
    given = error.token.keyword or error.token.value
    name, _, value = given.partition("=")
    other = OTHER_OPTIONS.get(name.replace("_", "-").lower())
    known = {known for each in error.argument_collection if each.parse for known in each.names}
    if other is None or other.split()[0] not in known:
        return str(error)
    if not value and given in tokens:
        value = next(iter(tokens[tokens.index(given) + 1 :]), "")
    return f"Unknown option: {name}. Did you mean {_with_value(name, other, value)}?"


def _with_value(name: str, other: str, value: str) -> str:
    """The option, with the value that means the same: an alpha of 0.05 is a level of 0.95, and so is 95."""
    if other != "--level":
        return other
    try:
        number = float(value.removesuffix("%"))
    except ValueError:
        return f"{other} 0.95 (for an alpha of 0.05)"
    level = number / 100.0 if 1.0 < number < 100.0 else number
    if name in ("--alpha", "--significance"):
        level = 1.0 - level
    return f"{other} {level:.12g}"


def interrupted(tokens: Sequence[str]) -> str:
    """What an interrupted command, as it was typed, has kept, and how it goes on."""
    text = "interrupted"
    if not tokens or tokens[0] not in ("compare", "demo"):
        return text
    for token, following in zip(tokens, [*tokens[1:], ""], strict=True):
        name, _, value = token.partition("=")
        if name == "--checkpoint":
            path = value or following
            kept = kept_in(path) or "no resamples yet"
            return visible(f"{text}; {path} keeps {kept}; the same command goes on from there")
    return f"{text}; nothing is kept (with --checkpoint FILE the same command would go on from where it stopped)"
