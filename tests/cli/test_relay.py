# SPDX-License-Identifier: MIT
"""joust-relay by itself: messages of any length between all ranks."""

import os
import subprocess
import sys
import unittest

from namespaces import why_no_mpi
from program import BUILD, PATIENCE_S, Case

NO_MPI = why_no_mpi()
RANKS = 3


@unittest.skipIf(NO_MPI, NO_MPI)
class Relay(Case):
    def exchanged(self, rounds):
        worker = os.path.join(os.path.dirname(__file__), "relay_worker.py")
        return subprocess.run(
            ["mpirun", "--oversubscribe", "--allow-run-as-root", "--bind-to", "none", "-n", str(RANKS),
             os.path.join(BUILD, "joust-relay"), sys.executable, "-B", worker, str(RANKS), str(rounds)],
            capture_output=True, text=True, timeout=PATIENCE_S, check=False,
        )

    def test_all_ranks_send_to_each_other_at_the_same_time(self):
        done = self.exchanged(3)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, "21 messages from each of 2 ranks\n")


if __name__ == "__main__":
    unittest.main()
