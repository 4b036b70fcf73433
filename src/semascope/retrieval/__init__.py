"""Search: document index, similarities and their fusion."""
