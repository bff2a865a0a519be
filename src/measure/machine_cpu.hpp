// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace joust {

// The CPU seconds of all CPUs of the machine, or of some, by kind: since boot, or within a window, as the
// difference of two readings. The kinds are those of /proc/stat (proc(5)), which includes guests' time in
// user and nice.
struct MachineCpu {
  double user_s = 0;
  double nice_s = 0;
  double system_s = 0;
  double idle_s = 0;
  double iowait_s = 0;
  double irq_s = 0;
  double softirq_s = 0;
  double steal_s = 0;  // runnable, but the hypervisor ran another guest
  double clock_s = 0;  // CPUs x wall-clock time, by a clock; 0 if it was not read

  double total_s() const;  // all kinds, including steal: CPUs x wall-clock time
  double busy_s() const;   // neither idle, nor waiting for a disk, nor stolen
  // The most that busy_s() may be. The kernel samples busy kinds once a tick, and misses a part of the time
  // of CPUs that sleep often: the kinds then add up to less than the clock's time.
  double most_busy_s() const;

  // Return a share of the total time; 0 for an empty window.
  double busy_fraction() const;
  double softirq_fraction() const;
  double steal_fraction() const;
};

MachineCpu operator-(const MachineCpu& later, const MachineCpu& earlier);
MachineCpu operator+(const MachineCpu& one, const MachineCpu& other);  // the sum of two windows

// Reads the text of /proc/stat: the sum of these CPUs' lines, or, if `cpus` is empty, the line of all.
// Nothing if a line is missing or does not have all eight kinds.
std::optional<MachineCpu> parse_machine_cpu(std::string_view proc_stat, double ticks_per_second,
                                            std::span<const int> cpus = {});

// Reads the present counts; nothing where /proc/stat may not be read. Counts in ticks, usually 10 ms.
std::optional<MachineCpu> read_machine_cpu(std::span<const int> cpus = {});

// Lets this thread send datagrams to itself over loopback for 10 ms, and returns the share of the time that
// its CPU clock counts: near 1 if it counts softirqs. Nothing if no socket can be made.
std::optional<double> counted_share_of_sending();

// Returns kSoftirqInside, kSoftirqApart or "unknown".
std::string softirq_time(std::optional<double> counted_share);

// The range of the clock rates of some CPUs, at one time or several.
struct ClockRates {
  double least_mhz = 0, most_mhz = 0;
};

ClockRates operator|(const ClockRates& one, const ClockRates& other);  // the range of both

// Returns the present rates of the first sixteen of these CPUs; not of more, because reading may interrupt a
// CPU. Returns nothing where the kernel does not report them, as in most virtual machines. `root` is the
// directory of sys/.
std::optional<ClockRates> read_clock_rates(std::span<const int> cpus, const std::string& root = "/");

// How often, and for how long, CPU quotas kept processes of a control group from running: since the group was
// made, or within a window, as the difference of two readings.
struct Throttling {
  std::uint64_t times = 0;  // periods of the quota (usually 100 ms) in which it ran out
  double time_s = 0;        // summed over the CPUs, so that it may exceed the window
};

Throttling operator-(const Throttling& later, const Throttling& earlier);
Throttling operator+(const Throttling& one, const Throttling& other);  // the sum of two windows

// Reads the quotas of this process's control group and of those above it, versions 1 and 2 together. Returns
// nothing where no visible group counts them. `root` is the directory of proc/ and sys/. Reads a few small
// files.
std::optional<Throttling> read_throttling(const std::string& root = "/");

}  // namespace joust
