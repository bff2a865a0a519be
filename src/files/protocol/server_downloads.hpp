// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "files/protocol/server_answers.hpp"
#include "files/protocol/server_slices.hpp"
#include "files/protocol/server_state.hpp"
#include "files/store/file_digest.hpp"

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

}  // namespace joust::file
