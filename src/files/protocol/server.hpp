// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>

#include "files/protocol/output_queue.hpp"
#include "files/protocol/wire.hpp"
#include "files/store/storage.hpp"
#include "session/handler_session.hpp"

namespace joust::file {

// The state that the sessions of a server share. It may be shared by processes: see SharedMemory.
struct ServerState {
  Storage& storage;
  // The digests being made now, for queries and checks. Not shared by processes: a killed process would keep
  // its turn for ever.
  std::atomic<unsigned>& digests;
  std::uint64_t requests_per_connection = 0;  // counts fragments and uploads; 0: no limit
  RateRules rates{};
  bool gives = true;  // answers queries and sends files
  bool takes = true;  // receives files

  std::atomic<std::uint64_t> turns_refused{0};  // refused turns for a digest

  std::atomic<std::uint64_t> queries{0}, fragments{0}, uploads{0};
  std::atomic<std::uint64_t> refused{0};    // requests answered by an error
  std::atomic<std::uint64_t> abandoned{0};  // requests and uploads cut off by the end of a connection
  std::atomic<std::uint64_t> too_slow{0};   // connections ended for a rate below the least
  std::atomic<std::uint64_t> bytes_sent{0}, bytes_stored{0}, bytes_digested{0};  // bytes of files
};

// The refusal of a server that only gives.
inline FileRefusal takes_nothing() {
  return {FileError::not_permitted, "this server only sends files"};
}

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
  std::uint64_t memory() const { return queue_.files() > 0 ? 0 : queue_.cost(); }  // bytes
  OutputQueue& queue() { return queue_; }
  const OutputQueue& queue() const { return queue_; }

 private:
  struct Waiting {
    Message answer{};
    std::shared_ptr<Upload> upload{};
    std::shared_ptr<StoredEntry> entry{};
  };
  void wait_for_disk(Waiting waiting, Time now);
  bool is_settled(Waiting& waiting);  // true: the answer can be sent

  ServerState& server_;
  OutputQueue queue_;
  std::uint32_t request_ = 0;
  std::uint64_t check_ = 0;  // of the request
  std::uint64_t requests_ = 0;
  std::deque<Waiting> waiting_;
  bool is_crowded_ = false;
  Time look_at_disk_{};
  Time said_working_{};  // the last report of progress
};

// The slices of a session's long task, and its turn to digest. Digests of long files wait for one of a few
// turns, because many digests would delay all peers of their loop. The last turn is for uploads, so that
// queries cannot keep uploads from their end.
class Slices {
 public:
  // Digests of fewer bytes need no turn: reading them takes less time than waiting.
  static constexpr std::uint64_t kWithoutTurn = 1 << 20;

  Slices(ServerState& server, Answers& answers) : server_(server), answers_(answers) {}
  ~Slices() { end(); }
  Slices(const Slices&) = delete;
  Slices& operator=(const Slices&) = delete;

  void begin(Time now);
  // True if the slice may be made now. Digests of endless files must not delay others for ever: a session
  // that has had a turn for a while tries for the next one later than the waiting sessions.
  bool take_turn(bool of_upload, Time now);
  void end();                // gives the turn back
  void put_off(Time until);  // gives the turn back; the next slice is due then
  Time due() const { return due_; }

 private:
  bool has_turn(bool of_upload);

  ServerState& server_;
  Answers& answers_;
  bool has_turn_ = false;
  Time turn_ends_{};                  // after that, others that want the turn get it
  std::uint64_t refused_before_ = 0;  // refused turns of others when this turn began
  Time due_{};
};

}  // namespace joust::file
