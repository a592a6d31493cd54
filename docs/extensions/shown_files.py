"""Code on a page is part of a file that the tests run; typed into a page it would not be.

Text, and what the reference takes from the headers, is free.
"""

from docutils import nodes
from sphinx.util import logging

FREE = ("text", "none", "default")
# Read by those who work on the library; what they show is not for users to copy.
FREE_PAGES = ("internals/", "reference/")


def check(app, doctree):
    page = app.env.docname
    if page.startswith(FREE_PAGES):
        return
    for block in doctree.findall(nodes.literal_block):
        if "source" not in block and block.get("language", "none") not in FREE:
            logging.getLogger(__name__).warning(
                "code that no test runs: put it into docs/programs or docs/sessions and show "
                "that file with literalinclude",
                location=block,
            )


def setup(app):
    app.connect("doctree-read", check)
    return {"parallel_read_safe": True}
