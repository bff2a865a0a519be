// SPDX-License-Identifier: MIT
#include "base/digest.hpp"

#include <fmt/format.h>
#ifdef JOUST_XXHASH_DISPATCHES  // twice as fast where the processor has AVX2 or AVX-512
#include <xxh_x86dispatch.h>
#else
#include <xxhash.h>
#endif

#include <cstring>
#include <new>

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

}  // namespace joust
