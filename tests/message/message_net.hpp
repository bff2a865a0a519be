// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "connection/datagram.hpp"
#include "connection/message_connection.hpp"
#include "message/lossy_link.hpp"

namespace joust {

// A server of messages and its clients, joined by lossy links under virtual time, without sockets or waiting.
// Each client has an address of its own.
class MessageNet {
 public:
  struct Rules {
    Limits limits{.idle = std::chrono::seconds(60), .linger = std::chrono::seconds(1)};
    bool packs = false;
    bool lossy = true;  // the connections are told that the links are
    std::size_t most_peers = 100;
    LossyLink::Faults faults{};
    std::uint64_t seed = 1;
  };
  MessageNet(const Rules& rules, Service& server, Service& client);

  // Both may be null: not joined yet, or over.
  MessageConnection* client(std::size_t number) { return get(*clients_.at(number)); }
  MessageConnection* server_of(std::size_t number);
  std::size_t dial();  // returns the client's number

  void pass(Duration time);  // lets time pass, and everything travel
  bool pass_until(const std::function<bool()>& done, Duration most);
  void drain_server();
  void publish();  // both sides are told
  Time now() const { return now_; }
  bool all_over() const;  // nobody is joined or about to be

  // A datagram of somebody else, as if from that address; and the replies there since the last call.
  void inject(const std::string& address, Bytes datagram);
  std::vector<std::vector<std::byte>> replies_to(const std::string& address);

  std::size_t peers() const { return peers_.size(); }  // of the server
  Tally& server_tally() { return server_tally_; }
  Tally& client_tally() { return client_tally_; }
  LossyLink& to_server(std::size_t number) { return clients_.at(number)->to_server; }
  LossyLink& to_client(std::size_t number) { return clients_.at(number)->to_client; }
  const Admission& admission() const { return admission_; }
  static std::string address_of(std::size_t number) { return "client " + std::to_string(number); }

 private:
  struct Peer {
    std::string address;
    std::optional<MessageConnection> connection;
  };
  struct Client {
    LossyLink to_server, to_client;
    std::optional<Joining> joining;
    std::optional<MessageConnection> connection;
  };

  static MessageConnection* get(Client& client) { return client.connection ? &*client.connection : nullptr; }
  MessageLink link(MessageLink::Side side, std::uint64_t token) const;
  bool is_due(std::optional<Time> due) const { return due && *due <= now_; }
  bool turn();
  bool serve(Peer& peer);
  bool drive(Client& client);
  bool arrive_at_server(const std::string& address, Bytes bytes);
  void arrive_at_client(Client& client, Bytes bytes);
  void send_to(const std::string& address, Bytes bytes);
  bool flush(MessageConnection& connection, const std::function<void(Bytes)>& send);
  std::optional<Time> next_event() const;

  const Rules rules_;
  Service& server_;
  Service& client_;
  Tally server_tally_, client_tally_;
  Time now_{std::chrono::hours(1)};
  Admission admission_{HashKey{1, 2}};
  PeerTable<Peer> table_{HashKey{3, 4}};
  std::vector<std::unique_ptr<Peer>> peers_;
  std::vector<std::unique_ptr<Client>> clients_;
  std::map<std::string, std::vector<std::vector<std::byte>>> strangers_;
};

}  // namespace joust
