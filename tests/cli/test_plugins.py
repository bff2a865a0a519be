# SPDX-License-Identifier: MIT
"""Plug-ins: protocols from shared libraries, in serve, load, race and scenarios."""

import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import time
import unittest

from program import BUILD, JOUST, PATIENCE_S, TESTS, Case, Server, long, run

TREE = pathlib.Path(TESTS).parent
COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
PLUGIN_C = TREE / "examples/plugin/keyvalue.c"
ENDS_OF_RACES = (0, 3)  # 3 where the machine is too noisy, or the build is sanitized
TABLE = """#include <joust/plugin.h>
static const char *on_message(void *s, const void *b, size_t n, struct joust_writer *w) {
  (void)s; joust_write(w, b, n); return NULL;
}
static void write_request(void *s, uint64_t n, struct joust_writer *w) {
  (void)s; (void)n; joust_write(w, "x", 1);
}
static const char *verify(void *s, uint64_t n, const void *b, size_t z) {
  (void)s; (void)n; (void)b; (void)z; return NULL;
}
static const struct joust_option kOptions[] = {{"OPTION", "", "of no use"}};
const struct joust_protocol_v1 joust_protocol = {
    .version = VERSION, .framing = JOUST_LINE, .name = "tiny", .summary = "x", .options = 1,
    .option = kOptions, .on_message = on_message, .write_request = write_request, .verify = verify};
"""


class Plugins(Case):
    def compiled(self, source, name):
        """The path of a plug-in made of a C source. As examples/plugin/keyvalue.c says."""
        if COMPILER is None:
            self.skipTest("no C compiler (cc)")
        pathlib.Path(self.path(name + ".c")).write_text(source, encoding="utf-8")
        strict = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
        command = [COMPILER, *strict, "-shared", "-fPIC", "-O2", "-I", TREE / "include"]
        command += ["-o", self.path(name), self.path(name + ".c")]
        subprocess.run(command, check=True, timeout=120)
        return self.path(name)

    def keyvalue(self):
        return self.compiled(PLUGIN_C.read_text(encoding="utf-8"), "keyvalue.so")

    def race(self, *arguments, cwd=None):
        """A short race: its exit code, its words and its document."""
        file = self.path("race.json")
        program = ["env", "-C", cwd or self.directory, os.path.join(BUILD, "joust")]
        done = run("race", *arguments, "-c", 4, "-d", "50ms", "--rounds", 1, "--json", file, program=program)
        self.assertIn(done.returncode, ENDS_OF_RACES, done.stderr)
        self.valid(file)
        return done, json.loads(pathlib.Path(file).read_text(encoding="utf-8"))

    def check_race(self, plugin, name, *arguments):
        _, result = self.race("-p", plugin, "--server", "threads,epoll", *arguments)
        (case,) = result["cases"]
        self.assertRegex(case["protocol"], f"^{name}@[0-9a-f]{{12}}$")
        self.assertEqual(case["plugin"], os.path.realpath(plugin))
        rows = {row["name"]: row["trials"][0]["load"]["messages"] for row in result["contestants"]}
        self.assertLess({"threads", "epoll"}, set(rows))
        self.assertTrue(all(messages["verified"] > 0 for messages in rows.values()), rows)
        return result

    def test_a_plugin_in_c_serves_and_loads(self):
        plugin = self.keyvalue()
        with Server("-e", "epoll", "-p", plugin) as server:
            arguments = ("--connect", server.address, "-c", 5, "-m", 100)
            done, result = self.load("-p", plugin, "--keys", 3, *arguments)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(result["messages"]["verified"], 500)
            self.assertEqual(result["protocol"], server.listening["protocol"])
            self.assertEqual(result["plugin"], os.path.realpath(plugin))
            self.assertEqual(result["options"], {"keys": "3"})
            self.valid(self.path("load.json"))
            done, _ = self.load("-p", plugin, "--depth", 8, "--payload", "1k", *arguments)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_plugin_in_c_races(self):
        self.check_race(self.keyvalue(), "keyvalue", "--keys", 2)

    @long
    def test_a_plugin_in_rust_races(self):
        cargo = shutil.which("cargo")
        if cargo is None:
            self.skipTest("no Rust (cargo)")
        crate = shutil.copytree(TREE / "examples/plugin/reverse", self.path("reverse"))
        build = [cargo, "build", "--release", "--offline", "--quiet", "--target-dir", self.path("target")]
        subprocess.run(build, cwd=crate, check=True, timeout=300)
        self.check_race(self.path("target/release/libreverse.so"), "reverse")

    def test_a_scenario_names_a_plugin_beside_its_file(self):
        self.keyvalue()
        scenario = self.path("my.toml")
        text = 'protocol = "./keyvalue.so"\n[options]\nkeys = KEYS\n[matrix]\nservers = ["epoll"]\n'
        pathlib.Path(scenario).write_text(text.replace("KEYS", "7"), encoding="utf-8")
        _, result = self.race(scenario, cwd="/")
        self.assertEqual(result["cases"][0]["options"], {"keys": "7"})
        self.assertEqual(result["cases"][0]["plugin"], os.path.realpath(self.path("keyvalue.so")))
        shown = run("race", scenario, "--dry-run")
        self.assertIn(f"-p {os.path.realpath(self.path('keyvalue.so'))} ", shown.stdout)
        pathlib.Path(scenario).write_text(text.replace("KEYS", "70"), encoding="utf-8")
        self.refused(run("race", scenario), "--keys: allowed are 1 to 64")
        text = text.replace("KEYS", "7").replace("keyvalue.so", "other.so")
        pathlib.Path(scenario).write_text(text, encoding="utf-8")
        self.refused(run("race", scenario), "my.toml:1", "other.so", "there is no such file")

    def test_a_lie_is_reported_with_the_plugins_complaint(self):
        text = PLUGIN_C.read_text(encoding="utf-8")
        liar = self.compiled(text.replace('(replies, "OK", 2)', '(replies, "NO", 2)'), "liar.so")
        honest = self.keyvalue()
        with Server("-p", liar) as server:
            done, result = self.load("-p", honest, "--connect", server.address, "-c", 1, "-m", 10)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("the answer to SET number 0 is not OK", done.stderr)
            self.assertEqual(result["messages"]["verified"], 0)
        done = run("race", "-p", liar, "--server", "epoll", "-c", 2, "-m", 5, "--rounds", 1, "--no-history")
        self.assertEqual(done.returncode, 3, done.stdout)
        self.assertIn("is not OK", done.stdout)

    def test_what_the_peer_did_wrong_is_said_by_the_server(self):
        with Server("-p", self.keyvalue()) as server:
            host, port = server.address.split(":")
            with socket.create_connection((host, int(port)), timeout=60) as peer:
                peer.sendall(b"SET 1 one\nGET 1\nHELLO\n")
                peer.shutdown(socket.SHUT_WR)
                self.assertEqual(b"".join(iter(lambda: peer.recv(100), b"")), b"OK\none\n")
            self.assertIn("a line is neither SET nor GET", json.dumps(server.stop()))

    def test_results_of_different_plugins_are_not_compared(self):
        text = PLUGIN_C.read_text(encoding="utf-8")
        one = self.keyvalue()
        other = self.compiled(text.replace('"OK", 2', '"Ok", 2').replace('"OK"', '"Ok"'), "other.so")
        for name, plugin in (("one", one), ("two", one), ("other", other)):
            self.race("-p", plugin, "--server", "epoll")
            shutil.move(self.path("race.json"), self.path(name))
        same = run("compare", self.path("one"), self.path("two"))
        self.assertNotIn("another load", same.stdout + same.stderr)
        self.assertNotEqual(same.returncode, 2, same.stderr)
        self.refused(run("compare", self.path("one"), self.path("other")), "main")

    def test_protocols_shows_the_options_of_a_plugin(self):
        plugin = self.keyvalue()
        done = run("protocols", plugin)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, "keyvalue@[0-9a-f]{12}: values under numbers")
        self.assertIn(os.path.realpath(plugin), done.stdout)
        self.assertIn("--keys (serve, load, race)", done.stdout)

    def test_what_is_no_plugin_is_refused(self):
        empty = self.compiled("int nothing;\n", "empty.so")
        old = self.compiled(TABLE.replace("VERSION", "7"), "old.so")
        taken = self.compiled(TABLE.replace("VERSION", "1").replace("OPTION", "connect"), "taken.so")
        text = self.path("text.so")
        pathlib.Path(text).write_text("no library\n", encoding="utf-8")
        for plugin, words in (
            (self.path("missing.so"), ("missing.so", "there is no such file")),
            (self.directory + "/", ("it is no regular file", "cc -shared -fPIC")),
            (text, ("text.so", "it cannot be loaded", "cc -shared -fPIC")),
            (empty, ("empty.so", "it has no symbol 'joust_protocol'")),
            (old, ("old.so", "version 7, and this joust knows version 1")),
            (taken, ("--connect", "two options have this name")),
            ("keyvalue.so", ("no protocol 'keyvalue.so'", "./keyvalue.so")),
        ):
            with self.subTest(plugin):
                self.refused(run("serve", "-p", plugin), *words)
                self.refused(run("load", "--connect", "127.0.0.1:1", "-p", plugin), *words)
                self.refused(run("race", "--server", "epoll", "-p", plugin), *words)
        self.refused(run("protocols", old), "version 7")

    def test_a_plugin_that_is_cut_short_is_refused(self):
        whole = pathlib.Path(self.compiled(TABLE.replace("VERSION", "1"), "tiny.so")).read_bytes()
        cut = self.path("cut.so")
        for size in (2000, len(whole) // 2, len(whole) - 1):
            pathlib.Path(cut).write_bytes(whole[:size])
            self.refused(run("protocols", cut), "cut.so", f"it is cut short: it has {size} bytes")

    def never_returning(self, function):
        """A plug-in in which a function says so, and then never returns."""
        stuck = '{ (void)!write(2, "stuck\\n", 6); for (;;) pause(); return NULL;'
        begin = TABLE.index("{", TABLE.index(function))
        source = "#include <unistd.h>\n" + TABLE[:begin] + stuck + TABLE[begin + 1 :]
        return self.compiled(source.replace("VERSION", "1").replace("OPTION", "of-no-use"), function + ".so")

    def ends_at_the_second(self, process):
        """Expects that a process whose plug-in is stuck ends by SIGINT, as often as it is needed."""
        self.assertEqual(process.stderr.readline(), "stuck\n")
        deadline = time.monotonic() + PATIENCE_S
        while process.poll() is None and time.monotonic() < deadline:
            process.send_signal(signal.SIGINT)
            time.sleep(0.1)
        self.assertEqual(process.returncode, 128 + signal.SIGINT)
        self.assertIn("ended at once", process.stderr.read())

    def test_a_callback_that_never_returns_can_be_interrupted(self):
        plugin = self.never_returning("on_message")
        for engine in ("epoll", "threads"):
            with self.subTest(engine), Server("-e", engine, "-p", plugin) as server:
                port = int(server.address.rsplit(":", 1)[1])
                with socket.create_connection(("127.0.0.1", port)) as peer:
                    peer.sendall(b"x\n")
                    self.ends_at_the_second(server.process)
        plugin = self.never_returning("verify")
        with Server("-p", "uppercase") as server:
            command = [JOUST, "load", "-p", plugin, "--connect", server.address, "-c", "1", "-d", "1s"]
            with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as load:
                self.ends_at_the_second(load)

    def test_options_and_limits_of_a_plugin_are_checked(self):
        plugin = self.keyvalue()
        to = ("--connect", "127.0.0.1:1", "-m", 1)
        self.refused(run("load", "-p", plugin, "--keys", 0, *to), "--keys: allowed are 1 to 64")
        self.refused(run("serve", "-p", plugin, "--keys", 65), "--keys: allowed are 1 to 64")
        self.refused(run("load", "-p", plugin, "--payload", 4001, *to), "1 to 4000 bytes")
        self.refused(run("load", "-p", "echo", "--keys", 1, *to), "--keys")


if __name__ == "__main__":
    unittest.main()
