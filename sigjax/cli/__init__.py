"""The command line: arguments -> the calls of the Python interface.

Errors and warnings are one line on stderr each: exit code 2 for bad input, 1 for a failure; `--debug` shows the
traceback. Control characters in them are shown as escapes, and so is what stdout cannot encode.

Failures import what words them: `--version` and `--help` need little.
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
"""The exit code that a shell gives a program which the signal of a closed pipe has ended (128 + SIGPIPE)."""


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
    """Have all three standard streams open, whatever the caller has closed (`2>&-`).

    The first files opened would take their places, and what libraries write to stderr would end in one of them. A
    closed stdout stays None, and commands that need it refuse.
    """
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(descriptor)
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _warn(message: Warning | str, *_: object, **__: object) -> None:
    """Show a warning as errors are shown."""
    from sigjax.records.display import visible
    from sigjax.records.options import short_message

    print(f"sigjax: warning: {short_message(visible(' '.join(str(message).split())))}", file=sys.stderr)


def _run(tokens: list[str], *, debug: bool) -> int:
    for index, (before, token) in enumerate(zip(["", *tokens], tokens, strict=False)):
        # A file `-` is standard input; after other options than -i, it is nothing that they take.
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
    except BrokenPipeError:  # before the command has its code, which 0 need not be
        flush()
        return CLOSED_PIPE
    except SystemExit as end:  # by which rich, which draws pages of options, ends there
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
