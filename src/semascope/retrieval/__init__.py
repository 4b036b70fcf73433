"""Search: an index of documents, the ways to score them against a query, and their fusion."""
