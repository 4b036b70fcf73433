"""Logarithm, exponential, digamma and log-gamma as plain arithmetic, for loops over rows that become vector instructions.

The compiler knows the library's own functions only as calls, one number at a time; written out, they cost a tenth. They are
in double precision whatever the arrays hold, and take arguments above zero (`exp`: from −700 to 0), unchecked. Same numbers as
NumPy's and SciPy's functions of these names.
"""

from __future__ import annotations

import numpy as np

from semascope.kernels.compile import inlined

MANTISSA = 0x000FFFFFFFFFFFFF
EXPONENT_OF_ONE = 0x3FF0000000000000
TWO_TO_52 = 4503599627370496.0  # added to a whole number below it, it leaves that number in the low bits
BITS_OF_TWO_TO_52 = 0x4330000000000000
LOG_2 = 0.6931471805599453
HALF_LOG_TWO_PI = 0.9189385332046728

SHIFT = 8.0
"""The series of digamma and log-gamma are used from here on; smaller arguments are lifted by their recurrences."""


@inlined
def log(x):
    """log(2^e m) = e log 2 + 2 artanh((m − 1) / (m + 1)), with m between √½ and √2."""
    bits = np.float64(x).view(np.int64)
    e = np.int64((bits >> np.int64(52)) | np.int64(BITS_OF_TWO_TO_52)).view(np.float64) - (TWO_TO_52 + 1023.0)
    m = np.int64((bits & np.int64(MANTISSA)) | np.int64(EXPONENT_OF_ONE)).view(np.float64)
    large = m > 1.4142135623730951
    m = 0.5 * m if large else m
    e = e + 1.0 if large else e
    s = (m - 1.0) / (m + 1.0)
    z = s * s
    high = 1 / 11 + z * (1 / 13 + z * (1 / 15 + z * (1 / 17 + z / 19)))
    series = 1 / 3 + z * (1 / 5 + z * (1 / 7 + z * (1 / 9 + z * high)))
    return e * LOG_2 + 2.0 * (s + s * z * series)


@inlined
def exp(x):
    """exp(n log 2 + r) = 2^n exp(r), with r between ±½ log 2."""
    n = np.floor(x * (1 / LOG_2) + 0.5)
    r = x - n * LOG_2
    high = 1 / 5040 + r * (1 / 40320 + r * (1 / 362880 + r * (1 / 3628800 + r * (1 / 39916800 + r / 479001600))))
    series = 1.0 + r * (1.0 + r * (1 / 2 + r * (1 / 6 + r * (1 / 24 + r * (1 / 120 + r * (1 / 720 + r * high))))))
    bits = np.float64(n + (TWO_TO_52 + 1023.0)).view(np.int64)
    return series * np.int64(bits << np.int64(52)).view(np.float64)


@inlined
def digamma(x):
    """Ψ(x) = Ψ(x + 8) − Σ 1 / (x + i), and log y − 1/2y − 1/12y² + … for the rest."""
    large = x > SHIFT * SHIFT
    t = SHIFT * SHIFT if large else np.float64(x)
    a, b, c, d = t * (t + 1.0), (t + 2.0) * (t + 3.0), (t + 4.0) * (t + 5.0), (t + 6.0) * (t + 7.0)
    of_a, of_b, of_c, of_d = 2.0 * t + 1.0, 2.0 * t + 5.0, 2.0 * t + 9.0, 2.0 * t + 13.0  # their derivatives
    lift = ((of_a * b + a * of_b) * (c * d) + (a * b) * (of_c * d + c * of_d)) / ((a * b) * (c * d))
    y = np.float64(x) if large else x + SHIFT
    r = 1.0 / y
    z = r * r
    series = z * (1 / 12 - z * (1 / 120 - z * (1 / 252 - z * (1 / 240 - z * (1 / 132 - z * (691 / 32760 - z / 12))))))
    return log(y) - 0.5 * r - series - (0.0 if large else lift)


@inlined
def log_gamma(x):
    """log Γ(x) = log Γ(x + 8) − log Π (x + i), and Stirling's series for the rest."""
    large = x > SHIFT * SHIFT
    t = SHIFT * SHIFT if large else np.float64(x)
    lift = (t * (t + 1.0)) * ((t + 2.0) * (t + 3.0)) * (((t + 4.0) * (t + 5.0)) * ((t + 6.0) * (t + 7.0)))
    y = np.float64(x) if large else x + SHIFT
    r = 1.0 / y
    z = r * r
    series = r * (1 / 12 - z * (1 / 360 - z * (1 / 1260 - z * (1 / 1680 - z * (1 / 1188 - z * (691 / 360360 - z / 156))))))
    return (y - 0.5) * log(y) - y + HALF_LOG_TWO_PI + series - (0.0 if large else log(lift))
