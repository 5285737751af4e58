# SPDX-License-Identifier: Apache-2.0
"""The site of ./bootstrap.sh docs. Sphinx reads a copy of the documents in build-docs/source, to which pages.py adds the pages
that are made from headers, docstrings and descriptions of ops; blocks.py runs the code of documents."""

import fnmatch
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "build/python"
sys.path[:0] = [str(PACKAGE), str(ROOT / "docs/site")]

import collet  # noqa: E402
import pages  # noqa: E402
import prose  # noqa: E402
from sphinx.util import logging  # noqa: E402

project, author, project_copyright, release = "Collet", "The Collet authors", "the Collet authors", collet.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc"]
templates_path, html_static_path, html_css_files = [], ["static"], ["site.css"]
html_theme, html_title = "furo", f"Collet {release}"
html_theme_options = {"top_of_page_buttons": []}
html_show_search_summary = False  # it needs a server
html_copy_source = html_show_sourcelink = False
myst_heading_anchors = 4
myst_enable_extensions = ["html_image"]
autodoc_typehints = "none"  # a signature fits on a phone
autodoc_member_order = "alphabetical"
exclude_patterns = ["docs/notebooks/README.md"]  # for readers of the folder, not a page of the site

# The pages whose code runs, and the languages of the code that runs.
RUN = {"index": "sh,python", "docs/tutorials/*": "sh,python", "docs/gallery": "sh,python", "docs/notebooks/*": "python",
       "docs/python/*": "python", "docs/from-*": "python", "docs/gradients": "python", "docs/tour": "python"}


def run_blocks(app, name, source):
    languages = next((languages for pattern, languages in RUN.items() if fnmatch.fnmatch(name, pattern)), None)
    if not languages:
        return
    out = pathlib.Path(app.srcdir, "pictures", name.replace("/", "-"))
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    # A notebook runs beside its data, as it does in Jupyter.
    directory = ROOT / "docs/notebooks" if name.startswith("docs/notebooks") else ROOT
    done = subprocess.run([sys.executable, ROOT / "docs/site/blocks.py", app.env.doc2path(name), directory, out, languages],
                          env={**os.environ, "PYTHONPATH": str(PACKAGE), "MPLBACKEND": "Agg",
                               "PATH": f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"},
                          capture_output=True, text=True)
    if done.returncode:  # a warning is an error, at the end of the build
        logging.getLogger(__name__).warning("The code of %s fails:\n%s", name, done.stderr, location=name)
    else:
        source[0] = done.stdout


def make_docstring(app, what, name, value, options, lines):
    lines[:] = prose.to_rst("\n".join(lines)).split("\n")


def setup(app):
    app.connect("builder-inited", lambda app: pages.make(ROOT, pathlib.Path(app.srcdir)))
    app.connect("source-read", run_blocks)
    app.connect("autodoc-process-docstring", make_docstring)
    return {"parallel_read_safe": True}
