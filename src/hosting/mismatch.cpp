// SPDX-License-Identifier: MIT
#include "hosting/mismatch.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "session/handler_session.hpp"

namespace joust {

namespace {

constexpr std::string_view kDifferentProcesses = "unsupported: sessions live in different processes";

const char* carried(const Delivery& delivery) {
  if (!delivery.by_message()) return "a stream";
  return delivery.lossy ? "messages that may be lost" : "messages that arrive";
}

}  // namespace

std::string mismatch(const Engine& engine, const Protocol& protocol, Role role) {
  const bool by_message = engine.delivery.by_message();
  if (!by_message && !protocol.over_stream)
    return "unsupported: the engine carries a stream, and the protocol needs whole messages";
  if (by_message && !protocol.no_messages.empty())
    return fmt::format("unsupported: the engine carries messages, and the protocol needs a stream: {}",
                       protocol.no_messages);
  if (role == Role::serve && engine.separate_processes && !protocol.sessions_stand_alone)
    return std::string(kDifferentProcesses);
  return {};
}

std::string mismatch(const Engine& server, const Engine& client) {
  if (server.group.empty() != client.group.empty())
    return fmt::format("unsupported: {} sends to a group of multicast, which {} does not hear",
                       server.group.empty() ? client.name : server.name,
                       server.group.empty() ? server.name : client.name);
  const Delivery &served = server.delivery, &dialled = client.delivery;
  if (served.kind == dialled.kind && served.lossy == dialled.lossy) return {};
  return fmt::format("unsupported: the server carries {}, and the client {}", carried(served),
                     carried(dialled));
}

std::string payload_mismatch(const Engine& engine, const Protocol& protocol, std::size_t payload) {
  const Delivery& delivery = engine.delivery;
  const std::size_t head = protocol.head_bytes + (delivery.lossy ? kNumberBytes : 0);
  if (!delivery.by_message() || !protocol.no_payload.empty() || payload + head <= delivery.largest_message)
    return {};
  return fmt::format("unsupported: a message has at most {} bytes, {} of them its payload",
                     delivery.largest_message,
                     delivery.largest_message - std::min(head, delivery.largest_message));
}

std::string mismatch(const Engine& engine, const Demands& demands) {
  const bool by_message = engine.delivery.by_message();
  if (const std::string& reason = by_message ? demands.stream : demands.messages; !reason.empty())
    return fmt::format("unsupported: the engine carries {}, and {}", carried(engine.delivery), reason);
  if (engine.separate_processes && !demands.common_sessions.empty())
    return fmt::format("{}, and {}; engines such as poll and threads have one process", kDifferentProcesses,
                       demands.common_sessions);
  if (demands.file_mapping && !engine.no_file_mapping.empty())
    return fmt::format("unsupported: nothing is sent from a mapped file (mmap): {}", engine.no_file_mapping);
  if (!demands.file_ring || engine.no_file_ring.empty()) return {};
  return fmt::format("unsupported: no ring buffer (writev) for files: {}", engine.no_file_ring);
}

std::string tls_mismatch(const LoadPlan& plan, const Engine* server, const Engine* client) {
  if (!plan.tls) return {};
  if (server != nullptr)
    return "unsupported: the load is inside TLS (tls), and the servers of this program have no certificate; "
           "race commands";
  if (client == nullptr) return {};
  if (client->in_process)
    return "unsupported: the engine has no sockets, so there is nothing to put inside TLS";
  if (client->delivery.by_message())
    return fmt::format("unsupported: the engine carries {}, and TLS needs a stream",
                       carried(client->delivery));
  return {};
}

std::string reconnect_mismatch(const LoadPlan& plan, const Engine* client, const Protocol& protocol) {
  if (!plan.reconnects() && !plan.messages_per_connection) return {};
  if (plan.messages_per_connection && client != nullptr && client->delivery.by_message())
    return fmt::format("unsupported: the engine carries {}, which have no connection that could end",
                       carried(client->delivery));
  if (protocol.no_reconnect.empty()) return {};
  return fmt::format("unsupported: no reconnecting: {}", protocol.no_reconnect);
}

std::string mismatch(const Engine& engine, std::uint64_t threads, std::uint64_t connections) {
  if (engine.clients_wait.empty() || connections <= threads) return {};
  return fmt::format("unsupported: {} connections with {} threads: {}; use -t {} or fewer connections (-c)",
                     connections, threads, engine.clients_wait, connections);
}

}  // namespace joust
