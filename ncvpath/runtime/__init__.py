"""What a fit needs of the process it runs in: threads, memory, late imports, words."""
