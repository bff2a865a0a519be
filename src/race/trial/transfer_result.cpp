// SPDX-License-Identifier: MIT
#include "race/trial/transfer_result.hpp"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "measure/histogram.hpp"
#include "race/scenario/shell_command.hpp"

namespace joust::race {
namespace {

nlohmann::json document_of(const LoadResult& result, const FilePlan& files) {
  return {
      {"schema", "joust-transfer-trial/1"},
      {"files", {{"count", files.count}, {"bytes", files.bytes}, {"on", files.on}}},
      {"verified", result.messages.verified},
      {"failed", result.messages.failed},
      {"duration_s", result.duration_s},
      {"throughput_per_s", result.throughput_per_s},
      {"mb_per_s", *result.number("transfer", "mb_per_s")},
      {"cpu", {{"user_s", result.usage.user_s}, {"system_s", result.usage.system_s}}},
      {"switches",
       {{"voluntary", result.usage.voluntary_switches}, {"involuntary", result.usage.involuntary_switches}}},
      {"messages_of_errors", result.complaints}};
}

}  // namespace

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
  if (!wrong.empty()) result.complaints.push_back(wrong);
  result.throughput_per_s = static_cast<double>(result.messages.verified) / result.duration_s;
  const double mb_per_s = result.throughput_per_s * static_cast<double>(files.bytes) / 1e6;
  result.groups = {{.name = "transfer", .figures = {{"mb_per_s", mb_per_s}}}};
  result.usage = usage;
  const auto ns = static_cast<std::uint64_t>(took.count());
  result.latency = Distribution({Histogram::bucket_with(ns, 1)}, ns, ns, ns);
  trial.load_document = document_of(result, files).dump();
  trial.load = std::move(result);
}

}  // namespace joust::race
