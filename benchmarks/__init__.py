"""Comparisons with other packages, and with what semascope promises: `python -m benchmarks`."""
