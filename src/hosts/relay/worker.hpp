// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "hosts/frame_socket.hpp"

namespace joust::hosts {

// The process that does the work of a rank. The kernel ends it when the relay dies. One thread.
class Worker {
 public:
  // Starts the program; `words` ends with a null pointer. It reads nothing from standard input, which is the
  // relay's own. Throws std::system_error.
  explicit Worker(char** words);
  ~Worker();  // ends it, by force after a while
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  FrameSocket& socket() { return socket_; }
  // Asks it to end in order, by SIGINT.
  void interrupt() const;
  // Returns how it ended: "exit code 1", "signal 9 (Killed)". Call when its socket is closed. It is ended if
  // it still runs after some seconds.
  std::string await_end();
  int exit_code() const;  // after await_end()

 private:
  bool has_ended(Duration patience);

  pid_t process_ = -1;
  FrameSocket socket_;
  std::optional<int> status_{};
};

}  // namespace joust::hosts
