// SPDX-License-Identifier: MIT
#include "files/transfer/send_session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/printable.hpp"
#include "session/least_rate.hpp"

namespace joust::transfer {
namespace {

constexpr Duration kSayEvery = std::chrono::seconds(5);
constexpr std::size_t kMostPending = 1024;       // whole files on their way
constexpr std::uint64_t kMostWaiting = 2 << 20;  // bytes of whole files that are not sent

// The time for which a busy server is asked. It may still hold the work that a lost connection has begun, or
// have no place for more. It may need its idle limit, a minute, to notice that a connection is lost.
constexpr Duration kLongestBusy = std::chrono::seconds(100);

constexpr std::string_view kRemedy = "; --overwrite replaces files, --skip-existing leaves them";

std::string words_on(const std::string& name, const FileRefusal& refusal) {
  const bool is_in_the_way = refusal.error == FileError::not_a_file;
  return words_of(name, refusal) +
         (is_in_the_way ? "; move it away there, or send to another directory" : "");
}

}  // namespace

SendSession::~SendSession() {
  give_back_work();
}

bool SendSession::busy() const {
  return !pending_.empty() || (work_.task != Task::none && !waiting_);
}

void SendSession::give_back_work() {
  std::uint64_t whole = 0;  // bytes of files, some of which may be in the output still
  for (const Pending& pending : std::exchange(pending_, {})) {
    if (!pending.asked) whole += send_.item(pending.work.item).version.size;
    pending.asked ? send_.put_off(pending.work) : send_.give_back(pending.work);
  }
  send_.count().lost += whole - std::min(whole, outgoing().waiting());
  if (work_.task == Task::none) return;
  send_.count().lost += sent_;
  send_.give_back(std::exchange(work_, {}));
}

std::optional<Time> SendSession::due() const {
  if (digesting_ && work_.task == Task::none && go_on_at_ <= now_) return say_at_;
  const auto again = waiting_ ? std::optional(again_at_) : std::nullopt;
  const bool limited = go_on_at_ > now_ && outgoing().waiting() == 0;
  return limited ? earlier(again, go_on_at_) : again;
}

bool SendSession::may_begin() const {
  return work_.task == Task::none && pending_.size() < kMostPending && outgoing().waiting() < kMostWaiting &&
         go_on_at_ <= now_;
}

void SendSession::proceed(Time now) {
  now_ = now;
  if (waiting_ && now >= again_at_) {
    waiting_ = false;
    begin_large(now);
  }
  send_range();
  while (may_begin() && may_have_work() && !send_.over()) {
    SendTransfer::Work work = send_.next({.session = this, .only_whole = !pending_.empty()});
    if (work.task == Task::none) return say_working(now);
    begin(std::move(work), now);
  }
}

// Reports the progress of the digest: a server takes silence for a lost client.
void SendSession::say_working(Time now) {
  const auto digested = busy() ? std::nullopt : send_.digested();
  digesting_ = digested.has_value();
  if (!digested || now < say_at_) return;
  say_at_ = now + kSayEvery;
  outgoing().message({request_, file::Working{*digested}});
}

void SendSession::begin(SendTransfer::Work work, Time now) {
  digesting_ = false;
  if (!busy()) alive(now);
  if (work.task == Task::whole) return begin_whole(work, now);
  work_ = std::move(work);
  begin_large(now);
}

FileWishes SendSession::wishes_of(const FileVersion& version) const {
  FileWishes wishes = send_.wishes();
  wishes.modified_ns = version.modified_ns;
  wishes.mode = version.mode;
  return wishes;
}

// Reads the file twice at most: a file that changes while it is read is read once more.
void SendSession::begin_whole(const SendTransfer::Work& work, Time now) {
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
    Pending pending{.request = ++request_, .work = work, .digest = digester.value()};
    if (send_.asks_first() && !work.differs) return ask(std::move(pending));
    pending.check = send_whole(pending, source->version, **content, now);
    pending_.push_back(std::move(pending));
    return;
  }
  send_.failed(work, printable(item.path) + ": changes while it is read");
}

// Asks for a directory. As long as files are stored in it, its owner may write to it.
void SendSession::ask_for_folder(const SendTransfer::Work& work) {
  const SourceItem& item = send_.item(work.item);
  const FileWishes& wishes = send_.wishes();
  const bool is_open = item.is_on_way && !work.is_last;
  const std::uint64_t check = outgoing().message(
      {++request_, file::Folder{.mode = item.version.mode | (is_open ? kOwnersPermissions : 0),
                                .makes_parents = wishes.makes_parents && !item.is_inside,
                                .synced = wishes.synced && !is_open,
                                .name = item.name,
                                .sets_mode = work.is_last || wishes.overwrites}});
  pending_.push_back({.request = request_, .work = work, .check = check});
}

// Writes one piece of output: the head, the data between its frames, and the end. Returns the check of the
// request.
std::uint64_t SendSession::send_whole(const Pending& pending, const FileVersion& version, Bytes content,
                                      Time now) {
  const std::string& name = send_.item(pending.work.item).name;
  std::vector<std::byte> bytes;
  bytes.reserve(content.size() + 256 + name.size());
  const auto add = [&](Bytes more) { bytes.insert(bytes.end(), more.begin(), more.end()); };
  add(file::encode({request_, file::Whole{version.size, pending.digest, wishes_of(version), name}}));
  const std::uint64_t check = file::check_of(bytes);
  for (Bytes rest = content; !rest.empty();) {
    const Bytes part = rest.first(std::min<std::size_t>(rest.size(), file::kLargestData));
    add(file::encode({request_, file::Data{static_cast<std::uint32_t>(part.size())}}));
    add(part);
    rest = rest.subspan(part.size());
  }
  add(file::encode({request_, file::End{content.size(), std::nullopt}}));
  outgoing().bytes(request_, std::move(bytes));
  if (send_.limit().applies()) go_on_at_ = send_.limit().reserve(content.size(), now);
  return check;
}

void SendSession::ask(Pending pending) {
  pending.asked = true;
  outgoing().message(
      {pending.request, file::Query{send_.item(pending.work.item).name, true, send_.wishes().synced}});
  pending_.push_back(std::move(pending));
}

void SendSession::begin_large(Time now) {
  alive(now);
  sent_ = 0;
  asked_ = Asked::nothing;
  const FileVersion& version = work_.large->version();
  const std::string& name = send_.item(work_.item).name;
  if (is_to_compare()) {
    asked_ = Asked::size;
    outgoing().message({++request_, file::Query{name, false}});
  } else if (work_.task == Task::offer) {
    FileWishes wishes = wishes_of(version);
    wishes.source = version.device * 31 + version.inode;
    outgoing().message({++request_, file::Offer{version.size, work_.id, wishes, name}});
  } else if (work_.task == Task::range) {
    left_ = work_.range;
    sending_ = true;
    check_ = outgoing().message({++request_, file::UploadRange{version.size, work_.range, work_.id,
                                                               std::nullopt, false, name, true}});
    send_range();
  } else {
    seal();
  }
}

void SendSession::seal() {
  const std::string& path = send_.item(work_.item).path;
  const auto digest = work_.large->digest();
  std::string why;
  if (!digest) why = printable(path) + ": cannot be read to its end";
  if (work_.large->has_changed()) why = printable(path) + ": has changed while it was sent; send it again";
  if (!why.empty()) return send_.failed(std::exchange(work_, {}), why);
  check_ = outgoing().message(
      {++request_, file::Seal{work_.large->version().size, work_.id, digest, send_.item(work_.item).name}});
}

void SendSession::send_range() {
  if (!sending_) return;
  const auto& file = work_.large->file();
  RateLimit& limit = send_.limit();
  if (!limit.applies()) {
    left_ = outgoing().data_ahead(request_, file, left_);
  } else if (left_.size > 0 && outgoing().waiting() < limit.portion() && now_ >= go_on_at_) {
    const ByteRange part{left_.offset, std::min(left_.size, limit.portion())};
    go_on_at_ = limit.reserve(part.size, now_);
    outgoing().data(request_, file, part);
    left_ = {part.end(), left_.size - part.size};
  }
  if (left_.size > 0 || !outgoing().has_room()) return;
  outgoing().message({request_, file::End{work_.range.size, std::nullopt}});
  sending_ = false;
}

void SendSession::more_room(std::size_t sent) {
  progress_sent(sent);
  send_.count().sent.fetch_add(sent, std::memory_order_relaxed);
  sent_ += sent;
  send_range();
}

// The frame that was announced cannot be completed, so the connection ends here.
void SendSession::on_source_failed(int error, Time now) {
  const std::string& path = send_.item(work_.item).path;
  const std::string why = error == 0 ? "has become shorter while it was sent" : std::strerror(error);
  if (work_.task == Task::range) send_.failed(std::exchange(work_, {}), printable(path) + ": " + why);
  lose({Stage::send, error, printable(path)}, now);
}

void SendSession::take(const file::Message& message, Time now) {
  now_ = now;
  if (std::holds_alternative<file::Working>(message.body)) return;
  // The server ends the connection. It reports a client that is too slow in the answer to the request under
  // way, which may be no reason for it.
  const auto* error = std::get_if<file::Error>(&message.body);
  if (error != nullptr && (message.request == 0 || error->refusal.error == FileError::too_slow))
    return lose(words_of("connection", error->refusal), now);
  if (!pending_.empty()) return take_of_whole(message, now);
  if (work_.task != Task::none && !waiting_ && message.request == request_)
    return take_of_large(message, now);
  lose("an answer without a request", now);
}

void SendSession::take_of_whole(const file::Message& message, Time now) {
  if (message.request != pending_.front().request) return lose("an answer without a request", now);
  const Pending pending = std::move(pending_.front());
  pending_.pop_front();
  if (const auto* error = std::get_if<file::Error>(&message.body))
    return refused_whole(pending, error->refusal);
  const auto* stored = std::get_if<file::Stored>(&message.body);
  const bool is_done = stored != nullptr && stored->complete && stored->request_check == pending.check;
  if (is_done && is_of_folder(pending))
    return send_.folder_is_there(pending.work, !stored->was_there || pending.work.again);
  if (is_done && stored->digest == pending.digest) return send_.stored(pending.work, pending.digest);
  if (const auto* offered = std::get_if<file::Offered>(&message.body);
      offered != nullptr && may_skip(*offered) && !is_of_folder(pending))
    return send_.skipped(pending.work);
  if (const auto* facts = std::get_if<file::Facts>(&message.body); facts != nullptr && pending.asked)
    return compare_whole(pending, *facts);
  pending_.push_front(pending);  // still pending: the loss of an idle connection would cost no retry
  lose(printable(send_.item(pending.work.item).name) + ": a frame that is no answer", now);
}

void SendSession::compare_whole(const Pending& pending, const file::Facts& facts) {
  const bool same = facts.digest == pending.digest;
  const SendTransfer::Work& work = pending.work;
  if (replaces() && !work.differs && !(same && has_same_looks(work, facts))) return send_unasked(work);
  same ? is_there(work, pending.digest, work.again) : exists(work);
}

// Sends the file once more, without asking the server first.
void SendSession::send_unasked(SendTransfer::Work work) {
  work.differs = true;
  send_.put_off(work);
}

// True if the server's file has the time and mode that the server was asked to give it.
bool SendSession::has_same_looks(const SendTransfer::Work& work, const file::Facts& facts) const {
  const FileVersion& version = send_.item(work.item).version;
  return facts.modified_ns == version.modified_ns &&
         (!facts.mode || (*facts.mode & kPermissionBits) == version.mode);
}

// Handles a refusal. An existing file may be the same as this one: then the server is asked for its facts.
void SendSession::refused_whole(const Pending& pending, const FileRefusal& refusal) {
  SendTransfer::Work work = pending.work;
  const SourceItem& item = send_.item(work.item);
  const bool is_busy = refusal.error == FileError::busy;
  if (is_busy) send_.found_busy();
  // Its parent directory may be one that was put off.
  const bool is_early = refusal.error == FileError::not_found && item.is_inside && send_.was_busy();
  // Limited by time: any free connection asks again, and with many connections that is soon.
  if ((is_busy || is_early) && (work.give_up_at == Time{} || now_ < work.give_up_at)) {
    if (work.give_up_at == Time{}) work.give_up_at = now_ + kLongestBusy;
    go_on_at_ = std::max(go_on_at_, now_ + kAskAgain);
    return send_.put_off(work);
  }
  // A server without directories, or one that takes nothing, answers the same to the files in the directory.
  if (refusal.error == FileError::not_permitted && item.is_on_way && !work.is_last && !replaces())
    return send_.folder_is_there(work, false);
  if (refusal.error == FileError::exists && !pending.asked && !is_of_folder(pending))
    return ask({.request = ++request_, .work = work, .digest = pending.digest});
  if (refusal.error == FileError::not_found && pending.asked && !work.differs) {
    send_.asks_first(false);
    return send_unasked(work);
  }
  if (refusal.error == FileError::not_permitted && pending.asked) {
    if (!replaces() || work.differs) return untold(work, work.again);
    send_.asks_first(false);  // the file is sent in any case
    return send_unasked(work);
  }
  // The disk of the server has failed to take the existing file.
  if (refusal.error == FileError::input_output && pending.asked && replaces() && !work.differs)
    return send_unasked(work);
  send_.failed(work, words_on(send_.item(work.item).name, refusal));
}

void SendSession::take_of_large(const file::Message& message, Time now) {
  if (const auto* error = std::get_if<file::Error>(&message.body)) return refused_large(error->refusal);
  const auto* stored = std::get_if<file::Stored>(&message.body);
  const bool is_done = stored != nullptr && stored->request_check == check_;
  if (const auto* facts = std::get_if<file::Facts>(&message.body);
      facts != nullptr && asked_ != Asked::nothing)
    return compare_large(*facts);
  if (const auto* offered = std::get_if<file::Offered>(&message.body);
      offered != nullptr && work_.task == Task::offer && offered->there <= work_.large->version().size &&
      (!offered->skipped || may_skip(*offered))) {
    const SendTransfer::Work work = std::exchange(work_, {});
    return offered->skipped ? send_.skipped(work) : send_.offered(work, *offered);
  }
  if (is_done && work_.task == Task::range && !sending_ && stored->range.offset == work_.range.offset &&
      stored->range.size == work_.range.size)
    return send_.finished(std::exchange(work_, {}));
  if (is_done && work_.task == Task::seal && stored->complete && stored->digest == work_.large->digest()) {
    const SendTransfer::Work work = std::exchange(work_, {});
    return send_.stored(work, *stored->digest);
  }
  lose("a frame that is no answer", now);
}

// Only a file of the same size is worth a digest. The local digest may take as long as a transfer, so a file
// that may be replaced must have the same time and mode as well.
void SendSession::compare_large(const file::Facts& facts) {
  const LargeSource& large = *work_.large;
  if (facts.size == large.version().size && (!is_to_compare() || has_same_looks(work_, facts))) {
    if (!large.is_digested()) return wait();
    const bool tells_enough = facts.digest && !send_.wishes().synced;
    if (!tells_enough && std::exchange(asked_, Asked::digest) == Asked::size) {
      outgoing().message({++request_, file::Query{send_.item(work_.item).name, true, send_.wishes().synced}});
      return;
    }
    if (facts.digest && facts.digest == large.digest())
      return is_there(std::exchange(work_, {}), *facts.digest, large.may_be_stored);
  }
  if (is_to_compare()) return offer_compared();
  exists(std::exchange(work_, {}));
}

bool SendSession::is_to_compare() const {
  return replaces() && work_.task == Task::offer && !work_.large->compared;
}

void SendSession::offer_compared() {
  work_.large->compared = true;
  begin_large(now_);
}

void SendSession::wait() {
  waiting_ = true;
  again_at_ = now_ + kAskAgain;
}

void SendSession::refused_large(const FileRefusal& refusal) {
  if (std::exchange(sending_, false))  // the rest of the range is not wanted
    outgoing().message({request_, file::Error{{FileError::given_up, ""}}});
  left_ = {};
  const bool held = refusal.error == FileError::busy || refusal.error == FileError::overlap;
  if (held && now_ < send_.give_up_at(work_, now_ + kLongestBusy)) return wait();
  const std::string& name = send_.item(work_.item).name;
  const bool was_asked = asked_ != Asked::nothing;
  // A file that the disk of the server has failed to take is replaced as well.
  const bool tells_nothing = refusal.error == FileError::not_found ||
                             refusal.error == FileError::not_permitted ||
                             refusal.error == FileError::input_output;
  if (was_asked && tells_nothing && is_to_compare()) return offer_compared();
  // The existing file may be the same as this one.
  if (refusal.error == FileError::exists && !was_asked) {
    asked_ = Asked::size;
    outgoing().message({++request_, file::Query{name, false}});
    return;
  }
  const SendTransfer::Work work = std::exchange(work_, {});
  if (refusal.error == FileError::not_found && (was_asked || work.task != Task::offer))
    return send_.offer_again(work);
  if (refusal.error == FileError::not_permitted && was_asked) return untold(work, work.large->may_be_stored);
  send_.failed(work, words_on(name, refusal), !is_all_gone(refusal.error, work.task == Task::seal));
}

// Handles an existing file with the same bytes: this transfer has stored it, or it existed before.
void SendSession::is_there(const SendTransfer::Work& work, const Digest& digest, bool by_this) {
  if (by_this) return send_.stored(work, digest);
  send_.asks_first(true);
  send_.skipped(work);
}

void SendSession::exists(const SendTransfer::Work& work) {
  send_.failed(work, fmt::format("{}: exists on the server, and is another file{}",
                                 printable(send_.item(work.item).name), kRemedy));
}

// Fails a file on a server from which nothing can be fetched.
void SendSession::untold(const SendTransfer::Work& work, bool answer_lost) {
  const std::string name = printable(send_.item(work.item).name);
  send_.failed(
      work, answer_lost ? fmt::format("{}: is there, but the server does not tell whether it is this file: "
                                      "the connection was lost before its answer; --overwrite sends it again",
                                      name)
                        : fmt::format("{}: exists on the server{}", name, kRemedy));
}

}  // namespace joust::transfer
