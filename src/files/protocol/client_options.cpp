// SPDX-License-Identifier: MIT
#include "files/protocol/client_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "files/protocol/options.hpp"
#include "files/store/name.hpp"

namespace joust::file {
namespace {

constexpr std::uint64_t kMostSegments = 1'000'000;

Operation operation_of(const Parameters& parameters) {
  const std::string& op = parameters.option("op");
  return op == "put" ? Operation::put : op == "info" ? Operation::info : Operation::get;
}

std::string name_of(const Parameters& parameters, Operation operation) {
  if (const std::string& given = parameters.option("name"); !given.empty()) return given;
  if (operation != Operation::put) return kSampleName;
  const std::string& file = parameters.option("file");
  return file.empty() ? "upload" : std::string(split_name(file).last);
}

// Parses --segments; 0 means a range for each connection.
std::uint64_t segments_of(const Parameters& parameters, const LoadPlan& plan) {
  const std::uint64_t given = count_of(parameters, "segments");
  if (given > kMostSegments) throw std::invalid_argument("--segments: 0 to 1M");
  return given == 0 ? std::min<std::uint64_t>(plan.connections, kMostSegments) : given;
}

}  // namespace

TransferOptions transfer_options(const Parameters& parameters, const LoadPlan& plan) {
  if (plan.open_loop())
    throw std::invalid_argument(
        "-R: files have no open loop, because a transfer that is late cannot be made up for; -i keeps an "
        "interval between transfers");
  const Operation op = operation_of(parameters);
  TransferOptions options{.operation = op,
                          .segments = op == Operation::info ? 1 : segments_of(parameters, plan),
                          .requests_per_connection = count_of(parameters, "requests-per-connection")};
  options.name = name_of(parameters, options.operation);
  if (const auto objection = objection_to(options.name); !objection.empty())
    throw std::invalid_argument("--name: " + std::string(objection));
  if (op == Operation::info && parameters.option("segments") != "1")
    throw std::invalid_argument("--segments is for --op get and --op put: a query transfers nothing");
  if (plan.connections > options.segments && plan.connections % options.segments != 0)
    throw std::invalid_argument(fmt::format(
        "--segments {0}: {0} connections carry a transfer, and {1} are no multiple of that; say {2} or "
        "{3} with -c",
        options.segments, plan.connections, plan.connections / options.segments * options.segments,
        (plan.connections / options.segments + 1) * options.segments));
  const std::uint64_t at_most = options.requests_per_connection;
  const std::uint64_t carriers = std::min<std::uint64_t>(options.segments, plan.connections);
  if (options.operation != Operation::info && at_most > 0 && plan.messages &&
      *plan.messages * options.segments > at_most * carriers)
    throw std::invalid_argument(
        "--requests-per-connection: too few connections for so many ranges; say more with -c, or fewer with "
        "-m or --segments");
  if (options.operation != Operation::info && at_most > 0 && !plan.messages)
    throw std::invalid_argument(
        "--requests-per-connection: connections would end before the time does; say how many transfers with "
        "-m");
  return options;
}

Demands demands_of(const Parameters& parameters, const LoadPlan* plan) {
  const bool by_ring = file_write(parameters) == FileWrite::writev;
  const bool by_mapping = file_read(parameters) == FileRead::mmap;
  if (plan == nullptr)
    return {.file_ring = by_ring,
            .file_mapping = by_mapping,
            .common_sessions = parameters.option("access") == "read"
                                   ? ""
                                   : "uploads need them in one (--access read takes no uploads)"};
  const Operation op = operation_of(parameters);
  if (op != Operation::put) return {.file_ring = by_ring && op == Operation::get};
  return {.file_mapping = by_mapping};
}

LocalFilesRules local_files_rules(const Parameters& parameters, const TransferOptions& options,
                                  const LoadPlan& plan) {
  LocalFilesRules rules{.output = parameters.option("output"),
                        .source = parameters.option("file"),
                        .read = file_read(parameters),
                        .write = file_write(parameters)};
  const std::string& sink = parameters.option("sink");
  if (sink == "file" || (sink.empty() && !rules.output.empty())) rules.sink = SinkKind::file;
  if (sink == "memory") rules.sink = SinkKind::memory;
  const bool puts = options.operation == Operation::put;
  if ((rules.sink == SinkKind::file) != !rules.output.empty())
    throw std::invalid_argument("--sink file and --output FILE belong together");
  if (options.operation != Operation::get && (!sink.empty() || !rules.output.empty()))
    throw std::invalid_argument("--sink and --output are for --op get");
  if (rules.sink == SinkKind::file && plan.connections > options.segments)
    throw std::invalid_argument("--output is for one get: say -c 1, or as many --segments as connections");
  if (rules.sink == SinkKind::file && !plan.messages)
    throw std::invalid_argument(
        "--output is for whole files: say -m 1, not a time that may end in the middle");
  if (!parameters.option("bytes").empty()) rules.bytes = bytes_of(parameters, "bytes");
  if (puts != (!rules.source.empty() || rules.bytes))
    throw std::invalid_argument("--op put goes with --file LOCALFILE or --bytes N");
  if (!rules.source.empty() && rules.bytes) throw std::invalid_argument("--file or --bytes: one of them");
  return rules;
}

}  // namespace joust::file
