"""Evaluation metrics: plain functions of arrays, independent of the model class."""
