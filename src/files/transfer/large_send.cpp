// SPDX-License-Identifier: MIT
#include "files/transfer/large_send.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/text.hpp"
#include "files/transfer/transfer_session.hpp"

namespace joust::transfer {
namespace {

constexpr std::string_view kRemedy = "; --overwrite replaces files, --skip-existing leaves them";

// The server cannot tell such a file from one that was interrupted.
constexpr std::string_view kStaysThere =
    "; the receiver keeps what has come, hidden, until the name is sent again, which begins anew";

}  // namespace

FileWishes wishes_for(const SendTransfer& send, const FileVersion& version) {
  FileWishes wishes = send.wishes();
  wishes.modified_ns = version.modified_ns;
  wishes.mode = version.mode;
  return wishes;
}

bool has_same_metadata(const FileVersion& version, const file::Facts& facts) {
  return facts.modified_ns == version.modified_ns &&
         (!facts.mode || (*facts.mode & kPermissionBits) == version.mode);
}

bool is_skipped(const SendTransfer& send, const file::Offered& offered) {
  return offered.skipped && send.wishes().skips_existing;
}

std::string words_on(const std::string& name, const FileRefusal& refusal) {
  const bool is_in_the_way = refusal.error == FileError::not_a_file;
  return words_of(name, refusal) +
         (is_in_the_way ? "; move it away there, or send to another directory" : "");
}

void note_there(SendTransfer& send, const SendTransfer::Work& work, const Digest& digest, bool by_this) {
  if (by_this) return send.stored(work, digest);
  send.asks_first(true);
  send.skipped(work);
}

void note_other(SendTransfer& send, const SendTransfer::Work& work) {
  send.failed(work, fmt::format("{}: exists on the server, and is another file{}",
                                printable(send.item(work.item).name), kRemedy));
}

void note_unknown(SendTransfer& send, const SendTransfer::Work& work, bool answer_lost) {
  const std::string name = printable(send.item(work.item).name);
  send.failed(work, answer_lost
                        ? fmt::format("{}: is there, but the server does not tell whether it is this file: "
                                      "the connection was lost before its answer; --overwrite sends it again",
                                      name)
                        : fmt::format("{}: exists on the server{}", name, kRemedy));
}

SendTransfer::Work LargeSender::release() {
  again_at_.reset();
  return std::exchange(work_, {});
}

void LargeSender::give_back() {
  if (!has_work()) return;
  send_.count().lost += sent_;
  send_.give_back(release());
}

void LargeSender::begin(SendTransfer::Work work) {
  work_ = std::move(work);
  begin_again();
}

void LargeSender::go_on() {
  if (again_at_ && connection_.now >= *again_at_) begin_again();
  add_data();
}

void LargeSender::begin_again() {
  again_at_.reset();
  sent_ = 0;
  asked_ = Asked::nothing;
  const FileVersion& version = work_.large->version();
  const std::string& name = item().name;
  if (is_to_compare()) {
    asked_ = Asked::size;
    connection_.ask(file::Query{name, false});
  } else if (work_.task == Task::offer) {
    FileWishes wishes = wishes_for(send_, version);
    wishes.source = version.device * 31 + version.inode;
    connection_.ask(file::Offer{version.size, work_.id, wishes, name});
  } else if (work_.task == Task::range) {
    left_ = work_.range;
    sending_ = true;
    check_ = connection_.ask(
        file::UploadRange{version.size, work_.range, work_.id, std::nullopt, false, name, true});
    request_ = connection_.request;
    add_data();
  } else {
    seal();
  }
  request_ = connection_.request;
}

void LargeSender::seal() {
  const std::string path = printable(item().path);
  const auto digest = work_.large->digest();
  std::string why;
  if (!digest) why = path + ": cannot be read to its end";
  if (work_.large->has_changed())
    why = path + ": has changed while it was sent; send it again" + std::string(kStaysThere);
  if (!why.empty()) return send_.failed(release(), why);
  check_ = connection_.ask(file::Seal{work_.large->version().size, work_.id, digest, item().name});
}

void LargeSender::add_data() {
  if (!sending_) return;
  file::OutputQueue& queue = connection_.queue;
  const auto& file = work_.large->file();
  RateLimit& limit = send_.limit();
  if (!limit.applies()) {
    left_ = queue.data_ahead(request_, file, left_);
  } else if (left_.size > 0 && queue.waiting() < limit.portion() && connection_.now >= connection_.go_on_at) {
    const ByteRange part{left_.offset, std::min(left_.size, limit.portion())};
    connection_.go_on_at = limit.reserve(part.size, connection_.now);
    queue.data(request_, file, part);
    left_ = {part.end(), left_.size - part.size};
  }
  if (left_.size > 0 || !queue.has_room()) return;
  queue.message({request_, file::End{work_.range.size, std::nullopt}});
  sending_ = false;
}

void LargeSender::source_failed(int error) {
  if (work_.task != Task::range) return;
  const std::string why = error == 0 ? "has become shorter while it was sent" : std::strerror(error);
  const std::string path = printable(item().path);
  send_.failed(release(), fmt::format("{}: {}{}", path, why, error == 0 ? kStaysThere : ""));
}

std::string LargeSender::take(const file::Message& message) {
  if (const auto* error = std::get_if<file::Error>(&message.body)) return refused(error->refusal), "";
  const auto* stored = std::get_if<file::Stored>(&message.body);
  const auto* offered = std::get_if<file::Offered>(&message.body);
  const auto* facts = std::get_if<file::Facts>(&message.body);
  const bool is_done = stored != nullptr && stored->request_check == check_;
  if (facts != nullptr && asked_ != Asked::nothing) return compare(*facts), "";
  if (offered != nullptr && work_.task == Task::offer && offered->there <= work_.large->version().size &&
      (!offered->skipped || is_skipped(send_, *offered))) {
    const SendTransfer::Work work = release();
    offered->skipped ? send_.skipped(work) : send_.offered(work, *offered);
    return {};
  }
  if (is_done && work_.task == Task::range && !sending_ && stored->range == work_.range)
    return send_.finished(release()), "";
  if (is_done && work_.task == Task::seal && stored->complete && stored->digest == work_.large->digest())
    return send_.stored(release(), *stored->digest), "";
  return "a frame that is no answer";
}

// Only a file of the same size is worth a digest. The local digest may take as long as a transfer, so a file
// that may be replaced must have the same time and mode as well.
void LargeSender::compare(const file::Facts& facts) {
  const LargeSource& large = *work_.large;
  const bool same_metadata = !is_to_compare() || has_same_metadata(item().version, facts);
  if (facts.size == large.version().size && same_metadata) {
    if (!large.is_digested()) return wait();
    const bool tells_enough = facts.digest && !send_.wishes().synced;
    if (!tells_enough && std::exchange(asked_, Asked::digest) == Asked::size) {
      connection_.ask(file::Query{item().name, true, send_.wishes().synced});
      request_ = connection_.request;
      return;
    }
    if (facts.digest && facts.digest == large.digest()) {
      const bool by_this = large.may_be_stored;
      return note_there(send_, release(), *facts.digest, by_this);
    }
  }
  if (is_to_compare()) return offer_compared();
  note_other(send_, release());
}

bool LargeSender::is_to_compare() const {
  return send_.wishes().overwrites && work_.task == Task::offer && !work_.large->compared;
}

void LargeSender::offer_compared() {
  work_.large->compared = true;
  begin_again();
}

void LargeSender::refused(const FileRefusal& refusal) {
  if (std::exchange(sending_, false))  // the rest of the range is not wanted
    connection_.queue.message({request_, file::Error{{FileError::given_up, ""}}});
  left_ = {};
  const Time now = connection_.now;
  const bool held = refusal.error == FileError::busy || refusal.error == FileError::overlap;
  if (held && now < send_.give_up_at(work_, now + kLongestBusy)) return wait();
  const bool was_asked = asked_ != Asked::nothing;
  // A file that the disk of the server has failed to take is replaced as well.
  const bool tells_nothing = refusal.error == FileError::not_found ||
                             refusal.error == FileError::not_permitted ||
                             refusal.error == FileError::input_output;
  if (was_asked && tells_nothing && is_to_compare()) return offer_compared();
  // The existing file may be the same as this one.
  if (refusal.error == FileError::exists && !was_asked) {
    asked_ = Asked::size;
    connection_.ask(file::Query{item().name, false});
    request_ = connection_.request;
    return;
  }
  const SendTransfer::Work work = release();
  if (refusal.error == FileError::not_found && (was_asked || work.task != Task::offer))
    return send_.offer_again(work);
  if (refusal.error == FileError::not_permitted && was_asked)
    return note_unknown(send_, work, work.large->may_be_stored);
  send_.failed(work, words_on(send_.item(work.item).name, refusal),
               !is_all_gone(refusal.error, work.task == Task::seal));
}

}  // namespace joust::transfer
