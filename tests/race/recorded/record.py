#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the turns of races between equal contestants as data for a test: recorded/turns.json.

usage: record.py RESULT... > turns.json

RESULT is what `joust race --server epoll,epoll,epoll ... --json RESULT` wrote; its name becomes that of the
race. A race is a list of generations, a generation a list of entries (the contestants, and last the
reference's second entry), and an entry a list of turns: replies per second, and microseconds of the server's
CPU time for each of them.
"""

import json
import pathlib
import sys


def digits(number):
    return float(f"{number:.4g}")


def turns_of(trial):
    turns = trial["turns"]
    columns = zip(turns["round"], turns["verified"], turns["window_s"], turns["server_cpu_s"],
                  turns["messages"])
    return {number: [digits(verified / window_s), digits(1e6 * cpu_s / messages)]
            for number, verified, window_s, cpu_s, messages in columns}


def generation_of(entries):
    """The rounds of turns that all entries have."""
    common = sorted(set.intersection(*(set(turns) for turns in entries)))
    return [[turns[number] for number in common] for turns in entries]


def race_of(path):
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    entries = [entry for entry in document["contestants"] if entry["kind"] == "contestant"]
    entries += [entry for entry in document["contestants"] if entry["kind"] == "again"]
    rounds = range(1, document["rounds"] + 1)
    trials = [{trial["round"]: turns_of(trial) for trial in entry["trials"]} for entry in entries]
    return [generation_of([entry[number] for entry in trials]) for number in rounds]


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    races = [f'{json.dumps(pathlib.Path(path).stem)}: {json.dumps(race_of(path), separators=(",", ":"))}'
             for path in sys.argv[1:]]
    print("{" + ",\n".join(races) + "}")
