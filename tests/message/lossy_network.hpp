// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "load/run.hpp"
#include "message/lossy_link.hpp"
#include "protocols/table.hpp"

namespace joust {

inline constexpr Delivery kLossyDelivery{
    .kind = Delivery::Kind::message, .largest_message = 1400, .lossy = true};

// A load and its server whose sessions exchange whole messages over lossy links, under virtual time: an
// engine without a transport's own duties. Messages are neither numbered nor sorted on the way. Only the end
// of a session reaches its peer for certain, after all that was sent before it.
class LossyNetwork {
 public:
  struct Setup {
    std::string_view protocol = "echo";
    LoadPlan plan{};
    LossyLink::Faults faults{};
    std::uint64_t seed = 1;
    Delivery delivery = kLossyDelivery;
    std::size_t payload = 32;
    std::function<std::unique_ptr<Service>()> server{};  // in place of the protocol's
  };

  explicit LossyNetwork(const Setup& setup)
      : run(setup.plan, setup.delivery.lossy), delivery_(setup.delivery), protocol_(named(setup.protocol)) {
    server_ =
        setup.server ? setup.server() : protocol_.make_server(standard_parameters(protocol_, Role::serve));
    Parameters asking = standard_parameters(protocol_, Role::dial);
    asking.payload = setup.payload;
    client_ = protocol_.make_client(asking, run);
    for (std::size_t i = 0; i < setup.plan.connections; ++i) {
      ends_.push_back(std::make_unique<End>(client_->open({delivery_}), setup.faults, setup.seed + 2 * i));
      ends_.push_back(
          std::make_unique<End>(server_->open({delivery_}), setup.faults, setup.seed + 2 * i + 1));
    }
    for (const auto& end : ends_) end->session->on_open(now_);
  }

  // Lets time pass until all clients have finished, or for so long. True if they have.
  bool pass(Duration most) {
    const Time until = now_ + most;
    for (settle(); !over(); settle()) {
      const auto next = next_event();
      if (!next || *next > until) break;
      now_ = *next;
    }
    if (!over()) now_ = until;
    settle();
    return over();
  }

  bool over() const {
    for (std::size_t i = 0; i < ends_.size(); i += 2)
      if (!ends_[i]->session->finished()) return false;
    return true;
  }

  Session& client(std::size_t i) { return *ends_[2 * i]->session; }
  Session& server(std::size_t i) { return *ends_[2 * i + 1]->session; }
  // Sees every message that arrives at client `i`.
  using Observer = std::function<void(std::size_t client, Bytes message)>;
  void observe(Observer observer) { observer_ = std::move(observer); }
  void change(const LossyLink::Faults& faults) {
    for (const auto& end : ends_) end->link.change(faults);
  }
  Time now() const { return now_; }
  Recorder::Counts counts() const { return run.recorder().counts(); }
  // A figure that the load's service has counted.
  std::uint64_t figure(std::string_view name) const {
    for (const ResultGroup& group : client_->results())
      for (const auto& [key, value] : group.figures)
        if (key == name) return std::get<std::uint64_t>(value);
    throw std::invalid_argument("no such figure");
  }
  Service& server_service() { return *server_; }
  // Some figures are complete when the sessions are gone.
  void end_sessions() {
    for (const auto& end : ends_) end->session.reset();
  }

  LoadRun run;

 private:
  struct End {
    End(std::unique_ptr<Session> its_session, const LossyLink::Faults& faults, std::uint64_t seed)
        : session(std::move(its_session)), link(faults, seed) {}
    std::unique_ptr<Session> session;
    LossyLink link;     // from here to the other end
    bool told = false;  // the other end knows that this one has finished
  };

  static Protocol named(std::string_view name) {
    for (Protocol& protocol : builtin_protocols())
      if (protocol.name == name) return protocol;
    throw std::invalid_argument("no such protocol");
  }

  void settle() {
    constexpr int kMost = 1'000'000;
    for (int i = 0; i < kMost; ++i)
      if (!step()) return;
    throw std::logic_error("never settles: a deadline that stays in the past?");
  }

  bool step() {
    bool moved = false;
    for (std::size_t i = 0; i < ends_.size(); ++i) moved |= carry(*ends_[i], *ends_[i ^ 1], i);
    moved |= publish(*client_, 0) | publish(*server_, 1);
    return moved;
  }

  bool carry(End& from, End& to, std::size_t index) {
    bool moved = send(from);
    while (to.session->want() != Want::nothing || to.session->finished()) {
      const auto message = from.link.receive(now_);
      if (!message) break;
      moved = true;
      if (message->empty() || to.session->finished()) continue;
      if (observer_ && index % 2 == 1) observer_(index / 2, *message);
      EXPECT_EQ(to.session->on_bytes(*message, now_), message->size());
    }
    if (const auto due = from.session->deadline(); due && *due <= now_) {
      from.session->on_deadline(now_);
      moved = true;
    }
    if (!from.told && from.session->finished() && !send(from) && !from.link.next_arrival()) {
      from.told = moved = true;
      to.session->on_peer_finished(now_);
    }
    return moved;
  }

  bool send(End& from) {
    std::array<Segment, 5> messages;
    const std::size_t count = from.session->output(messages);
    std::size_t bytes = 0;
    for (const Segment& message : std::span(messages).first(count)) {
      EXPECT_LE(message.bytes.size(), delivery_.largest_message);
      from.link.send(message.bytes, now_);
      bytes += message.bytes.size();
    }
    if (count == 0) return false;
    from.session->consumed(bytes);
    from.session->released(bytes);
    return true;
  }

  bool publish(Service& service, std::size_t side) {
    if (service.publications() == nullptr) return false;
    const std::uint64_t count = service.publications()->count();
    if (std::exchange(published_[side], count) == count) return false;
    for (std::size_t i = side; i < ends_.size(); i += 2) ends_[i]->session->on_published(now_);
    return true;
  }

  std::optional<Time> next_event() const {
    std::optional<Time> next;
    const auto add = [&](std::optional<Time> at) {
      if (at && *at > now_) next = std::min(next.value_or(*at), *at);
    };
    for (const auto& end : ends_) {
      add(end->link.next_arrival());
      add(end->session->deadline());
    }
    return next;
  }

  const Delivery delivery_;
  const Protocol protocol_;
  std::unique_ptr<Service> server_, client_;
  std::vector<std::unique_ptr<End>> ends_;  // client and server by turns
  std::array<std::uint64_t, 2> published_{};
  Observer observer_;
  Time now_{std::chrono::hours(1)};
};

}  // namespace joust
