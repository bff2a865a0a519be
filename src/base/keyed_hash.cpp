// SPDX-License-Identifier: MIT
#include "base/keyed_hash.hpp"

#include <unistd.h>
#ifdef __APPLE__
#include <sys/random.h>
#endif

#include <bit>
#include <cstring>

#include "base/check.hpp"

namespace joust {
namespace {

struct SipState {
  std::uint64_t a, b, c, d;

  void rounds(int count) {
    for (int i = 0; i < count; ++i) {
      a += b;
      b = std::rotl(b, 13) ^ a;
      a = std::rotl(a, 32);
      c += d;
      d = std::rotl(d, 16) ^ c;
      a += d;
      d = std::rotl(d, 21) ^ a;
      c += b;
      b = std::rotl(b, 17) ^ c;
      c = std::rotl(c, 32);
    }
  }
  void add(std::uint64_t word) {
    d ^= word;
    rounds(2);
    a ^= word;
  }
};

// Returns up to 8 bytes as a number, little endian.
std::uint64_t word_of(Bytes bytes) {
  std::uint64_t word = 0;
  for (std::size_t i = bytes.size(); i > 0; --i)
    word = word << 8 | std::to_integer<std::uint64_t>(bytes[i - 1]);
  return word;
}

}  // namespace

HashKey random_key() {
  HashKey key;
  checked(::getentropy(&key, sizeof key), "getentropy()");
  return key;
}

std::uint64_t keyed_hash(const HashKey& key, Bytes message) {
  SipState state{key.low ^ 0x736f6d6570736575U, key.high ^ 0x646f72616e646f6dU, key.low ^ 0x6c7967656e657261U,
                 key.high ^ 0x7465646279746573U};
  const std::uint64_t length = message.size();
  for (; message.size() >= 8; message = message.subspan(8)) state.add(word_of(message.first(8)));
  state.add(length << 56 | word_of(message));
  state.c ^= 0xff;
  state.rounds(4);
  return state.a ^ state.b ^ state.c ^ state.d;
}

}  // namespace joust
