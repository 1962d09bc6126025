"""Pictures. Axes in, Axes out; matplotlib is imported when the first one is drawn."""
