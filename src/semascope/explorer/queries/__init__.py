"""What the report and the service ask of a model and its corpus."""
