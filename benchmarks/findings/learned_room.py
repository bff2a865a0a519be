#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A room over UDP whose server knows its clients from their messages, and one that knows them before.

    learned_room.py CLIENTS

Each client sends one message, and the server passes each on to all clients that it knows. Prints as JSON how
many copies every client should have had, and how many the server sent in either way. Loopback only.
"""

import json
import socket
import sys

PATIENCE_S = 10


def a_socket():
    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    made.bind(("127.0.0.1", 0))
    made.settimeout(PATIENCE_S)
    return made


def copies_sent(count, they_join):
    """One client after the other, so that nothing is dropped: what is missing was never sent."""
    server, clients = a_socket(), [a_socket() for _ in range(count)]
    known, sent = [], 0
    if they_join:
        for client in clients:
            client.sendto(b"join", server.getsockname())
            known.append(server.recvfrom(64)[1])
    for client in clients:
        client.sendto(b"message", server.getsockname())
        message, sender = server.recvfrom(64)
        if sender not in known:
            known.append(sender)
        for address in known:
            sent += server.sendto(message, address) == len(message)
        for each in clients[:len(known)]:
            each.recvfrom(64)
    for each in (server, *clients):
        each.close()
    return sent


def main():
    if len(sys.argv) != 2 or not sys.argv[1].isdecimal() or not 0 < int(sys.argv[1]) <= 400:
        print("usage: learned_room.py CLIENTS (1 to 400)", file=sys.stderr)
        return 2
    count = int(sys.argv[1])
    print(json.dumps({"clients": count, "expected": count * count, "joined": copies_sent(count, True),
                      "learned": copies_sent(count, False)}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
