# SPDX-License-Identifier: MIT
"""Student's t for script/recompute, by the incomplete beta function.

Its continued fraction is that of Press and others, "Numerical Recipes", section 6.4, evaluated by Lentz's
method."""

import math


def beta_fraction(a, b, x):
    tiny = 1e-300
    c, d = 1.0, 1 - (a + b) * x / (a + 1)
    d = 1 / (d if abs(d) > tiny else tiny)
    result = d
    for m in range(1, 500):
        for step in (m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
                     -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))):
            d, c = 1 + step * d, 1 + step / c
            d = 1 / (d if abs(d) > tiny else tiny)
            c = c if abs(c) > tiny else tiny
            result *= d * c
        if abs(d * c - 1) < 1e-15:
            break
    return result


def incomplete_beta(a, b, x):
    if x <= 0 or x >= 1:
        return min(max(x, 0.0), 1.0)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
                     + a * math.log(x) + b * math.log1p(-x))
    if x < (a + 1) / (a + b + 2):
        return front * beta_fraction(a, b, x) / a
    return 1 - front * beta_fraction(b, a, 1 - x) / b


def two_sided(t, degrees):
    return incomplete_beta(degrees / 2, 0.5, degrees / (degrees + t * t))


def quantile(probability, degrees):
    low, high = 0.0, 1.0
    while two_sided(high, degrees) > probability and high < 1e12:
        low, high = high, 2 * high
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if two_sided(middle, degrees) > probability else (low, middle)
    return high
