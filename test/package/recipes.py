#!/usr/bin/env python3
"""Compares the recipes in packaging/ with CMakeLists.txt and the sources.

The vcpkg port must have the version of the project, and depend on each Boost library that the
sources include; its feature mysql on those that only this store includes. The Conan package must
have each component that it builds. Each CMake option that a recipe names must exist.
"""
import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LISTS = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
PORT = ROOT / "packaging/vcpkg/ports/leasehold/vcpkg.json"
CONAN = ROOT / "packaging/conan/conanfile.py"
# Components that need a library that Conan does not have, or has in another form.
NOT_IN_CONAN = {"mysql", "testing"}


def included_boost():
    """The Boost libraries that the sources include: of all but the store in MySQL, and of that."""
    found = {False: set(), True: set()}
    for folder in ("include", "src", "tool"):
        for path in sorted((ROOT / folder).rglob("*.[ch]pp")):
            of_mysql = ROOT / "src/mysql" in path.parents
            for name in re.findall(r"^#include <boost/(\w+)", path.read_text(encoding="utf-8"),
                                   re.MULTILINE):
                found[of_mysql].add("boost-" + name.replace("_", "-"))
    return found[False], found[True] - found[False]


def boost_of(dependencies):
    names = {each if isinstance(each, str) else each["name"] for each in dependencies}
    return {name for name in names if name.startswith("boost-")} - {"boost-headers"}


def faults():
    port = json.loads(PORT.read_text(encoding="utf-8"))
    version = re.search(r"^project\(leasehold VERSION (\S+)", LISTS, re.MULTILINE)[1]
    if port["version"] != version:
        yield f"vcpkg.json has version {port['version']}, the project {version}"
    always, mysql = included_boost()
    for name in sorted(boost_of(port["dependencies"]) ^ always):
        yield f"vcpkg.json and the includes of the sources differ in {name}"
    # The compiled library that Boost.MySQL needs is not included.
    for name in sorted(boost_of(port["features"]["mysql"]["dependencies"]) ^
                       (mysql | {"boost-charconv"})):
        yield f"vcpkg.json, feature mysql, and the includes of src/mysql differ in {name}"
    conan = CONAN.read_text(encoding="utf-8")
    for name in re.findall(r"^ *leasehold_(?:optional_)?library\((\w+)", LISTS, re.MULTILINE):
        if not re.search(rf'"{name}"(: |\] = )\[', conan) and name not in NOT_IN_CONAN:
            yield f"conanfile.py has no component {name}"
    options = set(re.findall(r"^(?:option|set)\((LEASEHOLD_\w+)", LISTS, re.MULTILINE))
    macros = {"LEASEHOLD_SHARED", "LEASEHOLD_HAS_"}
    for path in (PORT.with_name("portfile.cmake"), CONAN):
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
