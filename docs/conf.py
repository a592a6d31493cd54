# The configuration of Sphinx, which docs/run runs.
import sys
from pathlib import Path

from breathe.renderer.sphinxrenderer import SphinxRenderer

here = Path(__file__).parent
sys.path.insert(0, str(here / "extensions"))
sys.dont_write_bytecode = True

project = "leasehold"
author = "the authors of leasehold"
html_title = "leasehold"
extensions = ["myst_parser", "breathe", "name_links", "sequence", "shown_files"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["programs", "sessions", "benchmark", "example", "monitoring", "test",
                    "requirements.txt"]
highlight_language = "none"

# The XML of doxygen for the public headers.
breathe_projects = {"leasehold": str(here.parent / "doxygen/xml")}
breathe_default_project = "leasehold"
breathe_domain_by_extension = {"hpp": "cpp"}
# Named groups of a class, such as the overloads with details, come after its other members.
SphinxRenderer.sections.sort(key=lambda each: each[0] == "user-defined")

myst_enable_extensions = ["tasklist"]
myst_fence_as_directive = ["mermaid"]
myst_heading_anchors = 4

# The pages load nothing from other sites, and use the fonts of the reader's system.
html_theme = "furo"
html_static_path = ["theme"]
html_css_files = ["pages.css"]
html_js_files = [("copy.js", {"defer": "defer"})]
html_search_scorer = str(here / "theme/search.js")
html_show_copyright = False
html_show_sourcelink = False
html_copy_source = False
