"""The service behind the routes: the snapshot that answers, and what keeps it current."""
