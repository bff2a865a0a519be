// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <set>

#include "engines/asio/library.hpp"
#include "engines/engine.hpp"
#include "engines/loop/dials.hpp"

namespace joust::JOUST_ASIO_BUILD {

// The connects of an engine on Asio, on the strand of its hub.
class AsioDialling {
 public:
  // `context` says where the next connection is to live; `admit` takes it; `on_done` follows the last dial.
  AsioDialling(const Hosting& hosting, AsioStrand home, std::function<AsioExecutor()> context,
               std::function<void(AsioSocket)> admit, std::function<void()> on_done);
  // As many as may be in progress. Call it again when a publication has come: it may be that lost connections
  // are dialled again from then on.
  void start();
  void ended();    // a connection that had been admitted is gone
  void abandon();  // the program is stopping
  bool is_done() const { return dials_.done(); }

 private:
  struct Attempt {
    Dial dial;
    AsioSocket socket;
    AsioTimer timer;
    bool connecting = false;
  };
  using Shared = std::shared_ptr<Attempt>;

  void begin(const Dial& dial);
  void give_up(const Shared& attempt, Dial& dial, const Failure& failure);
  void connect(const Shared& attempt);
  void connected(const Shared& attempt, int error);
  void set_timer(const Shared& attempt, Time when);
  void on_timer(const Shared& attempt);
  void end(const Shared& attempt);

  const Hosting& hosting_;
  AsioStrand home_;
  const std::function<AsioExecutor()> context_;
  const std::function<void(AsioSocket)> admit_;
  const std::function<void()> on_done_;
  Dials dials_;
  AsioTimer again_;  // when lost connections are dialled again
  std::set<Shared> attempts_;
};

}  // namespace joust::JOUST_ASIO_BUILD
