"""Sphinx renders the vignettes and the docstrings.

`python -m pip install ".[docs]" && python -m sphinx -W vignettes build/html`
"""

import os

# Pictures are stored beside the text (draw.py): cells need not show theirs again.
os.environ["MPLBACKEND"] = "agg"

project = "ncvpath"
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]

# The files have no notebook header, which would be in the way of those who read them
# as they are; jupytext reads them without.
nb_custom_formats = {".md": ["jupytext.reads", {"fmt": "md:myst"}]}
nb_execution_mode = "force"
nb_execution_timeout = 300
nb_execution_in_temp = True  # vignettes write files
nb_execution_raise_on_error = True
nb_merge_streams = True

# Docstrings are numpy's; attributes are told with their class, not once more.
napoleon_google_docstring = False
napoleon_use_ivar = True
autodoc_typehints = "none"
strip_signature_backslash = True  # keeps the underscore of coef_
default_role = "code"

html_theme = "alabaster"
html_theme_options = {"page_width": "1100px", "body_max_width": "none"}
html_static_path = html_css_files = ["tables.css"]
html_show_sphinx = False
html_copy_source = False
