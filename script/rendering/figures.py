# SPDX-License-Identifier: MIT
"""The columns of tables: where a figure is in a result, and how it is written."""

import dataclasses
import typing

TEN_GB = 1_220_703  # requests of 8,192 bytes, as published


@dataclasses.dataclass
class Value:
    """A figure with its interval, whose ends may not be known."""

    middle: float
    low: float | None = None
    high: float | None = None

    def times(self, factor):
        ends = (None if each is None else each * factor for each in (self.low, self.high))
        return Value(self.middle * factor, *ends)

    def inverse(self, amount):
        low, high = (amount / each if each else None for each in (self.high, self.low))
        return Value(amount / self.middle, low, high)


LEAST_CONFIDENCE = 0.9
WIDEST = 100  # times the low end


def estimate(of):
    """Ends are left out where they say nothing: of a ratio without known noise the low one is 0 and the high
    one missing; of two or three rounds they are the least and the greatest value, which is no interval."""
    if of is None or of["median"] is None:
        return None
    known = (of["low"] is not None and of["high"] is not None and of.get("confidence", 1) >= LEAST_CONFIDENCE
             and (of["low"] == 0 or of["high"] <= WIDEST * of["low"]))
    return Value(of["median"], of["low"], of["high"]) if known else Value(of["median"])


def digits(number):
    """Three significant digits, with commas: 1.23, 12.3, 123, 12,300."""
    if number == 0:
        return "0"
    size = abs(number)
    if size >= 1000:
        power = 10 ** (len(str(int(size))) - 3)
        return f"{round(number / power) * power:,}"
    return f"{number:.{2 if size < 10 else 1 if size < 100 else 0}f}" if size >= 0.01 else f"{number:.2g}"


def seconds(number):
    for unit, factor in (("s", 1), ("ms", 1e3), ("us", 1e6)):
        if number * factor >= 1:
            return f"{digits(number * factor)} {unit}"
    return f"{digits(number * 1e9)} ns"


def percent(number):
    return f"{digits(100 * number)} %"


def mebibytes(number):
    return f"{digits(number / 2**20)} MiB"


def latency(name):
    def find(entry, case):
        figures = entry["summary"]["latency_ns"]
        if not figures:
            return None
        found = estimate(figures["intervals"].get(name))
        found = found or (None if figures.get(name) is None else Value(figures[name]))
        return found and found.times(1e-9)
    return find


def of_summary(name):
    return lambda entry, case: estimate(entry["summary"][name])


def of_side(name, side):
    def find(entry, case):
        both = entry["summary"][name]
        value = both and both[side]
        return None if value is None else Value(value)
    return find


def bytes_per_s(entry, case):
    """Of files what they carry; else of messages the bytes of their payload."""
    rate, carried = estimate(entry["summary"]["throughput_per_s"]), entry["summary"]["mb_per_s"]
    if rate is None or not rate.middle:
        return None
    if carried is not None:
        return rate.times(carried / rate.middle)
    return rate.times(case["load"]["payload_bytes"] / 1e6) if case["load"]["payload_bytes"] else None


def per_ten_seconds(entry, case):
    rate = estimate(entry["summary"]["throughput_per_s"])
    return rate and rate.times(10)


def seconds_of_ten_gb(entry, case):
    rate = estimate(entry["summary"]["throughput_per_s"])
    return rate.inverse(TEN_GB) if rate and rate.middle else None


def share(group, part, whole):
    def find(entry, case):
        counted = entry["counts"].get(group)
        if not counted or not counted.get(whole):
            return None
        return Value(sum(counted.get(each, 0) for each in part) / counted[whole])
    return find


def lost(entry, case):
    """The greater share: of messages without a reply, or of a room's deliveries that did not come."""
    shares = (share("messages", ("lost", "failed"), "sent")(entry, case),
              share("deliveries", ("lost",), "expected")(entry, case))
    return max((each for each in shares if each is not None), key=lambda each: each.middle, default=None)


def unanswered(entry, case):
    """The share of connections that failed, or had no reply in the timed window."""
    counted = entry["counts"].get("connections")
    every = counted["ok"] + counted["failed"] if counted else 0
    return Value(max(0, every - counted["answered"]) / every) if every else None


@dataclasses.dataclass
class Column:
    title: str
    find: typing.Callable
    write: typing.Callable
    is_throughput: bool = False  # it has the order of the throughput, so a race's pairs decide
    can_be_bound: bool = False


COLUMNS = {
    "throughput": Column("messages/s", of_summary("throughput_per_s"), digits, True, True),
    "per-10-s": Column("requests in 10 s", per_ten_seconds, digits, True, True),
    "mb/s": Column("MB/s", bytes_per_s, digits, True, True),
    "10-gb": Column("10 GB take", seconds_of_ten_gb, lambda one: f"{digits(one)} s", True),
    "mean": Column("mean", latency("mean"), seconds),
    "p50": Column("p50", latency("p50"), seconds),
    "p99": Column("p99", latency("p99"), seconds),
    "p99.9": Column("p99.9", latency("p999"), seconds),
    "max": Column("max", latency("max"), seconds),
    "server-cpu": Column("server CPU, us a message", of_summary("server_cpu_us_per_message"), digits),
    "client-cpu": Column("client CPU, us a message", of_side("cpu_us_per_message", "client"), digits),
    "both-cpu": Column("CPUs of both sides busy, us a message",
                       lambda entry, case: entry["summary"]["busy_us_per_message"] and
                       Value(entry["summary"]["busy_us_per_message"]), digits),
    "cost": Column("cost, us a message", of_summary("cost_us_per_message"), digits),
    "server-busy": Column("server busy", of_summary("server_utilisation"), percent),
    "client-busy": Column("client busy", of_summary("client_utilisation"), percent),
    "lost": Column("lost", lost, percent),
    "unanswered": Column("connections without a reply", unanswered, percent),
    "ratio": Column("throughput, ratio", of_summary("ratio"), digits),
    "cost-ratio": Column("cost, ratio", of_summary("cost_ratio"), digits),
    "calls": Column("server's system calls a message", of_side("system_calls_per_message", "server"), digits),
    "switches": Column("server's switches a message", of_side("switches_per_message", "server"), digits),
    "memory": Column("server's memory", of_side("peak_memory_bytes", "server"), mebibytes),
    "client-memory": Column("client's memory", of_side("peak_memory_bytes", "client"), mebibytes),
}


def written(value, column, at_least=False):
    if value is None:
        return "–"
    text = ("≥ " if at_least and column.can_be_bound else "") + column.write(value.middle)
    if value.low is not None and value.high is not None and value.low != value.high:
        text += f" ({column.write(value.low)} to {column.write(value.high)})"
    return text


def meaning_of_bounds(entries, columns):
    """The lines below a table in which a figure is a bound."""
    shown = any(entry["at_least"] for entry in entries) and any(column.can_be_bound for column in columns)
    return ["- ≥: a lower bound, because the load, or its schedule, was the limit"] if shown else []
