# SPDX-License-Identifier: MIT
"""Tokens and TLS of `receive`, `send` and `get`: who is let in, and what the network sees."""

import os
import re
import shutil
import socket
import ssl
import stat
import subprocess
import time
import unittest
import unittest.mock

from program import JOUST, PATIENCE_S, run
from transferring import Proxy, Receiver, TransferCase

TOKEN = "0123456789abcdef0123456789abcdef"


class Secured(TransferCase):
    def setUp(self):
        super().setUp()
        self.token = self.secret("token", TOKEN)

    def secret(self, name, text, mode=0o600):
        with open(self.path(name), "w", encoding="ascii") as file:
            file.write(text + "\n")
        os.chmod(self.path(name), mode)
        return self.path(name)

    def receiver(self, *arguments):
        return Receiver(self.path("in"), "--token-file", self.token, *arguments)

    def send(self, address, *arguments, **options):
        return self.tell("send", self.make("file", 30_000_000), address, *arguments, **options)


class Secure(Secured):
    def test_files_arrive_both_ways_by_any_engine(self):
        file = self.make("file", 20_000_000)
        guard = ("--token-file", self.token)
        for engine in ("epoll", "threads", "io-uring"):
            with self.subTest(engine=engine), self.receiver("-e", engine) as receiver:
                self.tell("send", file, receiver.address, "-e", engine, "--overwrite", *guard)
                self.same(file, self.path("in/file"))
                self.tell("get", f"{receiver.address}/file", "-e", engine, "--overwrite", *guard)
                self.same(file, self.path("out/file"))

    def test_nobody_gets_in_without_the_token(self):
        other = self.secret("other", TOKEN[::-1])
        with self.receiver() as receiver:
            for guard in ((), ("--token-file", other)):
                self.send(receiver.address, *guard, "--retries", 1, code=1)
                self.assertEqual(os.listdir(self.path("in")), [])
                self.tell("get", f"{receiver.address}/file", *guard, "--retries", 1, code=1)
            self.send(receiver.address, "--token-file", self.token)

    def test_a_server_says_in_the_end_that_strangers_were_refused(self):
        other = self.secret("other", TOKEN[::-1])
        with self.receiver() as receiver:
            self.send(receiver.address, "--token-file", other, "--retries", 0, "-c", 1, code=1)
            stopped = receiver.stop()
            self.assertEqual(stopped["connections"]["failed"], 1)
            self.assertIn("the tokens differ", stopped["messages_of_errors"][0])

    def test_a_client_tells_nothing_to_a_server_without_the_token(self):
        with Receiver(self.path("in"), "--token-file", self.secret("other", TOKEN[::-1])) as receiver:
            self.send(receiver.address, "--token-file", self.token, "--retries", 1, code=1)
            self.assertIn("token", self.said)
        self.assertEqual(os.listdir(self.path("in")), [])

    def test_a_client_says_which_setting_may_be_the_wrong_one(self):
        guard = ("--token-file", self.token)
        other = ("--token-file", self.secret("other", TOKEN[::-1]))
        cases = [
            (self.receiver(), (), "the server speaks TLS: give its token (--token-file)"),
            (self.receiver(), other, "the server refuses the token"),
            (Receiver(self.path("in")), guard, "does not speak TLS: was it started with a token?"),
        ]
        for receiving, given, words in cases:
            with self.subTest(words), receiving as receiver:
                for command in (("send", self.make("file", 1000), receiver.address),
                                ("get", f"{receiver.address}/file")):  # fmt: skip
                    told = self.tell(*command, *given, code=1)
                    self.assertIn(words, self.said)
                    self.assertNotIn("sslv3", self.said)
                    self.assertEqual(told["retries"], 0, "nothing would change")

    def test_a_server_that_closes_connections_is_dialled_again(self):
        def close_the_first(number, _to_server, _at, data):
            return None if number < 3 else data

        file, guard = self.make("file", 1000), ("--token-file", self.token)
        for given in ((), guard):
            with self.subTest(given), Receiver(self.path("in"), *given) as receiver:
                for command in ("send", "get"):
                    with Proxy(receiver.address, close_the_first) as proxy:
                        words = [file, proxy.address] if command == "send" else [f"{proxy.address}/file"]
                        told = self.tell(command, *words, *given, "-c", 1, "--overwrite")
                    self.assertGreater(told["retries"], 0)

    def test_the_network_sees_neither_names_nor_bytes_nor_the_token(self):
        seen = []

        def listen(_number, _to_server, _at, data):
            seen.append(data)
            return data

        self.make("file", 1)
        with open(self.path("file"), "wb") as file:
            file.write(b"a line that repeats itself\n" * 100_000)
        with self.receiver() as receiver, Proxy(receiver.address, listen) as proxy:
            self.tell("send", self.path("file"), f"{proxy.address}/nowhere-else", "--token-file", self.token)
        wire = b"".join(seen)
        self.assertGreater(len(wire), 2_600_000)
        for secret in (b"repeats", b"nowhere-else", TOKEN.encode()):
            self.assertNotIn(secret, wire)

    def test_a_changed_bit_is_no_file(self):
        def flip(number, to_server, at, data):
            place = 5_000_000 - at
            if to_server and number == 0 and 0 <= place < len(data):
                return data[:place] + bytes([data[place] ^ 4]) + data[place + 1 :]
            return data

        with self.receiver() as receiver, Proxy(receiver.address, flip) as proxy:
            told = self.send(proxy.address, "-c", 1, "--token-file", self.token)
        self.assertGreater(told["retries"], 0)
        self.same(self.path("file"), self.path("in/file"))

    def test_the_receiver_says_what_clients_have_to_say(self):
        receiver = self.start("receive", "--into", self.path("in"), "--token-file", self.token)
        lines = [receiver.stdout.readline() for _ in range(3)]
        receiver.terminate()
        receiver.communicate(timeout=PATIENCE_S)
        for line in lines[1:]:
            self.assertTrue(line.endswith("--token-file TOKEN\n"), line)

    def test_the_token_may_come_by_a_variable(self):
        with self.receiver() as receiver:
            file = self.make("file", 1000)
            done = subprocess.run([JOUST, "send", file, receiver.address], capture_output=True,
                                  text=True, timeout=PATIENCE_S, check=False,
                                  env=os.environ | {"JOUST_TOKEN": TOKEN})  # fmt: skip
            self.assertEqual(done.returncode, 0, done.stderr)
        self.same(file, self.path("in/file"))

    def test_the_environment_of_a_running_program_does_not_show_the_token(self):
        if not os.path.exists("/proc/self/environ"):
            self.skipTest("no /proc")
        environment = os.environ | {"JOUST_TOKEN": TOKEN, "JOUST_OTHER": "1"}
        with unittest.mock.patch.dict(os.environ, environment), Receiver(self.path("in")) as receiver:
            with open(f"/proc/{receiver.process.pid}/environ", "rb") as file:
                shown = file.read()
        self.assertIn(b"JOUST_OTHER=1", shown)
        self.assertFalse(TOKEN.encode() in shown, "the token is there")

    def test_half_open_handshakes_do_not_stop_a_good_client(self):
        with self.receiver() as receiver:
            host, port = receiver.address.rsplit(":", 1)
            crowd = [socket.create_connection((host, int(port))) for _ in range(1000)]
            for number, each in enumerate(crowd):
                each.send(b"\x16\x03\x01"[: number % 4])
            begun = time.monotonic()
            self.send(receiver.address, "--token-file", self.token)
            self.assertLess(time.monotonic() - begun, 4, "the good client waited for the crowd")
            end = time.monotonic() + PATIENCE_S
            for each in crowd:  # all are shown the door by the deadline
                each.settimeout(max(0.1, end - time.monotonic()))
                try:
                    while each.recv(100):
                        pass
                except ConnectionResetError:
                    pass
                each.close()

    @unittest.skipUnless(shutil.which("openssl"), "openssl is not installed")
    def test_another_implementation_is_let_in_only_with_the_key(self):
        with self.receiver() as receiver:
            for key in ("00" * 32, TOKEN):
                done = subprocess.run(
                    ["openssl", "s_client", "-connect", receiver.address, "-tls1_3", "-psk", key,
                     "-psk_identity", "joust"],
                    input="", capture_output=True, text=True, timeout=PATIENCE_S, check=False)  # fmt: skip
                self.assertNotIn("Reused, TLSv1.3", done.stdout)  # the key is derived from the token
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            host, port = receiver.address.rsplit(":", 1)
            with socket.create_connection((host, int(port))) as plain:
                with self.assertRaises((ssl.SSLError, OSError)):
                    context.wrap_socket(plain).recv(1)


class Tokens(Secured):
    def test_a_new_token_is_for_its_owner_and_replaces_nothing(self):
        path = self.path("new")
        self.assertEqual(run("receive", "--new-token", path).returncode, 0)
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o600)
        with open(path, encoding="ascii") as file:
            text = file.read()
        self.assertRegex(text, r"^[A-Za-z0-9_-]{43}\n$")
        self.refused(run("receive", "--new-token", path), "already")
        with open(path, encoding="ascii") as file:
            self.assertEqual(file.read(), text)

    def test_what_is_no_token_is_refused_and_not_repeated(self):
        cases = [
            (self.secret("short", "hunter2"), "128 bits"),
            (self.secret("same", "ab" * 30), "not random"),
            (self.secret("open", TOKEN, 0o644), "chmod 600"),
            (self.path("missing"), "No such file"),
            (self.path("in"), "no regular file"),
        ]
        if os.geteuid() == 0:
            cases.append((self.secret("theirs", TOKEN), "belongs to another user (uid 65534)"))
            os.chown(self.path("theirs"), 65534, 65534)
        for path, words in cases:
            with self.subTest(path):
                done = run("receive", "--into", self.path("in"), "--token-file", path)
                self.refused(done, words)
                self.assertNotIn("hunter2", done.stderr)

    def test_other_machines_need_a_token(self):
        for more in (["--listen", "0.0.0.0:0"], ["--listen", "[::]:0"], ["--public"]):
            done = run("receive", "--into", self.path("in"), *more)
            self.refused(done, "--token-file")
            self.assertIn("--public", done.stderr)
        with self.receiver("--public", "--listen", "0.0.0.0:0") as receiver:
            port = re.sub(r".*:", "", receiver.address)
            self.send(f"127.0.0.1:{port}", "--token-file", self.token)

    def test_an_empty_token_is_not_the_same_as_none(self):
        commands = (["receive", "--into", self.path("in")], ["send", self.make("file", 10), "127.0.0.1:1"],
                    ["get", "127.0.0.1:1/file"])  # fmt: skip
        for command in commands:
            with unittest.mock.patch.dict(os.environ, {"JOUST_TOKEN": ""}):
                self.refused(run(*command), "JOUST_TOKEN is set and empty")
            self.refused(run(*command, "--token-file", ""), "--token-file: the value is empty")
            self.refused(run(*command, "--token-file="), "--token-file: the value is empty")
        self.refused(run("receive", "--new-token", ""), "--new-token: the value is empty")
        with self.receiver() as receiver:  # a file is a token, and an empty variable none beside it
            with unittest.mock.patch.dict(os.environ, {"JOUST_TOKEN": ""}):
                self.send(receiver.address, "--token-file", self.token)


if __name__ == "__main__":
    unittest.main()
