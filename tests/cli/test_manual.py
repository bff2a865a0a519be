# SPDX-License-Identifier: MIT
"""The manual page and the completions of shells: all that --help shows, in forms that their readers take."""

import pathlib
import re
import shutil
import subprocess
import unittest

from program import CALCULATOR, Case, run


def completed(*words):
    """What bash offers for the last of these words of a command line of joust."""
    line = " ".join(f"'{word}'" for word in words)
    script = run("completions", "bash").stdout + f"COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _joust\n"
    script += "echo ${COMPREPLY[*]}"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=60, check=True)
    return done.stdout.split()


class Manual(Case):
    def commands(self):
        summary = run("--help").stdout.split("Subcommands:")[1].split("Examples:")[0]
        return re.findall(r"^  ([a-z]+) ", summary, re.MULTILINE)

    def test_bash_completes_commands_options_and_values(self):
        self.assertEqual(completed("joust", "rac"), ["race"])
        self.assertEqual(sorted(completed("joust", "")), sorted(self.commands()))
        self.assertEqual(completed("joust", "race", "--fail-b"), ["--fail-below"])
        self.assertEqual(completed("joust", "race", "--server", "asio-p"), ["asio-pool"])
        self.assertEqual(completed("joust", "race", "--wait", ""), ["block", "spin", "adaptive"])

    def test_each_shell_reads_its_script(self):
        for shell in ("bash", "zsh", "fish"):
            script = run("completions", shell)
            self.assertEqual((script.returncode, script.stderr), (0, ""))
            for command in self.commands():
                self.assertIn(command, script.stdout)
            if shutil.which(shell) is None:
                continue  # it is on few machines; bash is on all
            pathlib.Path(self.path(shell)).write_text(script.stdout, encoding="utf-8")
            read = subprocess.run([shell, "-n", self.path(shell)], capture_output=True, text=True, timeout=60,
                                  check=False)
            self.assertEqual((read.returncode, read.stderr), (0, ""))
        self.refused(run("completions", "tcsh"), "tcsh", "fish")

    def test_the_page_has_every_option_of_every_command(self):
        page = run("man")
        self.assertEqual((page.returncode, page.stderr), (0, ""))
        sections = dict(re.findall(r"^\.SS (\S+)\n(.*?)(?=^\.SS |\Z)", page.stdout, re.MULTILINE | re.DOTALL))
        self.assertEqual(list(sections), self.commands())
        for command, text in sections.items():
            shown = run(command, "--help", "all").stdout
            options = re.findall(r"^  (?:-\w,)?(--[a-z0-9-]+)", shown, re.MULTILINE)
            self.assertTrue(options, command)
            for option in options:
                self.assertIn(option.replace("-", "\\-"), text, command)

    def test_lines_of_the_page_are_no_requests_by_accident(self):
        known = {".TH", ".SH", ".SS", ".TP", ".PP", ".nf", ".fi", ".B", ".I"}
        for line in run("man").stdout.splitlines():
            if line.startswith((".", "'")):
                self.assertIn(line.split()[0], known)

    def test_every_program_has_its_own(self):
        self.assertIn("complete -o filenames -F _calculator calculator",
                      run("completions", "bash", program=CALCULATOR).stdout)
        self.assertIn(".TH CALCULATOR 1", run("man", program=CALCULATOR).stdout)


if __name__ == "__main__":
    unittest.main()
