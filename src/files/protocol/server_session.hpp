// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "files/protocol/server.hpp"
#include "files/protocol/server_uploads.hpp"
#include "files/protocol/wire.hpp"
#include "files/store/file_digest.hpp"
#include "joust/session.hpp"
#include "session/handler_session.hpp"

namespace joust::file {

// Returns the refusal for a failed read; 0: the file has shrunk.
FileRefusal lost_source(int error);

// The server's answers to queries, fragments and lists. Digests and lists are made in slices; the data of a
// fragment is added as the peer reads.
class Downloads {
 public:
  Downloads(ServerState& server, Answers& answers, Slices& slices)
      : server_(server), answers_(answers), slices_(slices) {}

  void begin(const Query& query, Time now);
  void begin(const Fragment& fragment, Time now);
  void begin(const List& list, Time now);

  bool idle() const { return state_ == State::idle; }
  bool sends() const { return state_ == State::sending; }
  bool works() const { return state_ == State::digesting || state_ == State::listing; }
  bool has_slice_due() const { return works() && !is_listing_unread(); }
  void go_on(Time now);  // makes the next slice
  void send_more();      // adds data if the output has room
  void source_failed(int error);

 private:
  enum class State : std::uint8_t {
    idle,
    sending,    // a fragment
    digesting,  // a file, for a query
    listing,    // a directory
  };

  bool are_allowed();  // refuses the request if not
  void tell(const OpenFile& file, const std::optional<Digest>& digest, Time now);
  bool send_small(const OpenFile& file);  // false: nothing is sent
  void digest_slice(Time now);
  void list_slice();
  bool is_listing_unread() const;  // enough is unread: the peer has to read first
  void send_entries(std::vector<FolderEntry> found);
  void done();

  ServerState& server_;
  Answers& answers_;
  Slices& slices_;
  State state_ = State::idle;
  OpenFile source_;  // being sent or digested
  ByteRange range_{};
  ByteRange left_{};  // the part of range_ that is not sent yet
  std::optional<FileDigest> digest_;
  std::string to_sync_;                   // the file that a query wants on the disk; empty: none
  std::unique_ptr<FolderReader> folder_;  // being listed
  std::uint64_t listed_ = 0;              // entries listed so far
};

// A peer that downloads and uploads files. Requests are answered one after the other, in order; during an
// answer only input that belongs to it is read. This class reads frames, decides which part has the request
// under way, and ends peers that are too slow:
//
//     peer --> frames --> Downloads, Uploads --> Answers --> peer
//
class ServerSession : public Session, private SessionFiles {
 public:
  explicit ServerSession(ServerState& server, Uploader from = {});
  ~ServerSession() override;
  ServerSession(const ServerSession&) = delete;
  ServerSession& operator=(const ServerSession&) = delete;

  std::size_t on_bytes(Bytes chunk, Time now) override;
  void on_peer_finished(Time now) override;
  void on_deadline(Time now) override;
  void on_drain(Time now) override;

  std::size_t output(std::span<Segment> into) const override { return answers_.queue().segments(into); }
  Want want() const override;
  SessionFiles* files() override { return this; }
  std::optional<Time> deadline() const override;
  bool finished() const override { return over_; }
  std::string_view complaint() const override { return complaint_; }
  std::uint64_t memory() const override { return decoder_.held_bytes() + answers_.memory(); }
  bool gives_up() const override { return gives_up_; }
  void consumed(std::size_t n) override;
  void released(std::size_t n) override { answers_.queue().released(n); }

 private:
  FileRange store() const override { return uploads_.incoming().next(); }
  void on_stored(std::size_t n, Bytes seen, Time now) override;
  void on_store_failed(int error, Time now) override;
  void on_source_failed(int error, Time now) override;

  bool idle() const { return downloads_.idle() && uploads_.idle(); }
  bool waits_for_others(const Message& message) const;
  void take(const Message& message, Time now);
  bool begin(const Message& message, Time now);     // false: no request
  bool take_of_upload(const Body& body, Time now);  // false: no frame of an upload
  void violated(std::uint32_t request, const FileRefusal& refusal);
  void look_at_disk(Time now);
  void conclude();
  void watch_rates(Time now);  // the last step of each input
  void check_rates(Time now);
  void end_slow_peer(const std::string& what);

  ServerState& server_;
  Decoder decoder_;
  Answers answers_;
  Slices slices_;
  Downloads downloads_;
  IncompleteUploads incomplete_;
  Uploads uploads_;
  std::optional<Message> next_request_;  // a request that waits for the answers that wait for the disk
  LeastRate incoming_rate_;              // the rate of an incomplete request
  LeastRate outgoing_rate_;              // the rate of unread answers
  bool peer_finished_ = false;           // bytes that have not arrived never will
  bool ending_ = false;                  // the peer has finished, or a stop: no new requests
  bool over_ = false;
  bool gives_up_ = false;
  std::string complaint_;
};

}  // namespace joust::file
