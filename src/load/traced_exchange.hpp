// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "joust/handler.hpp"
#include "joust/session.hpp"

namespace joust {

// Receives each message of a load, without its boundary where the framing adds one. On the thread of its
// connection.
struct MessageTrace {
  enum class What : std::uint8_t { sent_first, sent, sent_last, came };
  // `verdict`: of one that came, what it is in words: "right", or why it is wrong.
  std::function<void(What what, Bytes message, std::string_view verdict)> show;
  // Receives all bytes that come, before they are cut into messages.
  std::function<void(Bytes chunk)> came;
};

// Makes an exchange that shows the messages of another one, and is else the same. The trace outlives it.
std::unique_ptr<Exchange> traced(std::unique_ptr<Exchange> exchange, const MessageTrace& trace);
// Makes a session that shows what comes to another one, likewise.
std::unique_ptr<Session> traced(std::unique_ptr<Session> session, const MessageTrace& trace);

}  // namespace joust
