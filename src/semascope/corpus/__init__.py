"""Text to counts: readers, analyzers, and the `Corpus` that models and indexes are built from."""
