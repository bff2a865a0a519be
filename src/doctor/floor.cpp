// SPDX-License-Identifier: MIT
#include "doctor/floor.hpp"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>

#include "base/check.hpp"
#include "base/limits.hpp"
#include "base/system/events.hpp"
#include "base/system/sockets.hpp"
#include "base/text.hpp"
#include "joust/time.hpp"
#include "measure/affinity.hpp"
#include "net/address.hpp"
#include "stats/summary.hpp"

namespace joust::doctor {
namespace {

using Samples = std::vector<double>;
using std::chrono::milliseconds;

constexpr milliseconds kCalls{60}, kWakes{200}, kSpins{150}, kCopies{300}, kStream{500};

double ns_since(Time begun) {
  return std::chrono::duration<double, std::nano>(Clock::now() - begun).count();
}

// Runs the work on a thread of its own, and passes on its exception. What it binds ends with it.
void on_thread(const std::function<void()>& work) {
  std::exception_ptr failed;
  std::jthread([&] {
    try {
      work();
    } catch (...) {
      failed = std::current_exception();
    }
  }).join();
  if (failed) std::rethrow_exception(failed);
}

void on_cpu(int cpu, const std::function<void()>& work) {
  on_thread([&] {
    pin_to({&cpu, 1});
    work();
  });
}

// Starts a thread on a CPU, which it inherits from the thread that starts it.
template <typename Work>
std::jthread start_on(int cpu, Work work) {
  std::jthread started;
  on_cpu(cpu, [&] { started = std::jthread(std::move(work)); });
  return started;
}

Samples system_calls_ns(int cpu) {
  constexpr int kBatch = 1000;
  Samples samples;
  on_cpu(cpu, [&] {
    for (const Time end = Clock::now() + kCalls; Clock::now() < end;) {
      const Time begun = Clock::now();
      for (int i = 0; i < kBatch; ++i) ::getppid();
      samples.push_back(ns_since(begun) / kBatch);
    }
  });
  return samples;
}

OpenPipe new_pipe() {
  OpenPipe made = open_pipe(O_CLOEXEC);
  if (!made.from.is_open()) checked(-1, "pipe2()");
  return made;
}

bool pass(int from, int into) {
  char ball = 0;
  return ::read(from, &ball, 1) == 1 && ::write(into, &ball, 1) == 1;
}

// Two threads wake each other in turn, each by a byte in a pipe for which the other waits.
Samples wake_ups_ns(int one, int other) {
  Samples samples;
  on_cpu(one, [&] {
    OpenPipe there = new_pipe(), back = new_pipe();
    const std::jthread partner = start_on(other, [in = std::move(there.from), out = std::move(back.into)] {
      while (pass(in.get(), out.get())) {
      }
    });
    // Closed before the partner is waited for, which ends then.
    const Fd out = std::move(there.into), in = std::move(back.from);
    for (const Time end = Clock::now() + kWakes; Clock::now() < end;) {
      char ball = 0;
      const Time begun = Clock::now();
      if (::write(out.get(), &ball, 1) != 1 || ::read(in.get(), &ball, 1) != 1) return;
      samples.push_back(ns_since(begun) / 2);
    }
  });
  return samples;
}

// A word that two threads write in turn, alone in its cache line.
struct alignas(128) Ball {
  std::atomic<bool> is_there{false};
};

// Passes the ball and waits for it. Returns false at the end of the time.
bool spin_round(Ball& ball, Time end) {
  constexpr unsigned kLooks = 4096;  // at the word for each look at the clock
  ball.is_there.store(true, std::memory_order_release);
  for (unsigned looks = 1; ball.is_there.load(std::memory_order_acquire); ++looks)
    if (looks % kLooks == 0 && Clock::now() >= end) return false;
  return true;
}

Samples spinning_rounds_ns(int one, int other) {
  constexpr int kBatch = 100;
  Samples samples;
  on_cpu(one, [&] {
    Ball ball;
    const std::jthread partner = start_on(other, [&ball](const std::stop_token& stop) {
      while (!stop.stop_requested())
        if (ball.is_there.load(std::memory_order_acquire))
          ball.is_there.store(false, std::memory_order_release);
    });
    for (const Time end = Clock::now() + kSpins; Clock::now() < end;) {
      const Time begun = Clock::now();
      for (int i = 0; i < kBatch; ++i)
        if (!spin_round(ball, end)) return;
      samples.push_back(ns_since(begun) / kBatch);
    }
  });
  return samples;
}

// Returns the bytes of a copy: more than caches hold, where there is memory for it.
std::size_t bytes_to_copy() {
  constexpr std::uint64_t kLeast = 1 << 20, kMost = 64 << 20, kShare = 16;
  return static_cast<std::size_t>(std::clamp(available_memory().bytes / kShare, kLeast, kMost));
}

Samples copies_bytes_per_s(int cpu) {
  Samples samples;
  on_cpu(cpu, [&] {
    const std::size_t bytes = bytes_to_copy();
    const auto from = std::make_unique_for_overwrite<char[]>(bytes);
    const auto into = std::make_unique_for_overwrite<char[]>(bytes);
    std::memset(from.get(), 1, bytes);  // the first touch of a page takes longer
    std::memset(into.get(), 2, bytes);
    for (const Time end = Clock::now() + kCopies; Clock::now() < end;) {
      const Time begun = Clock::now();
      std::memcpy(into.get(), from.get(), bytes);
      asm volatile("" : : "r"(into.get()) : "memory");  // otherwise nobody reads the copy
      samples.push_back(static_cast<double>(bytes) * 1e9 / ns_since(begun));
    }
  });
  return samples;
}

struct Connected {
  Fd client, server;
};

Fd new_socket() {
  Fd made = stream_socket(AF_INET, 0);
  checked(made.get(), "socket(AF_INET)");
  return made;
}

// Connects two TCP sockets over 127.0.0.1.
Connected connect_over_loopback() {
  const Fd listener = new_socket();
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  checked(::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), "bind(127.0.0.1:0)");
  checked(::listen(listener.get(), 1), "listen(127.0.0.1)");
  const Endpoint bound = bound_address(listener.get());
  Connected ends{.client = new_socket(), .server = Fd()};
  checked(::connect(ends.client.get(), bound.raw(), bound.size), "connect({})", to_text(bound));
  ends.server = Fd(accept_socket(listener.get(), SOCK_CLOEXEC));
  checked(ends.server.get(), "accept(127.0.0.1)");
  return ends;
}

Samples stream_bytes_per_s(int one, int other) {
  constexpr std::size_t kPart = 64 << 10;
  constexpr milliseconds kSample{10};
  Samples samples;
  on_cpu(one, [&] {
    Connected ends = connect_over_loopback();
    const std::jthread sender = start_on(other, [socket = std::move(ends.client)] {
      const std::vector<char> part(kPart);
      while (::send(socket.get(), part.data(), part.size(), MSG_NOSIGNAL) > 0) {
      }
    });
    const Fd in = std::move(ends.server);  // closed before the sender is waited for, which ends then
    std::vector<char> part(kPart);
    std::uint64_t bytes = 0;
    Time begun = Clock::now();
    for (const Time end = begun + kStream; Clock::now() < end;) {
      const ssize_t got = ::recv(in.get(), part.data(), part.size(), 0);
      if (got <= 0) return;
      bytes += static_cast<std::uint64_t>(got);
      if (Clock::now() - begun < kSample) continue;
      samples.push_back(static_cast<double>(bytes) * 1e9 / ns_since(begun));
      bytes = 0;
      begun = Clock::now();
    }
  });
  return samples;
}

std::expected<Spread, std::string> spread_of(const std::function<Samples()>& measure) {
  try {
    const Samples samples = stats::sorted(measure());
    if (samples.size() < 3)
      return std::unexpected("this machine is too busy: no time was left to measure it");
    return Spread{.median = stats::quantile_of_sorted(samples, 0.5),
                  .low = stats::quantile_of_sorted(samples, 0.1),
                  .high = stats::quantile_of_sorted(samples, 0.9),
                  .samples = samples.size()};
  } catch (const std::exception& error) {
    return std::unexpected(words_of(error));
  }
}

// Returns another CPU for a partner: on another core of the same socket, or as near to that as there is.
// Nothing if there is only one CPU.
std::optional<int> partner_of(const CpuPlace& one, std::span<const CpuPlace> cpus) {
  const auto nearness = [&one](const CpuPlace& other) {
    return 2 * (other.core != one.core || other.package != one.package) + (other.package == one.package);
  };
  std::optional<CpuPlace> best;
  for (const CpuPlace& other : cpus)
    if (other.cpu != one.cpu && (!best || nearness(other) > nearness(*best))) best = other;
  return best ? std::optional(best->cpu) : std::nullopt;
}

}  // namespace

std::vector<FloorFigure> measure_floor(std::span<const CpuPlace> cpus) {
  const int one = cpus.empty() ? 0 : cpus.front().cpu;
  const auto other = cpus.empty() ? std::nullopt : partner_of(cpus.front(), cpus);
  const auto across = [&](Samples (*measure)(int, int)) -> std::expected<Spread, std::string> {
    if (!other) return std::unexpected("there is one CPU only");
    return spread_of([&] { return measure(one, *other); });
  };
  return {
      {"system_call", "system call", "ns", "getppid()", spread_of([&] { return system_calls_ns(one); })},
      {"wake_up_same_cpu", "wake-up on one CPU", "ns", "a byte through a pipe to a thread that waits for it",
       spread_of([&] { return wake_ups_ns(one, one); })},
      {"wake_up_across", "wake-up across cores", "ns", "the same to a thread on another core",
       across(wake_ups_ns)},
      {"spinning_round_trip", "spinning round trip", "ns", "a cache line to another core and back",
       across(spinning_rounds_ns)},
      {"copy", "memory copy", "bytes_per_s", "memcpy() of more than the caches hold, one thread",
       spread_of([&] { return copies_bytes_per_s(one); })},
      {"loopback_stream", "loopback stream", "bytes_per_s", "one TCP connection, 64 KiB a call, two cores",
       across(stream_bytes_per_s)},
  };
}

}  // namespace joust::doctor
