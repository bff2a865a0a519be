// SPDX-License-Identifier: MIT
#include "hosting/mismatch.hpp"

#include <fmt/format.h>

#include "base/different_processes.hpp"

namespace joust {

std::string_view mismatch(const Engine& engine, const Protocol& protocol, Role role) {
  const bool stream = !engine.delivery.by_message();
  if (stream && !protocol.over_stream)
    return "unsupported: the engine carries a stream, and the protocol needs whole messages";
  if (!stream && !protocol.over_message)
    return "unsupported: the engine carries messages, and the protocol needs a stream";
  if (role == Role::serve && engine.separate_processes && !protocol.sessions_stand_alone)
    return kDifferentProcesses;
  return {};
}

std::string mismatch(const Engine& engine, const Demands& demands) {
  if (demands.file_mapping && !engine.no_file_mapping.empty())
    return fmt::format("unsupported: nothing is sent from a mapped file (mmap): {}", engine.no_file_mapping);
  if (!demands.file_ring || engine.no_file_ring.empty()) return {};
  return fmt::format("unsupported: no ring buffer (writev) for files: {}", engine.no_file_ring);
}

std::string reconnect_mismatch(const Protocol& protocol) {
  if (protocol.no_reconnect.empty()) return {};
  return fmt::format("unsupported: no reconnecting: {}", protocol.no_reconnect);
}

std::string_view server_mismatch(const Engine& server, const Demands& of_client) {
  return of_client.common_sessions && server.separate_processes ? kDifferentProcesses : std::string_view();
}

std::string mismatch(const Engine& engine, std::uint64_t threads, std::uint64_t connections) {
  if (engine.clients_wait.empty() || connections <= threads) return {};
  return fmt::format("unsupported: {} connections with {} threads: {}; use -t {} or fewer connections (-c)",
                     connections, threads, engine.clients_wait, connections);
}

}  // namespace joust
