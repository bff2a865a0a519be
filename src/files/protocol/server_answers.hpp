// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>

#include "files/protocol/outgoing.hpp"
#include "files/protocol/server_state.hpp"
#include "files/protocol/wire.hpp"
#include "files/store/storage.hpp"

namespace joust::file {

// The answers of one session, in the order of its requests. An answer about a file that is to be on the disk
// waits until the disk has it, and later answers wait behind it. One request is under way at a time.
class Answers {
 public:
  explicit Answers(ServerState& server) : server_(server) {}

  // Begins a request; its answers follow. Requests that count are limited by requests_per_connection.
  void begin(std::uint32_t request, std::uint64_t check);
  void count_request() { ++requests_; }
  std::uint32_t request() const { return request_; }
  std::uint64_t check() const { return check_; }
  std::uint64_t requests() const { return requests_; }  // those that count
  bool had_all() const {
    return server_.requests_per_connection > 0 && requests_ >= server_.requests_per_connection;
  }

  // Answer the request under way.
  void send(Body body);
  void refuse(const FileRefusal& refusal);
  // Answers when the disk has the entry. Null: at once. Refuses if the entry is an error.
  void send_when_on_disk(Body body, FileAnswer<std::shared_ptr<StoredEntry>> entry, Time now);
  // Answers when the disk has the file, with the digest of its check.
  void send_when_on_disk(const Stored& stored, std::shared_ptr<Upload> upload, Time now);

  bool wait() const { return !waiting_.empty(); }
  bool wait_for_upload() const;                    // a file waits, which has no name yet
  bool is_crowded() const { return is_crowded_; }  // so many wait that no more are accepted
  void look_at_disk(Time now);                     // sends the answers that need not wait any more
  std::optional<Time> next_look() const { return wait() ? std::optional(look_at_disk_) : std::nullopt; }
  void drop_waiting() { waiting_.clear(); }

  // Reports progress at most once in a second: silence would look like a dead server. The oldest waiting
  // request gets the report first.
  void working(std::uint64_t done, Time now);
  void working_since(Time now) { said_working_ = now; }

  bool are_unread() const;  // so many are unread that the peer has to read first
  std::uint64_t memory() const { return outgoing_.files() > 0 ? 0 : outgoing_.cost(); }  // bytes
  Outgoing& outgoing() { return outgoing_; }
  const Outgoing& outgoing() const { return outgoing_; }

 private:
  struct Waiting {
    Message answer{};
    std::shared_ptr<Upload> upload{};
    std::shared_ptr<StoredEntry> entry{};
  };
  void wait_for_disk(Waiting waiting, Time now);
  bool is_settled(Waiting& waiting);  // true: the answer can be sent

  ServerState& server_;
  Outgoing outgoing_;
  std::uint32_t request_ = 0;
  std::uint64_t check_ = 0;  // of the request
  std::uint64_t requests_ = 0;
  std::deque<Waiting> waiting_;
  bool is_crowded_ = false;
  Time look_at_disk_{};
  Time said_working_{};  // the last report of progress
};

}  // namespace joust::file
