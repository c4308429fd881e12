"""`sigjax info`: what is installed, and all metrics and formats by name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from sigjax.cli.output import entry, text_width, write_text
from sigjax.metrics import CLASS_METRICS, METRICS, TEXT_METRICS
from sigjax.readers import FORMATS, Takes

Topic = Literal["metrics", "formats"]
TAKES: dict[Takes, str] = {
    "file": "sigjax compare FILE: all systems in one file",
    "systems": "sigjax compare FILE FILE ...: one file per system",
    "gold": "sigjax compare GOLD [GOLD ...] -i FILE FILE ...: one file per system, after the gold files",
}
_INDENT = 24


def info(topic: Topic | None = None, /) -> None:
    """Show versions and devices, and all metrics and formats; or `info metrics`, `info formats` alone.

    Args:
        topic: What to show alone.
    """
    parts = {"versions": _versions, "metrics": _metrics, "formats": _formats}
    shown = [parts[topic]] if topic else parts.values()
    write_text("\n\n".join("\n".join(part()) for part in shown), "text", None)


def _versions() -> Iterator[str]:
    from sigjax.run.host import installed

    for name, value in installed().items():
        yield _row(f"{name}:", value)


def _metrics() -> Iterator[str]:
    """A line for each metric: what it takes for each instance, and its direction where lower is better."""
    yield _row("metrics (-m NAME)", "what they take for each instance (columns of a table: see --counts)")
    for name, metric in METRICS.items():
        of_texts = TEXT_METRICS.get(name)
        takes = ", ".join(metric.inputs) if of_texts is None else "references, outputs" + of_texts.source * ", --source"
        extra = f" (needs sigjax[{of_texts.extra}])" if of_texts and of_texts.extra else ""
        yield _row(f"  {name}", f"{takes}{'' if metric.higher_is_better else '; lower is better'}{extra}")
        if name == "fscore":
            yield _row("  f2, f0.5, ...", ", ".join(metric.inputs))
    for name in CLASS_METRICS:
        yield _row(f"  {name}", "gold and predicted label")
    yield _row("  p@5, ap(rel=2), ...", "judgments and runs: the measures of trec_eval (needs sigjax[ir])")


def _formats() -> Iterator[str]:
    """A line for each format, by the files it takes, and the metrics where it has its own."""
    yield _row("formats", "recognized from name and content, or named with --reader NAME")
    for takes, command in TAKES.items():
        yield _row("", "")
        yield entry("", command, width=text_width(), indent=4)
        for each in FORMATS.values():
            if each.takes == takes or (each.parts and takes == "systems"):
                yield _row(f"  {each.name}", each.title + (f": {', '.join(each.metrics)}" if each.metrics else ""))


def _row(name: str, said: str) -> str:
    return entry(name, said, width=text_width(), indent=_INDENT)
