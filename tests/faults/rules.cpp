// SPDX-License-Identifier: MIT
#include "faults/rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace joust::faults {
namespace {

using std::string_view_literals::operator""sv;

// Without these an engine cannot begin.
constexpr std::array kMayEnd{"epoll_create1"sv,
                             "kqueue"sv,
                             "eventfd"sv,
                             "std::thread"sv,
                             "io_uring_queue_init_params"sv,
                             "io_uring_register_buf_ring"sv,
                             "epoll_ctl"sv,
                             "mmap"sv,
                             "operator new"sv,
                             "aligned_alloc"sv};

bool costs_nothing(const Call& call, int error) {
  // Here "again" means that the machine has none left: of ports, of threads, or of memory.
  constexpr std::array kRefuse{"connect"sv, "uring connect"sv, "pthread_create"sv, "mmap"sv};
  const bool refuses = std::ranges::find(kRefuse, call.name()) != kRefuse.end();
  // A seccomp profile forbids them so, and there is another way.
  const bool forbidden = error == EPERM && (call.name() == "sendfile" || call.name().starts_with("splice"));
  return error == EINTR || forbidden || (error == EAGAIN && !refuses) || error == kShort ||
         call.name() == "accept4" || call.name() == "uring accept";
}

// The name by which people know the call.
std::string_view message_name(std::string_view name) {
  if (name == "io_uring_queue_init_params") return "io_uring_setup";
  if (name == "operator new" || name == "aligned_alloc") return "bad_alloc";
  if (name == "std::thread") return "starting ";  // "loop 2 of 4", "worker 1 of 3"
  return name;
}

// A library names its own operation in place of the call.
bool is_named(std::string_view call, std::string_view message) {
  return message.find(message_name(call)) != message.npos || message.find("Boost.Asio: ") != message.npos;
}

bool contains(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

}  // namespace

std::string impossible(const conformance::Variant& variant, const Call& call, int error) {
  constexpr std::array kEmptied{"recv"sv, "readv"sv, "send"sv, "sendmsg"sv, "sendfile"sv, "splice"sv};
  const std::string_view engine = variant.engine->name;
  const bool asio = engine.starts_with("asio-");
  const bool edge = (engine == "epoll" && !variant.options.is("trigger", "level")) ||
                    engine == "coroutines" || engine == "kqueue" || asio;
  if (asio && call.name() == "operator new")
    return "the library does not survive it where it makes a strand, or a socket that it accepts";
  if (engine == "asio-coroutines" && call.name() == "aligned_alloc")
    return "the library does not survive it where a coroutine begins to wait";
  if (asio && variant.options.threads > 1 && call.name() == "aligned_alloc")
    return "the library does not survive it where a strand passes its thread on, in a destructor";
  if (asio && call.name() == "epoll_ctl")
    return "the library does not look at the result where it makes its reactor, and then hears of no timer";
  if (edge && error == EAGAIN && contains(kEmptied, call.name()))
    return "an edge-triggered socket that would wait reports an event later, and an injected fault does not";
  if (edge && !asio && error == kShort && (call.name() == "recv" || call.name() == "readv"))
    return "a short read of an edge-triggered socket means that it is empty (epoll(7))";
  if (call.name() == "connect" && error == EINTR) return "a connect that does not wait is not interrupted";
  return {};
}

std::vector<std::string> broken_rules(std::span<const Fault> faults, const Outcome& outcome) {
  std::vector<std::string> broken = outcome.faults;
  if (!outcome.ended_by.empty()) {
    const bool may_end = std::ranges::any_of(faults, [&](const Fault& fault) {
      const std::string_view name = fault.call->name();
      return contains(kMayEnd, name) && is_named(name, outcome.ended_by);
    });
    if (!may_end || outcome.had_begun) broken.push_back("ends the engine: " + outcome.ended_by);
    return broken;
  }
  const auto may_be_lost = std::ranges::count_if(
      faults, [](const Fault& fault) { return !costs_nothing(*fault.call, fault.error); });
  if (outcome.lost > may_be_lost) broken.push_back(fmt::format("{} clients are lost", outcome.lost));
  if (outcome.refused > may_be_lost) broken.push_back(fmt::format("{} answers are refused", outcome.refused));
  if (outcome.lost > outcome.counted) broken.push_back("a client is lost and not counted");
  return broken;
}

std::string replay(const conformance::Variant& variant, const Exchange& exchange, const std::string& which) {
  return fmt::format("--faults --exchange {} --variant {} {}", exchange.name, variant.name, which);
}

std::string arguments(const Fault& fault) {
  return fmt::format("--call '{}' --error {} --nth {}", fault.call->name(), fault.error, fault.nth);
}

std::string text(const Fault& fault) {
  return fmt::format("{} {} at call {}", fault.call->name(),
                     fault.error == kShort ? std::string("falls short")
                                           : fmt::format("fails with {}", ::strerrorname_np(fault.error)),
                     fault.nth);
}

}  // namespace joust::faults
