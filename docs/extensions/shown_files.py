"""Checks that code on a page is part of a file that the tests run. Below the first part of each
file, adds the name of the file and a link to download it, with its includes and names.

Plain text, and code that the reference takes from the headers, is not checked. A command does not
count as plain text: a reader may run it, so a test must run it, too. A block that no test can run
has the class not-run, and its page is in the list below. The page then states that no test runs it.
"""

import re
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.util import logging

# Folders beside docs.
ELSEWHERE = ("benchmark/", "example/", "monitoring/", "test/")
FREE = ("text", "none", "default")
# Pages for developers of the library; users do not copy their code.
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
    told = set()
    for block in list(doctree.findall(nodes.literal_block)):
        if "source" in block:
            name_source(app, block, told)
        elif "not-run" in block["classes"] and page in NOT_RUN_PAGES:
            say_below(block, nodes.Text("No test runs this."))
        elif block.get("language", "none") not in FREE or is_command(page, block.astext()):
            logging.getLogger(__name__).warning(
                "no test runs this code or command: put it into docs/programs or docs/sessions, "
                "and include that file with literalinclude",
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
    # Before the environment collects the files to download.
    app.connect("doctree-read", check, priority=100)
    return {"parallel_read_safe": True}
