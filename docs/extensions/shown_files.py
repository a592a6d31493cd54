"""Code on a page is part of a file that the tests run; typed into a page it would not be. Behind
the first part of each file the page says which it is, and has the whole of it: its includes, its
names.

Text, and what the reference takes from the headers, is free. But a command is no text: whoever
reads it will run it, so a test has to. What no test can run has the class not-run, its page is in
the list below, and the reader is told.
"""

import re
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.util import logging

# Folders beside docs.
ELSEWHERE = ("benchmark/", "example/", "monitoring/", "test/")
FREE = ("text", "none", "default")
# Read by those who work on the library; what they show is not for users to copy.
FREE_PAGES = ("internals/", "reference/")
# There is no package of Consul to run it with.
NOT_RUN_PAGES = ("migrate/consul",)
# What text must not begin with.
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
# Pages with commands that are run where they stand: docs/sessions/rights_test takes these.
RUN_IN_PLACE = {"production": "ACL SETUSER "}


def check(app, doctree):
    page = app.env.docname
    if page.startswith(FREE_PAGES):
        return
    told = set()
    for block in list(doctree.findall(nodes.literal_block)):
        if "source" in block:
            name_source(app, block, told)
        elif "not-run" in block["classes"] and page in NOT_RUN_PAGES:
            say_below(block, nodes.Text("No test runs this."))
        elif block.get("language", "none") not in FREE or is_command(page, block.astext()):
            logging.getLogger(__name__).warning(
                "code, or a command, that no test runs: put it into docs/programs or "
                "docs/sessions and show that file with literalinclude",
                location=block,
            )


def is_command(page, text):
    run = RUN_IN_PLACE.get(page)
    return bool(COMMAND.match(text)) and not (run and text.startswith(run))


def name_source(app, block, told):
    file = Path(block["source"])
    source = file.relative_to(app.srcdir).as_posix()
    whole = file.read_text().strip() == block.astext().strip()
    if source in told or whole or source.endswith(".session"):
        return
    told.add(source)
    name = source if source.startswith(ELSEWHERE) else f"docs/{source}"
    link = addnodes.download_reference("", "", reftarget=f"/{source}")
    link += nodes.literal("", name)
    say_below(block, nodes.Text("Part of "), link, nodes.Text("."))


def say_below(block, *text):
    line = nodes.paragraph("", "", *text, classes=["source"])
    block.parent.insert(block.parent.index(block) + 1, line)


def setup(app):
    # Before the environment collects what can be downloaded.
    app.connect("doctree-read", check, priority=100)
    return {"parallel_read_safe": True}
