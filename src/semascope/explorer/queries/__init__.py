"""Queries of the report and the service on a model and its corpus."""
