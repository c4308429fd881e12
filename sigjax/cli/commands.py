"""The commands by name. One is imported when it is named, since some need much more than others."""

from collections.abc import Sequence
from importlib import import_module

from cyclopts import App, Group

from sigjax.cli.help import FLAGS
from sigjax.version import __version__

COMMANDS = {
    "compare": ("compare:compare", "Compare systems on a test set: who beats whom by more than chance."),
    "demo": (
        "demo:demo",
        "Compare five named-entity taggers on a bundled example, or write files to try sigjax on (--write FOLDER).",
    ),
    "doctor": (
        "doctor:doctor",
        "How are files understood, and which command compares them? Nothing is computed.",
    ),
    "help": (
        "guide:show_help",
        "Explain a topic, such as exact, intervals or formats; without one, list the topics.",
    ),
    "info": (
        "info:info",
        "Show versions and devices, and all metrics and formats; or `info metrics`, `info formats` alone.",
    ),
    "extract": ("compare:extract", "Save the statistics of files once (.npz), for every later command."),
    "show": ("reports:show", "Show a report again, or write it in other formats, from its JSON: nothing is computed."),
    "verify": (
        "reports:verify",
        "Is a report that of these files? The same data, and, when compared again, the same numbers.",
    ),
    "diff": (
        "reports:diff",
        "What changed between two reports, and with --margin: is any system worse by more than that?",
    ),
    "tests": (
        "classical:show_tests",
        "Show the classical tests of two systems beside the permutation test and the bootstrap, and what each assumes.",
    ),
    "power": (
        "studies:power",
        "How likely is a test to find the difference of these two systems with more or fewer instances?",
    ),
    "equivalence": (
        "studies:equivalence",
        "Are systems alike up to a margin, or one not worse than the other by it? Two one-sided tests (TOST).",
    ),
    "audit": (
        "studies:audit",
        "Do the tests keep their level on these data? They test pairs that are made so that neither is better.",
    ),
    "one-sample": (
        "samples:one_sample",
        "Test each system against a number: is its accuracy above 0.5, its mean rating not 3, its win rate not 1/2?",
    ),
    "unpaired": (
        "samples:unpaired",
        "Compare systems that were tested on different instances: unpaired permutation and rank-sum tests.",
    ),
    "association": (
        "classical:association",
        "Do labels agree with gold labels more than chance, given how often each label was used?",
    ),
    "study": ("studies:study", "Experiments with many comparisons of systems on these files."),
}
"""Each command: the module and the function, and the first line of its help, for the page of all commands."""
_FIRST = {"compare", "demo", "doctor", "help"}


def app(tokens: Sequence[str] = ()) -> App:
    """The command line with the command that the arguments choose; with the lines of all where they choose none."""
    first, setup = Group("Start here", sort_key=1), Group("Options", sort_key=3)
    made = App(
        name="sigjax",
        help="Significance tests for comparing systems on a test set. `sigjax help` lists the pages of the manual. "
        "`--debug` after any command shows tracebacks.",
        version=__version__,
        help_format="plaintext",
        result_action="return_value",
        suppress_keyboard_interrupt=False,
        help_flags=FLAGS,
        group_commands=Group("Commands", sort_key=2),
    )
    made["--help"].group = made["--version"].group = setup
    chosen = [name for name in tokens[:1] if name in (*COMMANDS, "--version")]
    named = chosen or tokens
    if not chosen:
        made.register_install_completion_command(
            help="Have TAB complete commands, options and their values (bash, zsh, fish), from the next shell on.",
            group=setup,
        )
    for name, (path, line) in COMMANDS.items():
        group = first if name in _FIRST else None
        if name in named or "--install-completion" in named:
            module, _, function = path.partition(":")
            command = getattr(import_module(f"sigjax.cli.{module}"), function)
            made.command(command, **({} if isinstance(command, App) else {"name": name, "group": group}))
        elif not chosen:
            made.command(App(name=name, help=line, group=group))
    return made
