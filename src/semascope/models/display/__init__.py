"""Showing a model: names, maps, plots, notebooks."""
