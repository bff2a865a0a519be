# SPDX-License-Identifier: MIT
"""The programs of the folder examples, and what the README shows."""

import json
import os
import pathlib
import re
import sys
import unittest

from program import BUILD, JOUST, TESTS, Case, Server, long, run

ECHO = """#!{python}
import asyncio, sys

async def answer(reader, writer):
    while data := await reader.read(65536):
        writer.write(data)
    writer.close()

async def main():
    await (await asyncio.start_server(answer, "127.0.0.1", int(sys.argv[2]))).serve_forever()

asyncio.run(main())
"""


def example(name):
    return os.path.join(BUILD, "examples", name, name)


class Examples(Case):
    def test_chat_passes_every_line_on(self):
        chat = example("chat")
        with Server("-e", "epoll", "-t", "2", program=chat) as server:
            done, result = self.load("--connect", server.address, "-c", 9, "-m", 50, program=chat)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(result["messages"]["verified"], 9 * 50)
            self.assertEqual(server.stop()["connections"], {"accepted": 9, "failed": 0})

    def test_two_servers_answer_in_one_program(self):
        done = run(program=example("two_servers"))
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stdout.splitlines()
        self.assertEqual([line.split(" at ")[0] for line in lines], ["reverse", "count"])
        self.assertTrue(all(line.endswith(": 1000 replies verified") for line in lines), lines)

    @long
    def test_an_engine_from_outside_of_the_sources(self):
        fibers = os.path.join(BUILD, "examples", "engine", "fibers")
        if not os.path.exists(fibers):
            self.skipTest("not built: it needs Boost.Context (libboost-context-dev), and no sanitizer")
        with Server("-e", "fibers", program=fibers) as server:
            for engine in ("fibers", "epoll"):
                plan = ("-e", engine, "--connect", server.address, "-c", 50, "-m", 40, "--depth", 4)
                done, result = self.load(*plan, "--payload", "20KiB", program=fibers)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(result["messages"]["verified"], 50 * 40)
            self.assertEqual(server.stop()["connections"], {"accepted": 100, "failed": 0})
        race = ("--server", "fibers,epoll", "--client", "fibers", "-c", 4, "-d", "50ms", "--rounds", 1)
        done = run("race", *race, "--no-history", "--allow-unranked", program=fibers)
        self.assertIn(done.returncode, (0, 3), done.stderr)
        self.assertIn("fibers", done.stdout)

    def test_the_readmes_server_of_ones_own(self):
        readme = pathlib.Path(os.path.dirname(TESTS), "README.md").read_text(encoding="utf-8")
        (scenario,) = re.findall(r"```toml\n(.*?my-server.*?)```", readme, re.DOTALL)
        (name,) = re.findall(r"`joust race (my-[\w.-]+)`", readme)
        pathlib.Path(self.path(name)).write_text(scenario, encoding="utf-8")
        pathlib.Path(self.path("my-server")).write_text(ECHO.format(python=sys.executable), encoding="ascii")
        os.chmod(self.path("my-server"), 0o755)
        program = ["env", "-C", self.directory, f"PATH={self.directory}:{os.environ['PATH']}", JOUST]
        done = run("race", name, "--dry-run", program=program)
        self.assertEqual(done.returncode, 0, done.stderr)
        race = ("race", name, "-d", "60ms", "--rounds", 1, "--json", "result.json")
        done = run(*race, program=program)
        self.assertIn("my-server", done.stdout)
        result = json.loads(pathlib.Path(self.path("result.json")).read_text(encoding="utf-8"))
        rows = {row["name"]: row for row in result["contestants"]}
        self.assertLess({"epoll", "io-uring", "my-server"}, set(rows))
        self.assertGreater(rows["my-server"]["trials"][0]["load"]["messages"]["verified"], 0)


if __name__ == "__main__":
    unittest.main()
