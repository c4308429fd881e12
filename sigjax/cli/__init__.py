"""The command line: it turns arguments into calls of the Python interface, and draws the pages of `--help`.

Each error or warning is one line on stderr. The exit code is 2 for bad input, and 1 for a failure; `--debug` shows the
traceback. Control characters, and characters that stdout cannot encode, are shown as escapes.

Each command is imported only when it is called. The modules that explain failures are imported only after a failure. So
`--version` and `--help` import little.

A page of `--help` has examples first, then the options that most people need; `--help-all` has every option.
"""

from __future__ import annotations

import gc
import io
import os
import sys
import traceback
import warnings
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from cyclopts import App, Group

from sigjax.studies import STUDIES
from sigjax.version import __version__

if TYPE_CHECKING:
    from cyclopts.help import HelpEntry, HelpPanel
    from rich.console import Console, ConsoleOptions

CLOSED_PIPE = 141
"""The exit code if stdout was closed by its reader: 128 + SIGPIPE, as in a shell."""
ALL = "--help-all"
FLAGS = ("--help", "-h", ALL)
EXAMPLES: Mapping[str, Mapping[str, str]] = {
    "": {
        "how are these files understood?": "sigjax doctor scores.tsv",
        "who beats whom": "sigjax compare scores.tsv",
        "a first look, without files": "sigjax demo",
    },
    "compare": {
        "a table: one row per instance, one column per system": "sigjax compare scores.tsv -m accuracy",
        "references, then one file per system": "sigjax compare ref.txt -i a.txt b.txt -m bleu chrf",
        "against one system, as LaTeX and JSON": "sigjax compare scores.tsv --baseline A -o report.tex -o report.json",
    },
    "doctor": {
        "a table, or one file per system": "sigjax doctor scores.tsv",
        "references, then one file per system": "sigjax doctor ref.txt -i a.txt b.txt",
    },
    "demo": {
        "as text": "sigjax demo",
        "a table for a paper": "sigjax demo --format latex",
        "files to try sigjax on": "sigjax demo --write examples",
    },
    "help": {
        "what there is to read": "sigjax help",
        "one of these pages": "sigjax help intervals",
        "words in all pages": "sigjax help effect size",
    },
    "extract": {"count once, compare often": "sigjax extract ref.txt -i a.txt b.txt -m bleu -o bleu.npz"},
    "merge": {
        "the shards of a run": "sigjax merge shard-1.npz shard-2.npz -o report.json",
        "statistics of different instances": "sigjax merge part-1.npz part-2.npz -o all.npz",
    },
    "show": {
        "as Markdown": "sigjax show report.json --format md",
        "as a figure": "sigjax show report.json --figure forest.pdf",
    },
    "verify": {"the same files as were compared": "sigjax verify report.json scores.tsv"},
    "diff": {
        "what changed between two reports": "sigjax diff old.json new.json",
        "is it worse? exit code 0 (no), 3 (yes), 4 (cannot tell)": "sigjax diff old.npz new.npz --margin 0.03",
        "a comment for a pull request": "sigjax diff old.json new.json --margin 0.03 --format github",
    },
    "classical": {"t-test, Wilcoxon and others": "sigjax classical scores.tsv --only A B"},
    "research audit": {
        "false-positive rates of the tests": "sigjax research audit scores.tsv --only A B --repetitions 200"
    },
    "power": {
        "with 2 to 8 times the data": "sigjax power scores.tsv --only A B --instances 80 160 320",
        "how many instances for a difference of 0.3?": "sigjax power scores.tsv --only A B --detect 0.3",
    },
    "equivalence": {"alike within 2 points?": "sigjax equivalence scores.tsv --margin 0.02"},
    "one-sample": {
        "is the accuracy above 0.5?": "sigjax one-sample scores.tsv -m accuracy --against 0.5 --alternative greater"
    },
    "unpaired": {"systems tested on different instances": "sigjax unpaired old.scores new.scores"},
    "flips": {"which instances decide?": "sigjax flips scores.tsv -m accuracy --only A B"},
    "slices": {"labels in a file, one per line": "sigjax slices scores.tsv -m accuracy --by kinds.txt"},
    "items": {"which questions are broken?": "sigjax items scores.tsv -m accuracy --figure items.pdf"},
    "research association": {"one label per line": "sigjax research association a.labels gold.labels"},
    "info": {"what is installed, and is there a GPU?": "sigjax info"},
}
"""For each command, a dict from the title of an example to the command line of this example."""


class Help:
    """Draws the pages of `--help`, in place of the formatter of cyclopts."""

    def __init__(self, app: App, tokens: Sequence[str]) -> None:
        self.everything = ALL in tokens
        self.command = " ".join(name for name in app.parse_commands(tokens)[0] if not name.startswith("-"))
        self.hidden = 0

    def __call__(self, console: Console, options: ConsoleOptions, panel: HelpPanel) -> None:
        """Draw the options under one heading."""
        from cyclopts.help import DefaultFormatter  # the import loads rich

        entries = panel.entries
        if self.command and not self.everything:
            from sigjax.cli.options import RARE

            entries = [entry for entry in entries if not RARE.intersection(entry.names)]
        self.hidden += len(panel.entries) - len(entries)
        if entries:
            DefaultFormatter()(console, options, panel.copy(entries=list(map(_plainly, entries))))

    def render_usage(self, console: Console, options: ConsoleOptions, usage: Any) -> None:
        """Draw the usage line."""
        from cyclopts.help import DefaultFormatter

        DefaultFormatter().render_usage(console, options, usage)

    def render_description(self, console: Console, options: ConsoleOptions, description: Any) -> None:
        """Draw the description of the command, and its examples."""
        from cyclopts.help import DefaultFormatter

        DefaultFormatter().render_description(console, options, description)
        examples = [f"  # {about}\n  {example}" for about, example in EXAMPLES.get(self.command, {}).items()]
        if examples:
            console.print("\n".join(["Examples:", *examples, ""]), highlight=False, markup=False, soft_wrap=True)

    def more(self) -> str | None:
        """Return a line that says how to see the options that are not shown; None if all are shown."""
        options = f"{self.hidden} more option{'s' if self.hidden > 1 else ''}"
        return f"{options}: sigjax {self.command} {ALL}" if self.hidden else None


def _plainly(entry: HelpEntry) -> HelpEntry:
    """Return an entry of a help page without its choices, if a shell only suggests them and any text is allowed."""
    metavar = getattr(entry, "metavar", None)
    return entry if metavar is None else entry.copy(metavar=metavar.replace("CHOICE|STR", "STR"))


COMMANDS = {
    "demo": (
        "Start here",
        "info:demo",
        "Compare five named-entity taggers on a bundled example, or write files to try sigjax on (--write FOLDER).",
    ),
    "doctor": (
        "Start here",
        "info:doctor",
        "How are files understood, and which command compares them? Nothing is computed.",
    ),
    "help": (
        "Start here",
        "info:explain",
        "Explain a topic, such as exact or formats, or find words in the manual; without any, list the topics.",
    ),
    "compare": (
        "Compare",
        "compare:compare",
        "Compare systems on a test set: which differ significantly, and by how much.",
    ),
    "merge": (
        "Compare",
        "compare:merge",
        "Add up the shards of `sigjax compare --shard K/N` to the report, byte for byte that of one process.",
    ),
    "show": (
        "Reports",
        "reports:show",
        "Show a report again, or write it in other formats, from its JSON: nothing is computed.",
    ),
    "diff": ("Reports", "reports:diff", STUDIES["diff"].title),
    "verify": ("Reports", "reports:verify", STUDIES["verify"].title),
    **{
        name: ("Other questions", f"studies:{name}", each.title)
        for name, each in STUDIES.items()
        if not each.research and each.takes != "reports"
    },
    "research": (
        "Research",
        "studies:research",
        "Audits of tests, experiments with many comparisons, and agreement of labels.",
    ),
    "extract": ("Setup", "compare:extract", "Save the statistics of files once (.npz), for every later command."),
    "info": ("Setup", "info:info", "Show versions and devices, and why no GPU is used."),
}
"""For each command on the page of all commands: (heading, "module:function", first line of its help)."""


def flush() -> None:
    """Write the rest of stdout.

    If its reader has ended (as `head` may in `| head`), drop the rest and all later output.
    """
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        from sigjax.run.files import discard_output

        discard_output()


def app(tokens: Sequence[str] = ()) -> App:
    """Make the cyclopts application with the command that `tokens` choose.

    If `tokens` choose no command, the application has the help lines of all commands.
    """
    headings = list(dict.fromkeys(heading for heading, _, _ in COMMANDS.values()))
    groups = {heading: Group(heading, sort_key=index) for index, heading in enumerate(headings)}
    setup = Group("Options", sort_key=len(groups))
    made = App(
        name="sigjax",
        help="Significance tests for comparing systems on a test set. `sigjax help` lists the pages of the manual. "
        "`--debug` after any command shows tracebacks.",
        version=__version__,
        help_format="plaintext",
        result_action="return_value",
        suppress_keyboard_interrupt=False,
        help_flags=FLAGS,
    )
    made["--help"].group = made["--version"].group = setup
    chosen = [name for name in tokens[:1] if name in (*COMMANDS, "--version")]
    named = chosen or tokens
    if not chosen:
        made.register_install_completion_command(
            help="Have TAB complete commands, options and their values (bash, zsh, fish), from the next shell on.",
            group=setup,
        )
    for name, (heading, path, line) in COMMANDS.items():
        group = groups[heading]
        if name in named or "--install-completion" in named:
            module, _, function = path.partition(":")
            command = getattr(import_module(f"sigjax.cli.{module}"), function)
            made.command(command, **({} if isinstance(command, App) else {"name": name, "group": group}))
        elif not chosen:
            made.command(App(name=name, help=line, group=group))
    return made


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit."""
    gc.disable()  # until the command is imported: garbage collection would take a sixth of a short command's time
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

    Otherwise the first files that sigjax opens would get the file descriptors 0 to 2, and libraries that write to
    stderr would write into such a file. A closed stdout stays None; commands that need it raise an error.
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
        # In the place of a file, `-` means standard input. After an option other than -i, `-` is the value of this
        # option, and raises an error later.
        if token == "-" and (before in ("-i", "--input") or not before.startswith("-")):
            tokens[index] = "/dev/stdin"
    if tokens[:1] and tokens[0] in FLAGS and tokens[1:2] and tokens[1] in COMMANDS:
        tokens = [*tokens[1:], tokens[0]]  # the page is the same, wherever --help stands
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
    except SystemExit as end:  # raised by rich after it has drawn a page of options
        if not isinstance(end.__context__, BrokenPipeError):
            raise
        return CLOSED_PIPE
    except KeyboardInterrupt:
        from sigjax.cli.failures import interrupted

        print(f"\nsigjax: {interrupted(tokens)}", file=sys.stderr)
        return 130
    except Exception as error:
        if debug:
            raise
        from sigjax.cli.failures import failure

        text, code = failure(error, tokens)
        print(f"sigjax: error: {text}", file=sys.stderr)
        return code
