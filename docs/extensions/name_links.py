"""Links names in running text to the reference: `lease::fence`, `errc::held`, `with_lock`. Other
names stay unchanged."""

import re

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms import SphinxTransform

# Qualified names, and names of two words: `lease` alone is usually the ordinary word.
NAME = re.compile(r"(leasehold::)?([a-z]\w*(?:::[a-z]\w*)+|[a-z]+(?:_[a-z]+)+)(\(\))?$")
# Keywords of C++ that look like names of two words.
WORDS = re.compile(r"(co_\w+|\w+_cast|thread_local|static_assert)$")


class LinkNames(SphinxTransform):
    default_priority = 400

    def apply(self, **_):
        for literal in list(self.document.findall(nodes.literal)):
            match = NAME.match(literal.astext())
            inside = (nodes.reference, nodes.title, addnodes.pending_xref, addnodes.desc_signature)
            if not match or WORDS.match(match[2]) or within(literal, inside):
                continue
            link = addnodes.pending_xref(
                "",
                refdomain="cpp",
                reftype="any",
                reftarget=f"leasehold::{match[2]}",
                refexplicit=True,
                refwarn=False,
                refdoc=self.env.docname,
            )
            link["cpp:parent_key"] = None
            literal.replace_self(link)
            link += literal


def within(node, kinds):
    parent = node.parent
    while parent is not None:
        if isinstance(parent, kinds):
            return True
        parent = parent.parent
    return False


def setup(app):
    app.add_transform(LinkNames)
    return {"parallel_read_safe": True}
