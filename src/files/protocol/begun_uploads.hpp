// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "files/protocol/server_state.hpp"
#include "files/store/storage.hpp"
#include "session/least_rate.hpp"

namespace joust::file {

// The uploads with ranges from one connection, kept until they are complete. Each must grow, by all its
// connections together: one of them may have sent its range, and wait for the others.
class BegunUploads {
 public:
  explicit BegunUploads(ServerState& server) : server_(server) {}

  // Finds an upload of the storage, or begins it, and keeps it. `requests` is the number of requests of the
  // connection so far.
  FileAnswer<std::shared_ptr<Upload>> find(const UploadRequest& request, std::uint64_t requests);
  // `offered`: the upload may be forgotten, because the client offers it again.
  void keep(const std::shared_ptr<Upload>& upload, bool offered, std::uint64_t size, std::uint64_t requests);
  void forget_complete();
  void clear() { all_.clear(); }
  bool empty() const { return all_.empty(); }
  // True if an offered file is left unfinished. Between two ranges nothing is under way, and no other
  // connection may send the next range.
  bool leave_unfinished() const;

  // Counts the sender's digest as growth of an upload that has all its bytes: the sender seals it after
  // reading the file from a slow disk.
  void sender_works(const Working& working);
  void expect_growth(bool owed, bool waited_for, Time now);  // see LeastRate::expect()
  // Returns a complaint if an upload has not grown enough. The protocol has no message for giving an offered
  // file up: if the client sends other requests meanwhile (`is_busy`, `requests`), such a file is forgotten,
  // unless it is `in_hand`. Its place is free then, and the client is not too slow.
  std::optional<std::string> complaint(const Upload* in_hand, bool is_busy, std::uint64_t requests, Time now);
  std::optional<Time> deadline() const;

 private:
  struct Begun {
    std::shared_ptr<Upload> upload;
    bool offered;
    std::uint64_t size;  // bytes of the file
    LeastRate growth;
    std::uint64_t received = 0;  // bytes, when growth was last updated
    std::uint64_t requests = 0;  // requests of the connection when the window of `growth` began
    std::uint64_t digested = 0;  // bytes digested by its sender

    bool grows(Time now);
  };

  ServerState& server_;
  std::vector<Begun> all_;
};

}  // namespace joust::file
