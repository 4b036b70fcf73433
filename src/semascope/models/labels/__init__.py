"""Common parts of models of labeled documents."""
