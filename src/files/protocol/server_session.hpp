// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "files/protocol/server_answers.hpp"
#include "files/protocol/server_downloads.hpp"
#include "files/protocol/server_slices.hpp"
#include "files/protocol/server_state.hpp"
#include "files/protocol/server_uploads.hpp"
#include "files/protocol/wire.hpp"
#include "joust/session.hpp"
#include "session/least_rate.hpp"

namespace joust::file {

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

  std::size_t output(std::span<Segment> into) const override { return answers_.outgoing().segments(into); }
  Want want() const override;
  SessionFiles* files() override { return this; }
  std::optional<Time> deadline() const override;
  bool finished() const override { return over_; }
  std::string_view complaint() const override { return complaint_; }
  std::uint64_t memory() const override { return decoder_.held_bytes() + answers_.memory(); }
  bool gives_up() const override { return gives_up_; }
  void consumed(std::size_t n) override;
  void released(std::size_t n) override { answers_.outgoing().released(n); }

 private:
  FileRange store() const override { return uploads_.reception().next(); }
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
  BegunUploads begun_;
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
