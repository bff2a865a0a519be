// SPDX-License-Identifier: MIT
#include "files/protocol/begun_uploads.hpp"

#include <algorithm>
#include <utility>

namespace joust::file {
namespace {

constexpr std::size_t kMostBegun = 8;  // uploads of one connection

}  // namespace

FileAnswer<std::shared_ptr<Upload>> BegunUploads::find(const UploadRequest& request, std::uint64_t requests) {
  forget_complete();
  auto found = server_.storage.upload(request);
  if (!found || std::ranges::find(all_, *found, &Begun::upload) != all_.end()) return found;
  if (all_.size() >= kMostBegun)
    return refused(FileError::busy, "too many uploads of this connection are incomplete");
  keep(*found, request.begun || (request.wishes && request.wishes->outlives), request.size, requests);
  return found;
}

// Several connections contribute to the growth of an upload, so it gets as much time as readers do.
void BegunUploads::keep(const std::shared_ptr<Upload>& upload, bool offered, std::uint64_t size,
                        std::uint64_t requests) {
  all_.push_back({upload, offered, size, LeastRate(server_.rates.outgoing), upload->received(), requests});
}

void BegunUploads::forget_complete() {
  std::erase_if(all_, [](const Begun& begun) { return begun.upload->over(); });
}

bool BegunUploads::leave_unfinished() const {
  return std::ranges::any_of(all_, [](const Begun& begun) {
    return begun.offered && !begun.upload->over() && begun.upload.use_count() == 1;
  });
}

// Limits the digested bytes by the file's size, as the received bytes are.
void BegunUploads::sender_works(const Working& working) {
  for (Begun& begun : all_) {
    const std::uint64_t done = std::min(working.done, begun.size);
    if (done > begun.digested && begun.upload->awaits_seal())
      begun.growth.moved(done - std::exchange(begun.digested, done));
  }
}

void BegunUploads::expect_growth(bool owed, bool waited_for, Time now) {
  for (Begun& begun : all_) begun.growth.expect(owed, waited_for, now);
}

std::optional<std::string> BegunUploads::complaint(const Upload* in_hand, bool is_busy,
                                                   std::uint64_t requests, Time now) {
  for (std::size_t i = 0; i < all_.size();) {
    Begun& begun = all_[i];
    const bool over = begun.growth.deadline().value_or(Time::max()) <= now;
    const std::uint64_t before = over ? std::exchange(begun.requests, requests) : requests;
    if (begun.grows(now)) {
      ++i;
    } else if (begun.offered && begun.upload.get() != in_hand && (is_busy || before != requests)) {
      all_.erase(all_.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      return "an incomplete upload grows " + begun.growth.complaint();
    }
  }
  return std::nullopt;
}

bool BegunUploads::Begun::grows(Time now) {
  const std::uint64_t before = std::exchange(received, upload->received());
  growth.moved(received - before);
  return !growth.missed(now);
}

std::optional<Time> BegunUploads::deadline() const {
  std::optional<Time> due;
  for (const Begun& begun : all_) due = earlier(due, begun.growth.deadline());
  return due;
}

}  // namespace joust::file
