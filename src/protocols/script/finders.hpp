// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "joust/bytes.hpp"
#include "protocols/script/binary_number.hpp"

namespace joust::script {

// Finds the end of one message of a stream, whatever parts it comes in. A byte is looked at once, or a few
// times, however many parts there are. One thread at a time.
class Finder {
 public:
  struct Found {
    std::size_t size = 0;          // of the message; 0: more is needed
    std::size_t least = 0;         // the size that it has at least, if that is known
    std::string_view complaint{};  // why there is no such message; a literal
  };

  virtual ~Finder() = default;
  // `message`: its bytes so far, all of them; more of them than at the last call.
  virtual Found find(Bytes message) = 0;
  // The next call is about another message.
  virtual void reset() {}
};

// A size before, or at a place of, a message.
struct SizeRules {
  BinaryNumber form{};
  std::size_t offset = 0;      // the bytes before it
  bool counts_itself = false;  // it counts its own bytes too; those before it are never counted
};

std::unique_ptr<Finder> length_finder(std::size_t size);
std::unique_ptr<Finder> ending_finder(std::string ending);
std::unique_ptr<Finder> size_finder(const SizeRules& rules);
// Finds a value of RESP, versions 2 and 3: the protocol of Redis and Valkey.
std::unique_ptr<Finder> resp_finder();

}  // namespace joust::script
