// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <expected>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "hosts/agent.hpp"
#include "joust/time.hpp"

namespace joust {

// One other host of a race or a load, as the conductor sees it. One thread.
class HostLink {
 public:
  virtual ~HostLink() = default;
  // Returns the host's name, for messages.
  virtual const std::string& name() const = 0;
  // Sends a request and waits for its reply. Returns the reason where none came within `patience`, or the
  // link has ended.
  virtual std::expected<nlohmann::json, std::string> call(const nlohmann::json& request,
                                                          Duration patience) = 0;
  // The same in two steps, so that several hosts work at once.
  virtual std::expected<void, std::string> post(const nlohmann::json& request) = 0;
  virtual std::expected<nlohmann::json, std::string> await(Duration patience) = 0;
};

// A host may report any number as a time. No machine has run for longer than this (36 years), and no sum of
// times within it overflows.
inline constexpr std::int64_t kLongestUptime_ns = std::int64_t{1} << 60;

// The monotonic clock of another host beside that of this one.
struct ClockOffset {
  Duration offset{};              // of its clock to this one
  Duration error{};               // at most: half of the round trip of the message that told it
  Duration slowest_round_trip{};  // of all messages
};

// Asks a host several times for its clock (the request "clock", the reply has "now_ns"), and keeps the sample
// with the least round trip. Fails if the host does not answer, or with a time that no clock
// has.
std::expected<ClockOffset, std::string> measure_clock(HostLink& host, int samples = 40);

}  // namespace joust

namespace joust::hosts {

// The conductor's own host, as one of the hosts. Requests are answered in this process, when the reply is
// awaited: so post to this host first, and await its reply last or first, as fits.
class LocalLink : public HostLink {
 public:
  // `handlers` outlive the link.
  LocalLink(const Handlers& handlers, std::string name) : handlers_(handlers), name_(std::move(name)) {}

  const std::string& name() const override { return name_; }
  std::expected<nlohmann::json, std::string> call(const nlohmann::json& request, Duration) override {
    return answer(request, handlers_);
  }
  std::expected<void, std::string> post(const nlohmann::json& request) override {
    posted_ = request;
    return {};
  }
  std::expected<nlohmann::json, std::string> await(Duration) override {
    if (!posted_) return std::unexpected("nothing was asked");
    return answer(*std::exchange(posted_, std::nullopt), handlers_);
  }

 private:
  const Handlers& handlers_;
  const std::string name_;
  std::optional<nlohmann::json> posted_{};
};

}  // namespace joust::hosts
