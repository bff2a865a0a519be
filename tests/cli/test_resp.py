# SPDX-License-Identifier: MIT
"""The protocol resp: against Redis, its own server for other clients, and what it finds wrong."""

import json
import pathlib
import subprocess

from foreign import ForeignServers, free_port
from program import Server, run, whose_races_count


class Resp(ForeignServers):
    def redis(self, *options):
        port = free_port()
        self.start(self.needs("redis-server"), "--port", port, "--save", "", "--bind", "127.0.0.1", *options,
                   port=port)
        return f"127.0.0.1:{port}"

    def loads(self, address, *options):
        return run("load", "-p", "resp", "--connect", address, "-c", 5, "--json", self.result(),
                   *(options if "-m" in options else ("-m", 200, *options)))

    def result(self):
        return self.path("r.json")

    def verified(self):
        result = json.loads(pathlib.Path(self.result()).read_text(encoding="utf-8"))
        return result["messages"]["verified"]

    def test_redis_has_what_was_written(self):
        address = self.redis()
        for options in ((), ("--ratio", "1:1", "--depth", 8), ("--key-pattern", "zipf", "--ratio", "1:3"),
                        ("--data-size-range", "16-4KiB", "--ratio", "1:1"), ("--fill", "no")):
            done = self.loads(address, *options)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertEqual(self.verified(), 1000)

    def test_a_server_that_evicts_keys_is_found(self):
        address = self.redis("--maxmemory", "2mb", "--maxmemory-policy", "allkeys-random")
        done = self.loads(address, "--payload", "2KiB", "-m", 3000)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("the server has no value for it", done.stdout + done.stderr)

    def test_values_of_others_are_not_verified(self):
        with Server("-p", "resp") as server:
            self.loads(server.address, "--ratio", "1:0")
            done = self.loads(server.address, "--ratio", "0:1", "--fill", "no", "--key-maximum", 20_000)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        gets = json.loads(pathlib.Path(self.result()).read_text(encoding="utf-8"))["gets"]
        self.assertEqual(gets["hits"] + gets["misses"], 1000)
        self.assertEqual(gets["hits"], gets["not_verified"])
        self.assertGreater(gets["misses"], 0)
        self.assertIn("this load has not written what is not verified", done.stdout)
        self.valid(self.result())

    def test_a_password_is_hinted_at(self):
        address = self.redis("--requirepass", "secret")
        done = self.loads(address)
        self.assertEqual(done.returncode, 1)
        self.assertIn("this protocol sends no password", done.stdout + done.stderr)

    def test_a_server_that_is_full_is_named_so(self):
        with Server("-p", "resp", "--maxmemory", "100KiB") as server:
            done = self.loads(server.address)
            self.assertEqual(done.returncode, 1)
            self.assertIn("OOM", done.stdout + done.stderr)

    def test_other_clients_are_served(self):
        client, benchmark = self.needs("redis-cli"), self.needs("redis-benchmark")
        with Server("-e", "io-uring", "-p", "resp") as server:
            port = server.address.rsplit(":", 1)[1]

            def cli(*words):
                done = subprocess.run([client, "-p", port, *words], capture_output=True, text=True,
                                      timeout=30, check=True)
                return done.stdout.strip()

            self.assertEqual(cli("set", "a key", "a value\r\n"), "OK")
            self.assertEqual(cli("--raw", "get", "a key"), "a value")
            self.assertEqual(cli("get", "nothing"), "")
            self.assertIn("unknown command", cli("lpush", "a", "b"))
            command = [benchmark, "-p", port, "-t", "ping,set,get", "-n", "2000", "-P", "4", "--csv"]
            done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
            self.assertIn('"GET"', done.stdout)
            self.assertNotIn("WARN", done.stderr)

    def test_a_race_beside_redis(self):
        redis = self.needs("redis-server")
        done = run("race", "--command", f"redis=exec {redis} --port {{port}} --save '' --bind 127.0.0.1",
                   "--server", "epoll", "-p", "resp", "-c", 4, "--rounds", 2, "-d", "100ms", "-w", "20ms",
                   "--json", self.path("r.json"))
        self.assertIn(done.returncode, (0, 3), done.stdout + done.stderr)
        self.assertIn("against what was written", done.stdout)

    @whose_races_count
    def test_engines_race(self):
        done = run("race", "--server", "epoll,threads", "-p", "resp", "-c", 4, "--rounds", 2, "-d", "100ms",
                   "-w", "20ms")
        self.assertIn(done.returncode, (0, 3), done.stdout + done.stderr)

    def test_processes_are_refused(self):
        self.refused(run("serve", "-e", "processes", "-p", "resp"), "sessions live in different processes")

    def test_options_that_do_not_fit(self):
        load = ("load", "-e", "null", "-p", "resp", "-m", 1)
        self.refused(run(*load, "--key-maximum", 3, "-c", 4), "--key-maximum: 3 keys for 4 connections")
        self.refused(run(*load, "--ratio", "1"), "--ratio: '1' is no ratio", "1:10")
        self.refused(run(*load, "--payload", 15), "16")
        self.refused(run("race", "--server", "epoll", "-p", "resp", "--ratio", "x", "--dry-run"), "--ratio")
