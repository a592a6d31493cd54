#!/usr/bin/env python3
"""How check.py counts, and what it says of the page."""
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from check import compare, count, read_page

LINES = {"include/leasehold/mutex.hpp": 200, "src/mutex.cpp": 100,
         "src/core/lease/watchdog.hpp": 90, "src/core/lease/watchdog.cpp": 451,
         "src/store/lease/watchdog.cpp": 450}
PAGE = """## Another section
| acquire | 7 |
## The way of one operation
| operation | rooms | aim |
|---|---|---|
| acquire | 4 | 3 |
"""


def main():
    rooms = count(map(Path, LINES), lambda path: LINES[path.as_posix()], {"mutex"})
    assert rooms == {"mutex": 1, "core/lease/watchdog": 2, "store/lease/watchdog": 1}, rooms
    page = read_page(PAGE)
    assert page == {"acquire": (4, 6)}, page
    assert compare({"acquire": 4}, page) == []
    assert compare({"acquire": 5}, page) == [
        "docs/internals/design.md:6: acquire executes 5 rooms, and the page says 4; "
        "the way is longer: shorten it, or say why"]
    assert compare({"acquire": 3}, page) == [
        "docs/internals/design.md:6: acquire executes 3 rooms, and the page says 4"]
    assert compare({"renew": 3}, page) == [
        "docs/internals/design.md:1: renew executes 3 rooms, and the page says None"]


main()
