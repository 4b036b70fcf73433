"""Compiled kernels: arrays in, arrays out, no GIL. Nothing here imports anything but NumPy and Numba."""

import os

# Where colorama is installed, Numba would write an escape sequence to standard output at exit, after any JSON printed there.
# Disabling it only removes the colors of Numba's compiler messages.
os.environ.setdefault("NUMBA_DISABLE_ERROR_MESSAGE_HIGHLIGHTING", "1")
