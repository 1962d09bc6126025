"""The command line: a data file in, a folder of results and a report out."""
