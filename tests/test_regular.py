"""Regular expressions take linear time on any text: by analysis of each one in the package, without a clock."""

import re

import pytest
from regular import patterns_of_package, superlinear

from sigjax.formats.declarations import FORMATS
from sigjax.readers.lexicon import lexicon

SLOW = (  # superlinear for sure, most of them classics of denial of service
    (r"(a+)+b", "match"),
    (r"(a*)*b", "match"),
    (r"(a|a)*b", "match"),
    (r"(a|aa)+$", "match"),
    (r"(x+x+)+y", "match"),
    (r"(.*a){2}$", "match"),
    (r"\s*x", "search"),
    (r"\s*$", "sub"),
    (r"(?m)^\s*x", "search"),
    (r"a*a*", "fullmatch"),
    (r"a*b?a*c", "match"),
    (r"a*+x|(.*)\s*$", "fullmatch"),
    (r"(.*b)?", "findall"),
    (r"a(?=.*b)", "search"),
    (r"(.*?)\s*\(([^()\s]+)\)", "fullmatch"),
    (r"\s*[+-]?(\d+)\.?0*\s*", "fullmatch"),
    (r"(.*?)(\d+)", "fullmatch"),
    (r"\\cite{(.*?)}", "findall"),
    (r"<[^>]*/[^>]*>", "search"),
    (r"(?i)A+a*!", "match"),
)
FAST = (
    (r"\s*x", "match"),
    (r"^\s*x", "search"),
    (r"(?m)^ *x", "search"),
    (r"\A\s*x", "search"),
    (r"[a-z0-9]+", "findall"),
    (r"a*b*c*d", "match"),
    (r"(a|b)*c", "match"),
    (r"a*+a*b", "match"),
    (r"(?>a*)a*b", "match"),
    (r"a*a*", "match"),
    (r"a(?=b)", "search"),
    (r"(?<!a)a+b", "search"),
    (r'"[^"]*"|\S+', "findall"),
    (r"(?:[0-9]{1,9}+-[0-9]{1,9}+(?=\s|\Z)|\s)*", "fullmatch"),
    (r"(?:\S+\s+){3}x", "match"),
    (r"-a( [^ ]+=b)*", "search"),
)


@pytest.mark.parametrize(("pattern", "method"), SLOW)
def test_the_analysis_finds_patterns_that_are_slow(pattern, method):
    assert superlinear(re.compile(pattern), method=method)


@pytest.mark.parametrize(("pattern", "method"), FAST)
def test_the_analysis_passes_patterns_that_are_linear(pattern, method):
    assert superlinear(re.compile(pattern), method=method) == ""


def test_no_pattern_of_the_package_takes_more_than_linear_time():
    """A pattern that only a run knows is one of a format, whose patterns are known by its functions and its names."""
    patterns, unknown = patterns_of_package()
    assert {place for place, _ in unknown} == {"formats/declarations.py"}
    assert len(patterns) > 100
    of_formats = [("formats/declarations.py", re.compile(each.names, re.S), "fullmatch") for each in FORMATS.values()]
    of_words = [("readers/lexicon.toml", each, "fullmatch") for own in lexicon().patterns.values() for each in own]
    slow = {
        (place, pattern.pattern, method): found
        for place, pattern, method in [*patterns, *of_formats, *of_words]
        if (found := superlinear(pattern, method=method))
    }
    assert slow == {}
