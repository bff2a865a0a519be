// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace joust {

struct Engine;  // engines/engine.hpp

// Raises this process's limit of open files as far as possible.
void raise_descriptor_limit();

// Throws UsageError where so many connections of that client do not fit even into the raised limit. `where`
// names their source: "-c".
void ensure_descriptors(const std::string& where, std::uint64_t connections, const Engine& client);

// The number of connections of a file server that the limit of open files allows, where that limit is small.
class DescriptorRoom {
 public:
  // Describes this process, for so many loops, or for threads of each connection. Call after
  // raise_descriptor_limit().
  DescriptorRoom(std::size_t loops, bool threads_for_each);

  // Throws std::runtime_error if one connection does not fit. `own`: the descriptors that the server will
  // open for itself, or 0 when it has opened all of them.
  void check(std::uint64_t own) const;
  // Checks before the server has opened anything, with as many descriptors as any engine needs: some engines
  // cannot report that one is missing.
  void check_before() const { check(own_before()); }
  std::uint64_t limit() const { return limit_; }
  // Return how many connections may be open, and how many of them may send a file at a time. Call before the
  // server has opened anything. SIZE_MAX where the limit is not small.
  std::size_t connections() const;
  std::size_t uploads() const;

 private:
  std::uint64_t own_before() const { return 8 + 2 * loops_; }
  std::uint64_t fixed(std::uint64_t own) const;  // descriptors beside those of connections
  bool is_small() const;

  const std::uint64_t loops_;
  const std::uint64_t of_connection_;
  const std::uint64_t limit_;
};

// Throws std::runtime_error if a server of streams, which has opened all of its own descriptors, has none for
// one connection: it would listen and answer no client.
void check_first_connection(const Engine& engine);

// Returns how many connections of a client that moves files the limit of open files allows with this engine;
// UINT64_MAX where the limit is not small. Throws std::runtime_error if not even one fits. Call after
// raise_descriptor_limit(), before the engine runs.
std::uint64_t client_connections(const Engine& engine);

}  // namespace joust
