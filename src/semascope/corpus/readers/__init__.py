"""Readers: one module for each kind of source. The door to them is `semascope.corpus.readers.sources`."""
