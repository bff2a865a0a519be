// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "joust/bytes.hpp"
#include "joust/handler.hpp"
#include "joust/session.hpp"

// The messages of a load as people see them: all of a trial, or one that is wrong.
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

// A message that a load has refused.
struct WrongReply {
  std::string_view complaint;  // the exchange's
  std::uint64_t connection = 0;
  std::uint64_t request = 0;  // number of the oldest request without a reply, from 0
  Bytes expected{};           // empty if the exchange does not report it
  Bytes came{};
};

// Describes the error for people: which request, the expected and the received message, and where they first
// differ. At most 64 bytes of each are shown, as text with other bytes as \xHH: the first ones, or those
// around the first difference if it lies behind them.
std::string describe(const WrongReply& wrong);

}  // namespace joust
