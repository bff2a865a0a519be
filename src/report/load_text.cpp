// SPDX-License-Identifier: MIT
#include "report/load_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "base/units.hpp"
#include "report/text.hpp"

namespace joust {
namespace {

constexpr std::array<std::pair<const char*, double>, 5> kPercentiles{
    {{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p99.9", 0.999}, {"p99.99", 0.9999}}};

std::string latency_line(const char* title, const Distribution& latency) {
  std::string text = fmt::format("  {:<12} mean {}", title, format_ns(latency.mean()));
  for (const auto& [name, quantile] : kPercentiles) {
    const auto value = latency.percentile(quantile);
    // Without a value, too few samples lie beyond it: an anecdote would look like a percentile.
    if (value)
      text += fmt::format("   {} {}{}", name, format_ns(static_cast<double>(*value)),
                          latency.few_beyond(quantile) ? "~" : "");
  }
  return text + fmt::format("   max {}\n", format_ns(static_cast<double>(latency.max())));
}

// Returns the rate of deliveries in a room, which delivers every message to all of its members.
std::string deliveries_text(const LoadResult& result) {
  const bool room = std::ranges::count(result.groups, "deliveries", &ResultGroup::name) > 0;
  const double per_s = result.throughput_per_s * static_cast<double>(result.connections.ok);
  return room ? fmt::format(", {} deliveries/s", report::plain_number(per_s)) : std::string();
}

// Returns the lines of bytes and throughput: "  bytes        38,400,000 sent, 38,400,000 received", the rate
// of messages, and the rate of these bytes in the unit of network interfaces, millions of bits a second.
std::string throughput_lines(const LoadResult& result) {
  const auto mbps = [&](std::uint64_t bytes) {
    return report::plain_number(result.rate_s() > 0 ? static_cast<double>(bytes) * 8e-6 / result.rate_s()
                                                    : 0);
  };
  const std::uint64_t sent = result.bytes.sent, received = result.bytes.received;
  const std::string bytes =
      fmt::format("  bytes        {} sent, {} received\n", report::grouped(sent), report::grouped(received));
  // If the window ended with the last connection, the time until then gives no rate.
  if (result.connections.failed > 0 && result.connections.ok == 0) return bytes;
  return bytes +
         fmt::format("  throughput   {} messages/s{}\n", report::plain_number(result.throughput_per_s),
                     deliveries_text(result)) +
         fmt::format("  bandwidth    {} Mbps sent, {} Mbps received\n", mbps(sent), mbps(received));
}

// Returns the line "  schedule     5,000 messages/s, 50,000 due, 12 of them not sent at the window's end".
std::string schedule_line(const LoadResult& result) {
  std::string text =
      fmt::format("  schedule     {} messages/s{}: {} due", format_rate(result.plan.rate_per_s),
                  result.plan.has_poisson_arrivals() ? "" : " (constant arrivals, kinder than users are)",
                  report::grouped(result.due()));
  if (result.messages.unsent.value_or(0) > 0)
    text += fmt::format(", {} of them not sent in the window", report::grouped(*result.messages.unsent));
  if (result.never_sent() > 0) text += fmt::format(", {} never sent", report::grouped(result.never_sent()));
  if (!result.kept_rate())
    text += fmt::format("; {} in flight at its opening, {} at its end",
                        report::grouped(result.messages.open_at_opening.value_or(0)),
                        report::grouped(result.messages.open_at_close.value_or(0)));
  return text + "\n";
}

// Returns the latencies, which count from the time at which a request was due.
std::string latency_lines(const LoadResult& result) {
  if (!result.plan.open_loop()) return latency_line("latency", result.latency_ns);
  return latency_line("latency", result.latency_ns) +
         latency_line("uncorrected", result.uncorrected_latency()) +
         latency_line("sent late by", result.send_lateness());
}

// Returns the legend of the mark in latency_line(), if the mark is shown.
std::string legend(const LoadResult& result) {
  const auto marked = [](const Distribution& latency) {
    return std::ranges::any_of(kPercentiles, [&](const auto& each) {
      return latency.percentile(each.second) && latency.few_beyond(each.second);
    });
  };
  if (!marked(result.latency_ns)) return {};
  return "               ~ too few samples lie beyond it: a figure of these samples alone\n";
}

// Warns of a rate that was not kept, and of requests that were never sent: they are in no percentile.
std::string not_kept_line(const LoadResult& result) {
  if (result.kept_rate()) return {};
  return fmt::format(
      "  not kept     the server, or this load, did not keep up with the rate: only {:.1f} % of it was "
      "kept{}\n",
      100 * result.achieved().value_or(0),
      result.never_sent() > 0 ? "; the latencies leave out what was never sent, so they are lower bounds"
                              : "");
}

// Counts failures at a stage. A connection that is dialled in vain several times counts once for each dial.
std::string failed_line(const LoadResult& result, Stage stage) {
  const bool is_dial = result.plan.reconnects() && stage == Stage::connect;
  return fmt::format("  failed       {} at stage {} (of the whole run)\n",
                     counted(result.failures(stage), is_dial ? "dial" : "connection"), stage_name(stage));
}

// Reports the connections without a reply: they are in neither the throughput nor the latencies.
std::string unanswered_line(const LoadResult& result) {
  const auto silent = result.connections.ok - result.connections.answered;
  std::string text = fmt::format("  unanswered   {} of {} had no reply in the timed window", silent,
                                 counted(result.connections.ok, "connection"));
  if (const auto never = result.connections.never_answered; never > 0)
    text += fmt::format(", and {} none before it either",
                        never == silent ? "they had" : fmt::format("{} of them", never));
  if (result.oldest_open_ns > Duration{})
    text += fmt::format("; the oldest request is open for {}", format_duration(result.oldest_open_ns));
  return text + "\n";
}

// The shortest window for which CPU time is reported. CPU time is measured between readings. In a shorter
// window it would mostly be that of the readings themselves, and of a thread that took them late.
constexpr double kLeastForCpu_s = 0.010;

std::string client_line(const LoadResult& result) {
  const std::uint64_t peak = result.peak_memory_bytes;
  const std::string memory =
      peak > 0 ? format_bytes(static_cast<double>(peak)) + " peak user memory" : "peak user memory not known";
  if (std::min(result.cpu.over_s, result.duration_s) < kLeastForCpu_s)
    return fmt::format("  this client  {}; its CPU time cannot be told in less than {:.0f} ms\n", memory,
                       kLeastForCpu_s * 1e3);
  const double cpu_s = result.cpu.used_s();
  return fmt::format("  this client  {} CPU per message, {:.0f} % of a core, {}\n",
                     format_ns(1e9 * cpu_s / static_cast<double>(result.messages.verified)),
                     100 * cpu_s / result.cpu.over_s, memory);
}

struct Quantity {
  const char* unit;  // the unit that ends a figure's name
  std::string (*text)(double);
};

constexpr std::array kQuantities{
    Quantity{"bytes", [](double bytes) { return format_data(bytes); }},
    Quantity{"seconds", [](double seconds) { return format_ns(1e9 * seconds); }},
    Quantity{"mb_per_s", [](double rate) { return report::plain_number(rate) + " MB/s"; }},
};

std::string value_text(const ResultGroup::Figure& figure) {
  if (const auto* count = std::get_if<std::uint64_t>(&figure)) return report::grouped(*count);
  if (const auto* number = std::get_if<double>(&figure)) return report::plain_number(*number);
  return std::get<std::string>(figure);
}

std::optional<double> number_in(const ResultGroup::Figure& figure) {
  if (const auto* count = std::get_if<std::uint64_t>(&figure)) return static_cast<double>(*count);
  if (const auto* number = std::get_if<double>(&figure)) return *number;
  return std::nullopt;
}

// Formats a figure: "out of order 5", or "173 ms" where the name is only the unit.
std::string figure_text(std::string name, const ResultGroup::Figure& figure) {
  std::string value = value_text(figure);
  if (const auto number = number_in(figure))
    for (const Quantity& quantity : kQuantities) {
      if (name != quantity.unit && !name.ends_with(fmt::format("_{}", quantity.unit))) continue;
      value = quantity.text(*number);
      name.erase(name.size() - std::string_view(quantity.unit).size());
    }
  std::ranges::replace(name, '_', ' ');
  if (!name.empty() && !name.ends_with(' ')) name += ' ';
  return name + value;
}

// Formats a group: "  deliveries   expected 1,000,000   received 1,000,000   lost 0   (of the whole run)".
std::string group_line(const ResultGroup& group) {
  std::string text = fmt::format("  {:<11}", group.name);
  for (const char* gap = "  "; const auto& [name, figure] : group.figures) {
    text += gap + figure_text(name, figure);
    gap = "   ";
  }
  if (!group.about.empty()) text += fmt::format("   ({})", group.about);
  return text + '\n';
}

// Formats the number of connections that ended with a reply.
std::string handovers_line(const LoadResult& result) {
  const std::string count = report::grouped(result.handovers);
  const auto messages = result.plan.messages_per_connection;
  if (!messages)
    return fmt::format("  handovers    {}: the server ended the connection with a reply (of the whole run)\n",
                       count);
  return fmt::format(
      "  handovers    {}: connections ended with a reply, after {} at most (of the whole run)\n", count,
      counted(*messages, "message"));
}

}  // namespace

std::string plan_text(const LoadPlan& plan) {
  std::vector<std::string> parts{counted(plan.connections, "connection")};
  if (plan.interval != Duration{})
    parts.push_back(fmt::format("a message every {} on each", format_duration(plan.interval)));
  if (plan.depth > 1) parts.push_back(fmt::format("up to {} requests outstanding on each", plan.depth));
  if (plan.messages_per_connection)
    parts.push_back(fmt::format("a new one after {}", counted(*plan.messages_per_connection, "message")));
  if (plan.tls) parts.emplace_back(plan.tls_insecure ? "inside TLS, unverified" : "inside TLS");
  parts.push_back(plan.messages ? counted(*plan.messages, "message") + " on each"
                                : format_duration(plan.duration));
  if (plan.warmup != Duration{})
    parts.back() += fmt::format(" after {} of warm-up", format_duration(plan.warmup));
  return join(parts);
}

std::string load_text(const LoadResult& result) {
  const LoadResult::Messages& m = result.messages;
  std::string text;
  if (result.duration_s > 0) text += fmt::format("  duration     {}\n", format_ns(1e9 * result.duration_s));
  text += fmt::format("  connections  {} ok, {} failed\n", result.connections.ok, result.connections.failed);
  if (result.plan.reconnects())
    text += fmt::format("  reconnects   {} (of the whole run)\n", report::grouped(result.reconnects));
  if (result.handovers > 0) text += handovers_line(result);
  text += fmt::format("  messages     {}: {} sent, {} {}, {} failed, {}{} in flight at its end\n",
                      result.plan.open_loop() ? "due in the timed window" : "in the timed window", m.sent,
                      m.verified, m.unverified ? "answered (unverified)" : "verified", m.failed,
                      m.lost ? fmt::format("{} lost, ", *m.lost) : "", m.in_flight);
  const std::uint64_t late = m.late.value_or(0), duplicated = m.duplicated.value_or(0);
  if (late + duplicated > 0)
    text += fmt::format("  replies      {} late, {} duplicated (of the whole run)\n", report::grouped(late),
                        report::grouped(duplicated));
  if (result.plan.open_loop()) text += schedule_line(result);
  if (result.plan.open_loop()) text += not_kept_line(result);
  if (m.verified > 0)
    text += throughput_lines(result) + latency_lines(result) + legend(result) + client_line(result);
  for (std::size_t stage = 0; stage < kStages; ++stage)
    if (result.errors[stage] > 0) text += failed_line(result, static_cast<Stage>(stage));
  for (const ResultGroup& group : result.groups) text += group_line(group);
  if (result.connections.answered < result.connections.ok) text += unanswered_line(result);
  for (const std::string& feature : result.missing)
    text += fmt::format("  without      {}: this kernel does not have it\n", feature);
  for (const std::string& note : result.notes) text += fmt::format("  note         {}\n", note);
  if (result.interrupted) text += "  interrupted: these are the figures up to then\n";
  return text;
}

}  // namespace joust
