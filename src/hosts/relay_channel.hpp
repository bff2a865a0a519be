// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "hosts/frame.hpp"
#include "hosts/link.hpp"
#include "hosts/rank.hpp"
#include "hosts/seal.hpp"

namespace joust::hosts {

// The conductor's side of its relay: it sorts what comes by rank. Once the work is interrupted it asks the
// other ranks to end in order too, and awaits replies for a short time only. One thread.
class RelayChannel {
 public:
  // `is_interrupted`: whether the work is to end, from then on; it outlives the object. Throws WeakToken.
  RelayChannel(const Rank& own, std::function<bool()> is_interrupted);

  // Returns a number that no message of this run has had, nor one of another run with the same key.
  std::uint64_t next_number() { return ++numbered_; }
  // Sends a request, which has a number. Its reply is awaited from then on, and no other message of that
  // rank.
  std::expected<void, std::string> send(int rank, const nlohmann::json& request);
  // Returns the reply of a rank, or why none comes. A message without the key of the run is none, nor is one
  // that is not awaited.
  std::expected<nlohmann::json, std::string> receive(int rank, Duration patience);
  // Asks the other ranks to end in order, once, if the work is interrupted. receive() does so too.
  void look_for_interruption();

 private:
  void take(const Frame& frame);
  bool is_awaited(int rank, const Seal::Message& message);
  std::string no_answer(int rank, Duration patience) const;
  static std::uint64_t first_number();

  const int size_;
  const std::function<bool()> is_interrupted_;
  FrameSocket socket_;
  std::optional<Time> ends_{};  // after an interruption: no reply is awaited for longer
  const Seal seal_;
  std::uint64_t numbered_ = first_number();
  std::map<int, std::string> sessions_{};   // of the agents, as far as they are known
  std::map<int, std::uint64_t> awaited_{};  // the number of the request without a reply
  std::map<int, std::uint64_t> refused_{};  // messages in the name of a rank, that are no reply of it
  std::map<int, Seal::Message> came_{};     // replies
  std::map<int, std::string> ended_{};      // why the last request has no reply
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
  nlohmann::json posted_{};  // the last request
};

}  // namespace joust::hosts
