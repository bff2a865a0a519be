// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "joust/session.hpp"

// The engine's and the server's part for a session of echo, done by hand.
namespace joust::test {

// What the session says now, taken off its hands.
inline std::string heard(Session& session) {
  std::array<Segment, 8> segments;
  std::string text;
  const std::size_t count = session.output(segments);
  for (std::size_t i = 0; i < count; ++i) text += as_text(segments[i].bytes);
  session.consumed(text.size());
  session.released(text.size());
  return text;
}

// Sends that back.
inline void answer(Session& session, Time at) {
  const std::string reply = heard(session);
  ASSERT_FALSE(reply.empty()) << "nothing was asked";
  EXPECT_EQ(session.on_bytes(as_bytes(reply), at), reply.size());
}

}  // namespace joust::test
