// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <expected>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hosts/link.hpp"
#include "race/model/result.hpp"
#include "race/trial/orders.hpp"
#include "race/trial/sides.hpp"

namespace joust::race {

// The result of one host: the document of `joust load --json`.
struct HostDocument {
  std::string host{}, text{};
};

// Returns one document of all hosts: the results are added (load/result.hpp), and the facts about the
// program are those of the first one. The error names the host whose document cannot be read, or whose load
// is another one. REQUIRES: at least one document.
std::expected<std::string, std::string> merged_document(std::span<const HostDocument> hosts);

// A link during one generation. After its first failure it is not used again, so that a host that hangs is
// waited for once. The link outlives it.
class TrialLink {
 public:
  explicit TrialLink(HostLink& link) : link_(&link) {}

  const std::string& name() const { return link_->name(); }

  std::expected<nlohmann::json, std::string> call(const nlohmann::json& request, Duration patience) {
    if (failure_) return std::unexpected(*failure_);
    return kept(link_->call(request, patience));
  }
  std::expected<void, std::string> post(const nlohmann::json& request) {
    if (failure_) return std::unexpected(*failure_);
    return kept(link_->post(request));
  }
  std::expected<nlohmann::json, std::string> await(Duration patience) {
    if (failure_) return std::unexpected(*failure_);
    return kept(link_->await(patience));
  }

 private:
  template <typename Result>
  Result kept(Result result) {
    if (!result) failure_ = result.error();
    return result;
  }

  HostLink* link_;
  std::optional<std::string> failure_{};
};

// How long an agent may take to answer, beside the time that its work may take.
inline constexpr Duration kForAnswer = std::chrono::seconds(10);

// A contestant's server on another host. No message travels while it works. The link outlives it.
class RemoteServer : public ServerSide {
 public:
  // `number`: of the contestant, on that host.
  RemoteServer(TrialLink& link, std::uint64_t number, ServerOrder order)
      : link_(link), number_(number), order_(std::move(order)) {}
  ~RemoteServer() override;

  Step<ServerStart> start() override;
  Step<> settle() override;
  Step<double> wake(TurnSize turn) override;
  Step<SideTurn> rest() override;
  Step<> sum_up() override;
  Step<ServerEnd> finish() override;
  void end() override;

 private:
  template <typename Result>
  Step<Result> ask(const char* step, Duration patience);
  nlohmann::json request(const char* step) const;

  TrialLink& link_;
  const std::uint64_t number_;
  const ServerOrder order_;
};

// A host that begins a turn later than this, and later than this share of the turn (1 %), has missed its
// start. Once is a stall of its machine: the turn has no figures. Twice in succession, and the host is lost.
inline constexpr Duration kLatestBegin = std::chrono::milliseconds(50);
inline constexpr int kLatestShare = 100;

// How several hosts begin turns together.
struct StartOfTurns {
  Duration lead{};            // from a turn's request to its begin
  bool forgives_once = true;  // a missed start; false: each turn counts by itself
};

// A host that makes a part of a load.
struct LoadHost {
  TrialLink* link = nullptr;
  Duration clock_offset{};  // of its monotonic clock to that of this host
  LoadOrder order{};
  Begins* begins = nullptr;  // gets when its turns have begun; may be null
};

// The load of a contestant, made by one or several hosts together. In each step all hosts work at once. The
// links outlive it.
class RemoteLoads : public LoadSide {
 public:
  // `hosts`: at least one; this host, if it is one of them, is the first one, because it works while its
  // reply is awaited. `number`: of the contestant.
  RemoteLoads(std::vector<LoadHost> hosts, std::uint64_t number, StartOfTurns start)
      : hosts_(std::move(hosts)), number_(number), start_(start) {}
  ~RemoteLoads() override;

  Step<> start(const std::string& address) override;
  Step<> wake() override;
  Step<LoadTurn> take_turn(TurnSize size, bool recorded) override;
  Step<SideTurn> rest() override;
  Step<LoadEnd> finish() override;
  void end() override;

 private:
  template <typename Result>
  Step<std::vector<Result>> ask(const char* step, Duration patience, const nlohmann::json& arguments);
  Step<bool> began_together(const std::vector<LoadTurn>& turns, Time begin, Duration length);

  const std::vector<LoadHost> hosts_;
  const std::uint64_t number_;
  const StartOfTurns start_;
  std::vector<bool> missed_{};  // by host: whether it has missed the start of its last turn
};

// Returns the turn that several hosts took together. Rates add up: the window is as long as the sum of all
// replies takes at the sum of all rates.
LoadTurn together(const std::vector<LoadTurn>& turns);

}  // namespace joust::race
