"""What models of labeled documents share."""
