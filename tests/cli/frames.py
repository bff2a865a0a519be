# SPDX-License-Identifier: MIT
"""Frames of the file protocol, for tests that speak it by hand (docs/file-protocol.md)."""

import ctypes
import struct

HEAD = struct.Struct(">BBHIII")  # version, kind, flags, request, size of the body, check
QUERY, FRAGMENT, WHOLE, FACTS, STORED, DATA, END = 1, 2, 5, 16, 17, 32, 33
CHECK_BYTES = 8  # behind the body of every frame but data

# The library that the program itself uses.
xxh3 = ctypes.CDLL("libxxhash.so.0").XXH3_64bits
xxh3.restype, xxh3.argtypes = ctypes.c_uint64, (ctypes.c_char_p, ctypes.c_size_t)


def head(kind, request, size, flags=0):
    """A head; with the bytes of a file behind it, a frame of data."""
    fields = HEAD.pack(2, kind, flags, request, size, 0)[:-4]
    return fields + struct.pack(">I", xxh3(fields, len(fields)) & 0xFFFFFFFF)


def frame(kind, request, body, flags=0):
    unchecked = head(kind, request, len(body), flags) + body
    return unchecked + struct.pack(">Q", xxh3(unchecked, len(unchecked)))
