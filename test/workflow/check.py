#!/usr/bin/env python3
"""Compares .github/workflows with the scripts that it runs.

usage: check.py [WORKFLOW...]

Each command, with the values of the matrix, must be a script of the project that accepts these
arguments. A matrix of suites or servers must have all that the scripts know (cmake/setup).
"""
import itertools
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LISTS = {"suite": "leasehold_suites", "server": "leasehold_servers"}


def known(name):
    """The values of a list in cmake/setup."""
    run = subprocess.run(["bash", "-c", f'. cmake/setup; printf "%s\\n" "${{{LISTS[name]}[@]}}"'],
                         cwd=ROOT, capture_output=True, text=True, check=True)
    return run.stdout.split()


def jobs(text):
    """The name of each job, its matrix, and its commands with the image that they run in."""
    for job in re.split(r"^jobs:$", text, flags=re.MULTILINE)[1:]:
        for name, body in re.findall(r"^  (\w+):\n((?:    .*\n|\n)+)", job + "\n", re.MULTILINE):
            matrix = {key: re.split(", *", values)
                      for key, values in re.findall(r"^        (\w+): \[(.*)\]$", body, re.M)}
            images = re.findall(r"^ +(?:container|image): (\S.*)$", body, re.M)
            commands = re.findall(r"^ +- run: (.*)$", body, re.M)
            yield name, matrix, [*commands, *(f"test/run --bare {image.removeprefix('debian:')}"
                                              for image in images)]


def expanded(command, matrix):
    for values in itertools.product(*matrix.values()):
        each = command
        for key, value in zip(matrix, values):
            each = each.replace(f"${{{{ matrix.{key} }}}}", value)
        yield each


def faults(text):
    commands = set()
    for job, matrix, templates in jobs(text):
        for key in sorted(matrix.keys() & LISTS.keys()):
            if sorted(matrix[key]) != sorted(known(key)):
                yield f"{job}: the matrix has {matrix[key]}, the scripts have {known(key)}"
        for template in templates:
            commands.update((job, command) for command in expanded(template, matrix))
    if not commands:
        yield "no job has a command"
    for job, command in sorted(commands):
        script = command.split()[0]
        if not re.fullmatch(r"[\w./-]+", script) or not (ROOT / script).is_file():
            yield f"{job}: {script} is no script of this project"
            continue
        # The scripts read their arguments before they print the help.
        try:
            run = subprocess.run([*command.split(), "--help"], cwd=ROOT, capture_output=True,
                                 text=True, check=False, timeout=60)
        except subprocess.TimeoutExpired:
            yield f"{job}: {command} --help does not end within a minute"
            continue
        if run.returncode != 0:
            yield f"{job}: {command}: {run.stderr.strip()}"


def main(arguments):
    if arguments[:1] in (["-h"], ["--help"]):
        print(__doc__)
        return 0
    paths = [Path(each) for each in arguments] or sorted((ROOT / ".github/workflows").glob("*.yml"))
    code = 0
    for path in paths:
        for fault in faults(path.read_text(encoding="utf-8")):
            print(f"{path.name}: {fault}", file=sys.stderr)
            code = 1
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
