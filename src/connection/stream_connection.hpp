// SPDX-License-Identifier: MIT
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/memory.hpp"
#include "connection/account.hpp"
#include "connection/tally.hpp"
#include "joust/limits.hpp"
#include "joust/session.hpp"

namespace joust {

// Passes as much of `chunk` to a session as it wants: to on_bytes, or into the file it has chosen. Returns
// the number of bytes taken.
std::size_t deliver(Bytes chunk, Session& session, Time now);

// Joins a session to a byte stream: the part that all stream engines have in common. It makes no system call.
// The engine reads, writes and waits in its own way, reports the results to this class, and asks it for the
// next step:
//
//   wants_input()      may I read?                     then received() or peer_finished()
//   output()           what shall I send?              then sent()
//   wants_shutdown()   shall I end our direction?      then shut_down(), after shutdown(fd, SHUT_WR)
//   ended()            is it over? then close
//   deadline()         when to call on_time()
//
// Engines need no code for files: this class reads ranges to be sent into memory, and writes bytes to be
// stored. An engine that can move the bytes in another way (File::descriptor(), File::filling()) asks first:
//
//   source()           a file's range to be sent?      then sent() or source_failed()
//   store()            a file's range to be filled?    then stored() or store_failed()
//
// Every connection ends in the same way. When the session has finished and its output is sent, our direction
// is shut down. The peer's bytes are then read until its end of stream or limits.linger, because closing with
// unread bytes makes TCP send a reset, and the peer could lose replies. If a peer has closed the connection,
// the bytes that it has sent before are read too, for as long, while the session wants them. One thread at a
// time.
class StreamConnection {
 public:
  // `place`: the place in the account of a server that keeps one, or null.
  StreamConnection(std::unique_ptr<Session> session, const Limits& limits, Tally& tally, Time now,
                   std::shared_ptr<ConnectionPlace> place = nullptr);
  ~StreamConnection();
  StreamConnection(const StreamConnection&) = delete;
  StreamConnection& operator=(const StreamConnection&) = delete;

  // Inputs
  void received(Bytes chunk, Time now);
  void peer_finished(Time now);
  void sent(std::size_t n, Time now);  // the first n bytes of output() are sent and no longer used
  void send_failed(int error, Time now);
  void shut_down(Time now);
  void failed(const Failure& reported, Time now);
  void on_time(Time now);  // may be called early
  void drain(Time now);
  void refresh(Time now);                            // the service's publication count has changed
  void stored(std::size_t n, Bytes seen, Time now);  // `seen`: empty if stored inside the kernel
  void store_failed(int error, Time now);
  void source_failed(int error, Time now);

  // Queries
  bool wants_input() const {
    if (over() || peer_finished_) return false;
    return shut_ || (held_.empty() && answers_.want != Want::nothing);
  }
  // Returns the number of entries filled. Reads file ranges now. If that fails, the session is notified.
  std::size_t output(std::span<iovec> into, Time now);
  bool has_output() const { return answers_.has_output && !sends_nothing(); }
  bool has_files() const { return files_ != nullptr; }
  std::optional<FileRange> source() const {  // a range of a file with a descriptor
    return files_ == nullptr ? std::nullopt : source_of_files();
  }
  std::optional<FileRange> store() const {  // not a range that is to be filled by write_at
    return files_ == nullptr ? std::nullopt : store_of_files();
  }
  bool wants_shutdown() const {
    return answers_.finished && !answers_.has_output && !sends_nothing() && !peer_finished_;
  }
  bool ended() const {
    if (over()) return true;
    return peer_finished_ && (shut_ || (answers_.finished && !has_output()));
  }
  std::optional<Time> deadline() const;
  // Fetches the session, which keeps the data of a message at its beginning.
  void prefetch_session() const { prefetch(session_.get(), kMessageMemory); }
  std::uint64_t bytes_received() const { return received_; }
  // Returns whether the server's account has broken the connection off.
  bool is_broken_off() const { return place_.broken_off(); }

 private:
  // Returns whether nothing more is read or written.
  bool over() const { return ended_ || answers_.gives_up; }
  bool sends_nothing() const { return over() || shut_ || send_error_ != 0; }
  // Called after each input and acknowledgement, when answers may have changed. They are needed several times
  // for each message.
  void ask() { answers_ = session_->answers(); }

  // The part of a file that has been read and not sent. It is discarded once sent, because another file may
  // then have the same address.
  struct ReadAhead {
    void skip(std::size_t sent);  // bytes

    const File* file = nullptr;
    std::uint64_t offset = 0;
    std::unique_ptr<std::byte[]> bytes;
    std::size_t begin = 0;  // in bytes
    std::size_t size = 0;
  };

  std::optional<FileRange> source_of_files() const;
  std::optional<FileRange> store_of_files() const;
  void offer_held(Time now);
  std::size_t offer(Bytes chunk, Time now);
  void end_without_input(Time now);
  std::size_t pieces_of(std::span<const Segment> segments, std::span<iovec> into, Time now);
  Bytes read_ahead(const FileRange& range, Time now);

  // Called last in every step that may change the memory.
  void account_for_memory();

  // The members that every message uses come first, close together. The place is freed last, after the
  // session's data.
  PlaceReports place_;
  const std::unique_ptr<Session> session_;
  SessionFiles* const files_;  // the session's; null if it has none
  Answers answers_;
  Time last_progress_;
  const Limits& limits_;
  std::uint64_t received_ = 0;
  std::uint64_t sent_ = 0;
  std::vector<std::byte> held_;     // bytes read, but not wanted by the session now; at most one read
  std::size_t held_taken_ = 0;      // bytes at its front that the session has taken since
  std::uint32_t largest_read_ = 0;  // bytes
  bool peer_finished_ = false;
  bool told_finished_ = false;  // the session knows that the peer has finished
  bool shut_ = false;
  bool ended_ = false;
  bool faulted_ = false;  // the last send failed with EFAULT: a mapped file has shrunk
  bool counted_ = false;  // counted as a failure
  int send_error_ = 0;    // errno of a send to a peer that has closed, while its last bytes are read
  std::unique_ptr<ReadAhead> ahead_;  // made at the first read of a file
  Tally& tally_;
  Time shut_at_{};  // time of the shutdown, or of a failed send
};

}  // namespace joust
