# SPDX-License-Identifier: MIT
"""What a server says: a line for people on a terminal, JSON lines to programs."""

import json
import os
import signal
import socket
import time
import unittest

from on_terminal import OnTerminal
from program import Case, Server, run


class Serve(Case):
    def end(self, server):
        """What a server on a terminal says when it is stopped."""
        server.process.send_signal(signal.SIGTERM)
        text = server.read()
        self.assertEqual(server.process.returncode, 0, text)
        return text

    def test_a_terminal_gets_a_line_at_the_beginning_and_one_at_the_end(self):
        server = OnTerminal("serve", "-p", "echo")
        line = server.line()
        self.assertRegex(line, r"^listening on 127\.0\.0\.1:\d+ \(epoll, echo\)$")
        load = run("load", "-p", "echo", "--connect", line.split()[2], "-c", 2, "-m", 100)
        self.assertEqual(load.returncode, 0, load.stderr)
        self.assertEqual(self.end(server), "stopped after 2 connections: 6,400 bytes received, 6,400 sent\n")

    def test_a_server_with_one_loop_has_one_thread_which_sleeps_while_nothing_comes(self):
        def wakes(process):
            with open(f"/proc/{process}/status", encoding="utf-8") as status:
                return next(int(line.split()[1]) for line in status if line.startswith("voluntary_ctxt"))

        for engine in ("epoll", "poll", "select"):
            with self.subTest(engine), Server("-e", engine, "-p", "echo") as server:
                load = run("load", "-p", "echo", "--connect", server.address, "-c", 3, "-m", 5)
                self.assertEqual(load.returncode, 0, load.stderr)
                self.assertEqual(len(os.listdir(f"/proc/{server.process.pid}/task")), 1)
                time.sleep(0.5)  # what ended connections leave is looked after
                before = wakes(server.process.pid)
                time.sleep(1)
                self.assertLessEqual(wakes(server.process.pid) - before, 1)

    def test_an_address_of_http_is_one_for_a_browser(self):
        server = OnTerminal("serve", "-p", "http", "-e", "threads")
        self.assertRegex(server.line(), r"^listening on http://127\.0\.0\.1:\d+/ \(threads, http\)$")
        self.end(server)
        path = "unix:" + self.path("socket")
        server = OnTerminal("serve", "-p", "http", "--listen", path)
        self.assertEqual(server.line(), f"listening on {path} (epoll, http)")
        self.end(server)

    def test_all_addresses_are_named(self):
        with Server("-p", "echo", "--listen", "localhost:0") as serving:
            addresses = serving.listening["addresses"]
        server = OnTerminal("serve", "-p", "echo", "--listen", "localhost:0")
        line = server.line()
        self.end(server)
        hosts = [address.rsplit(":", 1)[0] for address in addresses]
        where = line.split(" (")[0].removeprefix("listening on ")
        self.assertEqual([address.rsplit(":", 1)[0] for address in where.split(" and ")], hosts)

    def test_an_asterisk_is_every_address(self):
        self.refused(run("serve", "--listen", "*:0"), "--listen *:0: other machines could reach", "--public")
        self.refused(run("load", "--connect", "*:1", "-m", 1), "--connect '*:1': * is every address")
        with Server("-p", "echo", "--listen", "*:0", "--public") as server:
            port = server.address.rsplit(":", 1)[1]
            self.assertEqual(server.address, "0.0.0.0:" + port)
            hosts = ["127.0.0.1"]
            if len(server.listening["addresses"]) > 1:
                self.assertEqual(server.listening["addresses"][1], "[::]:" + port)
                hosts.append("[::1]")
            for host in hosts:
                done = run("load", "-p", "echo", "--connect", f"{host}:{port}", "-m", 5)
                self.assertEqual(done.returncode, 0, done.stderr)
        server = OnTerminal("serve", "-p", "echo", "--listen", "*:0", "--public")
        self.assertEqual(len(server.line().split(" and ")), len(hosts))
        self.end(server)

    def test_connections_that_failed_are_told(self):
        server = OnTerminal("serve", "-p", "http")
        port = server.line().split("/")[2].split(":")[1]
        with socket.create_connection(("127.0.0.1", int(port))) as stranger:
            stranger.sendall(b"no request\r\n\r\n")
            stranger.settimeout(60)
            while stranger.recv(4096):
                pass
        text = self.end(server)
        self.assertIn("stopped after 1 connection: ", text)
        self.assertIn("joust: 1 connection failed:\n  verify: ", text)

    def test_a_terminal_gets_json_where_that_is_asked_for(self):
        for option in ("--json",), ("--json", "-"), ("--json=-",):
            server = OnTerminal("serve", *option, "-p", "echo")
            self.assertEqual(json.loads(server.line())["event"], "listening", option)
            self.assertEqual(json.loads(self.end(server))["event"], "stopped")

    def test_programs_get_json(self):
        with Server("-p", "http") as server:
            self.assertEqual(server.listening["protocol"], "http")
            self.assertEqual(server.stop()["event"], "stopped")

    def test_a_file_for_the_json_lines_is_the_shells(self):
        file = self.path("lines.json")
        self.refused(run("serve", "--json", file), f"--json {file}: a server has no result", f"> {file}")


if __name__ == "__main__":
    unittest.main()
