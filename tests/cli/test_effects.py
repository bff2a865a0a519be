# SPDX-License-Identifier: MIT
"""Options that have no effect are refused with the reason, and missing input files too: exit code 2."""

import json
import pathlib
import socket
import unittest

from program import Case, Server, run

ANYWHERE = ("--connect", "127.0.0.1:1")


def available(engine):
    engines = json.loads(run("engines", "--json").stdout)
    return any(one["name"] == engine and one["available"] for one in engines)


class Effects(Case):
    def test_knobs_that_another_choice_decides(self):
        if not available("io-uring"):
            self.skipTest("no io_uring")
        for knobs, words in (
            ("sqpoll=on:taskrun=plain", ("--taskrun plain has no effect", "with --sqpoll on it is 'plain'")),
            ("receives=single:buffers=incremental", ("--buffers incremental", "with --receives single")),
        ):
            self.refused(run("serve", "-e", f"io-uring:{knobs}"), *words)
            self.refused(run("load", "-e", f"io-uring:{knobs}", *ANYWHERE), *words)
            self.refused(run("race", "--server", f"epoll,io-uring:{knobs}", "--dry-run"), *words)
        with Server("-e", "io-uring:receives=single") as server:
            self.assertEqual(server.listening["knobs"]["buffers"], "whole")

    def test_plain_datagrams_are_not_packed(self):
        self.refused(run("load", "-e", "udp-batched:wire=plain:pack=on", *ANYWHERE),
                     "--pack on has no effect", "--wire plain")

    def test_options_of_protocols(self):
        http = ("load", "-p", "http", *ANYWHERE)
        self.refused(run(*http, "--text", "x", "--body", "any"), "--text has no effect", "not compared")
        self.refused(run(*http, "--text", "x", "--method", "HEAD"), "--text has no effect",
                     "HEAD has no body")
        for status in ("100", "101", "1xx", "200,1xx"):
            self.refused(run(*http, "--status", status), "--status: ", "comes before the last one")
        resp = ("load", "-p", "resp", *ANYWHERE)
        self.refused(run(*resp, "--key-zipf-exp", 2), "--key-zipf-exp has no effect", "--key-pattern uniform")
        self.refused(run(*resp, "--data-size-range", "16-32", "--payload", 64), "--payload has no effect",
                     "--data-size-range")
        script = ("load", "-p", "script", "-e", "udp-batched:wire=plain", *ANYWHERE, "--reply", "datagram")
        self.refused(run(*script, "--send", "{id:u32}", "--reply-id", "u16@0"), "--reply-id: it is u16",
                     "{id:u32}", "the same form")
        self.refused(run("load", "-p", "script", *ANYWHERE, "--send", "PING\\r\\n", "--payload", 9),
                     "--payload has no effect", "{bytes}")
        self.refused(run("serve", "-p", "work", "--work-kind", "sleep", "--loop-speed", 5), "--loop-speed",
                     "no busy loop")
        self.refused(run("load", "-e", "null", "-p", "resp", "--key-zipf-exp", 2), "--key-zipf-exp")
        self.refused(run("race", "--server", "epoll", "-p", "resp", "--key-zipf-exp", 2, "--dry-run"),
                     "--key-zipf-exp has no effect")

    def test_the_heading_has_no_payload_that_nobody_sends(self):
        with Server("-p", "resp") as server:
            done, result = self.load("-p", "resp", "--connect", server.address, "-m", 10,
                                     "--data-size-range", "16-32")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("payload", done.stdout)
        self.assertIsNone(result["plan"]["payload_bytes"])

    def test_options_of_tcp_without_tcp(self):
        self.refused(run("load", "--connect", "unix:/none", "--nodelay", "off"),
                     "--nodelay is an option of TCP")
        self.refused(run("load", "-e", "null", "-m", 1, "--send-buffer", "8KiB"), "has no sockets",
                     "leave --send-buffer out")

    def test_a_body_may_have_every_byte(self):
        body = pathlib.Path(self.path("body"))
        body.write_bytes(b"a\0b")
        with Server("-p", "http") as server:
            done = run("load", "-p", "http", "--connect", server.address, "--method", "POST", "--data",
                       f"@{body}", "--status", "405", "--body", "any", "--try", 1)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("61 00 62", done.stdout)
        self.refused(run("race", "--server", "epoll", "-p", "http", "--method", "POST", "--data", f"@{body}",
                         "--dry-run"), "byte of value 0")


class DryRuns(Case):
    def test_servers_and_clients_that_cannot_be(self):
        race = ("race", "--dry-run", "-p", "echo", "--server")
        self.refused(run(*race, "udp-batched:wire=plain", "--client", "udp-batched"),
                     "--wire plain: only clients")
        done = run(*race, "udp-batched", "--client", "udp-batched:wire=plain")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("for servers that are not joust's", done.stderr)

    def test_a_missing_input_file_is_wrong_usage(self):
        none = self.path("none")
        for arguments in (
            ("load", *ANYWHERE, "--tls", "--tls-ca", none),
            ("load", *ANYWHERE, "--plan", none),
            ("load", *ANYWHERE, "-p", "script", "--script", none),
            ("load", *ANYWHERE, "-p", "http", "--path", "@" + none),
            ("race", none + ".toml", "--dry-run"),
            ("race", "--command", "a=exec x {port}", "--tls", "--tls-ca", none, "--dry-run"),
            ("report", none, "--csv", self.path("out.csv")),
        ):
            with self.subTest(arguments):
                self.refused(run(*arguments), none)


class SilentServers(Case):
    def test_a_server_of_others_without_a_plain_wire(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
            other.bind(("127.0.0.1", 0))
            address = "127.0.0.1:%d" % other.getsockname()[1]
            done = run("load", "-e", "udp-batched", "--connect", address, "-m", 1, "--connect-timeout",
                       "200ms")
            self.assertEqual(done.returncode, 1)
            self.assertIn("--wire plain", done.stderr)
            done = run("load", "-e", "udp-batched:wire=plain", "--connect", address, "-d", "200ms",
                       "--request-timeout", "50ms")
            self.assertEqual(done.returncode, 1)
            self.assertIn("nothing answered", done.stderr)
            self.assertNotIn("measure longer", done.stderr)

    def test_plain_datagrams_have_no_numbers_to_miss(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
            other.bind(("127.0.0.1", 0))
            address = "127.0.0.1:%d" % other.getsockname()[1]
            _, result = self.load("-e", "udp-batched:wire=plain", "--connect", address, "-m", 2,
                                  "--request-timeout", "50ms")
        self.assertNotIn("lost", result["datagrams"])
        self.assertEqual(result["messages"]["lost"], 2)
        self.valid(self.path("load.json"))


class Help(Case):
    def test_the_help_of_a_command_has_the_options_of_the_named_protocol(self):
        for command in ("load", "serve", "race"):
            self.assertNotIn("--maxmemory BYTES", run(command, "--help").stdout)
            self.assertNotIn("--key-zipf-exp", run(command, "--help").stdout)
        self.assertIn("--key-zipf-exp", run("load", "-p", "resp", "--help").stdout)
        self.assertIn("  --maxmemory ", run("serve", "--protocol=resp", "--help").stdout)
        self.assertIn("--key-zipf-exp", run("race", "-presp", "--help").stdout)
        self.assertNotIn("--reply-id", run("load", "-p", "resp", "--help").stdout)

    def test_an_engine_is_listed_with_the_values_of_its_knobs(self):
        self.assertRegex(run("engines", "epoll").stdout,
                         r"--trigger +edge or level \[edge\] +when the kernel")


if __name__ == "__main__":
    unittest.main()
