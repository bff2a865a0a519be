# SPDX-License-Identifier: MIT
"""load --plan: a result is the same load again, or says what of it cannot be repeated."""

import json
import pathlib
import unittest

from program import Case, Server, run


class RepeatedLoads(Case):
    def result(self, *arguments):
        """The file of a result, and its document."""
        done, document = self.load(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        kept = pathlib.Path(self.path("kept.json"))
        pathlib.Path(self.path("load.json")).rename(kept)
        return str(kept), document

    def changed(self, file, change):
        """The file with a changed document."""
        document = json.loads(pathlib.Path(file).read_text(encoding="utf-8"))
        change(document)
        pathlib.Path(file).write_text(json.dumps(document), encoding="utf-8")
        return file

    def test_protocol_options_address_and_engine_are_those_of_the_result(self):
        with Server("-e", "epoll", "-p", "http", "--text", "other") as server:
            asked = ("-e", "epoll:trigger=level", "-p", "http", "--connect", server.address, "--text",
                     "other", "--path", "/?a=b", "-c", 3, "-m", 7, "--nodelay", "off", "--receive-buffer",
                     "64KiB")
            file, first = self.result(*asked)
            done, again = self.load("--plan", file)
        self.assertEqual(done.returncode, 0, done.stderr)
        for key in ("protocol", "options", "plan", "address", "engine", "knobs", "threads", "wait", "socket"):
            self.assertEqual(again[key], first[key], key)
        self.assertEqual(again["options"]["path"], "/?a=b")
        self.assertEqual(again["messages"]["verified"], 21)
        self.assertEqual(again["socket"]["asked_receive_buffer"], 64 << 10)
        self.valid(self.path("load.json"))

    def test_the_engine_and_the_address_may_be_others(self):
        with Server("-e", "epoll", "-p", "http") as server:
            file, first = self.result("-e", "epoll:trigger=level", "-p", "http", "--connect", server.address,
                                      "-m", 3)
            with Server("-e", "poll", "-p", "http") as other:
                done, again = self.load("--plan", file, "-e", "threads", "--connect", other.address,
                                        "-p", "http")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((again["engine"], again["address"], again["knobs"]), ("threads", other.address, {}))
        self.assertEqual(again["options"], first["options"])

    def test_in_process_the_server_is_the_same_too(self):
        file, first = self.result("-e", "null", "-p", "work", "--work-kind", "sleep", "--work", "1us",
                                  "-m", 3)
        self.assertEqual(first["options"]["work"], "1us")
        done, again = self.load("--plan", file)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(again["options"], first["options"])

    def test_another_load_is_refused(self):
        with Server("-e", "epoll", "-p", "http") as server:
            file, _ = self.result("-p", "http", "--connect", server.address, "-m", 3)
        self.refused(run("load", "--plan", file, "-p", "echo"), "the load is of the protocol 'http'",
                     "leave -p")
        self.refused(run("load", "--plan", file, "--path", "/other"), "leave --path out")
        self.refused(run("load", "--plan", file, "-c", 3), "leave --connections out")
        self.refused(run("load", "--plan", file, "http://127.0.0.1:1/"), "say --connect ADDRESS")

    def test_what_a_result_lacks_is_named(self):
        body = pathlib.Path(self.path("body"))
        body.write_bytes(b"a\xff\0b")
        with Server("-e", "epoll", "-p", "http") as server:
            file, _ = self.result("-p", "http", "--connect", server.address, "-m", 3, "--method", "POST",
                                  "--data", f"@{body}", "--status", "405", "--body", "any")
            self.refused(run("load", "--plan", file), "--data", "which the result lacks", "say --data too")
            done, _ = self.load("--plan", file, "--data", f"@{body}")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_an_empty_file_and_one_that_is_nested_too_deeply_are_refused(self):
        for text in ("", '{"plan":' * 200_000 + "1" + "}" * 200_000,
                     '{"plan": {}, "x": ' + "[" * 99 + "]" * 99 + "}"):
            with open(self.path("plan.json"), "w", encoding="utf-8") as file:
                file.write(text)
            self.refused(run("load", "-p", "echo", "--plan", self.path("plan.json")), "it is no JSON object")

    def test_a_knob_that_another_one_decides_is_not_repeated(self):
        result = self.path("ring.json")
        if run("load", "-e", "io-uring:receives=single", "-p", "echo", "--connect", "127.0.0.1:1", "-m", 1,
               "--try", 1).stderr.count("unavailable"):
            self.skipTest("io_uring is not available here")
        with Server("-p", "echo") as server:
            done = run("load", "-e", "io-uring:receives=single", "-p", "echo", "--connect", server.address,
                       "-m", 5, "--json", result)
            self.assertEqual(done.returncode, 0, done.stderr)
            done = run("load", "--plan", result)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_documents_that_are_no_result_of_a_load(self):
        with Server("-e", "epoll", "-p", "echo") as server:
            file, _ = self.result("-p", "echo", "--connect", server.address, "-m", 3)
        self.refused(run("load", "--plan", self.changed(file, lambda one: one.update(protocol="nosuch"))),
                     "no protocol 'nosuch'")
        self.refused(run("load", "--plan", self.changed(file, lambda one: one.pop("engine"))),
                     "no whole result of a load", "engine")
        self.refused(run("load", "--plan", self.changed(file, lambda one: one["messages"].update(beside=1))),
                     "in the turns of a race")
        self.refused(run("load", "--plan", self.changed(file, lambda one: one.update(schema="joust-race/3"))),
                     "joust-race/3", "only a result of 'load --json'")


if __name__ == "__main__":
    unittest.main()
