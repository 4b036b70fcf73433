"""A report on a model in one HTML file."""
