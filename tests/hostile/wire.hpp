// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/fd.hpp"

namespace joust::hostile {

inline constexpr std::size_t kRead = 64 << 10;  // bytes that a peer reads at once

// The socket of one hostile peer. No call here waits.
class Wire {
 public:
  explicit Wire(Fd socket) : socket_(std::move(socket)) {}

  int fd() const { return socket_.get(); }

  // How many bytes the kernel took: 0 where it has no room now, or the connection is gone.
  std::size_t send(std::string_view bytes, int flags = 0);
  std::string receive(std::size_t most);  // empty where nothing is there now, or the connection is gone

  void finish();  // the other side reads our end
  void reset();   // closes in a way that takes back what was sent

  bool ended() const { return ended_; }  // the other side's end has been read
  bool gone() const { return gone_; }    // reset by the other side

  std::uint64_t sent() const { return sent_; }  // bytes

 private:
  Fd socket_;
  std::uint64_t sent_ = 0;
  bool ended_ = false;
  bool gone_ = false;
};

}  // namespace joust::hostile
