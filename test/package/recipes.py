#!/usr/bin/env python3
"""Compares the recipes in packaging/ with CMakeLists.txt and the sources.

The vcpkg port must have the version of the project, and depend on each Boost library that the
sources include. Each CMake option that a recipe names must exist.
"""
import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LISTS = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
PORT = ROOT / "packaging/vcpkg/ports/leasehold/vcpkg.json"


def included_boost():
    # The recipes leave the store in MySQL out.
    for folder in ("include", "src", "tool"):
        for path in sorted((ROOT / folder).rglob("*.[ch]pp")):
            if ROOT / "src/mysql" in path.parents:
                continue
            for name in re.findall(r"^#include <boost/(\w+)", path.read_text(encoding="utf-8"),
                                   re.MULTILINE):
                yield "boost-" + name.replace("_", "-")


def faults():
    port = json.loads(PORT.read_text(encoding="utf-8"))
    version = re.search(r"^project\(leasehold VERSION (\S+)", LISTS, re.MULTILINE)[1]
    if port["version"] != version:
        yield f"vcpkg.json has version {port['version']}, the project {version}"
    names = {each if isinstance(each, str) else each["name"] for each in port["dependencies"]}
    depends = {name for name in names if name.startswith("boost-")} - {"boost-headers"}
    for name in sorted(depends ^ set(included_boost())):
        yield f"vcpkg.json and the includes of the sources differ in {name}"
    options = set(re.findall(r"^(?:option|set)\((LEASEHOLD_\w+)", LISTS, re.MULTILINE))
    macros = {"LEASEHOLD_SHARED", "LEASEHOLD_HAS_REDIS"}
    for path in (PORT.with_name("portfile.cmake"), ROOT / "packaging/conan/conanfile.py"):
        for name in re.findall(r"LEASEHOLD_\w+", path.read_text(encoding="utf-8")):
            if name not in options | macros:
                yield f"{path.relative_to(ROOT)}: there is no option {name}"


def main():
    code = 0
    for fault in faults():
        print(f"packaging: {fault}", file=sys.stderr)
        code = 1
    return code


if __name__ == "__main__":
    sys.exit(main())
