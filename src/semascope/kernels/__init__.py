"""The hot loops: arrays in, arrays out, no GIL. Nothing here imports anything but NumPy and Numba."""

import os

# Where colorama is installed, Numba would have it write a sign to standard output when a program ends, after whatever JSON
# stands there. Only messages for those who write kernels lose their colors.
os.environ.setdefault("NUMBA_DISABLE_ERROR_MESSAGE_HIGHLIGHTING", "1")
