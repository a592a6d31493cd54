#!/usr/bin/env python3
"""Holds the folders of src against the table of layers in docs/internals/design.md.

usage: check.py [ROOT]

A row names a folder and those that its files may include from. Each of them stands further down, so
that there are no circles; what no file needs is not allowed. The picture, a block of the same
section, names every folder once and nothing else; what one may include from is in a lower line.
"""
import re
import sys
from pathlib import Path

PAGE = "docs/internals/design.md"
HEADING = "## Layers"
SOURCES = (".cpp", ".hpp")
PUBLIC = "include/leasehold"


def named(text):
    return re.findall(r"`([^`]+)`", text)


def folder_of(path, root):
    """How the table calls the folder of a file: the public headers are one."""
    folder = path.parent.relative_to(root).as_posix()
    return PUBLIC if folder.startswith("include") else folder


class Layers:
    def __init__(self, root):
        self.root = root
        self.faults = []
        self.rows = {}     # Folder: the line of its row.
        self.allowed = {}  # Folder: those it may include from, and the line that says so.
        self.drawn = {}    # Folder: its line in the picture.
        self.used = set()  # Arrows.

    def fault(self, place, line, text):
        self.faults.append(f"{place}:{line}: {text}")

    def read_page(self):
        """The table, and the picture: the first block of the section."""
        inside = picture = False
        seen_picture = False
        cells = {}
        lines = (self.root / PAGE).read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(lines, 1):
            if line.startswith("## "):
                inside = line.startswith(HEADING)
            elif not inside:
                continue
            elif line.startswith("```"):
                picture = not picture and not seen_picture
                seen_picture = True
            elif picture:
                self.read_picture(number, line)
            elif line.startswith("| `"):
                columns = line.strip().strip("|").split("|")
                folder = named(columns[0])[0]
                if folder in self.rows:
                    self.fault(PAGE, number, f"{folder} has two rows")
                self.rows[folder] = number
                cells[folder] = columns[-1]
        for folder, cell in cells.items():
            self.allowed[folder] = [self.resolve(folder, each) for each in named(cell)]

    def read_picture(self, number, line):
        for word in re.findall(r"[\w/]+", line):
            folder = word if word in ("src", PUBLIC) else f"src/{word}"
            if folder in self.drawn:
                self.fault(PAGE, number, f"the picture names {folder} twice")
            self.drawn[folder] = number

    def resolve(self, folder, name):
        """A name in the row of a folder: within it, beside it, or from src."""
        parent = folder.rpartition("/")[0]
        for candidate in (f"{folder}/{name}", f"{parent}/{name}", f"src/{name}"):
            if candidate in self.rows:
                return candidate
        self.fault(PAGE, self.rows[folder], f"{folder} may include from {name}, which has no row")
        return None

    def check_table(self):
        order = list(self.rows)
        for folder, others in self.allowed.items():
            for other in filter(None, others):
                if order.index(other) <= order.index(folder):
                    self.fault(PAGE, self.rows[folder],
                               f"{folder} -> {other} leads up: the row of {other} has to stand"
                               " further down")
                elif self.drawn.get(other, 1) <= self.drawn.get(folder, 0):
                    self.fault(PAGE, self.drawn[folder],
                               f"{folder} -> {other} does not lead down in the picture")
                if (folder, other) not in self.used:
                    self.fault(PAGE, self.rows[folder],
                               f"{folder} -> {other} is allowed, and no file needs it")
        for folder, line in self.rows.items():
            if not (self.root / folder).is_dir():
                self.fault(PAGE, line, f"{folder} has a row, and is not there")
            if folder not in self.drawn:
                self.fault(PAGE, line, f"{folder} is not in the picture")
        for folder, line in self.drawn.items():
            if folder not in self.rows:
                self.fault(PAGE, line, f"the picture names {folder}, which has no row")

    def check_files(self):
        for path in sorted(p for top in ("include", "src") for p in (self.root / top).rglob("*")):
            folder = folder_of(path, self.root)
            if path.is_dir() or path.suffix not in SOURCES and self.within_a_row(folder):
                continue
            if folder not in self.rows:
                self.fault(path.relative_to(self.root), 1, f"{folder} has no row in {PAGE}")
                continue
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                found = re.match(r'\s*#\s*include\s*["<]([^">]+)', line)
                if found:
                    self.check_include(path, folder, number, found[1])

    def within_a_row(self, folder):
        """What is no C++ may be in a folder of a folder that has one."""
        while folder not in self.rows and folder.count("/") > 1:
            folder = folder.rpartition("/")[0]
        return folder in self.rows

    def check_include(self, path, folder, number, text):
        for base in (self.root / "src", path.parent):
            target = (base / text).resolve()
            if target.is_file() and target.is_relative_to(self.root / "src"):
                break
        else:
            return
        other = folder_of(target, self.root)
        if other == folder:
            return
        self.used.add((folder, other))
        if other not in self.allowed[folder]:
            self.fault(path.relative_to(self.root), number,
                       f'{folder} -> {other} is not allowed: #include "{text}"')


def main():
    if len(sys.argv) > 2 or sys.argv[1:2] in (["-h"], ["--help"]):
        print(__doc__)
        return 0 if len(sys.argv) == 2 else 2
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[2]).resolve()
    layers = Layers(root)
    layers.read_page()
    layers.check_files()
    layers.check_table()
    for each in layers.faults:
        print(each, file=sys.stderr)
    if layers.faults:
        print(f'error: the folders differ from the table in {PAGE}, "{HEADING[3:]}"',
              file=sys.stderr)
    return 1 if layers.faults else 0


sys.exit(main())
