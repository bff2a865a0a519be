# SPDX-License-Identifier: MIT
"""joust serve and joust load, end to end over real sockets."""

import json
import os
import signal
import socket
import struct
import subprocess
import time
import unittest

from program import CALCULATOR, JOUST, Case, Server, run


class Load(Case):
    def test_every_message_is_counted_on_both_sides(self):
        with Server("-e", "epoll", "-p", "echo") as server:
            done, result = self.load("--connect", server.address, "-c", 10, "-m", 100, "--payload", 48)
            stopped = server.stop()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(result["connections"], {"ok": 10, "failed": 0, "answered": 10, "never_answered": 0})
        self.assertEqual(
            result["messages"], {"sent": 1000, "verified": 1000, "failed": 0, "in_flight": 0}
        )
        for key in ("sent", "received", "total_sent", "total_received"):
            self.assertEqual(result["bytes"][key], 48000, key)
        self.assertEqual(result["latency_ns"]["samples"], 1000)
        self.assertLessEqual(result["latency_ns"]["min"], result["latency_ns"]["p50"])
        self.assertLessEqual(result["latency_ns"]["p50"], result["latency_ns"]["max"])
        self.assertIsNone(result["latency_ns"]["p999"])  # one sample beyond it is an anecdote
        self.assertEqual(result["errors"], {})
        self.assertGreater(result["throughput_per_s"], 0)
        block = ("duration", "connections", "messages", "bytes", "throughput", "bandwidth")
        self.assertEqual(tuple(line.split()[0] for line in done.stdout.splitlines()[1:7]), block)
        self.assertIn("  bytes        48,000 sent, 48,000 received\n", done.stdout)
        self.assertEqual(stopped["bytes"], {"received": 48000, "sent": 48000})
        self.assertEqual(stopped["connections"], {"accepted": 10, "failed": 0})

    def test_messages_are_exact_after_a_warm_up_too(self):
        with Server("-e", "epoll", "-p", "echo") as server:
            done, result = self.load("--connect", server.address, "-c", 7, "-m", 50, "-w", "50ms")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(result["messages"]["sent"], 350)
        self.assertEqual(result["messages"]["verified"], 350)
        self.assertGreater(result["bytes"]["total_sent"], result["bytes"]["sent"])

    def test_deliveries_are_those_of_the_whole_run_and_it_says_so(self):
        with Server("-e", "epoll", "-p", "broadcast") as server:
            plan = ("-p", "broadcast", "--connect", server.address, "-c", 5, "-m", 5, "-w", "50ms")
            done, result = self.load(*plan)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreater(result["deliveries"]["expected"], 5 * 25)
        self.assertRegex(done.stdout, r"deliveries .*\(of the whole run\)\n")

    def test_a_duration_is_kept_and_the_books_balance(self):
        with Server("-e", "epoll", "-p", "uppercase") as server:
            plan = ("-c", 20, "-d", "300ms", "-w", "50ms", "--depth", 4)
            done, result = self.load("--connect", server.address, "-p", "uppercase", *plan)
            stopped = server.stop()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertAlmostEqual(result["duration_s"], 0.3)
        messages = result["messages"]
        self.assertEqual(messages["sent"], messages["verified"] + messages["failed"] + messages["in_flight"])
        self.assertLessEqual(messages["in_flight"], 80)
        self.assertEqual(sum(result["slices"]), messages["verified"])
        self.assertEqual(stopped["bytes"]["received"], result["bytes"]["total_sent"])
        self.assertEqual(stopped["bytes"]["sent"], result["bytes"]["total_received"])

    def test_an_interval_spaces_the_messages_of_a_connection(self):
        with Server("-e", "epoll", "-p", "echo") as server:
            _, result = self.load("--connect", server.address, "-c", 3, "-m", 6, "-i", "20ms")
        self.assertEqual(result["messages"]["verified"], 18)
        self.assertGreaterEqual(result["duration_s"], 0.1)  # five pauses

    def test_a_pause_is_not_idleness(self):
        with Server("-p", "echo") as server:
            plan = ("-c", 2, "-m", 3, "-i", "400ms", "--idle-timeout", "200ms")
            done, result = self.load("--connect", server.address, *plan)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(result["messages"]["verified"], 6)

    def test_a_pause_that_the_server_may_not_allow_is_said(self):
        done = run("load", "--connect", "127.0.0.1:1", "-m", 1, "-i", "2m")
        self.assertIn("a connection may pause for 120 s: a server may close connections", done.stderr)

    def test_an_interval_with_several_outstanding_ends(self):
        with Server("-e", "epoll", "-p", "echo") as server:
            for engine in ("epoll", "io-uring", "threads", "null"):
                connect = () if engine == "null" else ("--connect", server.address)
                with self.subTest(engine):
                    plan = ("-c", 300, "-m", 20, "-i", "1ms", "--depth", 4)
                    done, result = self.load("-e", engine, *connect, *plan)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertEqual(result["messages"]["verified"], 6000)

    def test_what_arrived_before_a_reset_is_read(self):
        for engine in ("epoll", "io-uring", "threads"):
            with self.subTest(engine), socket.create_server(("127.0.0.1", 0)) as server:
                address = f"127.0.0.1:{server.getsockname()[1]}"
                load = subprocess.Popen(
                    [JOUST, "load", "-e", engine, "--connect", address, "-m", "1"]
                    + ["--json", self.path("reset.json")],
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.PIPE,
                )
                peer, _ = server.accept()
                request = peer.recv(32, socket.MSG_WAITALL)
                load.send_signal(signal.SIGSTOP)  # so that reply and reset are there together
                peer.sendall(request)
                peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                peer.close()
                load.send_signal(signal.SIGCONT)
                load.communicate(timeout=60)
                with open(self.path("reset.json"), encoding="utf-8") as text:
                    self.assertEqual(json.load(text)["messages"]["verified"], 1)

    def test_endpoints_of_every_kind(self):
        path = self.path("joust.sock")
        for listen, connect in (
            ("[::1]:0", None),
            ("localhost:0", None),
            (":0", None),
            ("unix:" + path, "unix:" + path),
        ):
            with self.subTest(listen=listen), Server("-p", "echo", "--listen", listen) as server:
                done, result = self.load("--connect", connect or server.address, "-c", 2, "-m", 3)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(result["messages"]["verified"], 6)
        self.assertFalse(os.path.exists(path))

    def test_a_name_with_several_addresses_is_tried_through(self):
        with Server("-p", "echo", "--listen", "127.0.0.1:0") as server:
            port = server.address.rsplit(":", 1)[1]
            done, _ = self.load("--connect", "localhost:" + port, "-c", 3, "-m", 1)
        self.assertEqual(done.returncode, 0, done.stderr)

    def with_name(self, *addresses):
        """The program where those are the addresses of the name 'manifold'."""
        hosts = self.path("hosts")
        with open(hosts, "w", encoding="ascii") as text:
            text.writelines(f"{address} manifold\n" for address in addresses)
        aside = ["unshare", "--map-root-user", "--mount", "sh", "-c"]
        mount = f"mount --bind {hosts} /etc/hosts"
        if subprocess.run([*aside, mount], capture_output=True, check=False).returncode != 0:
            self.skipTest("may not give a name several addresses")
        return [*aside, mount + ' && exec "$0" "$@"', JOUST]

    def test_all_addresses_of_a_name_are_listened_on(self):
        program = self.with_name("127.0.0.1", "127.0.0.2", "127.0.0.2")
        with Server("-e", "threads", "--listen", "manifold:0", program=program) as server:
            addresses = server.listening["addresses"]
            self.assertEqual([address.split(":")[0] for address in addresses], ["127.0.0.1", "127.0.0.2"])
            self.assertEqual(len({address.split(":")[1] for address in addresses}), 1)
            self.assertEqual(server.address, addresses[0])
            for address in addresses:
                done, _ = self.load("--connect", address, "-c", 2, "-m", 3)
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_an_address_that_the_machine_lacks_is_left_out(self):
        program = self.with_name("192.0.2.1", "127.0.0.1")
        with Server("--listen", "manifold:0", "--public", program=program) as server:
            self.assertEqual(server.listening["addresses"], [server.address])
            self.assertTrue(server.address.startswith("127.0.0.1:"))
            words = r"not listening on 192\.0\.2\.1:\d+: Cannot assign requested address"
            self.assertRegex("\n".join(server.stop()["notes"]), words)
            self.assertRegex(server.process.stderr.read(), words)

    def test_every_address_of_a_name_must_be_local(self):
        program = self.with_name("127.0.0.1", "192.0.2.1")
        done = subprocess.run(
            [*program, "serve", "--listen", "manifold:0"], capture_output=True, text=True, check=False
        )
        self.refused(done, "--public")

    def test_a_unix_socket_left_behind_is_replaced_and_a_live_one_is_not(self):
        path = self.path("left.sock")
        with socket.socket(socket.AF_UNIX) as dead:
            dead.bind(path)
        with Server("-p", "echo", "--listen", "unix:" + path):
            second = run("serve", "-p", "echo", "--listen", "unix:" + path)
            self.assertEqual(second.returncode, 1)
            self.assertIn("Address already in use", second.stderr)

    def test_an_address_that_cannot_be_had_comes_with_a_hint(self):
        with Server("-p", "echo") as server:
            for address, *words in (
                (server.address, "Address already in use", "another program listens there"),
                ("192.0.2.1:9000", "no interface of this machine has this address"),
            ):
                done = run("serve", "-p", "echo", "--public", "--listen", address)
                self.assertEqual(done.returncode, 1)
                for each in (address, *words):
                    self.assertIn(each, done.stderr)

    def test_nobody_listens(self):
        done, result = self.load("--connect", "127.0.0.1:1", "-c", 3, "-m", 1)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr, "joust: connect 127.0.0.1:1: Connection refused\n")
        self.assertEqual(done.stdout, "")
        self.assertEqual(result["errors"], {"connect": 3})
        self.assertEqual(result["connections"], {"ok": 0, "failed": 3, "answered": 0, "never_answered": 0})
        self.assertIsNone(result["window_ns"])

    def test_a_name_that_does_not_resolve_leaves_no_earlier_result(self):
        file = self.path("result.json")
        with open(file, "w", encoding="utf-8") as earlier:
            earlier.write('{"old": 1}')
        done = run("load", "--connect", "no-such-host.invalid:80", "-c", 3, "-m", 1, "--json", file)
        self.assertEqual(done.returncode, 1)
        with open(file, encoding="utf-8") as text:
            result = json.load(text)
        self.assertEqual((result["errors"], result["connections"]["failed"]), ({"resolve": 3}, 3))

    def test_wrong_bytes_are_found(self):
        with Server("-p", "uppercase") as server:
            done, result = self.load("--connect", server.address, "-p", "echo", "-c", 2, "-m", 5)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(result["errors"], {"verify": 2})
        self.assertEqual(result["messages"]["verified"], 0)
        self.assertEqual(result["messages"]["failed"], 2)
        self.assertIn("verify", done.stderr)

    def test_a_server_that_never_answers_is_a_timeout(self):
        with socket.create_server(("127.0.0.1", 0)) as silent:
            address = f"127.0.0.1:{silent.getsockname()[1]}"
            done, result = self.load("--connect", address, "-c", 2, "-m", 1, "--request-timeout", "200ms")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(result["errors"], {"timeout": 2})
        self.assertEqual(result["messages"]["failed"], 2)

    def test_a_protocol_of_ones_own_is_a_whole_program(self):
        with Server(program=CALCULATOR) as server:  # its only protocol need not be named
            done, result = self.load(
                "--connect", server.address, "-c", 5, "-m", 20, program=CALCULATOR
            )
            with socket.create_connection(server.address.rsplit(":", 1)) as peer:
                peer.sendall(b"6 * 7\nnonsense\n")
                answer = peer.makefile()
                self.assertEqual(answer.readline(), "42\n")
                self.assertTrue(answer.readline().startswith("error:"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(result["messages"]["verified"], 100)

    def test_null_needs_no_server(self):
        done, result = self.load("-e", "null", "-p", "uppercase", "-c", 5, "-m", 10)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(result["messages"]["verified"], 50)


class Serve(Case):
    def test_sigusr1_reports_and_cpus_pins(self):
        with Server("-p", "echo", "--cpus", "0") as server:
            server.tell(signal.SIGUSR1)
            event = server.event()
            with open(f"/proc/{server.listening['pid']}/status", encoding="ascii") as status:
                allowed = [line.split()[1] for line in status if line.startswith("Cpus_allowed_list")]
        self.assertEqual(event["event"], "usage")
        self.assertLess(abs(time.monotonic_ns() - event["at_ns"]), 60e9)
        self.assertGreater(event["usage"]["peak_memory_bytes"], 0)
        self.assertEqual(allowed, ["0"])

    def test_sigterm_ends_it_while_a_peer_stays_connected(self):
        with Server("-p", "echo", "--drain", "200ms") as server:
            with socket.create_connection(server.address.rsplit(":", 1)) as peer:
                peer.sendall(b"hello")
                self.assertEqual(peer.recv(5), b"hello")
                stopped = server.stop()
                self.assertEqual(peer.recv(1), b"")
        self.assertEqual(stopped["event"], "stopped")
        self.assertEqual(stopped["bytes"], {"received": 5, "sent": 5})

    def test_what_several_hosts_need_is_refused_without_them(self):
        for option in (("--dry-run",), ("--serve", "epoll"), ("--layout", "server=1")):
            self.refused(run("load", "-p", "echo", "--connect", "127.0.0.1:1", *option), option[0], "--hosts")


if __name__ == "__main__":
    unittest.main()
