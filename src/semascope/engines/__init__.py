"""Engines: threads, MPI and Spark. All follow the contract of base.py and sum exactly, so all compute the same bits."""
