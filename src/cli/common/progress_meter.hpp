// SPDX-License-Identifier: MIT
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "transfer/transfer.hpp"

namespace joust {

// Shows how far a transfer is, on a thread of its own, until it is destroyed: a bar on a terminal's standard
// error, or a JSON line each second on standard output.
class ProgressMeter {
 public:
  enum class Kind : unsigned char { none, bar, json };

  ProgressMeter(Kind kind, const transfer::Counts& counts);
  ~ProgressMeter();
  ProgressMeter(const ProgressMeter&) = delete;
  ProgressMeter& operator=(const ProgressMeter&) = delete;

 private:
  void run();
  void show(Time now, bool last);

  const Kind kind_;
  const transfer::Counts& counts_;
  const Time begun_;
  std::mutex mutex_;
  std::condition_variable over_changed_;
  bool over_ = false;
  std::thread thread_;
};

// The bytes of files that are there by now. What was sent may be on its way still.
std::uint64_t bytes_so_far(const transfer::Counts& counts);

// "[#####.....]  52 %  1.04 GiB of 2.00 GiB  612 MB/s  1.6 s left"
std::string progress_line(std::uint64_t done, std::uint64_t total, double bytes_per_s);

}  // namespace joust
