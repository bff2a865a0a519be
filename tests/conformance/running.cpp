// SPDX-License-Identifier: MIT
#include "conformance/running.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <stdexcept>
#include <string_view>

#include "base/check.hpp"
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
               .vacancies = task.vacancies,
               .answering = task.answering,
               .on_ready = [this] { ++*times_ready_; }} {
  if (variant.engine->separate_processes && hosting_.serves())
    run_in_a_process(variant.engine->run);
  else
    done_ = std::async(std::launch::async, [this, run = variant.engine->run] { run(hosting_, stop_); });
}

void Run::run_in_a_process(void (*run)(const Hosting&, Stop&)) {
  const pid_t process = checked(::fork(), "fork()");
  if (process == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    try {
      run(hosting_, stop_);
      if (::waitpid(-1, nullptr, WNOHANG) == 0 || errno != ECHILD)
        throw std::runtime_error("children are left");
    } catch (const std::exception& error) {
      if (const auto* system = dynamic_cast<const std::system_error*>(&error))
        ending_->error = system->code().value();
      std::string_view(error.what()).copy(ending_->words.data(), ending_->words.size() - 1);
    }
    ::_exit(0);
  }
  // The listeners are the engine's alone from now on: its stop ends them.
  const Fd nothing(checked(::open("/dev/null", O_RDONLY | O_CLOEXEC), "open(/dev/null)"));
  for (const Listener* listener : hosting_.listeners)
    checked(::dup3(nothing.get(), listener->fd(), O_CLOEXEC), "dup3(/dev/null)");
  done_ = std::async(std::launch::async, [this, process] { await_process(process); });
}

void Run::await_process(pid_t process) {
  int status = 0;
  checked(retry_interrupted([&] { return ::waitpid(process, &status, 0); }), "waitpid()");
  const std::string words = ending_->words.data();
  if (ending_->error != 0) throw std::system_error(ending_->error, std::generic_category(), words);
  if (!words.empty()) throw std::runtime_error(words);
  if (status != 0) throw std::runtime_error(fmt::format("the engine's process ended with status {}", status));
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
  // A library that its engine uses wrongly says so on the console, or in a note.
  for (const std::string& note : tally_.notes())
    EXPECT_EQ(note.find(" warns: "), std::string::npos) << name_ << ": " << note;
}

Server::Server(const Variant& variant, Service& service, const Serving& how)
    : Server(variant, service, how,
             std::array{endpoint_of(how.address.empty() ? variant.engine->listens_at() : how.address)}) {}

Server::Server(const Variant& variant, Service& service, const Serving& how,
               std::span<const Endpoint> endpoints)
    : listeners_(endpoints, how.socket, variant.engine->transport),
      endpoint_(listeners_.all().front()->endpoint()),
      run_(variant, how.limits, {.service = service, .listeners = listeners_.all()}) {
  // What is sent to a group before there is a member is gone.
  while (sends_to_group(variant) && run_.times_ready() == 0 &&
         !run_.over_within(std::chrono::milliseconds(1)))
    continue;
}

void Server::stop() {
  run_.stop().request();
  run_.wait();
}

Dialling::Dialling(const Variant& variant, Service& service, std::vector<Endpoint> to, std::size_t dials,
                   const Limits& limits, std::size_t vacancies)
    : target_("the test's server", std::move(to), {}, variant.engine->transport),
      run_(variant, limits,
           {.service = service, .target = &target_, .dials = dials, .vacancies = vacancies}) {}

void expect_to_be_served(Peer& peer) {
  peer.send("hello\n");
  EXPECT_EQ(peer.receive(6), "hello\n");
}

void let_library_begin(const Variant& variant) {
  class Nobody : public Service {
    std::unique_ptr<Session> open(const ConnectionInfo&) override {
      throw std::runtime_error("nobody comes");
    }
  };
  static std::set<const Engine*> begun;
  if (variant.engine->keeps.empty() || !begun.insert(variant.engine).second) return;
  Nobody nobody;
  Server(variant, nobody).stop();
}

std::string unix_address() {
  static const test::TemporaryFolder folder;
  static int number = 0;
  return fmt::format("unix:{}/{}.sock", folder.path(), ++number);
}

}  // namespace joust::conformance
