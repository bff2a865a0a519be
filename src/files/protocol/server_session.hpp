// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "files/protocol/outgoing.hpp"
#include "files/protocol/wire.hpp"
#include "files/store/file_digest.hpp"
#include "joust/session.hpp"
#include "session/least_rate.hpp"

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

Facts facts_of(const OpenFile& file, const std::optional<Digest>& digest);

// Returns the refusal for a failed read; 0: the file has shrunk.
FileRefusal lost_source(int error);

// A peer that downloads and uploads files. Requests are answered one after the other, in order; during an
// answer only input that belongs to it is read.
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

  std::size_t output(std::span<Segment> into) const override { return outgoing_.segments(into); }
  Want want() const override;
  SessionFiles* files() override { return this; }
  std::optional<Time> deadline() const override;
  bool finished() const override { return over_; }
  std::string_view complaint() const override { return complaint_; }
  std::uint64_t memory() const override {
    return decoder_.held_bytes() +
           (outgoing_.files() > 0 ? 0 : outgoing_.cost());  // ranges of files are read later
  }
  bool gives_up() const override { return gives_up_; }
  void consumed(std::size_t n) override;
  void released(std::size_t n) override { outgoing_.released(n); }

 private:
  FileRange store() const override;
  void on_stored(std::size_t n, Bytes seen, Time now) override;
  void on_store_failed(int error, Time now) override;
  void on_source_failed(int error, Time now) override;

  enum class State : std::uint8_t {
    idle,        // ready for a request
    sending,     // sending a fragment
    receiving,   // receiving a range of an upload
    discarding,  // discarding the rest of a refused upload, or a range that is stored already
    digesting,   // digesting a file for a query
    listing,     // listing a directory
    recalling,   // verifying the bytes that an earlier attempt left
    checking,    // checking a complete upload
  };

  void take(const Message& message, Time now);
  void begin(const Query& query, Time now);
  void begin(const Fragment& fragment);
  void begin(const UploadRange& upload);
  void begin(const Offer& offer, Time now);
  void begin(const Whole& whole, Time now);
  void begin(const Seal& seal, Time now);
  void begin(const Folder& folder, Time now);
  void begin(const List& list, Time now);
  bool may_download();  // refuses the request if not
  bool may_upload();    // refuses the request if not
  bool skips(std::string_view name, const FileWishes& wishes, const FileRefusal& refusal, Time now);
  void recall_slice(Time now);
  void sender_works(const Working& working);
  void begin(const Data& data);
  void end_upload(const End& end, Time now);
  bool has_turn();
  bool works() const;  // true: a long task runs in slices
  bool takes_turn(Time now);
  void end_turn();
  void digest_slice(Time now);
  void list_slice();
  bool is_listing_unread() const;  // enough is unread: the peer has to read first
  void send_entries(std::vector<FolderEntry> found);
  void check_slice(Time now);
  void still_working(std::uint32_t request, std::uint64_t done, Time now);
  void answer(const Message& message);
  void answer_from_disk(const Message& message, FileAnswer<std::shared_ptr<StoredEntry>> entry, Time now);
  void tell(const OpenFile& file, const std::optional<Digest>& digest, Time now);
  void look_at_disk(Time now);
  bool waits_for_others(const Message& message) const;
  void send_more();
  void refuse(const FileRefusal& refusal);
  void violated(std::uint32_t request, const FileRefusal& refusal);
  void abandon_upload();
  void end_incomplete_upload();
  FileAnswer<std::shared_ptr<Upload>> find_upload(const UploadRequest& request);
  void keep(const std::shared_ptr<Upload>& upload, bool offered, std::uint64_t size);
  void forget_complete_uploads();
  bool leaves_unfinished() const;
  void answered();  // ends the current request
  void conclude();
  void watch_rates(Time now);  // the last step of each input
  void check_rates(Time now);
  void check_growth(Time now);
  void end_slow_peer(const std::string& what);

  // An upload with ranges from this connection. The session keeps it until it is complete.
  struct BegunUpload {
    std::shared_ptr<Upload> upload;
    bool offered;                // it may be forgotten: the client offers it again
    std::uint64_t size;          // bytes of the file
    LeastRate growth;            // rate of all connections that send ranges of it
    std::uint64_t received = 0;  // bytes, when growth was last updated
    std::uint64_t requests = 0;  // requests of the connection when the window of `growth` began
    std::uint64_t digested = 0;  // bytes digested by its sender

    bool grows(Time now);
  };

  // The delayed answer to a whole file, to a file that is to be on the disk, or to a directory. It is sent
  // when the disk has that entry, and after all answers before it.
  struct Waiting {
    Message answer{};  // the answer to the request; completed later if `upload` is set
    std::shared_ptr<Upload> upload{};
    std::shared_ptr<StoredEntry> entry{};
  };
  void wait_for_disk(Waiting waiting, Time now);
  bool is_settled(Waiting& waiting);  // true: the answer can be sent

  ServerState& server_;
  const Uploader from_;
  Decoder decoder_;
  Outgoing outgoing_;
  State state_ = State::idle;
  std::uint32_t request_ = 0;  // number of the current request
  std::uint64_t request_check_ = 0;
  std::uint64_t requests_ = 0;
  OpenFile source_;                       // being sent or digested
  std::unique_ptr<FolderReader> folder_;  // being listed
  std::uint64_t listed_ = 0;              // entries listed so far
  std::string to_sync_;                   // the file that a query wants on the disk; empty: none
  ByteRange left_{};                // not sent yet of source_, or not received yet of the upload's range
  ByteRange range_{};               // the range as requested
  std::shared_ptr<Upload> upload_;  // being received or checked
  std::vector<BegunUpload> begun_;
  bool is_whole_ = false;                // the upload is a whole file
  std::deque<Waiting> waiting_;          // answers that wait for the disk; other files arrive meanwhile
  std::optional<Message> next_request_;  // a request of another kind, which waits for those answers
  bool is_crowded_ = false;              // so many files wait that no more are accepted
  Time look_at_disk_{};
  std::uint64_t data_left_ = 0;  // bytes of the current data frame that are not received yet
  bool is_there_ = false;        // discarding: the range is stored already, and not refused
  std::optional<FileDigest> digest_;
  bool has_turn_ = false;             // holds a turn for a digest
  Time turn_ends_{};                  // after that, others that want the turn get it
  std::uint64_t refused_before_ = 0;  // refused turns of others when this turn began
  Time due_{};                        // time of the next slice, or of the next check
  Time said_working_{};               // time of the last progress report
  bool is_counted_ = false;           // the latest upload is counted as abandoned
  bool peer_finished_ = false;        // bytes that have not arrived never will
  bool ending_ = false;               // the peer has finished, or a stop: no new requests
  bool over_ = false;
  bool gives_up_ = false;
  std::string complaint_;
  LeastRate incoming_rate_;  // the rate of an incomplete request
  LeastRate outgoing_rate_;  // the rate of unread answers
};

}  // namespace joust::file
