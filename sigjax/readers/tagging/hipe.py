"""Tables of the HIPE campaigns (entities in historical newspapers): one token per line, one column per kind of tag.

The first line names the columns. Lines that begin with "#" and have nothing in other columns are comments, of which
`# hipe2022:document_id = NAME` starts a document; `EndOfSentence` in the column MISC ends a sentence, and so do empty
lines. Systems may leave out comments and MISC: documents and sentences are those of the gold file, and tokens are
aligned by position. As in the campaign's scorer, the case of types does not count, "_" and "-" are O, and entities may
cross the ends of sentences, but not of documents.

The scorer of the campaign takes tokens by position, however they are written, and refuses files that lack some; with
`tolerant` we take up to 20 other spellings, too, and put back tokens that a file lacks, as O.
"""

from functools import partial

import numpy as np

from sigjax.files.opening import read_text
from sigjax.readers.formats import Format, looks_like
from sigjax.readers.options import show, suggest
from sigjax.readers.tagging.tokens import TAG_METRICS, TAG_OPTIONS, Tokens, read_tagged
from sigjax.records import InputError

COLUMN = "NE-COARSE-LIT"
WORD, NOTES, END = "TOKEN", "MISC", "EndOfSentence"
_DOCUMENT = "document_id"


def parse_hipe(file: str, text: str, column: str = COLUMN) -> Tokens:
    r"""The tokens of a file with the tags of a column.

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
        plain = found.strip()
        if not plain or (plain.startswith("#") and "\t" not in plain):  # tables pad both with tabs
            fresh = True
            key, _, name = plain.partition("=")
            if name and key.rstrip().endswith(_DOCUMENT):
                document, begins = name.lstrip(), True
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


def _column(file: str, header: list[str], name: str) -> int:
    if name not in header:
        raise InputError(f"{file}, line 1: no column {show(name)}; {suggest(name, header, 'columns')}")
    return header.index(name)


def _plain(tags: list[str]) -> list[str]:
    """Tags with types in lower case, and O where there is no entity."""
    plain = {tag: tag[:2] + tag[2:].lower() if tag not in ("_", "-") else "O" for tag in dict.fromkeys(tags)}
    return [plain[tag] for tag in tags]


HIPE = Format(
    "hipe",
    "tagged tokens of HIPE",
    "gold",
    partial(read_tagged, lambda file, options: parse_hipe(file, read_text(file), options.filter or COLUMN), ()),
    looks_like(rb"^TOKEN\tNE-"),
    TAG_METRICS,
    TAG_OPTIONS | {"filter", "tolerant"},
)
