// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <set>

#include "engines/asio/library.hpp"
#include "engines/asio/reserve.hpp"
#include "engines/engine.hpp"
#include "engines/loop/dials.hpp"

namespace joust {

// Dials the connections of an engine on Asio. Runs on the strand of the engine's hub.
class AsioDialling {
 public:
  // `context` returns the context of the next connection; `admit` takes the connected socket; `on_done` is
  // called after the last dial.
  AsioDialling(const Hosting& hosting, AsioHome& home, std::function<AsioExecutor()> context,
               std::function<void(AsioSocket)> admit, std::function<void()> on_done);
  // Starts as many connects as may be in progress. Call it again after a publication, because lost
  // connections may be dialled again from then on.
  void start();
  void ended();    // an admitted connection has ended
  void abandon();  // the program is stopping
  bool is_done() const { return dials_.done(); }

 private:
  struct Attempt {
    Dial dial;
    AsioSocket socket;
    AsioTimer timer;
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
  AsioHome& home_;
  const std::function<AsioExecutor()> context_;
  const std::function<void(AsioSocket)> admit_;
  const std::function<void()> on_done_;
  Dials dials_;
  AsioTimer again_;  // expires when lost connections are dialled again
  std::set<Shared> attempts_;
};

}  // namespace joust
