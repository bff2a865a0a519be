# SPDX-License-Identifier: MIT
"""joust-relay by itself: messages of any length between rank 0 and the others."""

import os
import subprocess
import sys
import unittest

from namespaces import why_no_mpi
from program import BUILD, PATIENCE_S, Case

NO_MPI = why_no_mpi()


@unittest.skipIf(NO_MPI, NO_MPI)
class Relay(Case):
    def run_on(self, ranks, *words):
        worker = os.path.join(os.path.dirname(__file__), "relay_worker.py")
        return subprocess.run(
            ["mpirun", "--oversubscribe", "--allow-run-as-root", "--bind-to", "none", "-n", str(ranks),
             os.path.join(BUILD, "joust-relay"), sys.executable, "-B", worker, *map(str, words)],
            capture_output=True, text=True, timeout=PATIENCE_S, check=False,
        )

    def test_all_ranks_send_to_each_other_at_the_same_time(self):
        done = self.run_on(3, "exchange", 3, 3)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, "21 messages from each of 2 ranks\n")

    def test_each_message_to_no_rank_is_refused(self):
        done = self.run_on(2, "refused")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, "there is no rank 77 to send to\n")

    def test_what_is_no_message_is_named(self):
        done = self.run_on(2, "garbage")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("no message", done.stdout)
        self.assertIn("joust-relay: from its process: what came is no message", done.stderr)


if __name__ == "__main__":
    unittest.main()
