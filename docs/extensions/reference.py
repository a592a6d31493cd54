"""Writes the pages of the reference, one for each public header, from the XML of doxygen.

A new header gets its page automatically. It needs an example: `@code` in its comments, or the part
with the name of its page in a program docs/programs/reference_*.cpp, which the tests run.
"""

import re
import sys
from pathlib import Path
from xml.etree import ElementTree

from shown_code import EDGE, ROOT, part_of

# The kinds of members other than classes, in the order of the page.
SECTIONS = {
    "function": ("Functions", "doxygenfunction"),
    "enum": ("Enumerations", "doxygenenum"),
    "variable": ("Constants", "doxygenvariable"),
    "typedef": ("Types", "doxygentypedef"),
}


class Header:
    """The declarations of one public header."""

    def __init__(self):
        self.classes = []  # (line, struct or class, name)
        self.members = []

    def page(self, path, example):
        lines = [".. highlight:: cpp", ""] + heading(f"``{path}``", "=")
        lines += [f"``#include <leasehold/{path}>``", ""]
        if example:
            lines += [".. rubric:: Example", "", ".. code-block:: cpp", ""]
            lines += [f"   {line}".rstrip() for line in example.splitlines()] + [""]
        # The class with the name of the header comes first.
        subject = Path(path).stem
        classes = sorted(self.classes, key=lambda each: (not each[2].endswith(subject), each[0]))
        for _, kind, name in classes:
            lines += heading(f"``{name.removeprefix('leasehold::')}``", "-")
            lines += [f".. doxygen{kind}:: {name}", "   :members:", ""]
        for kind, (title, directive) in SECTIONS.items():
            members = [each for each in self.members if each.get("kind") == kind]
            if members:
                lines += heading(title, "-")
            for member in members:
                name = member.findtext("qualifiedname")
                if kind == "function":
                    name += member.findtext("argsstring").removesuffix(" noexcept")
                lines += [f".. {directive}:: {name}", ""]
        return "\n".join(lines)


def heading(title, line):
    return [title, line * len(title), ""]


def read(xml):
    """Returns the public headers, by their paths below include/leasehold."""
    headers = {}
    compounds = ElementTree.parse(xml / "index.xml").findall("compound")
    classes = {
        each.findtext("name") for each in compounds if each.get("kind") in ("class", "struct")
    }
    for compound in compounds:
        kind, name = compound.get("kind"), compound.findtext("name")
        if kind not in ("class", "struct", "namespace") or not name.startswith("leasehold"):
            continue
        described = ElementTree.parse(xml / f"{compound.get('refid')}.xml").find("compounddef")
        if kind == "namespace":
            for member in described.iterfind("sectiondef/memberdef"):
                place, _ = location(member)
                headers.setdefault(place, Header()).members.append(member)
        elif name.rpartition("::")[0] not in classes:
            # The page of a class includes its nested classes.
            place, line = location(described)
            headers.setdefault(place, Header()).classes.append((line, kind, name))
    return headers


def location(element):
    place = element.find("location")
    return place.get("file").removeprefix("include/leasehold/"), int(place.get("line"))


def documented(element):
    described = (element.find("briefdescription"), element.find("detaileddescription"))
    return any("".join(each.itertext()).strip() for each in described)


def undocumented_values(xml):
    """Enumerators without a comment, which doxygen does not report."""
    for file in sorted(xml.glob("*.xml")):
        for member in ElementTree.parse(file).iterfind(".//memberdef[@kind='enum']"):
            for value in member.iterfind("enumvalue"):
                if not documented(value):
                    name = f"{member.findtext('qualifiedname')}::{value.findtext('name')}"
                    place = member.find("location")
                    yield f"{place.get('file')}:{place.get('line')}: {name} has no doc comment"


# Elements that are not part of a line of text.
BLOCKS = ("simplesect", "parameterlist", "itemizedlist", "orderedlist", "programlisting", "table")


def split_paragraphs(xml):
    """Gives each block within a paragraph a paragraph of its own: doxygen puts `@par` and the text
    after it into one, and breathe would move the text before it."""
    for file in sorted(xml.glob("*.xml")):
        tree = ElementTree.parse(file)
        for parent in tree.iter():
            if parent.tag not in ("detaileddescription", "simplesect", "listitem"):
                continue
            children = []
            for child in list(parent):
                children += split(child) if child.tag == "para" else [child]
            parent[:] = children
        tree.write(file, encoding="utf-8", xml_declaration=True)


def split(para):
    parts = [ElementTree.Element("para")]
    parts[0].text = para.text
    for child in para:
        if child.tag not in BLOCKS:
            parts[-1].append(child)
            continue
        after, child.tail = child.tail, None
        for content in ([child], []):
            parts.append(ElementTree.Element("para"))
            parts[-1].extend(content)
        parts[-1].text = after
    return [part for part in parts if len(part) or (part.text or "").strip()]


def example_parts():
    """The programs with examples, by the names of the pages that show them."""
    parts = {}
    for program in sorted(ROOT.glob("docs/programs/reference_*.cpp")):
        for line in program.read_text(encoding="utf-8").splitlines():
            if (edge := EDGE.match(line)) and not edge["end"]:
                parts[edge["part"]] = program.relative_to(ROOT)
    return parts


def write(xml, folder):
    """Writes the pages, and returns what they lack."""
    split_paragraphs(xml)
    folder.mkdir(parents=True, exist_ok=True)
    parts = example_parts()
    for path, header in read(xml).items():
        name = path.removesuffix(".hpp").replace("/", "_")
        example = part_of(parts.pop(name), name) if name in parts else ""
        if not example and "@code" not in (ROOT / "include/leasehold" / path).read_text("utf-8"):
            yield f"include/leasehold/{path} has no example: see docs/extensions/reference.py"
        (folder / f"{name}.rst").write_text(header.page(path, example), encoding="utf-8")
    for name, program in parts.items():
        yield f"{program}: the reference has no page {name}"


def documented_members(xml):
    """The public members that have a comment. Names that need none, such as destructors, need no
    place in the reference."""
    for file in sorted(xml.glob("*.xml")):
        for member in ElementTree.parse(file).iterfind(".//compounddef//memberdef"):
            name = member.findtext("qualifiedname") or ""
            if name.startswith("leasehold") and member.get("prot") != "private" \
                    and documented(member):
                yield name, member


# Names of the implementation, as they stand in a declaration.
INTERNAL = re.compile(r"\b(detail|impl)::")
# An overload with details returns the same as the function before it.
WITH_DETAILS = re.compile(r"(diagnostics|redis_answer) &")


def unclear_declarations(xml):
    """Declarations that show internal names, and operations that do not say what they return."""
    for name, member in documented_members(xml):
        template, result, arguments = (
            "".join(part.itertext()) if (part := member.find(tag)) is not None else ""
            for tag in ("templateparamlist", "type", "argsstring"))
        if INTERNAL.search(template + result + arguments):
            yield f"the reference shows an internal name in {name}"
        if result.endswith("auto") and not WITH_DETAILS.search(arguments) \
                and member.find(".//simplesect[@kind='return']") is None:
            yield f"{name} needs @return, because its type is auto"


def torn_code(headers):
    """Code in running text that continues in the next line: doxygen makes a paragraph of it."""
    for path in headers:
        lines = (ROOT / "include/leasehold" / path).read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(lines, 1):
            if "///" in line and line.partition("///")[2].count("`") % 2:
                yield f"include/leasehold/{path}:{number}: a ` without its end in the same line"


def unnamed_groups(xml):
    for file in sorted(xml.glob("*.xml")):
        tree = ElementTree.parse(file)
        for group in tree.iterfind(".//sectiondef[@kind='user-defined']"):
            if group.find("header") is None:
                yield f"{tree.findtext('.//compoundname')} has a group @{{ without @name"


def missing_names(xml, inventory):
    """Names that doxygen has read, but that no page contains."""
    from sphinx.util.inventory import InventoryFile

    with open(inventory, "rb") as stream:
        kinds = InventoryFile.load(stream, "", lambda uri, page: page)
    shown = {name.partition("(")[0] for each in kinds.values() for name in each}
    for name, _ in documented_members(xml):
        if name not in shown:
            yield f"no page of the reference contains {name}"


def main(command, xml, *rest):
    """Commands: `write XML FOLDER` before Sphinx runs, `check XML INVENTORY` after it."""
    xml = Path(xml)
    if command == "write":
        faults = [*write(xml, Path(*rest)), *undocumented_values(xml),
                  *unclear_declarations(xml), *unnamed_groups(xml), *torn_code(read(xml))]
    else:
        faults = missing_names(xml, *rest)
    faults = sorted(set(faults))
    for line in faults:
        print(line, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
