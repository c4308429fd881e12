"""Word alignments: published error rates, a second computation with sets, and files that cannot be used."""

import re

import numpy as np
import pytest

from sigjax import read

GOLD = "0-0 1p1\n\n2-1 0?2\n"
SYSTEMS = {"a": "0-0 1-1\n0-0\n2-1\n", "b": "1-0\n\n0-2 0-2 2p1\n"}


def both(write, systems=SYSTEMS):
    return [write(f"{name}.talp", content) for name, content in systems.items()]


def published(path):
    """File name -> AER, precision, recall, number of links."""
    rows = re.findall(r"test\.enfr\.?(\S*)\.?talp: (\S+)% \((\S+)%/(\S+)%/(\d+)\)", path.read_text())
    return {name.strip("."): [float(number) for number in numbers] for name, *numbers in rows if "bpe" not in name}


@pytest.mark.slow
def test_published_error_rates_of_twelve_systems(data, compared):
    folder = data / "align_enfr"
    files = sorted((folder / "systems").glob("*.talp"))
    swap = ("--reader", "alignment(swap=giza.reverse, swap=fastalign.reverse)", "--baseline", "giza")
    metrics = ("aer", "alignment-precision", "alignment-recall")
    report = compared(folder / "gold.test.wa.nonullalign", "-i", *files, *swap, "-m", *metrics)
    assert report["notes"][0] == "gold standard: gold.test.wa.nonullalign"
    assert any("precise" in note for note in report["notes"])  # systems of one AER may err in different ways
    scores = {(each["metric"], each["name"]): 100 * each["score"] for each in report["systems"]}
    tools = ("giza", "fastalign")
    expected = {
        f"{tool}.{name}".strip("."): numbers
        for tool in tools
        for name, numbers in published(folder / f"published-{tool}.txt").items()
    }
    assert {name for _, name in scores} == set(expected)
    for j, metric in enumerate(metrics):
        for name, numbers in expected.items():
            # The files of fastalign are not quite those of the publication: up to five links more or less.
            allowed = 0.1 if name == "fastalign.intersection" and metric == "alignment-precision" else 0.0
            assert round(scores[metric, name], 1) == pytest.approx(numbers[j], abs=allowed + 1e-9)
    assert next(iter(scores)) == ("aer", "giza.grow-diagonal")  # the best stands first
    assert {pair["method"] for pair in report["pairs"]} == {"exact"}


def test_counts_by_hand(write):
    evaluation = read(write("gold.talp", GOLD), input=both(write))
    assert evaluation.systems == ("a", "b")
    assert evaluation.metric.name == "aer"
    assert not evaluation.metric.higher_is_better
    # matched (sure twice), predicted, sure
    assert evaluation.stats.tolist() == [[[3, 2, 1], [0, 1, 0], [2, 1, 1]], [[0, 1, 1], [0, 0, 0], [3, 2, 1]]]
    assert (evaluation.ids, evaluation.clusters, evaluation.notes[:-1]) == (None, None, ())


def random_corpus(rng, *, num_sentences=30):
    """Sets of links, sure ones and possible ones of the gold, and of two systems, for each sentence."""

    def some(share):
        return [{(int(i), int(j)) for i, j in np.argwhere(rng.random((5, 6)) < share)} for _ in range(num_sentences)]

    return some(0.2), some(0.1), {"a": some(0.25), "b": some(0.15)}


def pharaoh(sure, possible=None, *, first=0):
    lines = []
    for i, links in enumerate(sure):
        tokens = [f"{s + first}-{t + first}" for s, t in sorted(links)]
        tokens += [f"{s + first}p{t + first}" for s, t in sorted(possible[i])] if possible else []
        lines.append(" ".join(tokens))
    return "\n".join(lines) + "\n"


def naacl(sure, possible=None, *, label=True):
    lines = []
    for i, links in enumerate(sure, start=1):
        lines += [f"{i:04d} {s + 1} {t + 1}{' S' if label else ''}" for s, t in links] + [f"{i} 0 {i}", f"{i} 3 0"]
        lines += [f"{i} {s + 1}\t{t + 1} P 0.5" for s, t in possible[i - 1]] if possible else []
    return "\n".join(lines)


@pytest.mark.parametrize("metric", ["aer", "alignment-precision", "alignment-recall"])
@pytest.mark.parametrize("seed", range(3))
def test_every_spelling_gives_the_counts_of_sets(write, metric, seed):
    sure, more, systems = random_corpus(np.random.default_rng(seed))
    sure[-1] = sure[-1] or {(0, 0)}  # a NAACL file tells its last sentence only by a link
    expected = []
    for links in systems.values():
        pairs = list(zip(links, sure, [s | p for s, p in zip(sure, more, strict=True)], strict=True))
        by_hand = {
            "aer": [[len(a & s) + len(a & p), len(a), len(s)] for a, s, p in pairs],
            "alignment-precision": [[len(a & p), len(a)] for a, s, p in pairs],
            "alignment-recall": [[len(a & s), len(s)] for a, s, p in pairs],
        }
        expected.append(by_hand[metric])
    for gold in (pharaoh(sure, more), naacl(sure, more), naacl(sure, more).lower()):
        for spell in (pharaoh, naacl, lambda links: naacl(links, label=False), lambda links: pharaoh(links, links)):
            files = both(write, {name: spell(links) for name, links in systems.items()})
            evaluation = read(write("gold", gold), input=files, metric=metric)
            assert evaluation.stats.tolist() == expected
    turned = {name: pharaoh([{(t, s) for s, t in each} for each in links]) for name, links in systems.items()}
    one_based = {"a": turned["a"], "b": pharaoh(systems["b"])}
    for swap, given in (("swap=all", turned), ("swap=a,swap=b", turned), ("swap=a", one_based)):
        files = both(write, given)
        evaluation = read(write("gold", pharaoh(sure, more)), input=files, metric=metric, reader=f"alignment({swap})")
        assert evaluation.stats.tolist() == expected
    from_one = both(write, {name: pharaoh(links, first=1) for name, links in systems.items()})
    evaluation = read(
        write("gold", naacl(sure, more)), input=from_one, metric=metric, reader="alignment(one_based=true)"
    )
    assert evaluation.stats.tolist() == expected


def test_naacl_files_of_systems_and_a_forgotten_swap(data, compared):
    folder = data / "align_enfr"
    files = [*sorted((folder / "systems").glob("uva.*")), folder / "systems" / "giza.reverse.talp"]
    report = compared(folder / "gold.test.wa.nonullalign", "-i", *files, "--baseline", "uva.ibm1.mle")
    scores = {each["name"]: round(100 * each["score"], 1) for each in report["systems"]}
    assert [scores[f"uva.{name}"] for name in ("ibm1.mle", "ibm1.vb", "ibm2.mle", "ibm2.vb")] == [
        28.5,
        28.6,
        20.5,
        20.4,
    ]
    note, *_ = report["notes"]
    assert note.startswith("system 'giza.reverse': ")
    assert note.endswith("links match the gold when read the other way; check the reader alignment(swap=giza.reverse)")


def test_links_counted_from_one_are_noticed(write):
    files = both(write, {"a": "1-1\n1-1\n3-2\n", "b": "0-0\n\n2-1\n"})
    evaluation = read(write("gold.talp", GOLD), input=files)
    note, _ = evaluation.notes
    assert note.startswith("system 'a': 2 instead of 1 links match the gold when read the other way")
    assert note.endswith("check the reader alignment(one_based=true)")
    files.append(write("c.talp", "0-1\n\n2-1\n"))
    assert read(write("gold.talp", GOLD), input=files, only=["b", "c"]).notes == ("gold standard: gold.talp",)
