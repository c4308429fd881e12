"""Small files of tagged tokens, labels, segmentations and parses, which several tests of readers change."""

PAIRS = """\
Boeing NNP B-NP B-NP
's POS B-NP I-NP
747 CD I-NP I-NP

jets NNS B-NP B-VP
flew VBD O O
"""
TAGGED = "\n".join(line.rpartition(" ")[0] for line in PAIRS.split("\n"))
MBT = "The DT\ncat NN\n<utt>\nsat VBD\n<utt>\n"

HIPE_HEAD = "TOKEN\tNE-COARSE-LIT\tNE-FINE-LIT\tMISC\n"
HIPE_GOLD = (
    HIPE_HEAD
    + "# hipe2022:document_id = one\n# hipe2022:language = fr\n"
    + "Jean\tB-pers\tB-pers.ind\t_\nBon\tI-pers\tI-pers.ind\tEndOfSentence|EndOfLine\n"
    + "dit\tO\tO\t_\n#\tO\tO\tNoSpaceAfter|EndOfSentence\n\n"
    + "# hipe2022:document_id = two\n# hipe2022:language = fr\n"
    + "Rome\tB-loc\tB-loc.adm\t_\n.\tO\tO\tEndOfSentence\n"
)
HIPE = "NE-COARSE-LIT\tTOKEN\nS-PERS\tJean\n_\tBon\n-\tdit\n_\t#\nB-Loc\tRome\n_\t.\n"

SEGMENTED = "undone\tun @@do @@en\t110\ncats\tcat @@s\t100\ncats\tcat @@s\t100\nxylem\txylem\t000\n"
SEGMENTS = "undone\tun @@done\ncats\tcat @@s\ncats\tcats\nxylem\tx @@y @@lem\n"
SEGMENTS_TWO = "undone\tun do en\ncats\t\ncats\ts @@cat @@s\nxylem\txylem\n"

CLASSES = list("aabbcabcca")
CLASSIFIED = {"one": list("aabbcabbba"), "two": list("abbbcaaccx")}


EVALB_HEADER = """  Sent.                        Matched  Bracket   Cross        Correct Tag
 ID  Len.  Stat. Recal  Prec.  Bracket gold test Bracket Words  Tags Accracy
"""
EVALB_RULE = "=" * 76 + "\n"


def evalb(counts):
    """A file in evalb's own layout."""
    rows = [
        f"{i:4d}  {4:3d}    {0 if each else 1:d}  {50:6.2f} {50:6.2f}   {m:3d}    {g:3d}  {t:3d}    {0:3d}    {4:3d}   "
        f"{4:3d}   {100:6.2f}\n"
        for i, each in enumerate(counts, start=1)
        for m, g, t in [each or (0, 0, 0)]
    ]
    return (
        EVALB_HEADER
        + EVALB_RULE
        + "".join(rows)
        + EVALB_RULE
        + "                 87.76  90.53     86     98   95\n=== Summary ===\n"
    )


TREES = [
    "(TOP (S (NP-SBJ-1 (PRP She)) (VP (VBD saw) (NP (DT the) (NN sea))) (. .)))",
    "( (S (NP-SBJ (-NONE- *)) (VP (VB Go) (ADVP=2 (RB away)))))",
    "(ROOT (NP (NP (NN Tea)) (CC or) (NP (NN gin))))",
]
TREES_ONE = [
    "(S (NP (PRP She)) (VP (VBD saw)) (NP (DT the) (NN sea)) (. .))",
    "(S1 (S (VP (VB Go) (ADVP (RB away)))))",
    "(())",
]
TREES_TWO = [
    "(S (NP (PRP She) (VBD saw)) (X (NP (NP (DT the) (NN sea)) (. .))))",
    "(S (S (VP (VB Go) (PP (RP away)))))",
    "(NP (NN Tea) (NP (CC or) (NN gin)))",
]


def row(id, form, head="_", relation="_", tag="_", lemma="_", xpos="_", features="_"):
    """A word of CoNLL-U."""
    return "\t".join([id, form, lemma, tag, xpos, features, head, relation, "_", "_"])


def conllu(*rows):
    """A file of one sentence."""
    return "\n".join([*rows, "", ""])
