// SPDX-License-Identifier: MIT
#pragma once

#include <sys/socket.h>
#include <sys/time.h>

#include <cstddef>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/check.hpp"
#include "base/fd.hpp"
#include "connection/tally.hpp"
#include "engines/engine.hpp"
#include "net/address.hpp"
#include "net/listener.hpp"
#include "net/stop.hpp"
#include "net/target.hpp"
#include "session/handler_session.hpp"

namespace joust::test {

class EchoHandler : public Handler {
 public:
  bool on_message(Bytes message, Writer& replies) override {
    replies.send(message);
    return true;
  }
};

inline HandlerService echo_service(Framing framing = Raw{}) {
  return {framing, [] { return std::make_unique<EchoHandler>(); }};
}

inline std::size_t entries(const char* directory) {
  const std::filesystem::directory_iterator all(directory);
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}
inline std::size_t open_descriptors() {
  return entries("/proc/self/fd");
}
inline std::size_t live_threads() {
  return entries("/proc/self/task");
}

// An engine that serves `service` on a free port, until stopped.
class RunningServer {
 public:
  RunningServer(const Engine& engine, Service& service, Limits limits = {}, EngineOptions options = {},
                const std::string& where = "127.0.0.1:0")
      : RunningServer(engine, service, limits, std::move(options), *resolve(where)) {}
  RunningServer(const Engine& engine, Service& service, Limits limits, EngineOptions options,
                const std::vector<Endpoint>& where)
      : limits_(limits),
        options_(std::move(options)),
        listeners_(where, {}),
        addresses_(listeners_.addresses()),
        hosting_{.service = service,
                 .options = options_,
                 .limits = limits_,
                 .tally = tally,
                 .listeners = listeners_.all()},
        thread_([this, &engine] { engine.run(hosting_, stop); }) {}
  ~RunningServer() { finish(); }

  void finish() {
    if (!thread_.joinable()) return;
    stop.request();
    thread_.join();
  }
  void finish_at_once() {
    stop.request();
    finish();
  }

  const std::string& address() const { return addresses_.front(); }
  const std::vector<std::string>& addresses() const { return addresses_; }

  Stop stop;
  Tally tally;

 private:
  Limits limits_;
  EngineOptions options_;
  Listeners listeners_;
  std::vector<std::string> addresses_;
  Hosting hosting_;
  std::thread thread_;
};

// What an engine needs to dial `to`.
struct Dialling {
  Dialling(Service& service, const std::string& to, std::size_t count)
      : target(to, *resolve(to), {}),
        hosting{.service = service,
                .options = options,
                .limits = limits,
                .tally = tally,
                .target = &target,
                .dials = count} {}
  EngineOptions options;
  Limits limits;
  Tally tally;
  Stop stop;
  Target target;
  Hosting hosting;
};

// A peer that blocks, and gives up after 20 seconds. A ring that the calling thread had may interrupt its
// calls once more; with a time limit the kernel does not begin them again.
inline Fd connect_to(const std::string& address) {
  const Endpoint endpoint = resolve(address)->front();
  Fd socket(checked(::socket(endpoint.family(), SOCK_STREAM | SOCK_CLOEXEC, 0), "socket()"));
  const timeval limit{.tv_sec = 20, .tv_usec = 0};
  checked(::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit), "setsockopt()");
  checked(::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit), "setsockopt()");
  checked(retry_interrupted([&] { return ::connect(socket.get(), endpoint.raw(), endpoint.size); }),
          "connect({})", address);
  return socket;
}

inline void send_all(const Fd& socket, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n =
        retry_interrupted([&] { return ::send(socket.get(), text.data(), text.size(), MSG_NOSIGNAL); });
    text.remove_prefix(static_cast<std::size_t>(checked(n, "send()")));
  }
}

// Up to `size` bytes; fewer when the peer ends first.
inline std::string receive(const Fd& socket, std::size_t size) {
  std::string text(size, '\0');
  std::size_t have = 0;
  while (have < size) {
    const ssize_t n =
        checked(retry_interrupted([&] { return ::recv(socket.get(), text.data() + have, size - have, 0); }),
                "recv()");
    if (n == 0) break;
    have += static_cast<std::size_t>(n);
  }
  text.resize(have);
  return text;
}

inline bool at_end(const Fd& socket) {
  char byte = 0;
  return checked(retry_interrupted([&] { return ::recv(socket.get(), &byte, 1, 0); }), "recv()") == 0;
}

// Bytes that show where one is missing, doubled or out of order.
inline std::string pattern(std::size_t size, unsigned seed) {
  std::string text(size, '\0');
  unsigned state = seed * 2654435761U + 1;
  for (char& c : text) {
    state = state * 1664525U + 1013904223U;
    c = static_cast<char>(state >> 24);
  }
  return text;
}

}  // namespace joust::test
