# SPDX-License-Identifier: MIT
"""Reads histograms as HdrHistogram describes its format V2, without code of joust or of script/recompute."""

import base64
import zlib

SUB_BUCKETS = 2048  # for three significant digits


def number_at(data, at):
    """A number in LEB128 with nine bytes at most, in zigzag, and the place behind it."""
    value = 0
    for i in range(9):
        value += (data[at] if i == 8 else data[at] % 128) * 128**i
        at += 1
        if data[at - 1] < 128:
            break
    return (value // 2 if value % 2 == 0 else -(value + 1) // 2), at


def buckets_of(text):
    """Its buckets that are not empty, lowest first: the highest value of each, and its count."""
    data = base64.b64decode(text, validate=True)
    assert data[:4].hex() == "1c849314", data[:4].hex()
    data = zlib.decompress(data[8:])
    assert data[:4].hex() == "1c849313", data[:4].hex()
    assert int.from_bytes(data[4:8], "big") == len(data) - 40, "the length of the counts"
    assert int.from_bytes(data[12:16], "big") == 3, "significant digits"
    found, at, index = [], 40, 0
    while at < len(data):
        count, at = number_at(data, at)
        if count < 0:
            index -= count
            continue
        # Of each power of two but the first, the lower half of the array belongs to the power before it.
        power, place = 0, index
        while place >= SUB_BUCKETS:
            power, place = power + 1, place - SUB_BUCKETS // 2
        if count > 0:
            found.append(((place + 1) * 2**power - 1, count))
        index += 1
    return found


def value_at(buckets, percent):
    """The highest value of the bucket in which the sample of this rank lies. `percent` is a whole number."""
    samples, seen = sum(count for _, count in buckets), 0
    for highest, count in buckets:
        seen += count
        if 100 * seen >= percent * samples:
            return highest
    return 0
