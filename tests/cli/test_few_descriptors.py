# SPDX-License-Identifier: MIT
"""`receive` with a small limit of open files, and clients that want more than there is."""

import contextlib
import os
import socket

from program import JOUST, PATIENCE_S, long
from transferring import Receiver, TransferCase, partial_bytes, wait_for

LARGE = 3_000_000  # bytes: a journal is begun
FOLDERS = 3


def with_open_files(limit):
    return ("sh", "-c", f'ulimit -n {limit} && exec "$0" "$@"', JOUST)


# Connections of the senders that had nothing to do for a second, and those for which there was no place.
NO_PLACE = "^local: (it was ended to make room|the peer's address has all connections)"


class FewDescriptors(TransferCase):
    def tree(self):
        for folder in range(FOLDERS):
            for i in range(60):
                self.make(f"tree/{folder}/small{i}", 2_000 + i)
            for i in range(4):
                self.make(f"tree/{folder}/large{i}", LARGE + i)
        return self.path("tree") + "/"

    def same_trees(self, one, other):
        for folder, _, files in os.walk(self.path(one)):
            for name in files:
                file = os.path.join(folder, name)
                self.same(file, file.replace(self.path(one), self.path(other)))

    def test_all_arrives_and_no_upload_that_was_begun_is_refused(self):
        tree = self.tree()
        for limit, engine, connections in ((64, "epoll", 3), (64, "threads", 2), (1024, "epoll", 100)):
            into = self.path(f"in/{limit}-{engine}")
            os.mkdir(into)
            receiving = Receiver(into, "-e", engine, "-t", 1, program=with_open_files(limit))
            with self.subTest(limit=limit, engine=engine), receiving as receiver:
                senders = [self.start("send", "-r", tree, f"{receiver.address}/{i}", "-c", connections)
                           for i in range(2)]  # fmt: skip
                for sender in senders:
                    out, err = sender.communicate(timeout=PATIENCE_S)
                    self.assertEqual(sender.returncode, 0, out + err)
                    self.assertNotIn("open files", err)
                for i in range(2):
                    self.same_trees("tree", f"in/{limit}-{engine}/{i}/tree")
                self.tell("get", f"{receiver.address}/0/tree/0/large0", "--overwrite")  # it goes on serving
                stopped = receiver.stop()
                for error in stopped["messages_of_errors"]:
                    self.assertRegex(error, NO_PLACE)

    @long
    def test_a_crowd_takes_nothing_that_an_upload_still_needs(self):
        file = self.make("file", LARGE)
        for engine in ("epoll", "threads", "io-uring"):
            into = self.path(f"in/{engine}")
            os.mkdir(into)
            receiving = Receiver(into, "-e", engine, "-t", 1, program=with_open_files(64))
            with self.subTest(engine), receiving as receiver, contextlib.ExitStack() as crowd:
                sender = self.start("send", file, receiver.address, "-c", 1, "--limit", "1MB")
                wait_for(lambda: partial_bytes(into), sender)
                host, port = receiver.address.rsplit(":", 1)
                for _ in range(100):
                    crowd.enter_context(socket.create_connection((host, int(port))))
                out, err = sender.communicate(timeout=PATIENCE_S)
                self.assertEqual(sender.returncode, 0, out + err)
                self.same(file, f"{into}/file")
                crowd.close()
                self.assertEqual(receiver.stop()["files"]["refused"], 0)
