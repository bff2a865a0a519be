// SPDX-License-Identifier: MIT
#include "base/bytes.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <bit>
#include <cstring>
#include <new>

#include "base/check.hpp"

#ifdef JOUST_XXHASH_DISPATCHES  // twice as fast where the processor has AVX2 or AVX-512
#include <xxh_x86dispatch.h>
#else
#include <xxhash.h>
#endif

#ifdef __APPLE__
#include <sys/random.h>
#endif

namespace joust {

std::string to_hex(const Digest& digest) {
  std::string text;
  for (const std::byte byte : digest) text += fmt::format("{:02x}", static_cast<unsigned>(byte));
  return text;
}

std::uint64_t checksum(Bytes bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

void Digester::Free::operator()(void* state) const {
  XXH3_freeState(static_cast<XXH3_state_t*>(state));
}

Digester::Digester() : state_(XXH3_createState()) {
  if (!state_) throw std::bad_alloc();
  reset();
}

void Digester::reset() {
  XXH3_128bits_reset(static_cast<XXH3_state_t*>(state_.get()));
}

Digester::Digester(const Digester& other) : Digester() {
  *this = other;
}

Digester& Digester::operator=(const Digester& other) {
  if (this == &other) return *this;
  XXH3_copyState(static_cast<XXH3_state_t*>(state_.get()),
                 static_cast<const XXH3_state_t*>(other.state_.get()));
  return *this;
}

void Digester::add(Bytes bytes) {
  XXH3_128bits_update(static_cast<XXH3_state_t*>(state_.get()), bytes.data(), bytes.size());
}

Digest Digester::value() const {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(static_cast<XXH3_state_t*>(state_.get())));
  Digest digest;
  static_assert(sizeof canonical.digest == sizeof digest);
  std::memcpy(digest.data(), canonical.digest, digest.size());
  return digest;
}

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
