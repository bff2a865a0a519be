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

}  // namespace joust::transfer
