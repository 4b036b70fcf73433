"""Routes of the HTTP service, one file for each subject."""
