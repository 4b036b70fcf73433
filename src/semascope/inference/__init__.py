"""Inference for documents under a fitted model."""
