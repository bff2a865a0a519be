# SPDX-License-Identifier: MIT
"""Results as they are kept: the document of a race without its turns, trials and histograms, compressed.

Such a document is about a hundredth of the size, and has every figure, interval, decision, verdict and check.
The whole document stays beside it for `joust report` and script/recompute, and is not committed."""

import gzip
import json
import re

# The other facts of a machine say nothing to a reader of these pages.
ENVIRONMENT = ("cpu_model", "online_cpus", "hypervisor", "smt", "kernel", "compiler", "build_type",
               "joust_version", "boost", "qt", "zeromq", "liburing", "softirq_time", "host",
               "tcp_congestion_control")
OF_CONTESTANT = ("name", "case", "kind", "ranked", "reason", "at_least", "place", "cost_place", "call_count",
                 "summary")
OF_RACE = ("schema", "joust", "seed", "rounds", "generations", "turns", "started", "took_s", "complete",
           "incomplete", "verdict", "network")


def reduced(document):
    kept = {key: document[key] for key in OF_RACE}
    kept["scenario"] = {key: document["scenario"][key] for key in
                        ("title", "precision", "least_difference", "cpus", "quick")}
    kept["cases"] = [{key: value for key, value in case.items() if key not in ("looks_taken", "look")}
                     for case in document["cases"]]
    kept["checks"] = [check for check in document["checks"] if check["verdict"] != "PASS"]
    kept["contestants"] = [
        {**{key: entry[key] for key in OF_CONTESTANT if key in entry}, "counts": counts(entry["trials"])}
        for entry in document["contestants"] if entry["kind"] != "again"]
    environment = document["environment"]
    kept["environment"] = {key: environment[key] for key in ENVIRONMENT if key in environment}
    kept["environment"]["kernel"] = re.match(r"[\d.]*", environment["kernel"]).group().rstrip(".")
    return kept


def counts(trials):
    """What became of the connections, messages and deliveries of all trials that count, added up."""
    total = {}
    for trial in trials:
        load = trial.get("load")
        if not trial["counted"] or not load:
            continue
        for group in ("connections", "messages", "deliveries", "datagrams"):
            for key, value in (load.get(group) or {}).items():
                if isinstance(value, int) and not isinstance(value, bool):
                    sums = total.setdefault(group, {})
                    sums[key] = sums.get(key, 0) + value
    failures = [trial["failure"] for trial in trials if "failure" in trial]
    if failures:
        total["failure"] = failures[0] if isinstance(failures[0], str) else json.dumps(failures[0])
    return total


def save(path, record):
    text = json.dumps(record, separators=(",", ":"), ensure_ascii=False).encode()
    part = path.with_name(path.name + ".part")
    part.write_bytes(gzip.compress(text, mtime=0))
    part.rename(path)


def load(path):
    """A result, or None where it is not there, or was not written to its end."""
    try:
        return json.loads(gzip.decompress(path.read_bytes()))
    except (OSError, EOFError, ValueError):
        return None
