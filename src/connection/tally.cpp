// SPDX-License-Identifier: MIT
#include "connection/tally.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <new>
#include <string_view>
#include <system_error>

#include "base/system/sockets.hpp"

namespace joust {

void DistinctTexts::keep(std::string_view text) {
  text = text.substr(0, kLongest);
  for (Place& place : places_) {
    State state = place.state.load(std::memory_order_acquire);
    if (state == State::free && place.state.compare_exchange_strong(state, State::written)) {
      std::ranges::copy(text, place.text.begin());
      place.size = static_cast<std::uint8_t>(text.size());
      return place.state.store(State::ready, std::memory_order_release);
    }
    if (state == State::ready && std::string_view(place.text.data(), place.size) == text) return;
  }
}

// Returns each text once. Two threads that keep the same text at once may both have stored it.
std::vector<std::string> DistinctTexts::all() const {
  std::vector<std::string> texts;
  for (const Place& place : places_) {
    if (place.state.load(std::memory_order_acquire) != State::ready) continue;
    std::string text(place.text.data(), place.size);
    if (std::ranges::find(texts, text) == texts.end()) texts.push_back(std::move(text));
  }
  return texts;
}

namespace {

bool is_to_ipv4(std::string_view address) {
  return !address.starts_with('[') && address.contains(':');
}

// Explains the error of a connect, if the kernel's text does not.
std::string_view cause_of(const Failure& failure) {
  if (failure.stage != Stage::connect) return {};
  const std::string_view host = std::string_view(failure.detail).substr(0, failure.detail.rfind(':'));
  if (failure.error == EADDRNOTAVAIL && is_to_ipv4(failure.detail))
    return " (all local ports for this address are in use: sysctl net.ipv4.ip_local_port_range)";
  if (failure.error == ENETUNREACH && (is_loopback_address(host) || host == "[::1]"))
    return " (the loopback device is down: ip link set lo up)";
  return {};
}

}  // namespace

std::string describe(const Failure& failure) {
  std::string text(stage_name(failure.stage));
  // Before the connection is open, the detail is an address; later it describes the failure.
  const bool before = failure.stage == Stage::resolve || failure.stage == Stage::connect;
  if (!failure.detail.empty()) text += (before ? " " : ": ") + failure.detail;
  if (failure.error != 0) text += ": " + std::generic_category().message(failure.error);
  return text.append(cause_of(failure));
}

Failure failure_of(const std::exception& error) noexcept {
  Failure failure{Stage::local, 0, {}};
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) {
    failure.error = ENOMEM;
    return failure;
  }
  if (const auto* system = dynamic_cast<const std::system_error*>(&error))
    failure.error = system->code().value();
  try {
    failure.detail = error.what();
    // what() of a system_error ends with the errno's text, which describe() appends itself.
    const std::string words = ": " + std::generic_category().message(failure.error);
    if (failure.error != 0 && failure.detail.ends_with(words))
      failure.detail.resize(failure.detail.size() - words.size());
  } catch (const std::bad_alloc&) {
    failure.detail.clear();
  }
  return failure;
}

void Tally::failed(const Failure& failure) noexcept {
  books_->by_stage[static_cast<std::size_t>(failure.stage)].fetch_add(1);
  try {
    books_->complaints.keep(describe(failure));
  } catch (const std::bad_alloc&) {
    // The count is kept without the text.
  }
}

void Tally::violated(std::string_view complaint) noexcept {
  try {
    failed({Stage::verify, 0, std::string(complaint)});
  } catch (const std::bad_alloc&) {
    failed({Stage::verify, 0, {}});
  }
}

void Tally::not_opened(const Failure& failure) noexcept {
  unopened.fetch_add(1);
  failed(failure);
}

namespace {

using Figures = std::array<std::uint64_t, sizeof(DatagramCounts) / sizeof(std::uint64_t)>;

}  // namespace

void Tally::add(const DatagramCounts& counts) noexcept {
  const auto figures = std::bit_cast<Figures>(counts);
  for (std::size_t i = 0; i < figures.size(); ++i)
    if (figures[i] > 0) books_->datagrams[i].fetch_add(figures[i], std::memory_order_relaxed);
}

DatagramCounts Tally::datagrams() const {
  Figures figures{};
  for (std::size_t i = 0; i < figures.size(); ++i) figures[i] = books_->datagrams[i].load();
  return std::bit_cast<DatagramCounts>(figures);
}

ResultGroup Tally::datagrams_group(bool numbered) const {
  const DatagramCounts counts = datagrams();
  ResultGroup group{"datagrams", {}, "of the whole run"};
  const auto add = [&group](const char* name, std::uint64_t count) {
    group.figures.emplace_back(name, count);
  };
  if (numbered) add("expected", counts.expected);
  add("received", counts.received);
  if (numbered) {
    add("lost", counts.lost);
    add("duplicated", counts.duplicated);
    add("out_of_order", counts.out_of_order);
  }
  add("foreign", counts.foreign);
  add("truncated", counts.truncated);
  add("kernel_drops", counts.kernel_drops);
  add("not_sent", counts.not_sent);
  add("unreachable", counts.unreachable);
  return group;
}

std::uint64_t Tally::failures() const {
  std::uint64_t sum = 0;
  for (const auto& count : books_->by_stage) sum += count.load();
  return sum;
}

}  // namespace joust
