"""Print the one-line command under the marker `<!-- command: NAME -->`: readme_command.py README.md NAME."""

import sys
from pathlib import Path


def command(text: str, name: str) -> str:
    """The command; exits with a message where README.md does not hold exactly one line of it."""
    marker = f"<!-- command: {name} -->"
    lines = [line.rstrip() for line in text.splitlines()]
    if lines.count(marker) != 1:
        sys.exit(f"README.md: expected the line {marker} once, found it {lines.count(marker)} times")
    block = lines[lines.index(marker) + 1 :][:3]
    if len(block) < 3 or block[0] != "```bash" or block[1] in ("", "```") or block[2] != "```":
        sys.exit(f"README.md: expected ```bash, one line and ``` right after {marker}")
    return block[1]


if __name__ == "__main__":
    print(command(Path(sys.argv[1]).read_text(encoding="utf-8"), sys.argv[2]))
