"""The command line: arguments -> the calls of the Python interface.

Errors and warnings are one line on stderr each: exit code 2 for bad input, 1 for a failure; `--debug` shows the
traceback. Control characters, and characters that stdout cannot encode, are shown as escapes.

Modules that word failures are imported only on failure, so that `--version` and `--help` import little.
"""

import gc
import io
import os
import sys
import traceback
import warnings
from collections.abc import Sequence

from sigjax.cli.app import COMMANDS, Help, app, flush

CLOSED_PIPE = 141
"""The exit code of a program that the signal of a closed pipe has ended (128 + SIGPIPE), as in a shell."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit."""
    gc.disable()  # until the command is imported: collections would take a sixth of a short command
    _open_streams()
    warnings.showwarning = _warn
    tokens = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in tokens
    try:
        code = _run([token for token in tokens if token != "--debug"], debug=debug)
    except Exception:
        from sigjax.records.display import visible

        print(*map(visible, traceback.format_exc().splitlines()), sep="\n", file=sys.stderr)
        code = 1
    sys.exit(code)


def _open_streams() -> None:
    """Open all three standard streams, even if the caller has closed some (`2>&-`).

    Otherwise the first opened files would get their numbers, and libraries that write to stderr would write into such a
    file. A closed stdout stays None, and commands that need it refuse.
    """
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(descriptor)
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _warn(message: Warning | str, *_: object, **__: object) -> None:
    """Show a warning in the same way as errors."""
    from sigjax.records.display import visible
    from sigjax.records.options import short_message

    print(f"sigjax: warning: {short_message(visible(' '.join(str(message).split())))}", file=sys.stderr)


def _run(tokens: list[str], *, debug: bool) -> int:
    for index, (before, token) in enumerate(zip(["", *tokens], tokens, strict=False)):
        # A file `-` is standard input. After an option other than -i, `-` is the value of this option, and is refused
        # later.
        if token == "-" and (before in ("-i", "--input") or not before.startswith("-")):
            tokens[index] = "/dev/stdin"
    explained = tokens[:1] == ["help"] and (tokens[1:2] == ["research"] or (len(tokens) == 2 and tokens[1] in COMMANDS))
    if explained:
        tokens = [*tokens[1:], "--help"]
    try:
        commands = app(tokens)
        if not gc.isenabled():
            gc.freeze()
            gc.enable()
        commands.help_formatter = page = Help(commands, tokens)
        code = commands(tokens, exit_on_error=False, print_error=False) or 0
        if more := page.more():
            print(more)
        if explained:
            from sigjax.guide import about

            print(about(tokens[-2]))
        flush()
        return code
    except BrokenPipeError:  # stdout was closed before the command had its exit code, which may not be 0
        flush()
        return CLOSED_PIPE
    except SystemExit as end:  # rich, which draws the pages of options, ends in this way
        if not isinstance(end.__context__, BrokenPipeError):
            raise
        return CLOSED_PIPE
    except KeyboardInterrupt:
        from sigjax.cli.flags import interrupted

        print(f"\nsigjax: {interrupted(tokens)}", file=sys.stderr)
        return 130
    except Exception as error:
        if debug:
            raise
        from sigjax.cli.flags import failure

        text, code = failure(error, tokens)
        print(f"sigjax: error: {text}", file=sys.stderr)
        return code
