"""Estimators with the scikit-learn API; algorithms and kernels live in other packages."""
