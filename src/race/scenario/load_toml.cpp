// SPDX-License-Identifier: MIT
#include "race/scenario/load_toml.hpp"

#include "base/text.hpp"
#include "race/scenario/rates.hpp"

namespace joust::race {
namespace {

constexpr std::uint64_t kMostMessages = 1'000'000'000;

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

// rates = ["30%", 5000]
std::vector<Rate> read_rates(TableReader& reader) {
  const toml::node* node = reader.node("rates");
  if (node == nullptr) return {};
  std::vector<std::string> words;
  if (const toml::array* array = node->as_array())
    for (const toml::node& each : *array) words.push_back(scalar_text(each).value_or(""));
  const std::vector<std::string_view> texts(words.begin(), words.end());
  const auto rates = parse_rates(texts);
  if (rates && !rates->empty()) return *rates;
  reader.wrong("rates",
               rates ? "wrong type; allowed: a list of rates (5000) and shares (\"30%\")" : rates.error());
  return {};
}

// Interval, rate and rates likewise.
void read_schedule(TableReader& reader, LoadPlan& load) {
  const auto interval = reader.duration("interval", Duration(0));
  const auto rate = read_rate(reader);
  if (interval > Duration(0) && rate)
    reader.wrong("rate", *check_load({.interval = *interval, .rate_per_s = rate}));
  const std::vector<Rate> rates = read_rates(reader);
  if (!rates.empty() && (rate || interval > Duration(0)))
    reader.wrong("rates", "given beside rate or interval; allowed: one of them");
  if (rate)
    load.send_at_rate(*rate);
  else if (!rates.empty())
    load.send_at_rates(rates);
  else if (interval)
    load.send_every(*interval);
  assign(load.arrivals, reader.word("arrivals", arrivals_words()));
  assign(load.phase, reader.word("phase", phase_words()));
}

void read_reconnect(TableReader& reader, LoadPlan& load) {
  constexpr auto kShortestPause = std::chrono::milliseconds(1);
  constexpr auto kLongestPause = std::chrono::hours(1);
  if (const auto word = reader.word("reconnect", reconnect_words())) load.set_reconnect(*word);
  const auto text = reader.text("backoff");
  if (!text) return;
  const auto range = parse_duration_range(*text);
  if (range && range->least >= kShortestPause && range->most <= kLongestPause)
    load.backoff = *range;
  else
    reader.wrong("backoff", (range ? "out of range" : range.error()) +
                                "; allowed: a time or two from 1ms to 1h, such as \"50ms..1s\"");
}

}  // namespace

void read_load(const toml::table* table, const std::string& path, LoadPlan& load, Problems& problems) {
  if (table == nullptr) return;
  TableReader reader(*table, path, problems);
  assign(load.connections, reader.count("connections", 1, kMostConnections));
  read_end(reader, load);
  const auto warmup = reader.duration("warmup", Duration(0));
  assign(load.warmup, warmup);
  load.warmup_given |= warmup.has_value();
  read_schedule(reader, load);
  read_reconnect(reader, load);
  assign(load.depth, reader.count("depth", 1, kMostDepth));
  if (const auto payload = reader.bytes("payload", 1, kMostPayloadBytes)) load.payload_bytes = payload;
  reader.misplaced("protocol",
                   "no part of a load; allowed: protocol = at the top of the file, or in a [[case]]");
  reader.finish();
}

}  // namespace joust::race
