// SPDX-License-Identifier: MIT
#include "race/scenario/load_toml.hpp"

#include "base/text.hpp"

namespace joust::race {
namespace {

constexpr std::uint64_t kMostConnections = 1'000'000;
constexpr std::uint64_t kMostMessages = 1'000'000'000;
constexpr std::uint64_t kMostDepth = 1'000'000;
constexpr std::uint64_t kMostPayloadBytes = 1ULL << 30;

// Messages and duration exclude each other. One that is given replaces both.
void read_end(TableReader& reader, LoadPlan& load) {
  const auto messages = reader.count("messages", 1, kMostMessages);
  const auto duration = reader.duration("duration", kShortest);
  if (messages && duration)
    reader.wrong("messages", *check_load({.messages = messages, .duration = duration}));
  if (!messages && !duration) return;
  load.messages = messages;
  load.duration = duration;
}

std::optional<double> read_rate(TableReader& reader) {
  const auto text = reader.scalar("rate");
  if (!text) return std::nullopt;
  const auto rate = parse_rate(*text);
  if (rate) return *rate;
  reader.wrong("rate", rate.error() + "; allowed: messages per second such as 5000, \"5k\" or 0.5");
  return std::nullopt;
}

// Interval and rate likewise.
void read_schedule(TableReader& reader, LoadPlan& load) {
  const auto interval = reader.duration("interval", Duration(0));
  const auto rate = read_rate(reader);
  if (interval > Duration(0) && rate)
    reader.wrong("rate", *check_load({.interval = *interval, .rate_per_s = rate}));
  if (rate)
    load.send_at_rate(*rate);
  else if (interval)
    load.send_every(*interval);
  assign(load.arrivals, reader.word("arrivals", arrivals_words()));
  assign(load.phase, reader.word("phase", phase_words()));
}

}  // namespace

void read_load(const toml::table* table, const std::string& path, LoadPlan& load, Problems& problems) {
  if (table == nullptr) return;
  TableReader reader(*table, path, problems);
  assign(load.connections, reader.count("connections", 1, kMostConnections));
  read_end(reader, load);
  assign(load.warmup, reader.duration("warmup", Duration(0)));
  read_schedule(reader, load);
  assign(load.depth, reader.count("depth", 1, kMostDepth));
  if (const auto payload = reader.bytes("payload", 1, kMostPayloadBytes)) load.payload_bytes = payload;
  reader.finish();
}

}  // namespace joust::race
