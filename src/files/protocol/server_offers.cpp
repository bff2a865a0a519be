// SPDX-License-Identifier: MIT
//
// The server's reception of whole files: files that are offered and sent in ranges, and files whose data
// follows at once.
#include <algorithm>
#include <utility>

#include "files/protocol/server_session.hpp"

namespace joust::file {
namespace {

// Marks numbers given by the server: files whose data follows at once have no number of their own, and are
// never sent in parts.
constexpr std::uint64_t kNumberedHere = std::uint64_t{1} << 63;

constexpr std::size_t kMostWaiting = 64;  // files of a connection that wait for the disk, each open
constexpr Duration kLookForGroup = std::chrono::milliseconds(1);

}  // namespace

// True if the answer is that the existing file is kept. If the file is to be synced, the disk is asked too:
// the file may come from the same client, over a connection that was lost before the disk had it.
bool ServerSession::skips(std::string_view name, const FileWishes& wishes, const FileRefusal& refusal,
                          Time now) {
  if (refusal.error != FileError::exists || !wishes.skips_existing) return false;
  FileAnswer<std::shared_ptr<StoredEntry>> entry = nullptr;
  if (wishes.synced) entry = server_.storage.sync(name);
  const bool is_unreadable = !entry && entry.error().error == FileError::not_permitted;
  answer_from_disk({request_, Offered{.skipped = true}}, is_unreadable ? nullptr : std::move(entry), now);
  return true;
}

void ServerSession::begin(const Offer& offer, Time now) {
  ++server_.uploads;
  if (!may_upload()) return;
  auto found = find_upload(
      {.name = offer.name, .size = offer.size, .id = offer.id, .from = from_, .wishes = offer.wishes});
  if (!found) {
    if (!skips(offer.name, offer.wishes, found.error(), now)) refuse(found.error());
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
  if (!recall.complete) return still_working(request_, recall.verified, now);
  outgoing_.message({request_, Offered{.there = recall.verified, .discarded = recall.discarded}});
  answered();
}

// Begins a whole file. The session keeps no other reference to the upload: a refused file is removed at once.
void ServerSession::begin(const Whole& whole, Time now) {
  const std::uint64_t number = ++server_.uploads;
  ++requests_;
  data_left_ = 0;
  state_ = State::discarding;
  if (!may_upload()) return;
  const ByteRange all{0, whole.size};
  auto found = server_.storage.upload({.name = whole.name,
                                       .size = whole.size,
                                       .id = kNumberedHere | number,
                                       .digest = whole.digest,
                                       .from = from_,
                                       .wishes = whole.wishes});
  if (!found) {
    if (!skips(whole.name, whole.wishes, found.error(), now)) refuse(found.error());
    return;
  }
  if (auto taken = (*found)->take(all); !taken) return refuse(taken.error());
  upload_ = std::move(*found);
  is_whole_ = true;
  left_ = range_ = all;
  state_ = State::receiving;
}

// True if the request has to wait for the answers in waiting_. Whole files and directories follow one another
// while the disk works on earlier ones. So do queries, unless a file waits, which has no name yet. Other
// requests wait, because answers are sent in the order of their requests.
bool ServerSession::waits_for_others(const Message& message) const {
  if (waiting_.empty() || state_ != State::idle) return false;
  if (std::holds_alternative<Query>(message.body))
    return std::ranges::any_of(waiting_, [](const Waiting& one) { return one.upload != nullptr; });
  return !std::holds_alternative<Whole>(message.body) && !std::holds_alternative<Folder>(message.body);
}

void ServerSession::answer(const Message& message) {
  if (waiting_.empty()) {
    outgoing_.message(message);
    return;
  }
  waiting_.push_back({.answer = message});
  is_crowded_ = is_crowded_ || waiting_.size() >= kMostWaiting;
}

// Answers when the disk has the entry. Null: the disk has it, or is not asked.
void ServerSession::answer_from_disk(const Message& message, FileAnswer<std::shared_ptr<StoredEntry>> entry,
                                     Time now) {
  if (!entry) return refuse(entry.error());
  if (!*entry) return answer(message);
  wait_for_disk({.answer = message, .entry = std::move(*entry)}, now);
}

void ServerSession::wait_for_disk(Waiting waiting, Time now) {
  if (waiting_.empty()) {
    look_at_disk_ = now + kLookForGroup;
    said_working_ = now;
  }
  waiting_.push_back(std::move(waiting));
  is_crowded_ = waiting_.size() >= kMostWaiting || server_.storage.is_crowded();
}

bool ServerSession::is_settled(Waiting& waiting) {
  const auto failed = [&](const FileRefusal& refusal) {
    ++server_.refused;
    waiting.answer.body = Error{refusal};
    return true;
  };
  if (waiting.upload) {
    const auto check = waiting.upload->check();
    if (!check) return failed(check.error());
    std::get<Stored>(waiting.answer.body).digest = check->digest;
    return !check->waits;
  }
  if (!waiting.entry) return true;
  const auto is_there = waiting.entry->is_on_disk();
  return is_there ? *is_there : failed(is_there.error());
}

void ServerSession::look_at_disk(Time now) {
  while (!waiting_.empty() && is_settled(waiting_.front())) {
    outgoing_.message(waiting_.front().answer);
    waiting_.pop_front();
  }
  look_at_disk_ = now + kLookForGroup;
  is_crowded_ = !waiting_.empty() && (waiting_.size() >= kMostWaiting || server_.storage.is_crowded());
  if (!waiting_.empty()) return still_working(waiting_.front().answer.request, 0, now);
  if (next_request_) take(*std::exchange(next_request_, std::nullopt), now);
  if (peer_finished_) end_incomplete_upload();
}

void ServerSession::begin(const Folder& folder, Time now) {
  ++server_.uploads;
  ++requests_;
  if (!may_upload()) return;
  auto made = server_.storage.make_folder(folder.name, {.mode = folder.mode,
                                                        .overwrites = folder.sets_mode,
                                                        .makes_parents = folder.makes_parents,
                                                        .synced = folder.synced});
  if (!made) return refuse(made.error());
  const Message stored{
      request_, Stored{.complete = true, .was_there = (*made)->was_there(), .request_check = request_check_}};
  const auto is_there = (*made)->is_on_disk();
  if (!is_there) return refuse(is_there.error());
  if (*is_there) return answer(stored);
  wait_for_disk({.answer = stored, .entry = std::move(*made)}, now);
}

void ServerSession::begin(const Seal& seal, Time now) {
  auto found =
      find_upload({.name = seal.name, .size = seal.size, .id = seal.id, .from = from_, .begun = true});
  if (!found) return refuse(found.error());
  if (const auto sealed = (*found)->seal(seal.digest); !sealed) return refuse(sealed.error());
  upload_ = std::move(*found);
  range_ = {0, seal.size};
  state_ = State::checking;
  due_ = said_working_ = now;
  check_slice(now);
}

}  // namespace joust::file
