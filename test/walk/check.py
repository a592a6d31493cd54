#!/usr/bin/env python3
"""Counts the files that one operation executes, and holds them against docs/internals/design.md.

usage: check.py [--list] BUILD-FOLDER [CMAKE-ARGUMENT...]

It builds the library with coverage, starts a redis-server, and does one acquire, one release and
one renewal with a warm client and a free lock. A header and its source are one room; a file has a
room for each 450 lines that it begins, so a merge of files does not look like a shorter way. With
--list the rooms are printed. The exit code is 1 when a number differs from the page: a change that
makes a way longer says so there. Other servers are asked in other ways: it is 77 where redis-server
is not that of the page.
"""
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = "docs/internals/design.md"
HEADING = "## The way of one operation"
OPERATIONS = ("acquire", "release", "renew")
LONGEST = 450
SERVER = "7.0"


def room_of(path, public):
    """How a file is called when it is counted: without what tells a header from its source."""
    name = path.with_suffix("")
    if name.parts[0] == "include":
        return name.name
    return name.name if name.name in public else Path(*name.parts[1:]).as_posix()


def count(files, lines, public):
    """How many rooms each of these files of the library is."""
    rooms = {}
    for path in files:
        room = room_of(path, public)
        rooms[room] = max(rooms.get(room, 0), -(-lines(path) // LONGEST))
    return rooms


def read_page(text):
    """The numbers of the table, and the line of each."""
    inside = False
    found = {}
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("## "):
            inside = line.startswith(HEADING)
        row = re.match(r"\| (\w+) \| (\d+) \|", line)
        if inside and row:
            found[row[1]] = (int(row[2]), number)
    return found


def compare(counted, page):
    """What is wrong with the page."""
    faults = []
    for operation, rooms in counted.items():
        said, line = page.get(operation, (None, 1))
        if said != rooms:
            more = said is not None and rooms > said
            advice = "; the way is longer: shorten it, or say why" if more else ""
            faults.append(f"{PAGE}:{line}: {operation} executes {rooms} rooms, and the page says "
                          f"{said}{advice}")
    return faults


def run(*words, **how):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False, **how)
    if done.returncode != 0:
        sys.exit(f"{done.stdout}\nerror: {' '.join(map(str, words))}: {done.returncode}")
    return done.stdout


def executed(build, gcov):
    """The files of the library of which a line was executed."""
    def read(data):
        said = subprocess.run([gcov, "--json-format", "--stdout", data.name], cwd=data.parent,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout
        found = set()
        for unit in map(json.loads, said.splitlines()):
            for file in unit["files"]:
                path = Path(os.path.normpath(os.path.join(unit["current_working_directory"],
                                                          file["file"])))
                if path.is_relative_to(ROOT) and any(line["count"] for line in file["lines"]):
                    found.add(path.relative_to(ROOT))
        return found

    with ThreadPoolExecutor() as pool:
        every = set().union(*pool.map(read, build.rglob("*.gcda")))
    return {path for path in every
            if path.parts[0] in ("include", "src") and "third_party" not in path.parts}


def start_server(folder):
    server = subprocess.Popen(["redis-server", "--port", "0", "--unixsocket", f"{folder}/socket",
                               "--save", "", "--dir", folder], stdout=subprocess.DEVNULL)
    until = time.monotonic() + 30
    while time.monotonic() < until and server.poll() is None:
        with socket.socket(socket.AF_UNIX) as connection:
            if connection.connect_ex(f"{folder}/socket") == 0:
                return server
        time.sleep(0.01)
    server.kill()
    sys.exit("error: redis-server did not start")


def main():
    words = sys.argv[1:]
    shows = words[:1] == ["--list"]
    words = words[shows:]
    if not words or words[0].startswith("-"):
        print(__doc__)
        return 0 if words[:1] in (["-h"], ["--help"]) else 2
    build = Path(words[0]).resolve()
    run("cmake", "-S", ROOT / "test/walk", "-B", build, "-G", "Ninja", *words[1:])
    run("cmake", "--build", build, "--target", "operation")
    compiler = re.search(r"^CMAKE_CXX_COMPILER:\w+=(.*)$", (build / "CMakeCache.txt").read_text(),
                         re.MULTILINE)[1]
    gcov = run(compiler, "-print-prog-name=gcov").strip()

    public = {path.stem for path in (ROOT / "include").rglob("*.hpp")}
    counted = {}
    with tempfile.TemporaryDirectory() as folder:
        server = start_server(folder)
        try:
            for operation in OPERATIONS:
                for old in build.rglob("*.gcda"):
                    old.unlink()
                run(build / "operation", operation, f"unix://{folder}/socket", timeout=60)
                rooms = count(executed(build, gcov),
                              lambda path: len((ROOT / path).read_text().splitlines()), public)
                counted[operation] = sum(rooms.values())
                print(f"{operation}: {counted[operation]} rooms")
                if shows:
                    for room, size in sorted(rooms.items()):
                        print(f"  {room}" + (f" ({size})" if size > 1 else ""))
        finally:
            server.terminate()
            server.wait()
    if not re.search(rf"Redis server v={re.escape(SERVER)}\.", run("redis-server", "--version")):
        print(f"not compared: the numbers of {PAGE} are of Redis {SERVER}")
        return 77
    faults = compare(counted, read_page((ROOT / PAGE).read_text()))
    for each in faults:
        print(each, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
