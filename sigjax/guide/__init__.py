"""The manual: each page is a Markdown file. `sigjax help TOPIC` and the documentation site show the pages.

A page answers one question and is short (tests/test_front_page.py). Its first line is its title, which is also its
entry in the list of topics. Links to other pages are written `[words](topic.md)`. Fenced examples with `>>>` run as
doctests, and need an empty line before the closing fence. A line in braces is replaced by a table made from records.
The comment below the title lists the words by which people look for the page. To add a page, write its file, and name
it in `SECTIONS` and in the `CONTENTS` of .docs/conf.py.
"""

import inspect
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cache, partial
from importlib.resources import files
from itertools import chain
from textwrap import wrap

SECTIONS: Mapping[str, Sequence[str]] = {
    "Tutorial": ("first", "paper", "questions", "coming-from"),
    "How-to": (
        "choosing",
        "translation",
        "logs",
        "runs",
        "trials",
        "leaderboard",
        "boards",
        "size",
        "stopping",
        "best",
        "margin",
        "discoveries",
        "tables",
        "reading",
        "predictions",
        "data-sets",
        "judges",
        "arena",
        "one-system",
        "other-instances",
        "reporting",
        "regressions",
        "integrations",
        "deciding",
        "instances",
        "own-metric",
        "own-format",
        "long-runs",
        "gpu",
        "distributed",
    ),
    "Explanation": ("p-values", "exact", "intervals", "corrections", "designs", "studentized", "calibrated", "studies"),
    "Reference": (
        "commands",
        "python",
        "formats",
        "metrics",
        "output",
        "fields",
        "conventions",
        "numbers",
        "reproducibility",
        "glossary",
        "bibliography",
        "development",
    ),
}
"""Dict from each section to its pages, in the order in which a newcomer would read them."""
TOPICS = tuple(topic for topics in SECTIONS.values() for topic in topics)
WIDTH = 80
"""The width of a page in the terminal, in characters."""
_STYLES = {"markdown.code": "bold", "markdown.h1": "bold", "markdown.h2": "bold", "markdown.item.bullet": ""}
_MOST_FOUND, _PAGES_OF_COMMAND = 12, 3
"""Largest numbers of pages: the pages that a search lists, and the pages that the help of a command names."""
_MOST_ANSWERS = 2
"""Largest number of entries from the page of questions that a search shows."""
_LONG_STEM = 5
"""Fewest letters of a long stem. Every word that begins with a long stem counts as a form of the word."""
_DASHES = str.maketrans("–−", "--")
_MOST_NEAR = 3
"""Largest number of similar words that are suggested if a search finds nothing."""
_SILENT = frozenset(
    "a an and are as at be but by can could do does for from has have how i if in is it its may me my of on or should "
    "so than that the their then there these they this to was we what when where which who why will with would you "
    "your".split()
)
"""Words that a search ignores, unless the user asks only for such words."""
_FILLERS = frozenset(
    "about after also any because before but each enough every get give go just make many more most much need not only "
    "really same significant significantly some still such use very want while without".split()
)
"""Very common words, which a page need not contain to be found, unless the user gives only such words. Answers that
contain them come before answers that are otherwise equal."""
_SAME_WORDS = (
    ("star", "asterisk"),
    ("zero", "0"),
    ("contain", "includ"),
    ("fail", "crash", "timeout"),
)
"""Groups of stems that a search treats as the same word."""
_SAME_IN_ANSWERS = (*_SAME_WORDS, ("system", "model"), ("instance", "data", "exampl"), ("instance", "sampl"))
"""Groups of stems that a search of the page of questions treats as the same word."""
_P_VALUE = re.compile(r"\bp[- ]?values?\b", re.I)
_TABLE = re.compile(r"^\{(.*)\}$", re.M)
_WORDS = re.compile(r"\n<!-- words: (.*) -->\n")
_LINK = re.compile(r"\[([^][]*)\]\(([a-z-]+)\.md\)")


def markdown(topic: str) -> str:
    """Return the Markdown of a page; lines in braces are replaced by tables made from records."""
    return _TABLE.sub(lambda line: "\n".join(_TABLES[line[1]]()), _source(topic))


def page(topic: str, *, color: bool = False) -> str:
    """Return a page as text for the terminal. A link becomes the command that shows its page."""
    from rich.console import Console
    from rich.theme import Theme

    shown = io.StringIO()
    looks = {"color_system": "standard" if color else None, "theme": Theme(_STYLES), "legacy_windows": False}
    console = Console(file=shown, width=WIDTH, force_terminal=color, force_jupyter=False, **looks)
    text = _LINK.sub(_shown_link, markdown(topic))
    console.print(_terminal_markdown()(text, hyperlinks=False))
    return "\n".join(line.rstrip() for line in shown.getvalue().splitlines()).strip("\n")


def _shown_link(link: re.Match[str]) -> str:
    """Return the words of a link to a page, and the command that shows the page."""
    command = f"`sigjax help {link[2]}`"
    return command if link[1] == link[2] else f"{link[1]} ({command})"


def contents() -> str:
    """Return the list of topics by section."""
    lines: list[str] = []
    for section, topics in SECTIONS.items():
        lines += ["", section, *(f"  {topic:<17}  {title(topic)}" for topic in topics)]
    return "\n".join(["sigjax help TOPIC explains", *lines, "", "sigjax COMMAND --help lists options, --help-all all."])


def words_of(topic: str) -> tuple[str, ...]:
    """Return the words by which people look for a page, besides its title."""
    found = _WORDS.search(_text(topic))
    return tuple(found[1].split(", ")) if found else ()


def topic_of(words: Sequence[str]) -> str | None:
    """Return the page that `words` name, by its topic or by words with which people look for the page.

    >>> topic_of(["data", "sets"]), topic_of(["Holm"]), topic_of(["effect", "size?"]), topic_of(["zebra"])
    ('data-sets', 'corrections', 'margin', None)
    """
    if (topic := "-".join(words)) in TOPICS:
        return topic
    asked = _words_in(" ".join(words))
    return next((topic for topic in TOPICS if asked in map(_words_in, words_of(topic))), None)


def search(words: Sequence[str]) -> str:
    """Return a text with the pages that have these words, and with answers from the page `questions`.

    Each page is shown with one of its sentences.

    Words and numbers that no page has are ignored. A page need not have very common words, such as "many", unless all
    words are very common. If no page has all other words, a page need not have the numbers. If there is still no such
    page, the pages with the largest number of the words are shown. The result is empty if no words are left.

    >>> search(["zebra"]), search(["Guenther"]).splitlines()[0]
    ('', "pages that speak of 'Guenther':")
    """
    found = _matches(words)
    lines = [f"pages that speak of {' '.join(words)!r}:"]
    for topic, sentences in found[:_MOST_FOUND]:
        lines += _found(topic, sentences)
    more = len(found) - _MOST_FOUND
    lines += [*["", f"and {more} more"] * (more > 0), "", "sigjax help TOPIC shows a page"]
    return "\n".join([*lines, "sigjax help questions has short answers to twenty questions"]) if found else ""


def near(words: Sequence[str]) -> list[str]:
    """Suggest words of the manual with a similar spelling, for `words` that are on no page.

    >>> near(["intervls"])
    ['intervals', 'interval']
    """
    known = {word for topic in TOPICS for text in _sentences(topic) for word in re.findall(r"[a-z]{4,}", text.lower())}
    close = (get_close_matches(word, sorted(known), cutoff=0.75) for word in _words_in(" ".join(words)))
    return list(dict.fromkeys(chain.from_iterable(close)))[:_MOST_NEAR]


def about(command: str) -> str:
    """Return a text with the pages that a search for a command's name finds first, each with its best sentences."""
    lines = ["In the manual (sigjax help TOPIC):"]
    for topic, sentences in _matches([command])[:_PAGES_OF_COMMAND]:
        lines += _found(topic, sentences)
    return "\n".join(lines)


def _found(topic: str, sentences: Iterable[str]) -> list[str]:
    """Return the lines of a page that a search found: its title and these sentences."""
    how = {"initial_indent": " " * 4, "subsequent_indent": " " * 4, "max_lines": 8}
    parts = (wrap(sentence, WIDTH - 4, **how) for sentence in sentences)
    return ["", f"  {topic:<17}  {title(topic)}", *chain.from_iterable(parts)]


def _matches(words: Sequence[str]) -> list[tuple[str, list[str]]]:
    """Return the pages with the most words of the search (in any order), each with its best sentences.

    The page of questions comes first if there are several words, and one of its answers has all of them (or, if no page
    has all words, some of them). Other pages are sorted by three counts of the words: how many are in the list of words
    by which people look for the page (or in one question that it answers), in its title, and in one of its sentences.
    """
    pages = {topic: _Page(topic) for topic in TOPICS}
    asked = _words_in(" ".join(words))
    tokens = [token for token in asked if any(page.has(token) for page in pages.values())]
    needed = [token for token in tokens if token not in _FILLERS] or tokens
    words_alone = [token for token in needed if not _number(token)]
    tries = (tokens for tokens in (needed, words_alone) if tokens)
    found = next(filter(None, ([topic for topic in TOPICS if all(map(pages[topic].has, each))] for each in tries)), [])
    said = [token for token in asked if token in tokens or _number(token)]
    answers, complete = _answers(said)
    if not found and needed:
        counts = {topic: sum(map(page.has, needed)) for topic, page in pages.items()}
        found = [topic for topic in TOPICS if counts[topic] == max(counts.values())]
        complete = bool(answers)
    ranked = sorted(found, key=lambda topic: pages[topic].rank(needed))
    if complete and len(said) > 1:
        ranked = ["questions", *(topic for topic in ranked if topic != "questions")]
    shown = {topic: [pages[topic].best(needed)] for topic in ranked} | ({"questions": answers} if answers else {})
    return [(topic, shown[topic]) for topic in ranked]


class _Page:
    """The parts of a page that a search uses.

    Attributes:
        sentences: the sentences of the page, as they are shown
    """

    def __init__(self, topic: str) -> None:
        self.sentences = list(_sentences(topic))
        self._heads = [", ".join(words_of(topic)), *re.findall(r"^\*\*(.*?)\*\*", _source(topic), re.M | re.S)]
        self._title = title(topic)
        self._name = f"{topic} {self._title}"
        self._text = "\n".join([*self._heads, self._name, *self.sentences]).translate(_DASHES)

    def has(self, token: str) -> bool:
        return _pattern(token).search(self._text) is not None

    def rank(self, tokens: Sequence[str]) -> tuple[int, ...]:
        """Return the sort key of the page: pages with smaller keys come earlier."""
        counts = [_count(text, tokens) for text in self.sentences]
        by_head = max(_count(text, tokens) for text in self._heads)
        return -by_head, -_count(self._name, tokens), -max(counts), -counts.count(max(counts))

    def best(self, tokens: Sequence[str]) -> str:
        """Return the sentence (not the title) with the largest number of the words; the first in case of ties."""
        others = [text for text in self.sentences if text != self._title]
        return max(others, key=lambda text: _count(text, tokens))


def _answers(tokens: Sequence[str]) -> tuple[list[str], bool]:
    """Return the best entries of the page of questions (at most two), and whether the best one has all words.

    Very common words and numbers need not occur, but entries are better if they do. Entries that have all words come
    first. Then rare words count most, then numbers that equal the user's numbers, then all matches (also with other
    numbers of the same kind), then matches in the entry's question.
    """
    entries = list(filter(re.compile(r"\*\*").match, _source("questions").split("\n\n")))
    plain = [entry[2:].translate(_DASHES).partition("**")[::2] for entry in entries]
    having = {token: [tuple(_is_in(token, text) for text in each) for each in plain] for token in tokens}
    needed = [token for token in tokens if token not in _FILLERS and not _number(token)] or tokens
    rarity = {token: 1 / max(sum(map(any, having[token])), 1) for token in tokens}
    ranks: dict[str, tuple[float, ...]] = {}
    for number, entry in enumerate(entries):
        found = [token for token in needed if any(having[token][number])]
        extra = sum(any(having[token][number]) for token in tokens)
        in_question = sum(having[token][number][0] for token in tokens)
        if found:
            shown = " ".join(_LINK.sub(_shown_link, entry).replace("`", "").replace("**", "").split())
            exact = sum(token in _words_in("".join(plain[number])) for token in tokens if _number(token))
            ranks[shown] = (len(found) == len(needed), sum(map(rarity.__getitem__, found)), exact, extra, in_question)
    first = sorted(ranks, key=lambda entry: ranks[entry], reverse=True)[:_MOST_ANSWERS]
    first = [entry for entry in first if ranks[entry][:3] == ranks[first[0]][:3]]
    return first, bool(first) and bool(ranks[first[0]][0])


def _count(text: str, tokens: Sequence[str]) -> int:
    return sum(_pattern(token).search(text.translate(_DASHES)) is not None for token in tokens)


def _number(token: str) -> str:
    """Return the kind of a number; empty if the word is not a number.

    A search for a number also finds other numbers of the same kind.

    >>> list(map(_number, ["2e-91", "0.06", "2-4", "12", "95%", "e-2", "bleu-4"]))
    ['power', 'decimal', 'range', 'whole', 'whole', '', '']
    """
    sides = token.split("-")
    if len(sides) == 2 and all(map(str.isdecimal, sides)):
        return "range"
    plain = token.removesuffix("%")
    if not plain[:1].isdecimal():
        return ""
    try:
        float(plain)
    except ValueError:
        return ""
    return "power" if "e" in plain else "decimal" if "." in plain else "whole"


@cache
def _pattern(token: str, same_words: Sequence[Sequence[str]] = _SAME_WORDS) -> re.Pattern[str]:
    """Return the pattern that finds a word, its forms, and words with the same meaning (groups in `same_words`).

    >>> [bool(_pattern("star").search(text)) for text in ("starts", "a star", "stars", "an asterisk")]
    [False, True, True, True]
    """
    stem = _stem(token)
    stems = {stem, *chain.from_iterable(same for same in same_words if stem in same)}
    endings = {each: "" if len(each) >= _LONG_STEM else r"(?:s|es|d|ed|ing|ly|er)?(?!\w)" for each in sorted(stems)}
    either = "|".join(re.escape(each) + ending for each, ending in endings.items())
    return re.compile(rf"(?<!\w)(?:{either})", re.IGNORECASE)


def _is_in(token: str, text: str) -> bool:
    """Whether an answer (`text`) has this word, a word of the same meaning, or a number of the same kind."""
    if (kind := _number(token)) and token != "0":
        return kind in map(_number, _words_in(text))
    return _pattern(token, _SAME_IN_ANSWERS).search(text) is not None


def _words_in(text: str) -> list[str]:
    """Return the words of a question without the words in `_SILENT`. If no words remain, return all words.

    >>> _words_in("What does a rank of 2–4 mean?"), _words_in("is it")
    (['rank', '2-4', 'mean'], ['is', 'it'])
    """
    text = _P_VALUE.sub("p", text).casefold().translate(_DASHES)
    words = [word.strip(".'") for word in re.findall(r"[^\s?!,;:()\"]+", text)]
    words = ["star" if word == "*" else word for word in words if word == "*" or re.search(r"\w", word)]
    return [word for word in words if word not in _SILENT] or words


def _stem(word: str) -> str:
    """Return the stem of a word, that is, the word without its ending.

    >>> list(map(_stem, ["tasks", "significantly", "comparing", "loss", "p"]))
    ['task', 'significant', 'compar', 'loss', 'p']
    """
    ending = next((each for each in ("ing", "ed", "es", "ly") if word.endswith(each) and len(word) > len(each) + 3), "")
    plural = word.endswith("s") and not word.endswith("ss") and len(word) > 3
    return word.removesuffix(ending or ("s" if plural else ""))


def _sentences(topic: str) -> Iterator[str]:
    """Yield the sentences, headings, lines of code, rows of tables, and answered questions of a page, as plain text."""
    for piece in re.split(r"\n(?=\n| {0,3}(?:[|#>]|(?:-|\d+\.) |```))", _LINK.sub(_shown_link, markdown(topic))):
        rows = piece.splitlines() if piece.lstrip().startswith("```") else [" ".join(piece.split())]
        for row in rows:
            plain = row.replace("`", "").replace("**", "").lstrip("#>| ").removeprefix("- ")
            plain = plain.rstrip("| ").replace(" | ", "; ")
            parts = [plain] if row.startswith("**") else re.split(r"(?<=[.!?])\s+(?=[A-Z])", plain)
            yield from filter(None, parts)


def title(topic: str) -> str:
    """Return the title of a page."""
    return _source(topic).partition("\n")[0].removeprefix("# ")


def _source(topic: str) -> str:
    return _WORDS.sub("\n", _text(topic))


def _text(topic: str) -> str:
    return files("sigjax.guide").joinpath(f"{topic}.md").read_text("utf-8").rstrip("\n")


def _terminal_markdown() -> type:
    """Return rich's class for Markdown, with plain headings, indented code, and tables without frames.

    The result looks the same in all versions of rich.
    """
    from rich import box, markdown
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    class Heading(markdown.Heading):
        def __rich_console__(self, *_: object) -> Iterator[Text]:
            self.text.justify = "left"
            yield self.text

    class Code(markdown.CodeBlock):
        def __rich_console__(self, *_: object) -> Iterator[Padding]:
            yield Padding(Text(str(self.text).rstrip(), no_wrap=True), (0, 0, 0, 4))

    class Cells(markdown.TableElement):
        def __rich_console__(self, *_: object) -> Iterator[Table]:
            table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
            for cell in self.header.row.cells if self.header and self.header.row else ():
                table.add_column(cell.content, overflow="fold")
            for row in self.body.rows if self.body else ():
                table.add_row(*(cell.content for cell in row.cells))
            yield table

    class Terminal(markdown.Markdown):
        elements = markdown.Markdown.elements | {"heading_open": Heading, "fence": Code, "table_open": Cells}

    return Terminal


def _rows(names: Sequence[str], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    """Yield the lines of a table in Markdown; the names in its first column are written as code."""
    yield f"| {' | '.join(names)} |"
    yield "|" + " --- |" * len(names)
    for first, *others in rows:
        code = ", ".join(f"`{name}`" for name in first.split(", "))
        plain = " | ".join(re.sub(r"([|<])", r"\\\1", cell) for cell in others)
        yield f"| {code} | {plain} |"


def _intervals() -> Iterator[str]:
    from sigjax.testing.intervals import INTERVALS

    return _rows(("kind", "when"), ((each.name, each.about) for each in INTERVALS.values() if each.about))


def _corrections(bounds: str | None) -> Iterator[str]:
    from sigjax.records import CORRECTIONS

    chosen = (each for each in CORRECTIONS.values() if each.bounds == bounds)
    return _rows(("name", "when"), ((each.name, each.about) for each in chosen))


def _columns() -> Iterator[str]:
    from sigjax.metrics import METRICS, TEXT_METRICS

    groups: dict[str, list[str]] = {}
    for name, metric in METRICS.items():
        if name not in TEXT_METRICS:
            groups.setdefault(", ".join(metric.inputs), []).append(name)
    return _rows(("metric", "columns"), ((", ".join(names), columns) for columns, names in groups.items()))


def _formats(takes: str) -> Iterator[str]:
    from sigjax.formats.declarations import all_formats

    rows: list[tuple[str, ...]] = []
    for each in [each for each in all_formats().values() if each.takes == takes]:
        metrics = ", ".join((*each.metrics[:4], *["..."] * (len(each.metrics) > 4))) or "those of numbers"
        rows.append((each.name, each.title + f" (of {each.package})" * bool(each.package), metrics))
    return _rows(("format", "files", "metrics, the default first"), rows)


def _fields(record: str) -> Iterator[str]:
    """Yield the lines of a table: each attribute of the class `record`, and the first clause of its description."""
    from sigjax.records import Comparison, SystemScore
    from sigjax.report.report import Report

    text = inspect.getdoc({"Comparison": Comparison, "SystemScore": SystemScore, "Report": Report}[record]) or ""
    about = dict(re.findall(r"^    (\w+): (.*(?:\n {8}.*)*)", text.partition("Attributes:")[2], re.M))
    return _rows(("field", "what it is"), ((name, _sentence(said)) for name, said in about.items()))


def _sentence(text: str) -> str:
    """Return the first sentence or clause, on one line, without the full stop. Text in brackets is not divided.

    >>> _sentence("how it was tested (exact; or sampled); and why")
    'how it was tested (exact; or sampled)'
    """
    pieces = re.split(r"(?<=[;.:])(?:\s|$)", " ".join(text.split()))
    said = next(pieces[:n] for n in range(1, len(pieces) + 1) if _closed(" ".join(pieces[:n])) or n == len(pieces))
    return " ".join(said).rstrip(" ;.:")


def _closed(text: str) -> bool:
    return text.count("(") <= text.count(")")


def _references() -> Iterator[str]:
    """Yield the entries of references.bib as text."""
    for entry in files("sigjax.data").joinpath("references.bib").read_text("utf-8").split("\n\n"):
        line = " ".join(entry.split())  # an entry may have several lines
        fields = (field.partition(" = ") for field in re.split(r"\}, (?=\w+ = \{)", line.partition(", ")[2]))
        plain = {name: re.sub(r"[{}\\]", "", value).strip().replace("--", "-") for name, _, value in fields}
        names = ", ".join(name.partition(",")[0] for name in plain["author"].split(" and "))
        where = plain.get("journal") or plain.get("booktitle") or plain.get("publisher") or plain["howpublished"]
        volume, pages = (f" {plain['volume']}" if "volume" in plain else ""), plain.get("pages")
        doi = f" doi:{plain['doi']}" if "doi" in plain else ""
        yield f"- {names} ({plain['year']}): {plain['title']}. {where}{volume}{f', {pages}' if pages else ''}.{doi}"


_TABLES: Mapping[str, Callable[[], Iterable[str]]] = {
    "intervals": _intervals,
    "familywise": partial(_corrections, "familywise"),
    "false discovery": partial(_corrections, "false discovery"),
    "no correction": partial(_corrections, None),
    "columns": _columns,
    **{f"formats: {takes}": partial(_formats, takes) for takes in ("file", "systems", "gold")},
    "fields of pairs": partial(_fields, "Comparison"),
    "fields of systems": partial(_fields, "SystemScore"),
    "fields of reports": partial(_fields, "Report"),
    "references": _references,
}
"""Dict from the line in braces on a page to the function that yields the text for its place."""
