// SPDX-License-Identifier: MIT
#include "files/protocol/server_answers.hpp"

#include <algorithm>
#include <utility>

namespace joust::file {
namespace {

constexpr std::size_t kMostWaiting = 64;  // answers of a connection that wait; a file that waits is open
constexpr Duration kLookForGroup = std::chrono::milliseconds(1);
constexpr Duration kWorkingEvery = std::chrono::seconds(1);

// Memory for unread answers in bytes, beyond which the peer is not read from.
constexpr std::uint64_t kMostUnread = 64 << 10;
constexpr std::size_t kMostFiles = 2;  // in unread answers: each keeps a file open

}  // namespace

void Answers::begin(std::uint32_t request, std::uint64_t check) {
  request_ = request;
  check_ = check;
  outgoing_.next_answer();
}

void Answers::send(Body body) {
  if (waiting_.empty()) {
    outgoing_.message({request_, std::move(body)});
    return;
  }
  waiting_.push_back({.answer = {request_, std::move(body)}});
  is_crowded_ = is_crowded_ || waiting_.size() >= kMostWaiting;
}

void Answers::refuse(const FileRefusal& refusal) {
  ++server_.refused;
  send(Error{refusal});
}

void Answers::send_when_on_disk(Body body, FileAnswer<std::shared_ptr<StoredEntry>> entry, Time now) {
  if (!entry) return refuse(entry.error());
  if (!*entry) return send(std::move(body));
  wait_for_disk({.answer = {request_, std::move(body)}, .entry = std::move(*entry)}, now);
}

void Answers::send_when_on_disk(const Stored& stored, std::shared_ptr<Upload> upload, Time now) {
  wait_for_disk({.answer = {request_, stored}, .upload = std::move(upload)}, now);
}

void Answers::wait_for_disk(Waiting waiting, Time now) {
  if (waiting_.empty()) {
    look_at_disk_ = now + kLookForGroup;
    said_working_ = now;
  }
  waiting_.push_back(std::move(waiting));
  is_crowded_ = waiting_.size() >= kMostWaiting || server_.storage.is_crowded();
}

bool Answers::wait_for_upload() const {
  return std::ranges::any_of(waiting_, [](const Waiting& one) { return one.upload != nullptr; });
}

bool Answers::is_settled(Waiting& waiting) {
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

void Answers::look_at_disk(Time now) {
  while (!waiting_.empty() && is_settled(waiting_.front())) {
    outgoing_.message(waiting_.front().answer);
    waiting_.pop_front();
  }
  look_at_disk_ = now + kLookForGroup;
  is_crowded_ = !waiting_.empty() && (waiting_.size() >= kMostWaiting || server_.storage.is_crowded());
  if (!waiting_.empty()) working(0, now);
}

void Answers::working(std::uint64_t done, Time now) {
  if (now - said_working_ < kWorkingEvery || outgoing_.waiting() > 0) return;
  said_working_ = now;
  if (waiting_.empty())
    outgoing_.message({request_, Working{done}});
  else
    outgoing_.message({waiting_.front().answer.request, Working{}});
}

bool Answers::are_unread() const {
  return outgoing_.cost() > kMostUnread || outgoing_.files() >= kMostFiles;
}

}  // namespace joust::file
