"""Corpus construction: documents become rows of word counts, in memory or on disk."""
