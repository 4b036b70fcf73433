"""What a fitted model says of documents."""
