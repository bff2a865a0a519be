// SPDX-License-Identifier: MIT
#include "race/trial/transfer_result.hpp"

#include <filesystem>
#include <system_error>

#include "measure/histogram.hpp"
#include "race/scenario/shell_command.hpp"

namespace joust::race {

std::string own_program() {
  std::error_code unknown;
  const auto path = std::filesystem::read_symlink("/proc/self/exe", unknown);
  return shell_text({unknown ? "joust" : path.string()});
}

void note_transfer(const FilePlan& files, Duration took, const Usage& usage, const std::string& wrong,
                   Trial& trial) {
  LoadResult result;
  result.messages.sent = files.count;
  result.duration_s = std::chrono::duration<double>(took).count();
  (wrong.empty() ? result.messages.verified : result.messages.failed) = files.count;
  if (!wrong.empty()) result.messages_of_errors.push_back(wrong);
  result.throughput_per_s = static_cast<double>(result.messages.verified) / result.duration_s;
  const double mb_per_s = result.throughput_per_s * static_cast<double>(files.bytes) / 1e6;
  result.groups = {{.name = "transfer", .figures = {{"mb_per_s", mb_per_s}}}};
  result.set_usage(usage);
  const auto ns = static_cast<std::uint64_t>(took.count());
  result.latency_ns = Distribution({Histogram::bucket_with(ns, 1)}, ns, ns, ns);
  trial.load = std::move(result);
}

}  // namespace joust::race
