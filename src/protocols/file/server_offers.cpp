// SPDX-License-Identifier: MIT
//
// How the server receives whole files: those that are offered and come in ranges, and those whose data
// follows at once.
#include <utility>

#include "protocols/file/server_session.hpp"

namespace joust::file {
namespace {

// Files whose data follows at once have no number of their own, and are never brought in parts.
constexpr std::uint64_t kNumberedHere = std::uint64_t{1} << 63;

}  // namespace

// True if the answer is that nothing is to be done.
bool ServerSession::skips(const FileWishes& wishes, const FileRefusal& refusal) {
  if (refusal.error != FileError::exists || !wishes.skips_existing) return false;
  outgoing_.message({request_, Offered{.skipped = true}});
  return true;
}

void ServerSession::begin(const Offer& offer, Time now) {
  ++server_.uploads;
  if (!may_bring()) return;
  auto found = find_upload(
      {.name = offer.name, .size = offer.size, .id = offer.id, .peer = peer_, .wishes = offer.wishes});
  if (!found) {
    if (!skips(offer.wishes, found.error())) refuse(found.error());
    return;
  }
  upload_ = std::move(*found);
  state_ = State::recalling;
  due_ = said_working_ = now;
  recall_slice(now);
}

void ServerSession::recall_slice(Time now) {
  if (!takes_turn(now)) return;
  const Upload::Recall recall = upload_->recall();
  if (!recall.complete) return still_working(recall.verified, now);
  outgoing_.message({request_, Offered{.there = recall.verified, .discarded = recall.discarded}});
  answered();
}

// The session keeps no other reference to it: a file that is refused is gone at once.
void ServerSession::begin(const Whole& whole) {
  const std::uint64_t number = ++server_.uploads;
  ++requests_;
  data_left_ = 0;
  state_ = State::discarding;
  if (!may_bring()) return;
  const ByteRange all{0, whole.size};
  auto found = server_.storage.upload({.name = whole.name,
                                       .size = whole.size,
                                       .id = kNumberedHere | number,
                                       .digest = whole.digest,
                                       .peer = peer_,
                                       .wishes = whole.wishes});
  if (!found) {
    if (!skips(whole.wishes, found.error())) refuse(found.error());
    return;
  }
  if (auto taken = (*found)->take(all); !taken) return refuse(taken.error());
  upload_ = std::move(*found);
  left_ = range_ = all;
  state_ = State::receiving;
}

void ServerSession::begin(const Seal& seal, Time now) {
  auto found =
      find_upload({.name = seal.name, .size = seal.size, .id = seal.id, .peer = peer_, .begun = true});
  if (!found) return refuse(found.error());
  if (const auto sealed = (*found)->seal(seal.digest); !sealed) return refuse(sealed.error());
  upload_ = std::move(*found);
  range_ = {0, seal.size};
  state_ = State::checking;
  due_ = said_working_ = now;
  check_slice(now);
}

}  // namespace joust::file
