# SPDX-License-Identifier: MIT
"""Servers of the file protocol that say what a test wants."""

import socket
import struct
import threading

from frames import CHECK_BYTES, FACTS, HEAD, QUERY, frame

LIST, ENTRIES, LISTED, END, ERROR = 8, 20, 21, 33, 34
HAS_DIGEST, HAS_MODE = 1, 16


def receive(peer, size):
    got = b""
    while len(got) < size:
        part = peer.recv(size - len(got))
        if not part:
            raise ConnectionError
        got += part
    return got


def facts(request, size=0, digest=bytes(16), mode=0o755, time=0):
    body = struct.pack(">Qq16sI", size, time, digest, mode)
    return frame(FACTS, request, body, HAS_MODE | (HAS_DIGEST if any(digest) else 0))


def error(request, code, text=""):
    return frame(ERROR, request, struct.pack(">HH", code, len(text)) + text.encode())


def entries(request, found):
    """Frames of (name, is_folder, size), as many in one as fit."""
    frames, part, count = b"", b"", 0
    for name, is_folder, size in found:
        name = name if isinstance(name, bytes) else name.encode()
        entry = struct.pack(">BIQqH", is_folder, 0o755 if is_folder else 0o644, size, 0, len(name)) + name
        if len(part) + len(entry) > 2000:
            frames += frame(ENTRIES, request, struct.pack(">H", count) + part)
            part, count = b"", 0
        part, count = part + entry, count + 1
    return frames + (frame(ENTRIES, request, struct.pack(">H", count) + part) if part else b"")


def listed(request, found):
    found = list(found)
    end = frame(LISTED, request, struct.pack(">QQ", len(found), 0))
    return facts(request) + entries(request, found) + end


class Liar:
    """Calls `answer(peer, kind, request, body)` for each request; its answers go to the peer. An OSError of
    it ends the connection."""

    def __init__(self, answer):
        self.answer = answer
        self.dialled = 0  # connections so far
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.listener.getsockname()[1]

    def __enter__(self):
        threading.Thread(target=self.accept, daemon=True).start()
        return self

    def __exit__(self, kind, error_, trace):
        self.listener.close()

    def accept(self):
        while True:
            try:
                peer, _ = self.listener.accept()
            except OSError:
                return
            self.dialled += 1
            threading.Thread(target=self.serve, args=(peer,), daemon=True).start()

    def serve(self, peer):
        with peer:
            try:
                while True:
                    _, kind, _, request, size, _ = HEAD.unpack(receive(peer, HEAD.size))
                    self.answer(peer, kind, request, receive(peer, size + CHECK_BYTES))
            except OSError:
                pass


def name_of(kind, body):
    """The name that a request has."""
    at = {LIST: 0, QUERY: 0}.get(kind, 16)
    size = struct.unpack_from(">H", body, at)[0]
    return body[at + 2 : at + 2 + size].decode()
