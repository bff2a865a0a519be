// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <functional>
#include <utility>

#include "engines/qt/loop.hpp"

namespace joust {

// One client of an engine whose clients have an event loop each: a loop without listeners, for one accepted
// or dialled connection. It lives in the client's thread.
class QtClient {
 public:
  // `dialled` is called once, when no connect is in progress any more.
  QtClient(const Hosting& host, Stop& stop, std::function<void()> dialled)
      : hosting_{.service = host.service,
                 .options = host.options,
                 .limits = host.limits,
                 .tally = host.tally,
                 .target = host.target,
                 .dials = host.serves() ? 0U : 1U,
                 .account = host.account},
        dialled_(std::move(dialled)),
        loop_(hosting_, stop, group_, 0) {
    loop_.await_peer([this] { std::exchange(dialled_, nullptr)(); });
  }
  ~QtClient() {
    if (dialled_) dialled_();
  }
  QtClient(const QtClient&) = delete;
  QtClient& operator=(const QtClient&) = delete;

  void run() { loop_.run(); }
  // Call give() or dismiss(), one of them, once; any thread may call it. give() begins to serve the socket,
  // or to dial if the socket is not open.
  void give(Fd socket) { loop_.give(std::move(socket)); }
  // dismiss() makes run() return, because no connection comes.
  void dismiss() {
    dismissed_ = true;
    loop_.give(Fd{});
  }
  bool is_dismissed() const { return dismissed_; }

 private:
  std::atomic<bool> dismissed_{false};
  const Hosting hosting_;
  std::function<void()> dialled_;
  LoopGroup group_{1};
  QtLoop loop_;
};

}  // namespace joust
