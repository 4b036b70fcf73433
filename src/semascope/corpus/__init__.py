"""Text to counts: sources of documents, words, and the corpus that everything else takes."""
