// SPDX-License-Identifier: MIT
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "hosts/frame_socket.hpp"
#include "hosts/link.hpp"
#include "hosts/rank.hpp"

namespace joust::hosts {

// The conductor's side of its relay: it sorts what comes by rank. One thread.
class RelayChannel {
 public:
  explicit RelayChannel(const Rank& own);

  std::expected<void, std::string> send(int rank, const nlohmann::json& message);
  // Returns the next message of a rank, or why none comes.
  std::expected<nlohmann::json, std::string> receive(int rank, Duration patience);

 private:
  void take(const Frame& frame);

  FrameSocket socket_;
  std::map<int, std::deque<std::string>> came_{};
  std::map<int, std::string> ended_{};  // why the last request has no reply
};

// A host that is reached through the relay. One request at a time.
class RelayLink : public HostLink {
 public:
  RelayLink(std::shared_ptr<RelayChannel> channel, int rank, std::string name)
      : channel_(std::move(channel)), rank_(rank), name_(std::move(name)) {}

  const std::string& name() const override { return name_; }
  std::expected<nlohmann::json, std::string> call(const nlohmann::json& request, Duration patience) override;
  std::expected<void, std::string> post(const nlohmann::json& request) override;
  std::expected<nlohmann::json, std::string> await(Duration patience) override;

 private:
  const std::shared_ptr<RelayChannel> channel_;
  const int rank_;
  const std::string name_;
  std::uint64_t posted_ = 0;  // the number of the last request: late replies to earlier ones are dropped
};

}  // namespace joust::hosts
