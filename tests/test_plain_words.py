"""README and the manual are read once: how long sentences are, and how they begin. The levels only ever fall."""

import re
from pathlib import Path

import pytest

import sigjax.guide as guide

ROOT = Path(__file__).parents[1]
LONGEST = 30
"""Words; a sentence with more must be read twice."""


def sentences(text):
    """The sentences of Markdown, without code, tables, headings and the targets of links; code counts as a word.

    >>> list(sentences("# Title\\n\\nRun `a b` now. See [the page](page.md).\\n\\n- one item here"))
    ['Run CODE now.', 'See the page.', 'one item here']
    """
    for pattern, instead in (
        (r"```.*?```", "\n\n"),
        (r"<!--.*?-->|<img[^>]*>", ""),
        (r"(?m)^\s*\|[^\n]*$", "\n"),
        (r"(?m)^#[^\n]*$", "\n"),
        (r"\[([^\]]*)\]\([^)]*\)", r"\1"),
        (r"`[^`]*`", "CODE"),
        (r"\bet al\.", "et al"),
    ):
        text = re.sub(pattern, instead, text, flags=re.DOTALL)
    for paragraph in re.split(r"\n\s*\n|\n\s*(?=- |\d+\. )", text):
        line = re.sub(r"^- ", "", " ".join(paragraph.split()))
        yield from (each for each in re.split(r"(?<=[.!?])\s+(?=[A-Z\"*(])", line) if len(each.split()) > 2)


def written():
    pages = [guide.markdown(topic) for topic in guide.TOPICS if topic != "bibliography"]
    found = [each for text in [(ROOT / "README.md").read_text("utf-8"), *pages] for each in sentences(text)]
    assert len(found) > 1000
    return found


@pytest.mark.parametrize(
    ("what", "is_hard", "most"),
    [
        (f"more than {LONGEST} words", lambda text: len(text.split()) > LONGEST, 0.012),
        ("more than 25 words", lambda text: len(text.split()) > 25, 0.06),
        ("two colons or semicolons", lambda text: len(re.findall("[:;]", text)) > 1, 0.065),
        ("begins with Of or Where", re.compile(r"(Of|Where)\b").match, 0.002),
        ("that of, those of, of which", re.compile(r"\b(that|those) of\b|\bof which\b").search, 0.002),
    ],
)
def test_few_sentences_must_be_read_twice(what, is_hard, most):
    every = written()
    hard = [each for each in every if is_hard(each)]
    assert len(hard) <= most * len(every), f"{len(hard)} of {len(every)} sentences: {what}\n" + "\n".join(hard)
