// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <deque>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "files/transfer/large_send.hpp"
#include "files/transfer/transfer_session.hpp"
#include "session/handler_session.hpp"

namespace joust::transfer {
namespace {

constexpr std::size_t kMostPending = 1024;       // whole files on their way
constexpr std::uint64_t kMostWaiting = 2 << 20;  // bytes of whole files that are not sent

// The whole files and the directories that one connection sends, many without waiting for answers. The
// answers arrive in the order of the requests.
class WholeSender {
 public:
  explicit WholeSender(SendConnection& connection) : connection_(connection), send_(connection.send) {}

  bool any() const { return !pending_.empty(); }  // answers are awaited
  bool may_begin() const;
  void begin(const SendTransfer::Work& work);
  // Takes the answer to the oldest request. Returns an objection; empty if the frame is such an answer.
  std::string take(const file::Message& message);
  // Gives all work back. Returns the bytes of files in it, some of which may be in the output still.
  std::uint64_t give_back();

 private:
  // A whole file, or a directory, whose answer is awaited.
  struct Pending {
    std::uint32_t request = 0;
    SendTransfer::Work work{};
    Digest digest{};
    bool asked = false;       // the server was asked for the digest of its file of that name
    std::uint64_t check = 0;  // the check of the request, unless asked
  };

  const SourceItem& item_of(const Pending& pending) const { return send_.item(pending.work.item); }
  void ask_for_folder(const SendTransfer::Work& work);
  std::uint64_t send_bytes(const Pending& pending, const FileVersion& version, Bytes content);
  void ask(Pending pending);
  void compare(const Pending& pending, const file::Facts& facts);
  void refused(const Pending& pending, const FileRefusal& refusal);
  void send_unasked(SendTransfer::Work work);

  SendConnection& connection_;
  SendTransfer& send_;
  std::deque<Pending> pending_;
  std::vector<std::byte> content_;  // the file that is sent next
};

bool WholeSender::may_begin() const {
  return pending_.size() < kMostPending && connection_.queue.waiting() < kMostWaiting &&
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
  const bool is_open = item.is_parent && !work.is_last;
  const std::uint64_t check =
      connection_.ask(file::Folder{.mode = item.version.mode | (is_open ? kOwnersPermissions : 0),
                                   .makes_parents = wishes.makes_parents && !item.is_nested,
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
  connection_.queue.bytes(request, std::move(bytes));
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
  const bool is_equal = same && has_same_metadata(item_of(pending).version, facts);
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
  const bool is_early = refusal.error == FileError::not_found && item.is_nested && send_.was_busy();
  // Limited by time: any free connection asks again, and with many connections that is soon.
  if ((is_busy || is_early) && (work.give_up_at == Time{} || now < work.give_up_at)) {
    if (work.give_up_at == Time{}) work.give_up_at = now + kLongestBusy;
    connection_.go_on_at = std::max(connection_.go_on_at, now + kAskAgain);
    return send_.put_off(work);
  }
  // A server without directories, or one that takes nothing, answers the same to the files in the directory.
  if (refusal.error == FileError::not_permitted && item.is_parent && !work.is_last && !replaces)
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

// One connection that sends files: many whole ones, or a piece of a large one.
class SendSession : public TransferSession {
 public:
  explicit SendSession(SendTransfer& sending)
      : TransferSession(sending), connection_{sending, queue()}, wholes_(connection_), large_(connection_) {}
  ~SendSession() override;

 private:
  void proceed(Time now) override;
  void take(const file::Message& message, Time now) override;
  const std::string& any_name() const override { return connection_.send.item(0).name; }
  void requeue_work() override;
  bool busy() const override { return wholes_.any() || large_.awaits_answer(); }
  void more_room(std::size_t sent) override;
  std::optional<Time> due() const override;
  void on_source_failed(int error, Time now) override;

  void report_digest();

  SendConnection connection_;
  WholeSender wholes_;
  LargeSender large_;
  bool digesting_ = false;  // only the digest of a large file is missing
  Time report_at_{};        // when to report next that it is being made
};

constexpr Duration kReportEvery = std::chrono::seconds(5);

SendSession::~SendSession() {
  SendSession::requeue_work();
}

void SendSession::requeue_work() {
  const std::uint64_t whole = wholes_.give_back();
  connection_.send.count().lost += whole - std::min(whole, queue().waiting());
  large_.give_back();
}

std::optional<Time> SendSession::due() const {
  const Time pause = connection_.go_on_at;
  const bool is_paused = pause > connection_.now;
  if (digesting_ && !large_.has_work() && !is_paused) return report_at_;
  return is_paused && queue().waiting() == 0 ? earlier(large_.due(), pause) : large_.due();
}

void SendSession::proceed(Time now) {
  connection_.now = now;
  if (large_.due() && now >= *large_.due()) alive(now);
  large_.go_on();
  SendTransfer& send = connection_.send;
  while (!large_.has_work() && wholes_.may_begin() && may_have_work() && !send.over()) {
    SendTransfer::Work work = send.next({.session = this, .only_whole = wholes_.any()});
    if (work.task == SendTransfer::Task::none) return report_digest();
    digesting_ = false;
    if (!busy()) alive(now);
    if (work.task == SendTransfer::Task::whole)
      wholes_.begin(work);
    else
      large_.begin(std::move(work));
  }
}

// Reports the progress of the digest: a server takes silence for a lost client.
void SendSession::report_digest() {
  const auto digested = busy() ? std::nullopt : connection_.send.digested();
  digesting_ = digested.has_value();
  if (!digested || connection_.now < report_at_) return;
  report_at_ = connection_.now + kReportEvery;
  queue().message({connection_.request, file::Working{*digested}});
}

void SendSession::take(const file::Message& message, Time now) {
  connection_.now = now;
  if (std::holds_alternative<file::Working>(message.body)) return;
  // The server ends the connection. It reports a client that is too slow in the answer to the request under
  // way, which may be no reason for it.
  const auto* error = std::get_if<file::Error>(&message.body);
  if (error != nullptr && (message.request == 0 || error->refusal.error == FileError::too_slow))
    return lose(words_of("connection", error->refusal), now);
  std::string objection = "an answer without a request";
  if (wholes_.any())
    objection = wholes_.take(message);
  else if (large_.awaits(message.request))
    objection = large_.take(message);
  if (!objection.empty()) lose(objection, now);
}

void SendSession::more_room(std::size_t sent) {
  progress_sent(sent);
  connection_.send.count().sent.fetch_add(sent, std::memory_order_relaxed);
  large_.sent(sent);
  large_.add_data();
}

// The frame that was announced cannot be completed, so the connection ends here.
void SendSession::on_source_failed(int error, Time now) {
  const std::string path = printable(large_.item().path);
  large_.source_failed(error);
  lose({Stage::send, error, path}, now);
}

}  // namespace

std::unique_ptr<Session> send_session(SendTransfer& send) {
  return std::make_unique<SendSession>(send);
}

}  // namespace joust::transfer
