// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>

#include "joust/framing.hpp"
#include "protocols/table.hpp"
#include "protocols/work/messages.hpp"

namespace joust::work::test {

inline Protocol protocol() {
  const auto all = builtin_protocols();
  return *std::ranges::find(all, "work", &Protocol::name);
}

inline Parameters parameters(Role side, const Settings& options) {
  Parameters all = standard_parameters(protocol(), side);
  for (const auto& [name, value] : options) all.options[name] = value;
  return all;
}

inline std::unique_ptr<Service> server(const Settings& options = {}) {
  return protocol().make_server(parameters(Role::serve, options));
}

template <typename Message>
std::string frame(const Message& message) {
  Room room;
  Outbox outbox;
  write_frame(kFraming, serialize(message, room), outbox);
  Segment all;
  outbox.segments({&all, 1});
  return std::string(as_text(all.bytes));
}

// All that the session shows, taken off its hands.
inline std::string take_output(Session& session) {
  std::string all;
  for (std::array<Segment, 4> segments; const std::size_t count = session.output(segments);) {
    std::size_t taken = 0;
    for (std::size_t i = 0; i < count; ++i) {
      all += as_text(segments[i].bytes);
      taken += segments[i].bytes.size();
    }
    session.consumed(taken);
    session.released(taken);
  }
  return all;
}

}  // namespace joust::work::test
