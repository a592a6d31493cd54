#!/usr/bin/env python3
"""What check.py lets pass, and what it does not."""
import subprocess
import sys
import tempfile
from pathlib import Path

CHECK = Path(__file__).with_name("check.py")
PICTURE = ["src", "top", "middle   beside", "top/ground", "include/leasehold"]
TABLE = [("src", "`top`"), ("src/top", "`ground`, `middle`"), ("src/middle", "`top/ground`"),
         ("src/beside", ""), ("src/top/ground", ""), ("include/leasehold", "")]
FILES = {
    "src/all.cpp": '#include "top/top.hpp"\n',
    "src/top/top.hpp": '#include "middle/middle.hpp"\n#include <vector>\n',
    "src/top/top.cpp": '#include "top/top.hpp"\n\n#include "ground/ground.hpp"\n',
    "src/middle/middle.hpp": '#include "top/ground/ground.hpp"\n',
    "src/beside/beside.hpp": "#include <leasehold/lease.hpp>\n",
    "src/top/ground/ground.hpp": "",
    "src/top/ground/scripts/one.lua": "",
    "include/leasehold/lease.hpp": "",
}


def said_of(picture, table, files):
    """What is said of such a tree; empty: nothing."""
    with tempfile.TemporaryDirectory() as folder:
        page = ["## Layers", "```", *picture, "```"]
        page += [f"| `{where}` | what it is | {others} |" for where, others in table]
        page += ["## Other", "| `src/other` | | `nothing` |"]
        for name, text in {"docs/internals/design.md": "\n".join(page), **files}.items():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        run = subprocess.run([sys.executable, CHECK, folder], capture_output=True, text=True,
                             check=False)
        assert (run.returncode == 0) == (run.stderr == ""), run
        return run.stderr


def table_with(where, others):
    return [(folder, others if folder == where else old) for folder, old in TABLE]


def main():
    cases = [
        ("a tree as it should be", "", PICTURE, TABLE, {}),
        ("an include that no row allows",
         'src/beside/beside.hpp:2: src/beside -> src/middle is not allowed: '
         '#include "middle/middle.hpp"',
         PICTURE, TABLE, {"src/beside/beside.hpp": '\n#include "middle/middle.hpp"\n'}),
        ("one that goes up",
         "src/top/ground/ground.hpp:1: src/top/ground -> src/top is not allowed",
         PICTURE, TABLE, {"src/top/ground/ground.hpp": '#  include "top/top.hpp"\n'}),
        ("one in angle brackets", "src/middle/middle.hpp:2: src/middle -> src/beside",
         PICTURE, TABLE, {"src/middle/middle.hpp": FILES["src/middle/middle.hpp"] +
                          "#include <beside/beside.hpp>\n"}),
        ("one from the folder of the file", "src/beside/more.cpp:1: src/beside -> src/middle",
         PICTURE, TABLE, {"src/beside/more.cpp": '#include "../middle/middle.hpp"\n'}),
        ("one of a public header", "include/leasehold/x/y.hpp:1: include/leasehold -> src/beside",
         PICTURE, TABLE, {"include/leasehold/x/y.hpp": '#include "beside/beside.hpp"\n'}),
        ("a row that allows to go up", "src/middle -> src/top leads up",
         PICTURE, table_with("src/middle", "`top/ground`, `top`"),
         {"src/middle/more.cpp": '#include "top/top.hpp"\n'}),
        ("an arrow that no file needs", "src/middle -> src/beside is allowed, and no file needs it",
         PICTURE, table_with("src/middle", "`top/ground`, `beside`"), {}),
        ("a row that names nothing", "src/beside may include from nothing, which has no row",
         PICTURE, table_with("src/beside", "`nothing`"), {}),
        ("a folder without a row", "src/new/file.cpp:1: src/new has no row",
         PICTURE, TABLE, {"src/new/file.cpp": ""}),
        ("a folder in a folder, without a row", "src/top/new/file.hpp:1: src/top/new has no row",
         PICTURE, TABLE, {"src/top/new/file.hpp": ""}),
        ("a row without a folder", "src/gone has a row, and is not there",
         PICTURE + ["gone"], TABLE + [("src/gone", "")], {}),
        ("a picture without a folder", "src/beside is not in the picture",
         ["src", "top", "middle", "top/ground", "include/leasehold"], TABLE, {}),
        ("a picture of more than there is", "the picture names src/more, which has no row",
         PICTURE + ["more"], TABLE, {}),
        ("a picture that is upside down", "src/middle -> src/top/ground does not lead down",
         ["src", "top", "top/ground", "middle   beside", "include/leasehold"], TABLE, {}),
    ]
    failures = 0
    for what, wanted, picture, table, changes in cases:
        said = said_of(picture, table, {**FILES, **changes})
        if (wanted not in said) or (bool(wanted) != bool(said)):
            failures += 1
            print(f'error: {what}: "{wanted}" was expected, and this was said:\n{said}',
                  file=sys.stderr)
    return 1 if failures else 0


sys.exit(main())
