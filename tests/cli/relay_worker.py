# SPDX-License-Identifier: MIT
"""A process behind a relay.

relay_worker.py exchange RANKS ROUNDS: rank 0 and all others send to each other at the same time, in each
round one message of each length. Each is answered by nothing; what has come is checked for its bytes and its
order.
Ranks report to rank 0, whose exit code is that of the work.
relay_worker.py refused: rank 0 sends to a rank that does not exist, again and again.
relay_worker.py garbage: rank 1 sends what is no message.
relay_worker.py order RANK JSON: sends an order to the joust of a rank, as another user of a host could."""

import collections
import os
import select
import socket
import sys

LENGTHS = 0, 1, 15, 17, 1000, 70_000, 1 << 20
PATIENCE_S = 20  # for the next bytes


def body(sender, number):
    length = LENGTHS[number % len(LENGTHS)]
    return bytes((sender * 31 + number + i) % 251 for i in range(64)).ljust(length, b".")[:length]


class Relay:
    def __init__(self):
        self.socket = socket.socket(fileno=int(os.environ["JOUST_RELAY"]))
        self.came, self.out = bytearray(), collections.deque()

    def send(self, rank, data):
        self.out.append(b"message %d %d\n" % (rank, len(data)) + data)

    def step(self):
        """Reads and writes what is possible at once; neither end waits for the other."""
        own = [self.socket]
        readable, writable, _ = select.select(own, own if self.out else [], [], PATIENCE_S)
        assert readable or writable, "nothing more comes"
        if writable:
            data = self.out.popleft()
            sent = self.socket.send(data, socket.MSG_DONTWAIT)
            if sent < len(data):
                self.out.appendleft(data[sent:])
        if readable:
            data = self.socket.recv(1 << 20)
            assert data, "the relay has ended"
            self.came += data

    def frame(self):
        """The next frame: its kind, its rank, its body."""
        while True:
            begin = self.came.find(b"\n") + 1
            if begin:
                kind, rank, length = self.came[:begin].split()
                end = begin + int(length)
                if len(self.came) >= end:
                    data = bytes(self.came[begin:end])
                    del self.came[:end]
                    return bytes(kind), int(rank), data
            self.step()


def rank():
    return int(os.environ["OMPI_COMM_WORLD_RANK"])


def until_the_end(relay):
    while relay.socket.recv(65536):
        pass


def refused():
    relay = Relay()
    if rank() != 0:
        return until_the_end(relay)
    for _ in range(3):
        relay.send(77, b"")
        kind, of, why = relay.frame()
        assert (kind, of) == (b"ended", 77), (kind, of, why)
    print(why.decode())


def garbage():
    relay = Relay()
    if rank() == 0:
        print(relay.frame()[2].decode())
    else:
        relay.socket.sendall(b"message 0 99999999999\n")
        until_the_end(relay)


def order(rank_of_joust, text):
    relay = Relay()
    relay.send(int(rank_of_joust), text.encode())
    while relay.out:
        relay.step()
    relay.frame()  # rank 0 has come to this rank


def exchange(ranks, rounds):
    ranks, rounds, own = int(ranks), int(rounds), rank()
    others = list(range(1, ranks)) if own == 0 else [0]
    relay = Relay()
    count = rounds * len(LENGTHS)
    for number in range(count):
        for other in others:
            relay.send(other, body(own, number))
    seen = dict.fromkeys(others, 0)
    awaited = count + (own == 0)  # of each: rank 0 gets a last word
    while any(one < awaited for one in seen.values()):
        kind, sender, data = relay.frame()
        assert kind == b"message", (kind, sender, data)
        expected = body(sender, seen[sender]) if seen[sender] < count else b"done"
        assert data == expected, (sender, seen[sender], len(data))
        seen[sender] += 1
    if own != 0:
        relay.send(0, b"done")
        while relay.out:
            relay.step()
        return until_the_end(relay)
    print(f"{count} messages from each of {len(others)} ranks")


if __name__ == "__main__":
    {"exchange": exchange, "refused": refused, "garbage": garbage, "order": order}[sys.argv[1]](*sys.argv[2:])
