"""The commands by name. One is imported when it is chosen, since some need much more than others."""

from collections.abc import Sequence
from importlib import import_module

from cyclopts import App, Group

from sigjax.cli.help import FLAGS
from sigjax.version import __version__

COMMANDS = {
    "compare": "compare",
    "demo": "demo",
    "doctor": "doctor",
    "help": "guide",
    "info": "info",
    "extract": "compare",
    "show": "reports",
    "verify": "reports",
    "diff": "reports",
    "tests": "classical",
    "power": "studies",
    "equivalence": "studies",
    "audit": "studies",
    "one-sample": "samples",
    "unpaired": "samples",
    "association": "classical",
    "study": "studies",
}
"""Each command and its module."""
_FIRST = {"compare", "demo", "doctor", "help"}
_FUNCTIONS = {"help": "show_help", "one-sample": "one_sample", "tests": "show_tests"}
"""Where a command has not the name of its function."""


def app(tokens: Sequence[str] = ()) -> App:
    """The command line with the command that the arguments choose; with all where they choose none."""
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
    if not chosen:
        made.register_install_completion_command(
            help="Have TAB complete commands, options and their values (bash, zsh, fish), from the next shell on.",
            group=setup,
        )
    for name in chosen or COMMANDS:
        if name in COMMANDS:
            command = getattr(import_module(f"sigjax.cli.{COMMANDS[name]}"), _FUNCTIONS.get(name, name))
            if isinstance(command, App):
                made.command(command)
            else:
                made.command(command, name=name, group=first if name in _FIRST else None)
    return made
