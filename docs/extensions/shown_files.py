"""Checks that code on a page names a file that the tests run, as shown_code.py describes;
docs/code compares them.
Below the first part of each file the page names the file, and has the whole of it: its includes,
its names.

Text, and what the reference takes from the headers, is free. But a command is not text: a reader
will run it, so a test has to. What no test can run is marked `not run`, its page is in the list
below, and the page says so.
"""

import re

from docutils import nodes
from sphinx import addnodes
from sphinx.util import logging

from shown_code import FREE, MARK

# Read by those who work on the library; what they show is not for users to copy.
FREE_PAGES = ("internals/", "reference/")
# No package of Consul is available for a test.
NOT_RUN_PAGES = ("migrate/consul",)
# The beginnings of commands, which plain text must not have.
COMMAND = re.compile(
    r"""\s*(
    [$#>%]\s                       # a prompt
    | [A-Z_]+=\S*                  # a variable, in front of a command or in a crontab
    | ([\d*/,-]+\ +){5}            # a line of a crontab
    | \.{0,2}/?[\w.-]+/[\w./-]+(\s|$) # a path
    | (apt(-get)?|bash|bpftrace|cargo|cmake|conan|consul|cpack|ctest|curl|docker|env|etcdctl|export
      |git|go|java|kubectl|leasehold|make|mvn|ninja|node|npm|perf|pip|pkg-config|python3?|readelf
      |redis-(cli|server)|sh|ssh|sudo|systemctl|systemd-run|valkey-(cli|server)|vcpkg|wget
      |ACL|CONFIG|EVAL|SET)\s
    )""",
    re.VERBOSE,
)
# Pages whose commands are tested from the page itself, by docs/sessions/rights_test.
RUN_IN_PLACE = {"production": "ACL SETUSER "}


def check(app, doctree):
    page = app.env.docname
    if page.startswith(FREE_PAGES):
        return
    named = set()
    for block in list(doctree.findall(nodes.literal_block)):
        mark = mark_of(block)
        if mark and mark["file"]:
            name_source(block, mark, named)
        elif mark and page in NOT_RUN_PAGES:
            say_below(block, nodes.Text("No test runs this."))
        elif block.get("language", "none") not in FREE or is_command(page, block.astext()):
            warn(
                "code, or a command, that no test runs: put it into docs/programs or "
                "docs/sessions, and name that file in the line above: <!-- code: FILE -->",
                block,
            )


def mark_of(block):
    """The comment directly above the block."""
    above = block.previous_sibling()
    return MARK.fullmatch(above.astext().strip()) if isinstance(above, nodes.raw) else None


def warn(message, block):
    logging.getLogger(__name__).warning(message, location=block)


def is_command(page, text):
    run = RUN_IN_PLACE.get(page)
    return bool(COMMAND.match(text)) and not (run and text.startswith(run))


def name_source(block, mark, named):
    file = mark["file"]
    if file in named or not mark["part"]:
        return
    named.add(file)
    link = addnodes.download_reference("", "", reftarget="/" + file.removeprefix("docs/"))
    link += nodes.literal("", file)
    say_below(block, nodes.Text("Part of "), link, nodes.Text("."))


def say_below(block, *text):
    line = nodes.paragraph("", "", *text, classes=["source"])
    block.parent.insert(block.parent.index(block) + 1, line)


def setup(app):
    # Before the environment collects the files to download.
    app.connect("doctree-read", check, priority=100)
    return {"parallel_read_safe": True}
