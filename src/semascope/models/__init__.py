"""What people use: scikit-learn estimators. Settings in, results out; the arithmetic is elsewhere."""
