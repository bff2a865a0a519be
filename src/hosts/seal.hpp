// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "secure/token.hpp"

namespace joust::hosts {

// Seals the messages between the processes of a run, with a key that they alone have. Open MPI authenticates
// no peer, so whoever reaches a port of it can send in the name of any rank. A seal is an HMAC-SHA-256 over
// the message, both ranks, the session of the agent and a number. So a message that is changed, cut, sent to
// another rank or sent back is none, and one that comes again is recognized by its number.
class Seal {
 public:
  // Returns whether the text of JOUST_HOSTS_KEY is one of random digits.
  static bool is_key(std::string_view text);

  // `key`: such a text. Throws WeakToken.
  explicit Seal(std::string_view key);

  struct Message {
    std::string session{};     // of the agent that sends or shall read it; empty if it is not known yet
    std::uint64_t number = 0;  // of a request; a reply has that of its request
    std::string body{};
  };

  std::string sealed(int from, int to, const Message& message) const;
  // Returns nothing for a text that was not sealed with this key for this way.
  std::optional<Message> opened(int from, int to, std::string_view text) const;

 private:
  std::string tag_of(int from, int to, const Message& message) const;

  const Token::Key key_;
};

}  // namespace joust::hosts
