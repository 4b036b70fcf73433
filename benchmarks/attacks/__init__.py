"""Attacks on what semascope reads: directories made, mutated, sealed again and used, in processes that may die of it."""
