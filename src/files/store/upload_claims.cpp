// SPDX-License-Identifier: MIT
#include "files/store/upload_claims.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "base/different_processes.hpp"
#include "base/digest.hpp"

namespace joust {
namespace {

// Linux numbers processes below 2^22. The rest of a place is a hash of the upload's name and id.
constexpr std::uint64_t kProcessBits = (1U << 22) - 1;

}  // namespace

UploadClaims::UploadClaims() : made_by_(::getpid()) {}

bool UploadClaims::is_shared() const {
  return ::getpid() != made_by_;
}

std::uint64_t UploadClaims::of(const UploadRequest& request) {
  Digester digester;
  digester.add(std::as_bytes(std::span(&request.id, 1)));
  digester.add(as_bytes(request.name));
  const Digest digest = digester.value();
  std::uint64_t hash = 0;
  std::memcpy(&hash, digest.data(), sizeof hash);
  return (hash & ~kProcessBits) | static_cast<std::uint64_t>(::getpid());
}

bool UploadClaims::is_anothers(std::uint64_t mine) const {
  return std::ranges::any_of(*places_, [&](const Place& place) {
    const std::uint64_t claim = place.load();
    return claim != mine && (claim & ~kProcessBits) == (mine & ~kProcessBits);
  });
}

UploadClaims::Place* UploadClaims::take(std::uint64_t mine) {
  for (Place& place : *places_)
    if (std::uint64_t nobody = 0; place.load() == 0 && place.compare_exchange_strong(nobody, mine))
      return &place;
  return nullptr;
}

// Looks for other claims after making its own: of two processes that claim at the same time, at least one
// sees the other's claim.
FileAnswer<std::unique_ptr<UploadClaim>> UploadClaim::begin(UploadClaims& claims,
                                                            const UploadRequest& request) {
  if (!claims.is_shared()) return std::unique_ptr<UploadClaim>(new UploadClaim(nullptr));
  const std::uint64_t mine = UploadClaims::of(request);
  auto claim = std::unique_ptr<UploadClaim>(new UploadClaim(claims.take(mine)));
  if (claims.is_anothers(mine))
    return std::unexpected(FileRefusal{FileError::other_connection, std::string(kDifferentProcesses)});
  return claim;
}

UploadClaim::~UploadClaim() {
  if (place_ != nullptr) *place_ = 0;
}

}  // namespace joust
