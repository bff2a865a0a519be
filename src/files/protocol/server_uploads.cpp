// SPDX-License-Identifier: MIT
#include "files/protocol/server_uploads.hpp"

#include <algorithm>
#include <utility>

namespace joust::file {
namespace {

constexpr std::size_t kMostIncomplete = 8;  // uploads of one connection

}  // namespace

FileAnswer<std::shared_ptr<Upload>> IncompleteUploads::find(const UploadRequest& request,
                                                            std::uint64_t requests) {
  forget_complete();
  auto found = server_.storage.upload(request);
  if (!found || std::ranges::find(all_, *found, &Entry::upload) != all_.end()) return found;
  if (all_.size() >= kMostIncomplete)
    return refused(FileError::busy, "too many uploads of this connection are incomplete");
  keep(*found, request.begun || (request.wishes && request.wishes->resumable), request.size, requests);
  return found;
}

// Several connections contribute to the growth of an upload, so it gets as much time as readers do.
void IncompleteUploads::keep(const std::shared_ptr<Upload>& upload, bool offered, std::uint64_t size,
                             std::uint64_t requests) {
  all_.push_back({upload, offered, size, LeastRate(server_.rates.outgoing), upload->received(), requests});
}

void IncompleteUploads::forget_complete() {
  std::erase_if(all_, [](const Entry& entry) { return entry.upload->over(); });
}

bool IncompleteUploads::leave_unfinished() const {
  return std::ranges::any_of(all_, [](const Entry& entry) {
    return entry.offered && !entry.upload->over() && entry.upload.use_count() == 1;
  });
}

// Limits the digested bytes by the file's size, as the received bytes are.
void IncompleteUploads::sender_works(const Working& working) {
  for (Entry& entry : all_) {
    const std::uint64_t done = std::min(working.done, entry.size);
    if (done > entry.digested && entry.upload->awaits_seal())
      entry.growth.moved(done - std::exchange(entry.digested, done));
  }
}

void IncompleteUploads::expect_growth(bool owed, bool waited_for, Time now) {
  for (Entry& entry : all_) entry.growth.expect(owed, waited_for, now);
}

std::optional<std::string> IncompleteUploads::complaint(const Upload* in_hand, bool is_busy,
                                                        std::uint64_t requests, Time now) {
  for (std::size_t i = 0; i < all_.size();) {
    Entry& entry = all_[i];
    const bool over = entry.growth.deadline().value_or(Time::max()) <= now;
    const std::uint64_t before = over ? std::exchange(entry.requests, requests) : requests;
    if (entry.grows(now)) {
      ++i;
    } else if (entry.offered && entry.upload.get() != in_hand && (is_busy || before != requests)) {
      all_.erase(all_.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      return "an incomplete upload grows " + entry.growth.complaint();
    }
  }
  return std::nullopt;
}

bool IncompleteUploads::Entry::grows(Time now) {
  const std::uint64_t before = std::exchange(received, upload->received());
  growth.moved(received - before);
  return !growth.missed(now);
}

std::optional<Time> IncompleteUploads::deadline() const {
  std::optional<Time> due;
  for (const Entry& entry : all_) due = earlier(due, entry.growth.deadline());
  return due;
}

namespace {

// Marks numbers given by the server: files whose data follows at once have no number of their own, and are
// never sent in parts.
constexpr std::uint64_t kNumberedHere = std::uint64_t{1} << 63;

constexpr Duration kLookForDisk = std::chrono::milliseconds(2);

}  // namespace

Uploads::Uploads(ServerState& server, Answers& answers, Slices& slices, IncompleteUploads& incomplete,
                 Uploader from)
    : server_(server), answers_(answers), slices_(slices), from_(std::move(from)), incomplete_(incomplete) {}

// Other connections may still refer to the upload, and none of them checks it.
Uploads::~Uploads() {
  if (state_ == State::receiving) incoming_.release()->give_back(incoming_.range());
  if (state_ == State::checking) upload_->release();
}

bool Uploads::are_cut_off() const {
  const bool is_busy = state_ != State::idle && state_ != State::discarding;
  return is_busy || (!is_counted_ && incomplete_.leave_unfinished());
}

void Uploads::refuse(const FileRefusal& refusal) {
  answers_.refuse(refusal);
  abandon();
}

void Uploads::abandon() {
  if (state_ != State::receiving) return;
  ++server_.abandoned;
  is_counted_ = true;
  state_ = State::discarding;
  incoming_.release()->give_back(incoming_.range());
}

void Uploads::end_incomplete() {
  abandon();
  if (state_ == State::discarding) done();
}

void Uploads::begin(const UploadRange& upload, Time /*now*/) {
  ++server_.uploads;
  answers_.count_request();
  incoming_.begin_to_discard();
  state_ = State::discarding;
  if (!server_.takes) return refuse(takes_nothing());
  auto found = incomplete_.find({.name = upload.name,
                                 .size = upload.file_size,
                                 .id = upload.id,
                                 .digest = upload.digest,
                                 .dry_run = upload.dry_run,
                                 .from = from_,
                                 .begun = upload.offered},
                                answers_.requests());
  if (!found) return refuse(found.error());
  // The range is stored already: its answer was lost with its connection.
  if ((*found)->has(upload.range)) {
    is_there_ = true;
    incoming_.begin_to_discard(upload.range);
    return;
  }
  if (auto taken = (*found)->take(upload.range); !taken) return refuse(taken.error());
  incoming_.begin(std::move(*found), upload.range);
  state_ = State::receiving;
}

bool Uploads::take(const Data& data) {
  if (!incoming_.fits(data)) return false;
  if (const auto room = incoming_.take(data); !room) refuse(room.error());
  return true;
}

void Uploads::take(const End& end, Time now) {
  if (state_ == State::discarding && !is_there_) return done();
  if (!incoming_.is_complete(end)) {
    refuse({FileError::malformed, "not all of the range has come"});
    return done();
  }
  const ByteRange range = incoming_.range();
  const bool was_last = incoming_.finish();
  state_ = State::idle;  // before anything may throw: what was received is no longer here to be given back
  if (auto upload = incoming_.release(); was_last) return begin_check(std::move(upload), range, now);
  answers_.send(Stored{.range = range, .request_check = answers_.check()});
  done();
}

void Uploads::given_up() {
  if (state_ == State::receiving || is_there_) refuse({FileError::given_up, "by the sender"});
  done();
}

// True if the answer is that the existing file is kept. If the file is to be synced, the disk is asked too:
// the file may come from the same client, over a connection that was lost before the disk had it.
bool Uploads::skips(std::string_view name, const FileWishes& wishes, const FileRefusal& refusal, Time now) {
  if (refusal.error != FileError::exists || !wishes.skips_existing) return false;
  FileAnswer<std::shared_ptr<StoredEntry>> entry = nullptr;
  server_.storage.forget_interrupted(name);
  if (wishes.synced) entry = server_.storage.sync(name);
  const bool is_unreadable = !entry && entry.error().error == FileError::not_permitted;
  answers_.send_when_on_disk(Offered{.skipped = true}, is_unreadable ? nullptr : std::move(entry), now);
  return true;
}

void Uploads::begin(const Offer& offer, Time now) {
  ++server_.uploads;
  if (!server_.takes) return refuse(takes_nothing());
  auto found = incomplete_.find(
      {.name = offer.name, .size = offer.size, .id = offer.id, .from = from_, .wishes = offer.wishes},
      answers_.requests());
  if (!found) {
    if (!skips(offer.name, offer.wishes, found.error(), now)) refuse(found.error());
    return;
  }
  upload_ = std::move(*found);
  state_ = State::resuming;
  slices_.begin(now);
  resume_slice(now);
}

void Uploads::resume_slice(Time now) {
  if (!slices_.take_turn(true, now)) return;
  const Upload::Resumption resumption = upload_->resume();
  if (!resumption.complete) return answers_.working(resumption.verified, now);
  answers_.send(Offered{.there = resumption.verified, .discarded = resumption.discarded});
  done();
}

// Begins a whole file. The session keeps no other reference to the upload: a refused file is removed at once.
void Uploads::begin(const Whole& whole, Time now) {
  const std::uint64_t number = ++server_.uploads;
  answers_.count_request();
  incoming_.begin_to_discard();
  state_ = State::discarding;
  if (!server_.takes) return refuse(takes_nothing());
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
  incoming_.begin(std::move(*found), all);
  is_whole_ = true;
  state_ = State::receiving;
}

void Uploads::begin(const Folder& folder, Time now) {
  ++server_.uploads;
  answers_.count_request();
  if (!server_.takes) return refuse(takes_nothing());
  auto made = server_.storage.make_folder(folder.name, {.mode = folder.mode,
                                                        .overwrites = folder.sets_mode,
                                                        .makes_parents = folder.makes_parents,
                                                        .synced = folder.synced});
  if (!made) return refuse(made.error());
  const Stored stored{.complete = true, .was_there = (*made)->was_there(), .request_check = answers_.check()};
  const auto is_there = (*made)->is_on_disk();
  if (!is_there) return refuse(is_there.error());
  if (*is_there) return answers_.send(stored);
  answers_.send_when_on_disk(stored, std::move(*made), now);
}

void Uploads::begin(const Seal& seal, Time now) {
  auto found =
      incomplete_.find({.name = seal.name, .size = seal.size, .id = seal.id, .from = from_, .begun = true},
                       answers_.requests());
  if (!found) return refuse(found.error());
  if (const auto sealed = (*found)->seal(seal.digest); !sealed) return refuse(sealed.error());
  begin_check(std::move(*found), {0, seal.size}, now);
}

void Uploads::go_on(Time now) {
  if (state_ == State::resuming) resume_slice(now);
  if (state_ == State::checking) check_slice(now);
}

// If the bytes were digested on arrival, the first slice is all.
void Uploads::begin_check(std::shared_ptr<Upload> upload, ByteRange range, Time now) {
  upload_ = std::move(upload);
  checked_ = range;
  state_ = State::checking;
  slices_.begin(now);
  check_slice(now);
}

// Most of an upload was digested on arrival, unless its last ranges arrived first.
void Uploads::check_slice(Time now) {
  if (upload_->left_to_check() > Slices::kWithoutTurn && !slices_.take_turn(true, now)) return;
  const auto check = upload_->check();
  if (!check) {
    // It can be sealed again after a shortage.
    if (!upload_->over()) incomplete_.keep(upload_, true, checked_.size, answers_.requests());
    refuse(check.error());
    return done();
  }
  const Stored stored{
      .range = checked_, .complete = true, .digest = check->digest, .request_check = answers_.check()};
  if (check->waits && is_whole_) {
    answers_.send_when_on_disk(stored, upload_, now);
    return done();
  }
  if (check->waits) slices_.put_off(now + kLookForDisk);
  if (!check->digest) return answers_.working(check->checked, now);
  answers_.send(stored);
  done();
}

void Uploads::done() {
  state_ = State::idle;
  is_there_ = is_whole_ = false;
  upload_.reset();
  incoming_.release();
  incomplete_.forget_complete();
  slices_.end();
}

}  // namespace joust::file
