"""Web explorer of a model: a page with an HTTP service, a standalone report, and the queries both share."""
