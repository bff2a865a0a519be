// SPDX-License-Identifier: MIT
//
// resp: SET and GET in the protocol of Redis and Valkey (docs/resp-protocol.md).
//
//     SET key value --> the store --> +OK         GET key --> the store --> the value, or null
//
// The client knows what it has written, and so which values a GET may return. The server keeps its values in
// memory.
#include "protocols/resp/protocol.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/bytes.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "joust/load_plan.hpp"
#include "session/option_values.hpp"

namespace joust::resp {
namespace {

// Returns (e^x - 1) / x, which is 1 at 0.
double slope_of_exp(double x) {
  return std::abs(x) > 1e-8 ? std::expm1(x) / x : 1 + x / 2;
}

// Returns log(1 + x) / x, which is 1 at 0.
double slope_of_log(double x) {
  return std::abs(x) > 1e-8 ? std::log1p(x) / x : 1 - x / 2;
}

// Returns a number of [0, 1) with 53 random bits.
double fraction(std::uint64_t random) {
  return static_cast<double>(random >> 11) * 0x1p-53;
}

}  // namespace

// Rank 1 has its own weight in place of the integral around it, which would be infinite for a large exponent.
Zipf::Zipf(std::uint64_t ranks, double exponent)
    : ranks_(static_cast<double>(ranks)),
      exponent_(exponent),
      first_(integral(1.5) - 1),
      last_(integral(ranks_ + 0.5)) {}

// A rank is taken if the number is in the part of its interval that has the rank's weight. The weight is
// convex, so that part is most of it: few numbers are rejected.
std::uint64_t Zipf::rank(std::uint64_t seed) const {
  for (;;) {
    seed += kMixStep;
    const double at = first_ + fraction(mixed(seed)) * (last_ - first_);
    const double rank = std::clamp(std::floor(rank_at(at) + 0.5), 1.0, ranks_);
    if (at >= integral(rank + 0.5) - weight(rank)) return static_cast<std::uint64_t>(rank);
  }
}

double Zipf::weight(double rank) const {
  return std::exp(-exponent_ * std::log(rank));
}

// The integral is (x^(1-s) - 1) / (1-s), and log(x) for s = 1.
double Zipf::integral(double rank) const {
  const double log = std::log(rank);
  return slope_of_exp((1 - exponent_) * log) * log;
}

double Zipf::rank_at(double integral) const {
  const double x = std::max(-1.0, integral * (1 - exponent_));
  return std::exp(slope_of_log(x) * integral);
}

std::vector<ProtocolOption> options() {
  return {{.name = "ratio",
           .summary = "SET:GET, how many of each are sent on average: 1:10; 1:0 sends SET only",
           .standard = "1:10",
           .serves = false},
          {.name = "key-prefix",
           .summary = "begin of each key, before its number of 12 digits",
           .standard = "key:",
           .serves = false},
          {.name = "key-maximum",
           .summary = "number of keys, at least one for each connection; auto: 10,000, or fewer whose values "
                      "take 32 MiB together",
           .standard = "auto",
           .serves = false},
          {.name = "key-pattern",
           .summary = "keys are picked at random (uniform), some far more often than others (zipf), or one "
                      "after the other (sequential)",
           .standard = "uniform",
           .choices = {"uniform", "zipf", "sequential"},
           .serves = false},
          {.name = "key-zipf-exp",
           .summary = "exponent of --key-pattern zipf, above 0 and up to 5: a larger one prefers fewer keys",
           .standard = "1",
           .serves = false},
          {.name = "data-size-range",
           .summary = "sizes of values as LEAST-LARGEST, each as likely, in place of --payload: 16-4KiB",
           .standard = "",
           .serves = false},
          {.name = "fill",
           .summary =
               "write every key before the load, up to 256 MiB, so that each GET finds a value; no: values "
               "of others are not verified",
           .standard = "yes",
           .choices = {"no", "yes"},
           .serves = false},
          {.name = "maxmemory",
           .summary = "bytes of all keys and values; a SET beyond is answered by an error (memory for "
                      "connections: --max-memory)",
           .standard = "64MiB",
           .loads = false}};
}

namespace {

constexpr std::uint64_t kMostKeys = 10'000'000;
constexpr std::uint64_t kUsualKeys = 10'000, kUsualBytes = 32 << 20;
constexpr std::uint64_t kMostRatio = 1'000'000;
constexpr std::uint64_t kMostFilled = 256 << 20;  // bytes that are sent before the load
constexpr std::uint64_t kCommandBytes = 100;      // of a write beside its value
constexpr std::size_t kLongestPrefix = 200;
constexpr std::uint64_t kLargestStore = std::uint64_t{1} << 40;

void read_ratio(const std::string& text, Workload& into) {
  const auto parts = split(text, ':');
  const auto sets = parse_count(parts.front()), gets = parse_count(parts.back());
  if (parts.size() != 2 || !sets || !gets || *sets > kMostRatio || *gets > kMostRatio || *sets + *gets == 0)
    refuse_option("ratio", fmt::format("'{}' is no ratio: say SET:GET as two numbers up to {}, such as 1:10",
                                       printable(text), kMostRatio));
  into.sets = *sets;
  into.gets = *gets;
}

void read_prefix(const Parameters& parameters, Workload& into) {
  into.prefix = parameters.option("key-prefix");
  if (into.prefix.size() > kLongestPrefix)
    refuse_option("key-prefix", fmt::format("at most {} bytes", kLongestPrefix));
}

// The sizes have been read.
void read_keys(const Parameters& parameters, std::uint64_t connections, Workload& into) {
  if (parameters.option("key-maximum") == "auto") {
    into.keys = std::max(connections, std::min(kUsualKeys, kUsualBytes / into.mean_value()));
    return;
  }
  const std::uint64_t keys = count_of(parameters, "key-maximum");
  if (keys == 0 || keys > kMostKeys) refuse_option("key-maximum", fmt::format("1 to {} keys", kMostKeys));
  if (keys < connections)
    refuse_option("key-maximum",
                  fmt::format("{} keys for {} connections: each connection writes keys of its own, so "
                              "there are at least as many",
                              keys, connections));
  into.keys = keys;
}

void read_pattern(const Parameters& parameters, Workload& into) {
  const std::string& name = parameters.option("key-pattern");
  const std::string& text = parameters.option("key-zipf-exp");
  double exponent = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), exponent);
  if (error != std::errc() || end != text.data() + text.size() || !(exponent > 0 && exponent <= 5))
    refuse_option("key-zipf-exp", fmt::format("'{}' is no number above 0 and up to 5", printable(text)));
  if (name == "sequential") into.pattern = KeyPattern::sequential;
  if (name != "zipf") return;
  into.pattern = KeyPattern::zipf;
  into.zipf.emplace(into.keys, exponent);
}

void read_sizes(const Parameters& parameters, Workload& into) {
  const std::string& text = parameters.option("data-size-range");
  into.least_value = into.largest_value = parameters.payload;
  if (text.empty()) return;
  const auto parts = split(text, '-');
  const auto least = parse_bytes(parts.front()), most = parse_bytes(parts.back());
  if (parts.size() != 2 || !least || !most || *least < kLeastValue || *most > kLargestValue || *least > *most)
    refuse_option("data-size-range",
                  fmt::format("'{}' is no range of sizes: say LEAST-LARGEST, from {} B to {}",
                              printable(text), kLeastValue, format_size(kLargestValue)));
  into.least_value = *least;
  into.largest_value = *most;
}

}  // namespace

std::string no_effect(const std::string& option, const Parameters& client) {
  if (option != "key-zipf-exp" || client.option("key-pattern") == "zipf") return {};
  return "the keys are picked by --key-pattern " + client.option("key-pattern");
}

Workload workload(const Parameters& parameters, std::uint64_t connections) {
  Workload result;
  read_ratio(parameters.option("ratio"), result);
  read_prefix(parameters, result);
  read_sizes(parameters, result);
  read_keys(parameters, connections, result);
  read_pattern(parameters, result);
  result.fills = is_yes(parameters, "fill");
  if (result.fills && result.keys * (result.mean_value() + kCommandBytes) > kMostFilled)
    refuse_option("fill",
                  fmt::format("{} keys with values of {} on average are more than {}; take fewer keys "
                              "(--key-maximum), smaller values (--payload), or --fill no",
                              result.keys, format_size(result.mean_value()), format_size(kMostFilled)));
  return result;
}

std::uint64_t most_memory(const Parameters& parameters) {
  const std::uint64_t bytes = bytes_of(parameters, "maxmemory");
  if (bytes == 0 || bytes > kLargestStore) refuse_option("maxmemory", "1 B to 1 TiB");
  return bytes;
}

}  // namespace joust::resp

namespace joust {

Protocol resp_protocol() {
  Protocol protocol;
  protocol.name = "resp";
  protocol.summary = "SET and GET of values in memory, in the protocol of Redis and Valkey";
  protocol.no_messages = "RESP is a protocol of a stream";
  protocol.takes_turns = true;
  protocol.no_reconnect.clear();
  protocol.least_payload = resp::kLeastValue;
  protocol.verified = "value by value, against what was written";
  protocol.verified_by = [](const Parameters& client) -> std::string {
    if (client.option("fill") == "yes") return "value by value, against what was written";
    return "value by value, against what was written; values that the load has not written are not verified";
  };
  protocol.options = resp::options();
  protocol.no_effect = [](const std::string& option, Role /*side*/, const Parameters& client) {
    return resp::no_effect(option, client);
  };
  protocol.payload_unused = [](const Parameters& client) -> std::string {
    return client.option("data-size-range").empty() ? "" : "--data-size-range has the sizes of values";
  };
  protocol.make_server = resp::make_server;
  protocol.make_client = resp::make_client;
  protocol.check_client = [](const Parameters& parameters, const LoadPlan& plan) {
    resp::workload(parameters, plan.connections);
  };
  protocol.check_server = [](const Parameters& parameters) { resp::most_memory(parameters); };
  return protocol;
}

}  // namespace joust
