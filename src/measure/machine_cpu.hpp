// SPDX-License-Identifier: MIT
#pragma once

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

}  // namespace joust
