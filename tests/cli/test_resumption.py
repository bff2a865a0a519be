# SPDX-License-Identifier: MIT
"""Transfers that are interrupted, damaged or cut off: a file is right or not there, and the next run goes on.

JOUST_KILLS=50 makes as many attempts at random moments as that, in place of a handful."""

import glob
import json
import os
import random
import shutil
import signal
import subprocess

from program import JOUST, PATIENCE_S
from transferring import RANGE, Proxy, Receiver, TransferCase, kill, opened_in, partial_bytes, wait_for

KILLS = int(os.environ.get("JOUST_KILLS", "4"))
SIZE = 12 * RANGE + 77


def flip(data, place):
    return data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]


class Resumption(TransferCase):
    def expect_all(self, told):
        self.assertEqual(told["bytes"]["moved"] + told["bytes"]["there_before"], SIZE)

    def test_a_killed_client_of_send_goes_on(self):
        chance = random.Random(1)
        file = self.make("file", SIZE)
        taken_over = 0
        with Receiver(self.path("in")) as receiver:
            for i in range(KILLS):
                with self.subTest(i):
                    sender = self.start("send", file, receiver.address, "-c", chance.choice([1, 4]))
                    goal = chance.randrange(SIZE)
                    wait_for(lambda goal=goal: partial_bytes(self.path("in")) > goal, sender)
                    kill(sender)
                    if os.path.exists(self.path("in/file")):
                        self.same(file, self.path("in/file"))
                        os.remove(self.path("in/file"))
                    # The server may be about to name what came whole before the kill.
                    told = self.tell("send", file, receiver.address, "--overwrite")
                    self.expect_all(told)
                    taken_over += told["bytes"]["there_before"]
                    self.same(file, self.path("in/file"))
                    self.assertEqual(self.hidden("in"), [])
                    os.remove(self.path("in/file"))
        self.assertGreater(taken_over, 0)

    def test_a_killed_client_of_get_goes_on(self):
        chance = random.Random(2)
        file = self.make("in/file", SIZE)
        taken_over = 0
        with Receiver(self.path("in")) as receiver:
            for i in range(KILLS):
                with self.subTest(i):
                    getter = self.start("get", f"{receiver.address}/file", "-c", chance.choice([1, 4]))
                    goal = chance.randrange(SIZE)
                    wait_for(lambda goal=goal: partial_bytes(self.path("out")) > goal, getter)
                    kill(getter)
                    if os.path.exists(self.path("out/file")):
                        self.same(file, self.path("out/file"))
                        os.remove(self.path("out/file"))
                    told = self.tell("get", f"{receiver.address}/file")
                    self.expect_all(told)
                    taken_over += told["bytes"]["there_before"]
                    self.same(file, self.path("out/file"))
                    self.assertEqual(self.hidden("out"), [])
                    os.remove(self.path("out/file"))
        self.assertGreater(taken_over, 0)

    # It comes back under another address, so the client's own retries find nobody.
    def test_a_killed_server_goes_on(self):
        chance = random.Random(3)
        file = self.make("file", SIZE)
        for i in range(KILLS):
            for command in ("send", "get"):
                with self.subTest(command=command, attempt=i):
                    self.interrupt_server(command, file, chance.randrange(SIZE))

    def interrupt_server(self, command, file, goal):
        folder = "in" if command == "send" else "out"
        source = file if command == "send" else shutil.copy2(file, self.path("in/source"))
        name = os.path.basename(source)

        def words(address):
            return [command, source, address] if command == "send" else [command, f"{address}/{name}"]

        with Receiver(self.path("in")) as receiver:
            client = self.start(*words(receiver.address), "--retries", 1)
            wait_for(lambda: partial_bytes(self.path(folder)) > goal, client)
            receiver.kill()
            _, said = client.communicate(timeout=PATIENCE_S)
        if not os.path.exists(self.path(f"{folder}/{name}")):
            self.assertEqual(client.returncode, 1, said)
            with Receiver(self.path("in")) as receiver:
                told = self.tell(*words(receiver.address))
            self.expect_all(told)
        self.same(file, self.path(f"{folder}/{name}"))
        os.remove(self.path(f"{folder}/{name}"))
        for path in glob.glob(self.path("*/.joust-*")):
            os.remove(path)

    def test_a_server_that_comes_back_is_dialled_again(self):
        file = self.make("file", SIZE)
        with Receiver(self.path("in")) as receiver:
            address = receiver.address
            sender = self.start("send", file, address, "--retries", 20, "--limit", "60MB")
            wait_for(lambda: partial_bytes(self.path("in")) > 3 * RANGE, sender)
            receiver.kill()
        with Receiver(self.path("in"), "--listen", address):
            out, said = sender.communicate(timeout=PATIENCE_S)
            self.assertEqual(sender.returncode, 0, out + said)
        self.same(file, self.path("in/file"))

    def test_control_c_keeps_what_is_there_and_says_how_to_go_on(self):
        file = self.make("a file", SIZE)
        with Receiver(self.path("in")) as receiver:
            sender = self.start("send", file, receiver.address, "--limit", "60MB")
            wait_for(lambda: partial_bytes(self.path("in")) > 3 * RANGE, sender)
            sender.send_signal(signal.SIGINT)
            _, said = sender.communicate(timeout=PATIENCE_S)
            self.assertEqual(sender.returncode, 1, said)
            command = said.strip().splitlines()[-1].strip()
            self.assertIn(f"'{file}' {receiver.address} --limit 60MB", command)
            words = ["sh", "-c", command.replace("60MB", "1GB") + " --json -"]
            done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotIn('"there_before": 0', done.stdout)
        self.same(file, self.path("in/a file"))

    def test_a_changed_source_starts_over(self):
        for command in ("send", "get"):
            with self.subTest(command), Receiver(self.path("in")) as receiver:
                folder = "in" if command == "send" else "out"
                source = self.make("file" if command == "send" else "in/file", SIZE, 1)
                words = [source, receiver.address] if command == "send" else [f"{receiver.address}/file"]
                client = self.start(command, *words)
                wait_for(lambda folder=folder: partial_bytes(self.path(folder)) > 4 * RANGE, client)
                kill(client)
                if os.path.exists(self.path(f"{folder}/file")):
                    os.remove(self.path(f"{folder}/file"))
                self.make("file" if command == "send" else "in/file", SIZE, 2)
                told = self.tell(command, *words)
                self.assertEqual(told["bytes"]["there_before"], 0)
                self.same(source, self.path(f"{folder}/file"))
                os.remove(self.path("in/file"))

    def test_a_damaged_journal_or_file_is_never_built_upon(self):
        chance = random.Random(5)
        file = self.make("file", SIZE)
        for victim in (".joust-journal-*", ".joust-partial-*"):
            with self.subTest(victim), Receiver(self.path("in")) as receiver:
                sender = self.start("send", file, receiver.address, "-c", 1)
                wait_for(lambda: partial_bytes(self.path("in")) > 6 * RANGE, sender)
                kill(sender)
                # Damage to an upload that goes on would be found at its end only.
                wait_for(lambda r=receiver: not list(opened_in(r.process, self.path("in"))), receiver.process)
                for path in glob.glob(self.path("in/" + victim)):
                    with open(path, "r+b") as damaged:
                        place = chance.randrange(os.path.getsize(path))
                        damaged.seek(place)
                        byte = damaged.read(1)
                        damaged.seek(place)
                        damaged.write(bytes([byte[0] ^ 0x10]))
                self.tell("send", file, receiver.address, "--overwrite")
                self.same(file, self.path("in/file"))
                os.remove(self.path("in/file"))

    def test_flipped_bits_are_never_published(self):
        file = self.make("file", 2 * RANGE)
        small = self.make("small", 3000)
        with Receiver(self.path("in")) as receiver:
            for command, name in (("send", "file"), ("send", "small"), ("get", "file")):
                with self.subTest(command=command, name=name):
                    if command == "get":
                        shutil.copy2(file, self.path("in/file"))

                    def harm(number, to_server, at, data, goes=command == "send"):
                        hit = to_server == goes and at <= 2000 < at + len(data)
                        return flip(data, 2000 - at) if hit else data

                    with Proxy(receiver.address, harm) as proxy:
                        put, get = [self.path(name), proxy.address], [f"{proxy.address}/file"]
                        words = put if command == "send" else get
                        self.tell(command, *words, "-c", 1, "--retries", 0, code=1)
                    folder = "in" if command == "send" else "out"
                    self.assertFalse(os.path.exists(self.path(f"{folder}/{name}")))
        self.assertTrue(os.path.exists(small))

    def test_cut_connections_are_made_again(self):
        file = self.make("file", SIZE)
        with Receiver(self.path("in")) as receiver:

            def harm(number, to_server, at, data):
                return None if number < 6 and at > (number + 1) * 2_000_000 else data

            with Proxy(receiver.address, harm) as proxy:
                told = self.tell("send", file, proxy.address)
                self.assertGreater(told["retries"], 0)
                self.same(file, self.path("in/file"))
            with Proxy(receiver.address, harm) as proxy:
                told = self.tell("get", f"{proxy.address}/file")
                self.assertGreater(told["retries"], 0)
                self.same(file, self.path("out/file"))

    def test_cut_connections_lose_no_small_file(self):
        for i in range(400):
            self.make(f"tree/{i}", 20_000, i)
        with Receiver(self.path("in")) as receiver:

            def harm(number, to_server, at, data):
                return None if number < 4 and at > (100_000 if to_server else 3000) else data

            with Proxy(receiver.address, harm) as proxy:
                told = self.tell("send", "-r", self.path("tree"), proxy.address, "-c", 2)
        self.assertEqual(told["files"], {"stored": 400, "directories": 0, "skipped": 0, "failed": 0})
        for i in range(400):
            self.same(self.path(f"tree/{i}"), self.path(f"in/tree/{i}"))

    def test_a_lost_last_answer_is_found_out(self):
        last = b"\x02\x11\x00\x09"  # the head of `stored`: the file is complete
        with Receiver(self.path("in")) as receiver:
            for name, size in (("small", 3000), ("file", 2 * RANGE)):
                cut = []

                def harm(number, to_server, at, data, cut=cut):
                    if to_server or last not in data or cut:
                        return data
                    return cut.append(number)

                file = self.make(name, size)
                with self.subTest(name), Proxy(receiver.address, harm) as proxy:
                    told = self.tell("send", file, proxy.address)
                    self.assertEqual(len(cut), 1)
                    self.assertEqual((told["files"]["stored"], told["files"]["failed"]), (1, 0))
                    self.same(file, self.path("in/" + name))

    def test_a_full_disk_is_said_and_names_nothing(self):
        limited = ["prlimit", f"--fsize={3 * RANGE}", JOUST]
        file = self.make("file", SIZE)
        with Receiver(self.path("in"), program=limited) as receiver:
            self.tell("send", file, receiver.address, code=1)
            self.assertRegex(self.said, "too large|no space|input/output")
        self.assertFalse(os.path.exists(self.path("in/file")))
        shutil.copy2(file, self.path("in/source"))
        with Receiver(self.path("in")) as receiver:
            self.tell("get", f"{receiver.address}/source", code=1, program=limited)
        self.assertFalse(os.path.exists(self.path("out/source")))

    def test_a_receiver_that_is_stopped_tells_what_is_unfinished(self):
        file = self.make("file", 3 * RANGE)
        for engine, connections in (("epoll", 1), ("epoll", 4), ("threads", 2)):
            for events in ((), ("--events",)):
                with self.subTest(engine=engine, connections=connections, events=events):
                    command = ["receive", "--into", self.path("in"), "-e", engine, *events]
                    receiver = self.start(*command)
                    line = receiver.stdout.readline()
                    address = json.loads(line)["address"] if events else line.split()[2]
                    sender = self.start("send", file, address, "-c", connections, "--limit", "4MB")
                    wait_for(lambda: partial_bytes(self.path("in")) > 2 << 20, sender)
                    receiver.terminate()
                    said, _ = receiver.communicate(timeout=PATIENCE_S)
                    kill(sender)
                    if events:
                        files = json.loads(said.splitlines()[-1])["files"]
                        self.assertEqual(files["unfinished"], 1)
                        self.assertGreater(files["abandoned"], 0)
                    else:
                        self.assertIn("1 upload unfinished: what has come is kept until its name", said)
                    with Receiver(self.path("in")) as again:
                        told = self.tell("send", file, again.address)
                        self.assertGreater(told["bytes"]["there_before"], 0)
                        stopped = again.stop()["files"]
                    self.assertEqual((stopped["unfinished"], stopped["abandoned"]), (0, 0))
                    os.remove(self.path("in/file"))
