// SPDX-License-Identifier: MIT
#include "files/protocol/server_session.hpp"

#include <algorithm>
#include <utility>

namespace joust::file {
namespace {

// Memory for unread answers in bytes, beyond which the peer is not read from.
constexpr std::uint64_t kMostAnswers = 64 << 10;
constexpr std::size_t kMostFiles = 2;  // in unread answers: each keeps a file open

bool is_request(const Body& body) {
  return std::holds_alternative<Query>(body) || std::holds_alternative<Fragment>(body) ||
         std::holds_alternative<UploadRange>(body) || std::holds_alternative<Offer>(body) ||
         std::holds_alternative<Whole>(body) || std::holds_alternative<Seal>(body) ||
         std::holds_alternative<Folder>(body) || std::holds_alternative<List>(body);
}

}  // namespace

ServerSession::ServerSession(ServerState& server, Uploader from)
    : server_(server),
      from_(std::move(from)),
      incoming_rate_(server.rates.incoming),
      outgoing_rate_(server.rates.outgoing) {}

ServerSession::~ServerSession() {
  end_turn();
  const bool is_busy = (state_ != State::idle && state_ != State::discarding) || outgoing_.sends_file();
  if (is_busy || (!is_counted_ && leaves_unfinished())) ++server_.abandoned;
  if (state_ == State::receiving) upload_->give_back(range_);
  // Other connections may still refer to the upload, and none of them checks it.
  if (state_ == State::checking) upload_->let_go();
  upload_.reset();
  begun_.clear();
  waiting_.clear();
}

// True if an offered file is left unfinished. Between two ranges nothing is under way, and no other
// connection may send the next range.
bool ServerSession::leaves_unfinished() const {
  return std::ranges::any_of(begun_, [](const BegunUpload& begun) {
    return begun.offered && !begun.upload->over() && begun.upload.use_count() == 1;
  });
}

Want ServerSession::want() const {
  if (over_ || state_ == State::sending || works()) return Want::nothing;
  if (next_request_ || is_crowded_) return Want::nothing;
  if (ending_ && state_ == State::idle && !waiting_.empty()) return Want::nothing;  // only answers are left
  if (state_ == State::receiving && data_left_ > 0) return Want::file;
  const bool unread = outgoing_.cost() > kMostAnswers || outgoing_.files() >= kMostFiles;
  return unread ? Want::nothing : Want::bytes;
}

std::size_t ServerSession::on_bytes(Bytes chunk, Time now) {
  std::size_t taken = 0;
  while (taken < chunk.size() && want() == Want::bytes) {
    if (data_left_ > 0) {  // data of a refused upload
      const std::uint64_t part = std::min<std::uint64_t>(data_left_, chunk.size() - taken);
      data_left_ -= part;
      taken += part;
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

void ServerSession::take(const Message& message, Time now) {
  if (const auto* working = std::get_if<Working>(&message.body); working != nullptr && state_ == State::idle)
    return sender_works(*working);
  if (waits_for_others(message)) {
    next_request_ = message;
    return;
  }
  const bool of_upload = state_ == State::receiving || state_ == State::discarding;
  if (is_request(message.body) == of_upload || (of_upload && message.request != request_))
    return violated(message.request, {FileError::malformed, "this frame does not belong here"});
  request_ = message.request;
  if (!of_upload) {
    request_check_ = message.check;
    outgoing_.next_answer();
    is_counted_ = false;
  }
  if (const auto* query = std::get_if<Query>(&message.body)) return begin(*query, now);
  if (const auto* fragment = std::get_if<Fragment>(&message.body)) return begin(*fragment);
  if (const auto* upload = std::get_if<UploadRange>(&message.body)) return begin(*upload);
  if (const auto* offer = std::get_if<Offer>(&message.body)) return begin(*offer, now);
  if (const auto* whole = std::get_if<Whole>(&message.body)) return begin(*whole, now);
  if (const auto* seal = std::get_if<Seal>(&message.body)) return begin(*seal, now);
  if (const auto* folder = std::get_if<Folder>(&message.body)) return begin(*folder, now);
  if (const auto* list = std::get_if<List>(&message.body)) return begin(*list, now);
  if (const auto* data = std::get_if<Data>(&message.body)) {
    begin(*data);
  } else if (const auto* end = std::get_if<End>(&message.body)) {
    end_upload(*end, now);
  } else if (std::holds_alternative<Error>(message.body)) {
    if (state_ == State::receiving || is_there_) refuse({FileError::given_up, "by the sender"});
    answered();
  } else {
    violated(request_, {FileError::malformed, "this frame does not belong here"});
  }
}

Facts facts_of(const OpenFile& file, const std::optional<Digest>& digest) {
  return {file.version.size, file.version.modified_ns, digest, file.version.mode};
}

bool ServerSession::works() const {
  return state_ == State::digesting || state_ == State::recalling || state_ == State::checking ||
         state_ == State::listing;
}

bool ServerSession::may_download() {
  if (!server_.gives) refuse({FileError::not_permitted, "this server only receives files"});
  return server_.gives;
}

bool ServerSession::may_upload() {
  if (!server_.takes) refuse({FileError::not_permitted, "this server only sends files"});
  return server_.takes;
}

void ServerSession::begin(const Query& query, Time now) {
  ++server_.queries;
  if (!may_download() || (query.synced && !may_upload())) return;
  auto file = server_.storage.open(query.name);
  if (!file) return refuse(file.error());
  const FileVersion& version = file->version;
  if (query.synced) to_sync_ = query.name;
  if (!query.wants_digest || file->digest) {
    tell(*file, file->digest, now);
    return answered();
  }
  digest_.emplace(version.size);
  source_ = std::move(*file);
  state_ = State::digesting;
  due_ = said_working_ = now;
}

void ServerSession::tell(const OpenFile& file, const std::optional<Digest>& digest, Time now) {
  FileAnswer<std::shared_ptr<StoredEntry>> entry = nullptr;
  if (!to_sync_.empty()) entry = server_.storage.sync(to_sync_);
  answer_from_disk({request_, facts_of(file, digest)}, std::move(entry), now);
}

void ServerSession::begin(const Fragment& fragment) {
  ++server_.fragments;
  ++requests_;
  if (!may_download()) return;
  auto file = server_.storage.open(fragment.name);
  if (!file) return refuse(file.error());
  const FileVersion& version = file->version;
  if (fragment.range.end() > version.size)
    return refuse({FileError::beyond_end, "the file has " + std::to_string(version.size) + " bytes"});
  outgoing_.message({request_, facts_of(*file, file->digest)});
  source_ = std::move(*file);
  left_ = range_ = fragment.range;
  state_ = State::sending;
  send_more();
}

void ServerSession::send_more() {
  left_ = outgoing_.data_ahead(request_, source_.file, left_);
  if (left_.size > 0 || !outgoing_.has_room()) return;
  const bool whole = range_.size == source_.version.size;
  outgoing_.message({request_, End{range_.size, whole ? source_.digest : std::nullopt}});
  answered();
}

void ServerSession::consumed(std::size_t n) {
  server_.bytes_sent.fetch_add(outgoing_.consumed(n), std::memory_order_relaxed);
  outgoing_rate_.moved(n);
  if (state_ == State::sending) {
    send_more();
    conclude();
  }
  if (outgoing_.waiting() == 0) outgoing_rate_.reset();
}

void ServerSession::on_source_failed(int error, Time now) {
  ++server_.refused;
  // All frames of a short file may be queued already; then its request is no longer the current one.
  const bool latest = outgoing_.source_failed(lost_source(error));
  if (latest && state_ == State::sending) answered();
  conclude();
  watch_rates(now);
}

// Refuses the request. More data of a refused upload may follow: they are discarded.
void ServerSession::refuse(const FileRefusal& refusal) {
  ++server_.refused;
  answer({request_, Error{refusal}});
  abandon_upload();
}

void ServerSession::violated(std::uint32_t request, const FileRefusal& refusal) {
  request_ = request;
  outgoing_.next_answer();
  waiting_.clear();  // the connection ends here, whatever happens to the waiting files
  refuse(refusal);
  complaint_ = refusal.text;
  over_ = true;
}

void ServerSession::answered() {
  state_ = State::idle;
  is_there_ = is_whole_ = false;
  source_ = {};
  folder_.reset();
  to_sync_.clear();
  upload_.reset();
  forget_complete_uploads();
  digest_.reset();
  end_turn();
}

void ServerSession::conclude() {
  forget_complete_uploads();
  // The session keeps an upload that other connections are still sending, if it sent a range of it.
  const bool had_all =
      server_.requests_per_connection > 0 && requests_ >= server_.requests_per_connection && begun_.empty();
  const bool idle = state_ == State::idle && waiting_.empty() && !next_request_;
  if (idle && (ending_ || had_all)) over_ = true;
}

void ServerSession::on_peer_finished(Time now) {
  peer_finished_ = ending_ = true;
  end_incomplete_upload();
  conclude();
  watch_rates(now);
}

void ServerSession::end_incomplete_upload() {
  abandon_upload();
  if (state_ == State::discarding) answered();
}

void ServerSession::on_drain(Time now) {
  ending_ = true;
  conclude();
  watch_rates(now);
}

void ServerSession::on_deadline(Time now) {
  if (state_ == State::digesting) digest_slice(now);
  if (state_ == State::listing) list_slice();
  if (state_ == State::recalling) recall_slice(now);
  if (state_ == State::checking) check_slice(now);
  if (!waiting_.empty() && now >= look_at_disk_) look_at_disk(now);
  check_rates(now);
  conclude();
  watch_rates(now);
}

}  // namespace joust::file
