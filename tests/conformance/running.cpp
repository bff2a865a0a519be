// SPDX-License-Identifier: MIT
#include "conformance/running.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "temporary_folder.hpp"

namespace joust::conformance {
namespace {

// The state of each thread of this process, and the kernel function in which it sleeps.
std::string states_of_threads() {
  std::string text;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string asleep_in, line;
    std::getline(std::ifstream(thread.path() / "wchan"), asleep_in);
    std::ifstream status(thread.path() / "status");
    while (std::getline(status, line) && !line.starts_with("State:")) {
    }
    text += fmt::format("  thread {}: {} {}\n", thread.path().filename().string(), line, asleep_in);
  }
  return text;
}

}  // namespace

Limits brisk() {
  using std::chrono::milliseconds;
  return {.linger = milliseconds(200), .drain = milliseconds(500), .accept_pause = milliseconds(20)};
}

Run::Run(const Variant& variant, const Limits& limits, const Task& task)
    : name_(variant.name),
      options_(variant.options),
      limits_(limits),
      hosting_{.service = task.service,
               .options = options_,
               .limits = limits_,
               .tally = tally_,
               .listeners = task.listeners,
               .target = task.target,
               .dials = task.dials,
               .answering = task.answering} {
  done_ = std::async(std::launch::async, [this, run = variant.engine->run] { run(hosting_, stop_); });
}

Run::~Run() {
  if (!done_.valid()) return;
  stop_.request();
  try {
    wait();
  } catch (const std::exception& error) {
    ADD_FAILURE() << name_ << " threw: " << error.what();
  }
}

bool Run::over_within(Duration time) {
  return done_.wait_for(time) == std::future_status::ready;
}

void Run::wait() {
  if (!over_within(kPatience)) {
    fmt::print(stderr, "{}: run() does not return; {}\n{} connections were opened, {} bytes sent\n{}", name_,
               duty_in_question(), tally_.opened.load(), tally_.sent.load(), states_of_threads());
    std::abort();
  }
  done_.get();
}

Server::Server(const Variant& variant, Service& service, const Serving& how)
    : Server(variant, service, how, std::array{endpoint_of(how.address)}) {}

Server::Server(const Variant& variant, Service& service, const Serving& how,
               std::span<const Endpoint> endpoints)
    : listeners_(endpoints, how.socket),
      endpoint_(listeners_.all().front()->endpoint()),
      run_(variant, how.limits, {.service = service, .listeners = listeners_.all()}) {}

void Server::stop() {
  run_.stop().request();
  run_.wait();
}

Dialling::Dialling(const Variant& variant, Service& service, std::vector<Endpoint> to, std::size_t dials,
                   const Limits& limits)
    : target_("the test's server", std::move(to), {}),
      run_(variant, limits, {.service = service, .target = &target_, .dials = dials}) {}

void expect_to_be_served(Peer& peer) {
  peer.send("hello\n");
  EXPECT_EQ(peer.receive(6), "hello\n");
}

std::string unix_address() {
  static const test::TemporaryFolder folder;
  static int number = 0;
  return fmt::format("unix:{}/{}.sock", folder.path(), ++number);
}

}  // namespace joust::conformance
