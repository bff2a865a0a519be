# SPDX-License-Identifier: MIT
import os
import unittest

from program import BUILD, Case, Server, run


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


if __name__ == "__main__":
    unittest.main()
