# SPDX-License-Identifier: MIT
"""Reads histograms in the format V2 of HdrHistogram, with three significant digits, for script/recompute.

Values up to 2047 have a bucket each, and every further power of two has 1024."""

import base64
import collections
import math
import struct
import zlib


def zigzag_numbers(content):
    number = shift = 0
    for byte in content:
        number |= (byte if shift == 56 else byte & 0x7f) << shift
        shift += 7
        if byte < 0x80 or shift > 56:
            yield number >> 1 ^ -(number & 1)
            number = shift = 0


def histogram(text):
    """The counts of the buckets that are not empty, by the number of the bucket."""
    packed = base64.b64decode(text, validate=True)
    cookie, length = struct.unpack(">II", packed[:8])
    content = zlib.decompress(packed[8:8 + length])
    inner, length, _, digits, lowest, _, unit = struct.unpack(">IIIIQQd", content[:40])
    if (cookie, inner, digits, lowest, unit) != (0x1c849314, 0x1c849313, 3, 1, 1.0):
        raise ValueError("a histogram is not in HdrHistogram's format V2 with three digits")
    counts, bucket = collections.Counter(), 0
    for number in zigzag_numbers(content[40:40 + length]):
        if number > 0:
            counts[bucket] = number
        bucket += 1 if number >= 0 else -number
    return counts


def highest_in(bucket):
    shift = max(0, bucket // 1024 - 1)
    return ((bucket - 1024 * shift + 1) << shift) - 1


def percentile(counts, quantile, greatest):
    """By nearest rank; None where fewer than ten samples lie beyond it."""
    samples = sum(counts.values())
    rank = max(1, math.ceil(math.nextafter(quantile, 0) * samples))
    if samples - rank < 10:
        return None
    for bucket in sorted(counts):
        rank -= counts[bucket]
        if rank <= 0:
            return min(highest_in(bucket), greatest)
