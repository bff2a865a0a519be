// SPDX-License-Identifier: MIT
#include "files/transfer/whole_sender.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/printable.hpp"

namespace joust::transfer {
namespace {

constexpr std::size_t kMostPending = 1024;       // whole files on their way
constexpr std::uint64_t kMostWaiting = 2 << 20;  // bytes of whole files that are not sent

}  // namespace

bool WholeSender::may_begin() const {
  return pending_.size() < kMostPending && connection_.outgoing.waiting() < kMostWaiting &&
         connection_.go_on_at <= connection_.now;
}

std::uint64_t WholeSender::give_back() {
  std::uint64_t bytes = 0;
  for (const Pending& pending : std::exchange(pending_, {})) {
    if (!pending.asked) bytes += item_of(pending).version.size;
    pending.asked ? send_.put_off(pending.work) : send_.give_back(pending.work);
  }
  return bytes;
}

// Reads the file twice at most: a file that changes while it is read is read once more.
void WholeSender::begin(const SendTransfer::Work& work) {
  const SourceItem& item = send_.item(work.item);
  if (item.is_folder) return ask_for_folder(work);
  for (int attempt = 0; attempt < 2; ++attempt) {
    auto source = open_source(item);
    if (!source) return send_.failed(work, source.error());
    if (source->version.size > kRangeBytes) break;
    const auto content = read_whole(*source, content_);
    if (!content)
      return send_.failed(work, fmt::format("{}: {}", printable(item.path), std::strerror(content.error())));
    if (!*content) continue;
    Digester digester;
    digester.add(**content);
    Pending pending{.work = work, .digest = digester.value()};
    if (send_.asks_first() && !work.differs) return ask(std::move(pending));
    pending.request = ++connection_.request;
    pending.check = send_bytes(pending, source->version, **content);
    pending_.push_back(std::move(pending));
    return;
  }
  send_.failed(work, printable(item.path) + ": changes while it is read");
}

// As long as files are stored in a directory, its owner may write to it.
void WholeSender::ask_for_folder(const SendTransfer::Work& work) {
  const SourceItem& item = send_.item(work.item);
  const FileWishes& wishes = send_.wishes();
  const bool is_open = item.is_on_way && !work.is_last;
  const std::uint64_t check =
      connection_.ask(file::Folder{.mode = item.version.mode | (is_open ? kOwnersPermissions : 0),
                                   .makes_parents = wishes.makes_parents && !item.is_inside,
                                   .synced = wishes.synced && !is_open,
                                   .name = item.name,
                                   .sets_mode = work.is_last || wishes.overwrites});
  pending_.push_back({.request = connection_.request, .work = work, .check = check});
}

// Writes one piece of output: the head, the data between its frames, and the end. Returns the check of the
// request.
std::uint64_t WholeSender::send_bytes(const Pending& pending, const FileVersion& version, Bytes content) {
  const std::uint32_t request = pending.request;
  const std::string& name = item_of(pending).name;
  std::vector<std::byte> bytes;
  bytes.reserve(content.size() + 256 + name.size());
  const auto add = [&](Bytes more) { bytes.insert(bytes.end(), more.begin(), more.end()); };
  add(file::encode({request, file::Whole{version.size, pending.digest, wishes_for(send_, version), name}}));
  const std::uint64_t check = file::check_of(bytes);
  for (Bytes rest = content; !rest.empty();) {
    const Bytes part = rest.first(std::min<std::size_t>(rest.size(), file::kLargestData));
    add(file::encode({request, file::Data{static_cast<std::uint32_t>(part.size())}}));
    add(part);
    rest = rest.subspan(part.size());
  }
  add(file::encode({request, file::End{content.size(), std::nullopt}}));
  connection_.outgoing.bytes(request, std::move(bytes));
  if (send_.limit().applies()) connection_.go_on_at = send_.limit().reserve(content.size(), connection_.now);
  return check;
}

void WholeSender::ask(Pending pending) {
  pending.asked = true;
  connection_.ask(file::Query{item_of(pending).name, true, send_.wishes().synced});
  pending.request = connection_.request;
  pending_.push_back(std::move(pending));
}

std::string WholeSender::take(const file::Message& message) {
  if (message.request != pending_.front().request) return "an answer without a request";
  const Pending pending = std::move(pending_.front());
  pending_.pop_front();
  const SendTransfer::Work& work = pending.work;
  const bool is_folder = item_of(pending).is_folder;
  const auto* stored = std::get_if<file::Stored>(&message.body);
  const auto* offered = std::get_if<file::Offered>(&message.body);
  const auto* facts = std::get_if<file::Facts>(&message.body);
  const bool is_done = stored != nullptr && stored->complete && stored->request_check == pending.check;
  if (const auto* error = std::get_if<file::Error>(&message.body))
    refused(pending, error->refusal);
  else if (is_done && is_folder)
    send_.folder_is_there(work, !stored->was_there || work.again);
  else if (is_done && stored->digest == pending.digest)
    send_.stored(work, pending.digest);
  else if (offered != nullptr && is_skipped(send_, *offered) && !is_folder)
    send_.skipped(work);
  else if (facts != nullptr && pending.asked)
    compare(pending, *facts);
  else
    pending_.push_front(pending);  // still pending: the loss of an idle connection would cost no retry
  const bool is_unanswered = !pending_.empty() && pending_.front().request == message.request;
  return is_unanswered ? printable(item_of(pending).name) + ": a frame that is no answer" : "";
}

void WholeSender::compare(const Pending& pending, const file::Facts& facts) {
  const SendTransfer::Work& work = pending.work;
  const bool same = facts.digest == pending.digest;
  const bool is_equal = same && has_same_looks(item_of(pending).version, facts);
  if (send_.wishes().overwrites && !work.differs && !is_equal) return send_unasked(work);
  same ? note_there(send_, work, pending.digest, work.again) : note_other(send_, work);
}

// Sends the file once more, without asking the server first.
void WholeSender::send_unasked(SendTransfer::Work work) {
  work.differs = true;
  send_.put_off(work);
}

// Handles a refusal. An existing file may be the same as this one: then the server is asked for its facts.
void WholeSender::refused(const Pending& pending, const FileRefusal& refusal) {
  SendTransfer::Work work = pending.work;
  const SourceItem& item = item_of(pending);
  const Time now = connection_.now;
  const bool replaces = send_.wishes().overwrites;
  const bool is_busy = refusal.error == FileError::busy;
  if (is_busy) send_.found_busy();
  // Its parent directory may be one that was put off.
  const bool is_early = refusal.error == FileError::not_found && item.is_inside && send_.was_busy();
  // Limited by time: any free connection asks again, and with many connections that is soon.
  if ((is_busy || is_early) && (work.give_up_at == Time{} || now < work.give_up_at)) {
    if (work.give_up_at == Time{}) work.give_up_at = now + kLongestBusy;
    connection_.go_on_at = std::max(connection_.go_on_at, now + kAskAgain);
    return send_.put_off(work);
  }
  // A server without directories, or one that takes nothing, answers the same to the files in the directory.
  if (refusal.error == FileError::not_permitted && item.is_on_way && !work.is_last && !replaces)
    return send_.folder_is_there(work, false);
  if (refusal.error == FileError::exists && !pending.asked && !item.is_folder)
    return ask({.work = work, .digest = pending.digest});
  if (refusal.error == FileError::not_found && pending.asked && !work.differs) {
    send_.asks_first(false);
    return send_unasked(work);
  }
  if (refusal.error == FileError::not_permitted && pending.asked) {
    if (!replaces || work.differs) return note_unknown(send_, work, work.again);
    send_.asks_first(false);  // the file is sent in any case
    return send_unasked(work);
  }
  // The disk of the server has failed to take the existing file.
  if (refusal.error == FileError::input_output && pending.asked && replaces && !work.differs)
    return send_unasked(work);
  send_.failed(work, words_on(item.name, refusal));
}

}  // namespace joust::transfer
