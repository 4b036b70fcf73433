"""Informed priors: word lists, and their validation."""
