// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "joust/session.hpp"
#include "protocols/file/outgoing.hpp"
#include "protocols/file/wire.hpp"
#include "session/least_rate.hpp"
#include "store/file_digest.hpp"

namespace joust::file {

// What the sessions of a server share.
struct ServerState {
  Storage& storage;
  std::uint64_t requests_per_connection = 0;  // fragments and uploads; 0: no limit
  RateRules rates{};

  std::atomic<unsigned> digests{0};  // being made now, for queries and checks
  std::atomic<std::uint64_t> queries{0}, fragments{0}, uploads{0};
  std::atomic<std::uint64_t> refused{0};    // requests answered by an error
  std::atomic<std::uint64_t> abandoned{0};  // begun, and not brought to their end
  std::atomic<std::uint64_t> too_slow{0};   // connections ended for being slower than the rates allow
  std::atomic<std::uint64_t> bytes_sent{0}, bytes_stored{0}, bytes_digested{0};  // of files
};

// Of a read that failed; 0: the file has ended early.
FileRefusal lost_source(int error);

// A peer that asks for files and brings some. Requests are answered one after the other, in order; while one
// is being answered nothing is read but what belongs to it.
class ServerSession : public Session, private SessionFiles {
 public:
  explicit ServerSession(ServerState& server, PeerAddress peer = PeerAddress::unknown);
  ~ServerSession() override;
  ServerSession(const ServerSession&) = delete;
  ServerSession& operator=(const ServerSession&) = delete;

  std::size_t on_bytes(Bytes chunk, Time now) override;
  void on_peer_finished(Time now) override;
  void on_deadline(Time now) override;
  void on_drain(Time now) override;

  std::size_t output(std::span<Segment> into) const override { return outgoing_.segments(into); }
  Want want() const override;
  SessionFiles* files() override { return this; }
  std::optional<Time> deadline() const override;
  bool finished() const override { return over_; }
  std::string_view complaint() const override { return complaint_; }
  bool gives_up() const override { return gives_up_; }
  void consumed(std::size_t n) override;
  void released(std::size_t n) override { outgoing_.released(n); }

 private:
  FileRange store() const override;
  void on_stored(std::size_t n, Bytes seen, Time now) override;
  void on_store_failed(int error, Time now) override;
  void on_source_failed(int error, Time now) override;

  enum class State : std::uint8_t {
    idle,        // a request may come
    sending,     // a fragment
    receiving,   // an upload's range
    discarding,  // the rest of one that was refused
    digesting,   // a file, for a query
    checking,    // an upload that is all there
  };

  void take(const Message& message, Time now);
  void begin(const Query& query, Time now);
  void begin(const Fragment& fragment);
  void begin(const UploadRange& upload);
  void begin(const Data& data);
  void end_upload(const End& end, Time now);
  bool has_turn();
  void end_turn();
  void digest_slice(Time now);
  void check_slice(Time now);
  void still_working(std::uint64_t done, Time now);
  void send_more();
  void refuse(const FileRefusal& refusal);
  void violated(std::uint32_t request, const FileRefusal& refusal);
  void abandon_upload();
  FileAnswer<std::shared_ptr<Upload>> find_upload(const UploadRange& upload);
  void forget_complete_uploads();
  void answered();  // the request in hand
  void conclude();
  void watch_rates(Time now);  // the last step of each input
  void check_rates(Time now);
  void end_slow_peer(const std::string& what);

  // An upload with ranges from here, which this session keeps until it is complete.
  struct BegunUpload {
    std::shared_ptr<Upload> upload;
    LeastRate growth;            // by all who bring ranges of it
    std::uint64_t received = 0;  // bytes, when growth was last looked at
  };

  ServerState& server_;
  const PeerAddress peer_;
  Decoder decoder_;
  Outgoing outgoing_;
  State state_ = State::idle;
  std::uint32_t request_ = 0;  // in hand
  std::uint64_t requests_ = 0;
  OpenFile source_;                 // being sent or digested
  ByteRange left_{};                // of source_, to be sent; of the upload's range, to come
  ByteRange range_{};               // as asked for
  std::shared_ptr<Upload> upload_;  // being received or checked
  std::vector<BegunUpload> begun_;
  std::uint64_t data_left_ = 0;  // of the data frame that is being read
  std::optional<FileDigest> digest_;
  bool has_turn_ = false;  // to digest
  Time due_{};             // digesting or checking: at once, or for the next look
  Time said_working_{};    // and told the peer
  bool ending_ = false;    // the peer has finished, or a stop: nothing new is begun
  bool over_ = false;
  bool gives_up_ = false;
  std::string complaint_;
  LeastRate incoming_rate_;  // of what the peer has begun to send
  LeastRate outgoing_rate_;  // of answers that wait to be read
};

}  // namespace joust::file
