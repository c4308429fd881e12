"""Print pip constraints: the lowest version that pyproject.toml allows of every dependency, those of extras too."""

import re
import tomllib
from pathlib import Path

project = tomllib.loads(Path(__file__).parents[1].joinpath("pyproject.toml").read_text(encoding="utf-8"))["project"]
extras = project["optional-dependencies"]
for requirement in dict.fromkeys([*project["dependencies"], *sum(extras.values(), [])]):
    if found := re.match(r"([\w-]+)>=([\w.]+)", requirement):
        print("{}=={}".format(*found.groups()))
