"""The hot loops: arrays in, arrays out, no GIL. Nothing here imports anything but NumPy and Numba."""
