"""Text: tokens, languages, stop words."""
