// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>

#include "joust/session.hpp"

namespace joust {

// Makes a session for a transport of whole messages from one whose stream consists of frames (Length4): each
// frame travels as one message, without its length. A session that writes an empty message, or one of more
// than `largest` bytes, fails, because the transport could not carry it.
std::unique_ptr<Session> message_wise(std::unique_ptr<Session> inner, std::size_t largest);

}  // namespace joust
