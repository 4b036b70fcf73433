"""Seeing a model in the browser: a page and the service behind it, a report to send, and views that both show."""
