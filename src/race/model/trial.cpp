// SPDX-License-Identifier: MIT
#include "race/model/trial.hpp"

#include <fmt/format.h>

#include <cmath>

namespace joust::race {

// A request whose reply came too late for the load may still have been delivered.
std::optional<Loss> loss_of(const LoadResult& load) {
  if (!load.lossy()) return std::nullopt;
  const auto delivery = [&](const char* what) {
    return static_cast<std::uint64_t>(load.number("deliveries", what).value_or(0));
  };
  const Loss deliveries{.lost = delivery("lost"), .of = delivery("expected")};
  if (deliveries.lost > 0 || (deliveries.of > 0 && *load.messages.lost == 0)) return deliveries;
  return Loss{.lost = *load.messages.lost, .of = load.messages.sent};
}

std::string share_words(const Loss& loss) {
  if (loss.lost == 0 || loss.of == 0) return "0 %";
  const double percent = 100 * static_cast<double>(loss.lost) / static_cast<double>(loss.of);
  const int decimals = percent >= 10 ? 0 : 1 - static_cast<int>(std::floor(std::log10(percent)));
  std::string text = fmt::format("{:.{}f}", percent, decimals);
  while (text.find('.') != std::string::npos && (text.back() == '0' || text.back() == '.')) text.pop_back();
  return text + " %";
}

std::string lost_words(const Loss& loss) {
  return fmt::format("lost {} of its messages", share_words(loss));
}

std::optional<double> Turn::throughput_per_s() const {
  if (verified == 0 || window_s <= 0) return std::nullopt;
  return static_cast<double>(verified) / window_s;
}

std::optional<double> Turn::server_cpu_us_per_message() const {
  if (messages == 0 || server_cpu_s <= 0) return std::nullopt;
  return server_cpu_s * 1e6 / static_cast<double>(messages);
}

std::optional<double> Trial::throughput_per_s() const {
  if (load && load->plan.open_loop()) {
    const auto answered = load->answered();
    return answered ? std::optional(*answered * load->plan.rate_per_s) : std::nullopt;
  }
  if (!turns.empty()) return all_turns_throughput_per_s ? all_turns_throughput_per_s : turns_throughput_per_s;
  return load ? std::optional(load->throughput_per_s) : std::nullopt;
}

std::optional<double> Trial::server_cpu_us_per_message() const {
  if (!server.cpu_unknown.empty()) return std::nullopt;
  if (!turns.empty())
    return all_turns_server_cpu_us_per_message ? all_turns_server_cpu_us_per_message
                                               : turns_server_cpu_us_per_message;
  const Usage* const usage = known_server_usage();
  if (usage == nullptr || load->messages.verified == 0) return std::nullopt;
  const double used_s = usage->user_s + usage->system_s;
  if (used_s <= 0) return std::nullopt;  // less than the clock ticks of processes that have ended
  return used_s * 1e6 / messages_of_usage();
}

std::optional<double> Trial::client_cpu_us_per_message() const {
  if (!load || messages_of_usage() == 0) return std::nullopt;
  return load->cpu.used_s() * 1e6 / messages_of_usage();
}

// Scales the throughput in bytes with that in messages, because every transfer has the same size.
std::optional<double> Trial::mb_per_s() const {
  const auto rate = load ? load->number("transfer", "mb_per_s") : std::nullopt;
  if (!rate || turns.empty()) return rate;
  const auto messages = throughput_per_s();
  if (!messages || load->throughput_per_s <= 0) return std::nullopt;
  return *rate * *messages / load->throughput_per_s;
}

std::optional<double> Trial::deliveries_per_s() const {
  const auto rate = throughput_per_s();
  if (!rate || load->group("deliveries") == nullptr) return std::nullopt;
  return *rate * static_cast<double>(load->connections.ok);
}

const Usage* Trial::known_server_usage() const {
  return load && server.usage && server.cpu_unknown.empty() && load->duration_s >= kLeastWindowOfServer_s
             ? &*server.usage
             : nullptr;
}

double Trial::messages_of_usage() const {
  return static_cast<double>(load->messages.verified + load->messages.beside.value_or(0));
}

double Trial::time_of_usage_s() const {
  return turns.empty() ? load->duration_s : turns_s;
}

}  // namespace joust::race
