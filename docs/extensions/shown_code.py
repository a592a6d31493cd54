"""Code on a page is part of a file that the tests run. It stands in the page, so that a forge shows
it, below a line that names the file:

    <!-- code: docs/programs/sell.cpp [sell] -->
    <!-- code: docs/sessions/run.session -->
    <!-- code: not run -->

The first is the part of the file between the lines `// [sell]` and `// [/sell]`, or `# [sell]` and
`# [/sell]`, with the common indentation removed. The second is the whole file.
"""

import re
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
MARK = re.compile(r"<!-- code: (?:(?P<not_run>not run)|(?P<file>\S+)(?: \[(?P<part>\w+)\])?) -->")
# Begins or ends a part; of another part, it is left out.
EDGE = re.compile(r"\s*(//|#) \[(?P<end>/?)(?P<part>\w+)\]$")
FENCE = re.compile(r"(?P<fence>`{3,}|:{3,})(?P<language>\S*)")
FREE = ("", "text", "none", "default", "mermaid")


class Fault(Exception):
    pass


def part_of(file, part=None):
    """The text of a file, or of one part of it."""
    path = ROOT / file
    if not path.is_file():
        raise Fault(f"there is no file {file}")
    lines = path.read_text(encoding="utf-8").splitlines()
    if part is None:
        return "\n".join(lines).strip("\n") + "\n"
    inside, found, ended = False, [], False
    for line in lines:
        edge = EDGE.match(line)
        if not edge:
            if inside:
                found.append(line)
        elif edge["part"] == part:
            inside = not edge["end"]
            ended = ended or bool(edge["end"])
    if not found or not ended:
        raise Fault(f"{file} has no part between the lines [{part}] and [/{part}]")
    return textwrap.dedent("\n".join(found)).strip("\n") + "\n"


class Page:
    """The lines of a page, and its fences."""

    def __init__(self, path):
        self.path = path
        self.lines = path.read_text(encoding="utf-8").splitlines()

    def fences(self):
        """For each: its mark or none, its language, its first line, and the line that closes it."""
        number = 0
        while number < len(self.lines):
            opening = FENCE.match(self.lines[number])
            if not opening:
                number += 1
                continue
            end = number + 1
            while end < len(self.lines) and self.lines[end] != opening["fence"]:
                end += 1
            mark = MARK.fullmatch(self.lines[number - 1]) if number else None
            yield mark, opening["language"], number + 1, end
            number = end + 1


def faults(page, every_fence):
    """What is wrong with the page; with every_fence, also code that names no file."""
    marked = 0
    for mark, language, first, end in page.fences():
        place = f"{page.path.relative_to(ROOT)}:{first}"
        if not mark:
            if every_fence and language not in FREE and not language.startswith("{"):
                yield f"{place}: code that no test runs: put it into docs/programs or " \
                      "docs/sessions, and name that file in the line above: <!-- code: FILE -->"
            continue
        marked += 1
        if mark["not_run"]:
            continue
        try:
            wanted = part_of(mark["file"], mark["part"])
        except Fault as fault:
            yield f"{place}: {fault}"
            continue
        shown = "\n".join(page.lines[first:end]) + "\n"
        if shown != wanted:
            yield f"{place}: differs from {mark['file']}, which is the one that is tested; " \
                  "docs/code --fix copies it"
    if marked != sum(line.startswith("<!-- code:") for line in page.lines):
        yield f"{page.path.relative_to(ROOT)}: a line <!-- code: … --> without a fence below it"


def fixed(page):
    """The text of the page with the code of the files."""
    lines = list(page.lines)
    for mark, _, first, end in reversed(list(page.fences())):
        if mark and mark["file"]:
            lines[first:end] = part_of(mark["file"], mark["part"]).splitlines()
    return "\n".join(lines) + "\n"
