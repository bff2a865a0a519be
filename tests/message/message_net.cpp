// SPDX-License-Identifier: MIT
#include "message/message_net.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace joust {

MessageNet::MessageNet(const Rules& rules, Service& server, Service& client)
    : rules_(rules), server_(server), client_(client) {}

MessageLink MessageNet::link(MessageLink::Side side, std::uint64_t token) const {
  MessageLink link{.side = side, .token = token, .packs = rules_.packs};
  link.delivery.lossy = rules_.lossy;
  return link;
}

MessageConnection* MessageNet::server_of(std::size_t number) {
  Peer* const peer = table_.find(as_bytes(address_of(number)));
  return peer != nullptr && peer->connection ? &*peer->connection : nullptr;
}

std::size_t MessageNet::dial() {
  const std::size_t number = clients_.size();
  auto client = std::make_unique<Client>();
  client->to_server = LossyLink(rules_.faults, rules_.seed * 1000 + 2 * number);
  client->to_client = LossyLink(rules_.faults, rules_.seed * 1000 + 2 * number + 1);
  client->joining.emplace(admission_.token(1'000'000 + number), now_);
  clients_.push_back(std::move(client));
  return number;
}

void MessageNet::send_to(const std::string& address, Bytes bytes) {
  for (std::size_t i = 0; i < clients_.size(); ++i)
    if (address == address_of(i)) return clients_[i]->to_client.send(bytes, now_);
  strangers_[address].emplace_back(bytes.begin(), bytes.end());
}

void MessageNet::inject(const std::string& address, Bytes datagram) {
  arrive_at_server(address, datagram);
  pass({});
}

std::vector<std::vector<std::byte>> MessageNet::replies_to(const std::string& address) {
  return std::exchange(strangers_[address], {});
}

// What the loop of an engine does with a datagram of a server's socket.
bool MessageNet::arrive_at_server(const std::string& address, Bytes bytes) {
  const auto datagram = parse_datagram(bytes);
  if (!datagram) {
    server_tally_.add({.foreign = datagram.error() == NoDatagram::foreign,
                       .truncated = datagram.error() == NoDatagram::truncated});
    return true;
  }
  Peer* const known = table_.find(as_bytes(address));
  if (known != nullptr && known->connection->token() == datagram->head.token) {
    known->connection->received(*datagram, now_);
    return true;
  }
  const Admission::Answer answer = admission_.answer(datagram->head, as_bytes(address), now_);
  if (answer.admitted && table_.size() < rules_.most_peers) {
    auto peer = std::make_unique<Peer>();
    peer->address = address;
    const MessageLink own = link(MessageLink::Side::server, datagram->head.token);
    peer->connection.emplace(server_.open({.delivery = own.delivery}), own, rules_.limits, server_tally_,
                             now_);
    table_.add(as_bytes(address), *peer);
    peers_.push_back(std::move(peer));
  } else if (answer.reply) {
    DatagramOut out;
    write_signal(*answer.reply, out);
    send_to(address, out.front());
  } else if (!answer.admitted) {
    server_tally_.add({.foreign = 1});
  }
  return true;
}

void MessageNet::arrive_at_client(Client& client, Bytes bytes) {
  const auto datagram = parse_datagram(bytes);
  if (!datagram) {
    client_tally_.add({.foreign = datagram.error() == NoDatagram::foreign,
                       .truncated = datagram.error() == NoDatagram::truncated});
  } else if (client.joining && client.joining->received(datagram->head, now_)) {
    const MessageLink own = link(MessageLink::Side::client, client.joining->token());
    client.joining.reset();
    client.connection.emplace(client_.open({.delivery = own.delivery}), own, rules_.limits, client_tally_,
                              now_);
    client.connection->received(*datagram, now_);
  } else if (client.connection) {
    client.connection->received(*datagram, now_);
  }
}

bool MessageNet::flush(MessageConnection& connection, const std::function<void(Bytes)>& send) {
  std::array<DatagramOut, 5> out;
  bool moved = false;
  while (const std::size_t count = connection.output(out, now_)) {
    for (const DatagramOut& one : std::span(out).first(count)) {
      std::vector<std::byte> whole(one.front().begin(), one.front().end());
      whole.insert(whole.end(), one.tail.begin(), one.tail.end());
      send(whole);
    }
    connection.sent(count, now_);
    moved = true;
  }
  return moved;
}

bool MessageNet::serve(Peer& peer) {
  MessageConnection& connection = *peer.connection;
  if (is_due(connection.deadline())) connection.on_time(now_);
  return flush(connection, [&](Bytes bytes) { send_to(peer.address, bytes); });
}

bool MessageNet::drive(Client& client) {
  bool moved = false;
  for (; auto datagram = client.to_client.receive(now_); moved = true) arrive_at_client(client, *datagram);
  if (DatagramOut out; client.joining && client.joining->output(out, now_)) {
    client.to_server.send(out.front(), now_);
    client.joining->sent(now_);
    moved = true;
  }
  if (!client.connection) return moved;
  if (is_due(client.connection->deadline())) client.connection->on_time(now_);
  const auto send = [&](Bytes bytes) { client.to_server.send(bytes, now_); };
  moved = flush(*client.connection, send) || moved;
  if (client.connection->ended()) client.connection.reset();
  return moved;
}

bool MessageNet::turn() {
  bool moved = false;
  for (std::size_t i = 0; i < clients_.size(); ++i) {
    moved = drive(*clients_[i]) || moved;
    while (const auto datagram = clients_[i]->to_server.receive(now_))
      moved = arrive_at_server(address_of(i), *datagram) || moved;
  }
  for (const auto& peer : peers_) moved = serve(*peer) || moved;
  std::erase_if(peers_, [&](const auto& peer) {
    if (!peer->connection->ended()) return false;
    table_.remove(as_bytes(peer->address), *peer);
    return true;
  });
  return moved;
}

std::optional<Time> MessageNet::next_event() const {
  Time next = Time::max();
  for (const auto& peer : peers_) next = std::min(next, peer->connection->deadline().value_or(Time::max()));
  for (const auto& client : clients_) {
    next = std::min(next, client->to_server.next_arrival().value_or(Time::max()));
    next = std::min(next, client->to_client.next_arrival().value_or(Time::max()));
    if (client->joining) next = std::min(next, client->joining->due());
    if (client->connection) next = std::min(next, client->connection->deadline().value_or(Time::max()));
  }
  return next == Time::max() ? std::nullopt : std::optional(next);
}

bool MessageNet::pass_until(const std::function<bool()>& done, Duration most) {
  const Time until = now_ + most;
  for (int turns = 0; turns < 1'000'000; ++turns) {
    if (done()) return true;
    if (turn()) continue;
    const auto next = next_event();
    if (!next || *next > until) {
      now_ = until;
      return done();
    }
    now_ = std::max(now_, *next);
  }
  ADD_FAILURE() << "never settles: a deadline that stays in the past?";
  return false;
}

void MessageNet::pass(Duration time) {
  pass_until([] { return false; }, time);
}

void MessageNet::drain_server() {
  for (const auto& peer : peers_) peer->connection->drain(now_);
}

void MessageNet::publish() {
  for (const auto& peer : peers_) peer->connection->refresh(now_);
  for (const auto& client : clients_)
    if (client->connection) client->connection->refresh(now_);
}

bool MessageNet::all_over() const {
  return peers_.empty() && std::ranges::none_of(clients_, [](const auto& client) {
           return client->connection || client->joining;
         });
}

}  // namespace joust
