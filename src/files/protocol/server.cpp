// SPDX-License-Identifier: MIT
//
// The server side of file: a directory, and the shared state of its sessions.
#include "files/protocol/server.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "base/memory.hpp"
#include "base/units.hpp"
#include "files/protocol/protocol.hpp"
#include "files/protocol/server_session.hpp"
#include "files/store/disk/directory_tree.hpp"
#include "files/store/name.hpp"
#include "files/store/upload/memory_tree.hpp"
#include "files/store/upload/tree_storage.hpp"

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
  queue_.next_answer();
}

void Answers::send(Body body) {
  if (waiting_.empty()) {
    queue_.message({request_, std::move(body)});
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
    queue_.message(waiting_.front().answer);
    waiting_.pop_front();
  }
  look_at_disk_ = now + kLookForGroup;
  is_crowded_ = !waiting_.empty() && (waiting_.size() >= kMostWaiting || server_.storage.is_crowded());
  if (!waiting_.empty()) working(0, now);
}

void Answers::working(std::uint64_t done, Time now) {
  if (now - said_working_ < kWorkingEvery || queue_.waiting() > 0) return;
  said_working_ = now;
  if (waiting_.empty())
    queue_.message({request_, Working{done}});
  else
    queue_.message({waiting_.front().answer.request, Working{}});
}

bool Answers::are_unread() const {
  return queue_.cost() > kMostUnread || queue_.files() >= kMostFiles;
}

namespace {

constexpr unsigned kMostDigests = 4;  // at the same time: each takes a millisecond of its loop's time
constexpr Duration kLookForTurn = std::chrono::milliseconds(20);
constexpr Duration kTurn = std::chrono::milliseconds(50);  // if others wait for a turn

}  // namespace

void Slices::begin(Time now) {
  due_ = now;
  answers_.working_since(now);
}

bool Slices::has_turn(bool of_upload) {
  if (has_turn_) return true;
  const unsigned most = of_upload ? kMostDigests : kMostDigests - 1;
  unsigned others = server_.digests.load();
  while (others < most && !has_turn_) has_turn_ = server_.digests.compare_exchange_weak(others, others + 1);
  if (!has_turn_) ++server_.turns_refused;
  return has_turn_;
}

bool Slices::take_turn(bool of_upload, Time now) {
  const bool had_it = has_turn_;
  const bool gives_it = had_it && now >= turn_ends_ && server_.turns_refused != refused_before_;
  if (gives_it) end();
  due_ = gives_it ? now + 2 * kLookForTurn : has_turn(of_upload) ? now : now + kLookForTurn;
  if (has_turn_ && !had_it) {
    turn_ends_ = now + kTurn;
    refused_before_ = server_.turns_refused;
  }
  if (!has_turn_) answers_.working(0, now);
  return has_turn_;
}

void Slices::end() {
  if (std::exchange(has_turn_, false)) --server_.digests;
}

void Slices::put_off(Time until) {
  end();
  due_ = until;
}

namespace {

// A file in memory, offered for download.
struct Sample {
  std::string name;
  Fd contents;
};

std::optional<Sample> sample_of(const Parameters& parameters) {
  std::string sample = parameters.option("sample");
  if (sample.empty()) {
    if (!parameters.option("root").empty()) return std::nullopt;
    sample = std::string(kSampleName) + "=" + kSampleBytes;
  }
  const auto refuse = [&](std::string_view why) {
    return std::invalid_argument(fmt::format("--sample {}: {}", sample, why));
  };
  const std::size_t sign = sample.find('=');
  if (sign == std::string::npos) throw refuse("say NAME=BYTES, such as sample=1GiB");
  const std::string name = sample.substr(0, sign);
  if (const auto objection = objection_to(name); !objection.empty()) throw refuse(objection);
  const auto bytes = parse_bytes(sample.substr(sign + 1));
  if (!bytes) throw refuse(bytes.error());
  try {
    return Sample{name, generated_file(*bytes)};
  } catch (const std::system_error& error) {
    throw refuse(error.what());
  }
}

std::unique_ptr<FileTree> files_of(const Parameters& parameters) {
  const std::string& root = parameters.option("root");
  if (root.empty()) return std::make_unique<MemoryTree>();
  return std::make_unique<DirectoryTree>(root);
}

class FileServer : public Service {
 public:
  FileServer(const Parameters& parameters, const StorageRules& rules)
      : parameters_(parameters),
        sample_(sample_of(parameters)),
        storage_(files_of(parameters), rules),
        server_(storage_, digests_, count_of(parameters, "requests-per-connection"),
                RateRules::of(bytes_of(parameters, "min-rate")), parameters.option("access") != "write",
                parameters.option("access") != "read") {
    if (sample_) storage_.add_sample(sample_->name, std::move(sample_->contents));
  }

  std::unique_ptr<Session> open(const ConnectionInfo& info) override {
    return std::make_unique<ServerSession>(*server_, Uploader{info.peer, info.connection});
  }
  std::vector<ResultGroup> results() const override;

 private:
  const Parameters parameters_;
  std::optional<Sample> sample_;
  TreeStorage storage_;
  std::atomic<unsigned> digests_{0};
  SharedMemory<ServerState> server_;
};

std::vector<ResultGroup> FileServer::results() const {
  const PlainBytes& plain = storage_.plain_bytes();
  // Bytes that arrive together with the head before them are always written, and never spliced.
  const bool written = file_write(parameters_) == FileWrite::splice
                           ? plain.written > 0 && plain.written >= server_->bytes_stored
                           : plain.written > 0 && plain.gathered == 0;
  return {{"files",
           {{"queries", server_->queries.load()},
            {"fragments", server_->fragments.load()},
            {"uploads", server_->uploads.load()},
            {"refused", server_->refused.load()},
            {"abandoned", server_->abandoned.load()},
            {"unfinished", std::uint64_t{storage_.unfinished()}},
            {"too_slow", server_->too_slow.load()},
            {"bytes_sent", server_->bytes_sent.load()},
            {"bytes_stored", server_->bytes_stored.load()},
            {"file_read",
             way_used(parameters_.option("file-read"), "read", plain.read > server_->bytes_digested)},
            {"file_write", way_used(parameters_.option("file-write"), "write", written)}}}};
}

}  // namespace

std::unique_ptr<Service> make_server(const Parameters& parameters) {
  const StorageRules rules{.existing = is_yes(parameters, "overwrite") ? Existing::replace : Existing::keep,
                           .largest_file = bytes_of(parameters, "max-file-bytes"),
                           .most_uploads = count_of(parameters, "max-uploads"),
                           .most_stored = bytes_if_given(parameters, "max-stored-bytes"),
                           .read = file_read(parameters),
                           .write = file_write(parameters)};
  try {
    return std::make_unique<FileServer>(parameters, rules);
  } catch (const std::system_error& error) {
    if (parameters.option("root").empty()) throw;  // this machine's memory, and no option
    throw std::invalid_argument(std::string("--root: ") + error.what());
  }
}

}  // namespace joust::file
