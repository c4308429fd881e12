"""Messages for a command that fails or is interrupted: one line with the reason. Imported only after a failure."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from cyclopts import CoercionError, CycloptsError, MissingArgumentError, UnknownOptionError

from sigjax.cli.options import OUTPUTS, WRITTEN_BY
from sigjax.records import CORRECTIONS, InputError, options
from sigjax.records.display import visible
from sigjax.records.options import short_message
from sigjax.run.shards import kept_in

OTHER_OPTIONS = {
    **{f"--{name}".replace("_", "-"): f"--{ours}".replace("_", "-") for name, ours in options.OTHER_OPTIONS.items()},
    **{"--paired-bs": "--test bootstrap", "--paired-ar": "--test permutation", "--hypothesis": "--input"},
    **dict.fromkeys(("--coordinator", "--num-processes", "--process-id"), "--shard"),
    **{"--tokenize": "--metric 'bleu(tokenize=zh)'", "--lowercase": "--metric 'bleu(lowercase=true)'"},
    **{f"--{name}": f"--correction {name}" for name in CORRECTIONS if name != "none"},
    **{f"--{name}": f"--format {name}" for name in ("json", "csv", "html", "latex", "markdown")},
}
"""Dict from an option of another program to the option or words of sigjax that mean the same."""


def failure(error: Exception, tokens: Sequence[str]) -> tuple[str, int]:
    """Return the line that gives the reason of a failure, and the exit code; `tokens` is the command as typed."""
    if isinstance(error, UnknownOptionError):
        text = _unknown_option(error, tokens)
    elif isinstance(error, MissingArgumentError) and error.argument and not error.argument.tokens and not error.keyword:
        text = f"{error.argument.name} is required; see `sigjax {' '.join(error.command_chain or tokens[:1])} --help`"
    elif isinstance(error, CoercionError) and error.argument and error.argument.name == "--format":
        text = _unwritten(error)
    elif isinstance(error, MissingArgumentError) and error.keyword in tokens:
        text = str(error).rstrip(".") + _as_name("".join(tokens[tokens.index(error.keyword) + 1 :][:1]), tokens)
    else:
        text = " ".join((error.flags if isinstance(error, InputError) else str(error)).split())
    if not isinstance(error, InputError | CycloptsError):
        text = f"{type(error).__name__}: {text} (--debug shows where)"
    return short_message(visible(text)), 2 if isinstance(error, InputError | CycloptsError) else 1


def _unwritten(error: CoercionError) -> str:
    """Return the message for a format that the command cannot write. The message names the commands that write it."""
    name = error.token.value if error.token else ""
    return f"{error} ({name} is {WRITTEN_BY})" if name in OUTPUTS else str(error)


def _unknown_option(error: UnknownOptionError, tokens: Sequence[str]) -> str:
    given = error.token.keyword or error.token.value
    name = given.partition("=")[0]
    known = {known for each in error.argument_collection if each.parse for known in each.names}
    options = dict(zip(known, known, strict=True))
    options |= {other: ours for other, ours in OTHER_OPTIONS.items() if ours.split()[0] in known}
    plain = name.replace("_", "-").lower()
    close = [plain] if plain in options else get_close_matches(plain, sorted(options), n=1)
    return f"Unknown option: {name}" + (
        f". Did you mean {options[close[0]]}?" if close else f"; see --help-all{_as_name(given, tokens)}"
    )


def _as_name(name: str, tokens: Sequence[str]) -> str:
    """Return advice if `name` looks like an option: how to give it as the value of the option before it.

    Return an empty text if no option comes before it.
    """
    before = [token for token in tokens[: tokens.index(name) if name in tokens else 0] if token.startswith("-")]
    if not name.startswith("-") or not before:
        return ""
    option = before[-1].partition("=")[0]
    return f"; if it is a name, write {option}={name}"


def interrupted(tokens: Sequence[str]) -> str:
    """Return the message for an interrupted command: which results were kept, and how to continue.

    `tokens` is the command as typed.
    """
    text = "interrupted"
    if not tokens or tokens[0] not in ("compare", "demo"):
        return text
    kept_by = ("-o", "--output") if any(token.startswith("--shard") for token in tokens) else ("--checkpoint",)
    for token, following in zip(tokens, [*tokens[1:], ""], strict=True):
        name, _, value = token.partition("=")
        if name in kept_by:
            path = value or following
            kept = kept_in(path) or "no resamples yet"
            return visible(f"{text}; {path} keeps {kept}; the same command goes on from there")
    return f"{text}; nothing is kept (with --checkpoint FILE the same command would go on from where it stopped)"
