"""The pages of the manual."""

from sigjax.cli.output import text_options, write_text
from sigjax.guide import TOPICS, contents, page
from sigjax.records import InputError
from sigjax.records.names import meant


def show_help(topic: str | None = None, /) -> None:
    """Explain a topic, such as exact, intervals or formats; without one, list the topics.

    Args:
        topic: One of the topics, or a command.
    """
    if topic is None:
        write_text(contents(), "text", None)
    elif topic in TOPICS:
        write_text(page(topic, bold=bool(text_options(to_file=False)["color"])), "text", None)
    else:
        close = meant(topic, TOPICS)
        known = f"did you mean {close[0]!r}?" if close else f"topics: {', '.join(TOPICS)}"
        raise InputError(f"no help on {topic!r}; {known}")
