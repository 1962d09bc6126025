"""Sphinx renders the vignettes: `python -m sphinx vignettes build/html`."""

import os

# Pictures are stored beside the text (draw.py): cells need not show theirs again.
os.environ["MPLBACKEND"] = "agg"

project = "ncvpath"
extensions = ["myst_nb"]

# The files have no notebook header, which would be in the way of those who read them
# as they are; jupytext reads them without.
nb_custom_formats = {".md": ["jupytext.reads", {"fmt": "md:myst"}]}
nb_execution_mode = "force"
nb_execution_in_temp = True  # vignettes write files
nb_execution_raise_on_error = True
nb_merge_streams = True

html_theme = "alabaster"
html_theme_options = {"page_width": "1100px", "body_max_width": "none"}
html_static_path = html_css_files = ["tables.css"]
html_show_sphinx = False
html_copy_source = False
