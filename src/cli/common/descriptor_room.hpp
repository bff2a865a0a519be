// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

namespace joust {

struct Engine;  // engines/engine.hpp

// How many connections of a file server the limit of open files allows, where that limit is small.
class DescriptorRoom {
 public:
  // Of this process, for so many loops, or for threads of each connection. After raise_descriptor_limit().
  DescriptorRoom(std::size_t loops, bool threads_for_each);

  // Throws std::runtime_error if there is not even room for one connection. `own`: what the server will open
  // for itself, or 0 when it has opened all of it.
  void check(std::uint64_t own) const;
  // Before the server has opened anything, as much as any engine needs: some cannot say that they lack one.
  void check_before() const { check(own_before()); }
  std::uint64_t limit() const { return limit_; }
  // How many connections may be open, and how many of them may bring a file at a time. Before the server has
  // opened anything; SIZE_MAX where the limit is not small.
  std::size_t connections() const;
  std::size_t uploads() const;

 private:
  std::uint64_t own_before() const { return 8 + 2 * loops_; }
  std::uint64_t fixed(std::uint64_t own) const;  // descriptors, beside those of connections
  bool is_small() const;

  const std::uint64_t loops_;
  const std::uint64_t of_connection_;
  const std::uint64_t limit_;
};

// Throws std::runtime_error if a server of streams, which has opened all of its own, has no room for one
// connection: it would listen and answer nobody.
void check_first_connection(const Engine& engine);

// How many connections of a client that moves files the limit of open files allows with this engine;
// UINT64_MAX where the limit is not small. Throws std::runtime_error if there is not even room for one. After
// raise_descriptor_limit(), before the engine runs.
std::uint64_t client_connections(const Engine& engine);

}  // namespace joust
