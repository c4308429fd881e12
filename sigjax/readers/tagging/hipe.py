"""The tables of the HIPE campaigns (entities in historical newspapers): a token a line, a column for each kind of tag.

The first line names the columns. Lines that begin with "#" and have no tabs are comments, of which
`# hipe2022:document_id = NAME` starts a document; `EndOfSentence` in the column MISC ends a sentence, and so do empty
lines. Systems may leave out comments and MISC: documents and sentences are those of the gold file, and tokens are
aligned by position. As in the campaign's scorer, types are compared whatever the case of their letters, "_" and "-"
are O, and entities may go over the ends of sentences, but not of documents.
"""

import re
from functools import partial

import numpy as np

from sigjax.files.opening import decode_text, read_bytes
from sigjax.readers.formats import Format, Reading, Sources
from sigjax.readers.options import Options, show, suggest
from sigjax.readers.tagging.tokens import TAG_METRICS, Tokens, check_words, evaluate_tags
from sigjax.records import InputError

COLUMN = "NE-COARSE-LIT"
WORD, NOTES, END = "TOKEN", "MISC", "EndOfSentence"
_DOCUMENT = re.compile(r"#\s*[\w.-]*:?document_id\s*=\s*(.*\S)\s*")


def read_hipe(file: str, column: str = COLUMN) -> Tokens:
    """The tokens of a file with the tags of a column."""
    return parse_hipe(file, decode_text(file, read_bytes(file)), column)


def parse_hipe(file: str, text: str, column: str = COLUMN) -> Tokens:
    r"""As `read_hipe`, of text.

    Example:
        >>> text = "TOKEN\tNE-COARSE-LIT\tMISC\n# hipe2022:document_id = d\nRome\tB-LOC\tEndOfSentence\nis\t_\t_\n"
        >>> tokens = parse_hipe("t.tsv", text)
        >>> tokens.tags, tokens.sentences, tokens.documents
        (['B-loc', 'O'], array([0, 1]), ['d', 'd'])
    """
    content = text.split("\n")
    header = content[0].split("\t")
    word, tag = (_column(file, header, name) for name in (WORD, column))
    notes = header.index(NOTES) if NOTES in header else None
    words: list[str] = []
    tags: list[str] = []
    lines: list[int] = []
    sentences: list[int] = []
    breaks: list[int] = []
    documents: list[str] = []
    document, fresh, begins = "", True, True
    for line, found in enumerate(content[1:], start=2):
        if "\t" not in found and (found.startswith("#") or not found.strip()):
            fresh = True
            if match := _DOCUMENT.fullmatch(found):
                document, begins = match[1], True
            continue
        row = found.split("\t")
        if len(row) != len(header):
            raise InputError(f"{file}, line {line}: expected {len(header)} columns as in the header, got {len(row)}")
        if fresh:
            sentences.append(len(words))
            documents.append(document)
        if begins:
            breaks.append(len(words))
        fresh, begins = notes is not None and END in row[notes].split("|"), False
        words.append(row[word])
        tags.append(row[tag])
        lines.append(line)
    if not words:
        raise InputError(f"{file}: has a header but no tokens")
    labels = documents if all(documents) else None
    return Tokens(file, words, _plain(tags), lines, np.array(sentences), np.array(breaks), labels)


def _read(sources: Sources, options: Options) -> Reading:
    column = options.filter or COLUMN
    gold = read_hipe(sources.gold(), column)
    systems = {}
    for name, file in sources.systems.items():
        tokens = read_hipe(file, column)
        check_words(gold, tokens)
        systems[name] = tokens
    return partial(evaluate_tags, gold, systems)


def _column(file: str, header: list[str], name: str) -> int:
    if name not in header:
        raise InputError(f"{file}, line 1: no column {show(name)}; {suggest(name, header, 'columns')}")
    return header.index(name)


def _plain(tags: list[str]) -> list[str]:
    """Tags with types in lower case, and O for what says that there is no entity."""
    plain = {tag: tag[:2] + tag[2:].lower() if tag not in ("_", "-") else "O" for tag in dict.fromkeys(tags)}
    return [plain[tag] for tag in tags]


def _looks(name: str, head: bytes) -> bool:
    return head.startswith(b"TOKEN\tNE-")


HIPE = Format("hipe", "tagged tokens of HIPE", "gold", _read, _looks, TAG_METRICS, frozenset(["filter", "unit"]))
