// SPDX-License-Identifier: MIT
#include "files/protocol/server_session.hpp"

#include <utility>
#include <variant>

namespace joust::file {
namespace {

constexpr std::size_t kLookedAt = 64;           // names in a slice: each takes one call of the file system
constexpr std::uint64_t kMostListed = 1 << 20;  // entries of one directory
constexpr std::uint64_t kMostListUnread = 64 << 10;  // bytes of a list

Facts facts_of(const OpenFile& file, const std::optional<Digest>& digest) {
  return {file.version.size, file.version.modified_ns, digest, file.version.mode};
}

}  // namespace

FileRefusal lost_source(int error) {
  if (error == 0) return {FileError::shrunk, "the file has become shorter"};
  return {error_of(error), "the file cannot be read"};
}

bool Downloads::are_allowed() {
  if (!server_.gives) answers_.refuse({FileError::not_permitted, "this server only receives files"});
  return server_.gives;
}

void Downloads::begin(const Query& query, Time now) {
  ++server_.queries;
  if (!are_allowed()) return;
  if (query.synced && !server_.takes) return answers_.refuse(takes_nothing());
  auto file = server_.storage.open(query.name);
  if (!file) return answers_.refuse(file.error());
  if (query.synced) to_sync_ = query.name;
  if (!query.wants_digest || file->digest) {
    tell(*file, file->digest, now);
    return done();
  }
  digest_.emplace(file->version.size);
  source_ = std::move(*file);
  state_ = State::digesting;
  slices_.begin(now);
}

void Downloads::tell(const OpenFile& file, const std::optional<Digest>& digest, Time now) {
  FileAnswer<std::shared_ptr<StoredEntry>> entry = nullptr;
  if (!to_sync_.empty()) entry = server_.storage.sync(to_sync_);
  answers_.send_when_on_disk(facts_of(file, digest), std::move(entry), now);
}

void Downloads::begin(const Fragment& fragment, Time /*now*/) {
  ++server_.fragments;
  answers_.count_request();
  if (!are_allowed()) return;
  auto file = server_.storage.open(fragment.name);
  if (!file) return answers_.refuse(file.error());
  const std::uint64_t size = file->version.size;
  if (fragment.range.end() > size)
    return answers_.refuse({FileError::beyond_end, "the file has " + std::to_string(size) + " bytes"});
  const bool is_small = fragment.range.size == size && size <= kSentWithDigest;
  if (is_small && !file->digest && file->settled && send_small(*file)) return;
  answers_.send(facts_of(*file, file->digest));
  source_ = std::move(*file);
  left_ = range_ = fragment.range;
  state_ = State::sending;
  send_more();
}

// Sends a small file with the digest of the bytes that are sent, so that the client need not ask for it. They
// are read before the answer begins, and count only if the file is still the same: a client that gets no
// digest asks for it, and so notices a change.
bool Downloads::send_small(const OpenFile& file) {
  std::vector<std::byte> content(file.version.size);
  for (std::size_t done = 0; done < content.size();) {
    const auto read = file.file->read_at(done, std::span(content).subspan(done));
    if (!read || *read == 0) return false;
    done += *read;
  }
  server_.bytes_digested += content.size();
  if (!server_.storage.is_unchanged(file)) return false;
  Digester digester;
  digester.add(content);
  const Digest digest = digester.value();
  server_.storage.remember(file, digest);
  std::vector<std::byte> answer;
  const auto add = [&](Bytes bytes) { answer.insert(answer.end(), bytes.begin(), bytes.end()); };
  const std::uint32_t request = answers_.request();
  answer.reserve(content.size() + 256);
  add(encode({request, facts_of(file, digest)}));
  if (!content.empty()) add(encode({request, Data{static_cast<std::uint32_t>(content.size())}}));
  add(content);
  add(encode({request, End{content.size(), digest}}));
  answers_.queue().bytes(request, std::move(answer), content.size());
  return true;
}

void Downloads::send_more() {
  if (state_ != State::sending) return;
  OutputQueue& queue = answers_.queue();
  left_ = queue.data_ahead(answers_.request(), source_.file, left_);
  if (left_.size > 0 || !queue.has_room()) return;
  const bool whole = range_.size == source_.version.size;
  answers_.send(End{range_.size, whole ? source_.digest : std::nullopt});
  done();
}

// All frames of a short file may be in the output already; then its request is no longer under way.
void Downloads::source_failed(int error) {
  ++server_.refused;
  const bool latest = answers_.queue().source_failed(lost_source(error));
  if (latest && state_ == State::sending) done();
}

void Downloads::begin(const List& list, Time now) {
  ++server_.queries;
  if (!are_allowed()) return;
  auto folder = server_.storage.read_folder(list.name);
  if (!folder) return answers_.refuse(folder.error());
  const FolderEntry& itself = (*folder)->itself();
  answers_.send(Facts{.modified_ns = itself.modified_ns, .mode = itself.mode});
  folder_ = std::move(*folder);
  listed_ = 0;
  state_ = State::listing;
  slices_.begin(now);
}

void Downloads::go_on(Time now) {
  if (state_ == State::digesting) digest_slice(now);
  if (state_ == State::listing) list_slice();
}

void Downloads::digest_slice(Time now) {
  const std::uint64_t before = digest_->done();
  const bool is_long = source_.version.size - before > Slices::kWithoutTurn;
  if (is_long && !slices_.take_turn(false, now)) return;
  const auto through = digest_->advance(*source_.file);
  server_.bytes_digested += digest_->done() - before;
  if (!through) {
    answers_.refuse(lost_source(through.error()));
    return done();
  }
  if (!*through) return answers_.working(digest_->done(), now);
  const Digest digest = digest_->value();
  server_.storage.remember(source_, digest);
  tell(source_, digest, now);
  done();
}

bool Downloads::is_listing_unread() const {
  return state_ == State::listing && answers_.queue().cost() > kMostListUnread;
}

void Downloads::list_slice() {
  if (is_listing_unread()) return;
  std::vector<FolderEntry> found;
  const auto looked_at = folder_->read(kLookedAt, found);
  listed_ += found.size();
  send_entries(std::move(found));
  const bool is_too_large = listed_ > kMostListed;
  if (looked_at && *looked_at == kLookedAt && !is_too_large) return;
  if (!looked_at)
    answers_.refuse({error_of(looked_at.error()), "the directory cannot be read"});
  else if (is_too_large)
    answers_.refuse({FileError::too_large, "the directory has more than 1,048,576 entries"});
  else
    answers_.send(Listed{listed_, folder_->left_out()});
  done();
}

// Sends the entries, as many in a frame as fit.
void Downloads::send_entries(std::vector<FolderEntry> found) {
  Entries part;
  std::size_t size = Entries::kHeadBytes;
  for (FolderEntry& entry : found) {
    const std::size_t needed = Entries::kEntryHeadBytes + entry.name.size();
    if (size + needed > kLargestBody) {
      answers_.send(std::exchange(part, {}));
      size = Entries::kHeadBytes;
    }
    size += needed;
    part.entries.push_back(std::move(entry));
  }
  if (!part.entries.empty()) answers_.send(std::move(part));
}

void Downloads::done() {
  state_ = State::idle;
  source_ = {};
  digest_.reset();
  to_sync_.clear();
  folder_.reset();
  slices_.end();
}

ServerSession::ServerSession(ServerState& server, Uploader from)
    : server_(server),
      answers_(server),
      slices_(server, answers_),
      downloads_(server, answers_, slices_),
      incomplete_(server),
      uploads_(server, answers_, slices_, incomplete_, std::move(from)),
      incoming_rate_(server.rates.incoming),
      outgoing_rate_(server.rates.outgoing) {}

ServerSession::~ServerSession() {
  if (!downloads_.idle() || uploads_.are_cut_off() || answers_.queue().sends_file()) ++server_.abandoned;
}

Want ServerSession::want() const {
  if (over_ || downloads_.sends() || downloads_.works() || uploads_.works()) return Want::nothing;
  if (next_request_ || answers_.is_crowded()) return Want::nothing;
  if (ending_ && idle() && answers_.wait()) return Want::nothing;  // only answers are left
  if (uploads_.incoming().wants_data()) return Want::file;
  return answers_.are_unread() ? Want::nothing : Want::bytes;
}

std::size_t ServerSession::on_bytes(Bytes chunk, Time now) {
  std::size_t taken = 0;
  while (taken < chunk.size() && want() == Want::bytes) {
    if (const std::size_t unwanted = uploads_.incoming().discard(chunk.size() - taken); unwanted > 0) {
      taken += unwanted;
      continue;
    }
    const auto step = decoder_.next(chunk.subspan(taken));
    if (!step) {
      violated(step.error().request, step.error().refusal);
      taken = chunk.size();
      break;
    }
    taken += step->taken;
    if (step->message) take(*step->message, now);
    conclude();
  }
  incoming_rate_.moved(taken);
  watch_rates(now);
  return taken;
}

// True if the request has to wait for the answers that wait for the disk. Whole files and directories follow
// one another while the disk works on earlier ones. So do queries, unless a file waits, which has no name
// yet. Other requests wait, because answers are sent in the order of their requests.
bool ServerSession::waits_for_others(const Message& message) const {
  if (!answers_.wait() || !idle()) return false;
  if (std::holds_alternative<Query>(message.body)) return answers_.wait_for_upload();
  return !std::holds_alternative<Whole>(message.body) && !std::holds_alternative<Folder>(message.body);
}

void ServerSession::take(const Message& message, Time now) {
  if (const auto* working = std::get_if<Working>(&message.body); working != nullptr && idle())
    return incomplete_.sender_works(*working);
  if (waits_for_others(message)) {
    next_request_ = message;
    return;
  }
  const bool belongs = uploads_.receives()
                           ? message.request == answers_.request() && take_of_upload(message.body, now)
                           : begin(message, now);
  if (!belongs) violated(message.request, {FileError::malformed, "this frame does not belong here"});
}

bool ServerSession::begin(const Message& message, Time now) {
  return std::visit(
      [&](const auto& request) {
        const auto begin_in = [&](auto& part) {
          answers_.begin(message.request, message.check);
          uploads_.next_request();
          part.begin(request, now);
          return true;
        };
        if constexpr (requires { downloads_.begin(request, now); })
          return begin_in(downloads_);
        else if constexpr (requires { uploads_.begin(request, now); })
          return begin_in(uploads_);
        else
          return false;
      },
      message.body);
}

bool ServerSession::take_of_upload(const Body& body, Time now) {
  if (const auto* data = std::get_if<Data>(&body)) {
    if (!uploads_.take(*data))
      violated(answers_.request(), {FileError::malformed, "more data than the range has"});
  } else if (const auto* end = std::get_if<End>(&body)) {
    uploads_.take(*end, now);
  } else if (std::holds_alternative<Error>(body)) {
    uploads_.given_up();
  } else {
    return false;
  }
  return true;
}

// Ends the connection, whatever happens to the files that wait for the disk.
void ServerSession::violated(std::uint32_t request, const FileRefusal& refusal) {
  answers_.begin(request, 0);
  answers_.drop_waiting();
  answers_.refuse(refusal);
  uploads_.abandon();
  complaint_ = refusal.text;
  over_ = true;
}

void ServerSession::on_stored(std::size_t n, Bytes seen, Time now) {
  uploads_.incoming().stored(n, seen);
  server_.bytes_stored.fetch_add(n, std::memory_order_relaxed);
  incoming_rate_.moved(n);
  watch_rates(now);
}

void ServerSession::on_store_failed(int error, Time now) {
  uploads_.refuse({error_of(error), "the file cannot be written"});
  watch_rates(now);
}

void ServerSession::on_source_failed(int error, Time now) {
  downloads_.source_failed(error);
  conclude();
  watch_rates(now);
}

void ServerSession::consumed(std::size_t n) {
  OutputQueue& queue = answers_.queue();
  server_.bytes_sent.fetch_add(queue.consumed(n), std::memory_order_relaxed);
  outgoing_rate_.moved(n);
  if (downloads_.sends()) {
    downloads_.send_more();
    conclude();
  }
  if (queue.waiting() == 0) outgoing_rate_.reset();
}

void ServerSession::on_peer_finished(Time now) {
  peer_finished_ = ending_ = true;
  uploads_.end_incomplete();
  conclude();
  watch_rates(now);
}

void ServerSession::on_drain(Time now) {
  ending_ = true;
  conclude();
  watch_rates(now);
}

void ServerSession::on_deadline(Time now) {
  downloads_.go_on(now);
  uploads_.go_on(now);
  if (answers_.next_look().value_or(Time::max()) <= now) look_at_disk(now);
  check_rates(now);
  conclude();
  watch_rates(now);
}

void ServerSession::look_at_disk(Time now) {
  answers_.look_at_disk(now);
  if (answers_.wait()) return;
  if (next_request_) take(*std::exchange(next_request_, std::nullopt), now);
  if (peer_finished_) uploads_.end_incomplete();
}

// Ends the session after its last answer. It keeps an upload that other connections are still sending, if it
// sent a range of it.
void ServerSession::conclude() {
  incomplete_.forget_complete();
  const bool had_all = answers_.had_all() && incomplete_.empty();
  const bool is_at_rest = idle() && !answers_.wait() && !next_request_;
  if (is_at_rest && (ending_ || had_all)) over_ = true;
}

void ServerSession::watch_rates(Time now) {
  const bool waited_for = want() != Want::nothing;
  incoming_rate_.expect(!over_ && (uploads_.receives() || decoder_.in_message()), waited_for, now);
  outgoing_rate_.expect(answers_.queue().waiting() > 0, true, now);
  incomplete_.expect_growth(!over_, waited_for, now);
}

// Detects peers that are too slow for the connection, upload or open file that they hold.
void ServerSession::check_rates(Time now) {
  incomplete_.forget_complete();  // another connection may have sealed an upload, which grows no more
  if (outgoing_rate_.missed(now)) {
    gives_up_ = true;
    return end_slow_peer("an answer is read " + outgoing_rate_.complaint());
  }
  if (incoming_rate_.missed(now))
    return end_slow_peer((uploads_.receives() ? "an upload comes " : "a request comes ") +
                         incoming_rate_.complaint());
  const auto complaint = incomplete_.complaint(uploads_.in_hand(), !idle(), answers_.requests(), now);
  if (complaint) end_slow_peer(*complaint);
}

// Ends a slow peer. Its resources are freed at once, even if it never reads the error.
void ServerSession::end_slow_peer(const std::string& what) {
  ++server_.too_slow;
  violated(uploads_.receives() ? answers_.request() : 0, {FileError::too_slow, what});
  incomplete_.clear();
}

std::optional<Time> ServerSession::deadline() const {
  auto due = earlier(incoming_rate_.deadline(), outgoing_rate_.deadline());
  due = earlier(earlier(due, incomplete_.deadline()), answers_.next_look());
  return uploads_.works() || downloads_.has_slice_due() ? earlier(due, slices_.due()) : due;
}

}  // namespace joust::file
