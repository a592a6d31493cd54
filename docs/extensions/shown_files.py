"""Code on a page is part of a file that the tests run; typed into a page it would not be. Behind
the first part of each file the page says which it is, and has the whole of it: its includes, its
names.

Text, and what the reference takes from the headers, is free.
"""

from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.util import logging

FREE = ("text", "none", "default")
# Read by those who work on the library; what they show is not for users to copy.
FREE_PAGES = ("internals/", "reference/")


def check(app, doctree):
    page = app.env.docname
    if page.startswith(FREE_PAGES):
        return
    told = set()
    for block in list(doctree.findall(nodes.literal_block)):
        if "source" in block:
            name_source(app, block, told)
        elif block.get("language", "none") not in FREE:
            logging.getLogger(__name__).warning(
                "code that no test runs: put it into docs/programs or docs/sessions and show "
                "that file with literalinclude",
                location=block,
            )


def name_source(app, block, told):
    file = Path(block["source"])
    source = file.relative_to(app.srcdir).as_posix()
    whole = file.read_text().strip() == block.astext().strip()
    if source in told or whole or source.endswith(".session"):
        return
    told.add(source)
    name = source if source.startswith(("example/", "monitoring/", "test/")) else f"docs/{source}"
    link = addnodes.download_reference("", "", reftarget=f"/{source}")
    link += nodes.literal("", name)
    line = nodes.paragraph("", "Part of ", link, nodes.Text("."), classes=["source"])
    block.parent.insert(block.parent.index(block) + 1, line)


def setup(app):
    # Before the environment collects what can be downloaded.
    app.connect("doctree-read", check, priority=100)
    return {"parallel_read_safe": True}
