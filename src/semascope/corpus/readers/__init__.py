"""Readers: one module per format. The entry point is `semascope.corpus.readers.sources`."""
