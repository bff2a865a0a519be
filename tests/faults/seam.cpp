// SPDX-License-Identifier: MIT
#include "faults/seam.hpp"

#include <mutex>
#include <utility>

namespace joust::faults {
namespace {

thread_local bool engine_thread = false;

std::vector<Call*>& calls() {
  static std::vector<Call*> all;
  return all;
}

// What is to be injected. A wrapper of operator new asks too, so nothing here allocates.
enum class Mode : std::uint8_t { off, nth, by_chance };
std::atomic<Mode> mode{Mode::off};
std::atomic<std::uint64_t> done{0};
Fault the_fault;  // constant while mode is nth

std::mutex chance_mutex;
std::uint64_t chance_state = 0;
std::uint64_t one_in = 0;

// A step of splitmix64: the decisions of several threads share a stream, so no state is worth more.
std::uint64_t next_by_chance() {
  const std::lock_guard lock(chance_mutex);
  std::uint64_t z = chance_state += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

}  // namespace

Call::Call(std::string_view name, std::initializer_list<int> faults) : name_(name), faults_(faults) {
  calls().push_back(this);
}

int Call::fault() {
  if (!engine_thread) return 0;
  const std::uint64_t number = made_.fetch_add(1) + 1;
  const Mode now = mode.load(std::memory_order_acquire);
  if (now == Mode::off || faults_.empty()) return 0;
  if (now == Mode::nth) {
    if (the_fault.call != this || number < the_fault.nth || number >= the_fault.nth + the_fault.times)
      return 0;
    ++done;
    return the_fault.error;
  }
  const std::uint64_t chance = next_by_chance();
  if (chance % one_in != 0) return 0;
  ++done;
  return faults_[(chance >> 32) % faults_.size()];
}

std::span<Call* const> all_calls() {
  return calls();
}

void reset_counts() {
  for (Call* call : calls()) call->made_ = 0;
}

void inject(const Fault& fault) {
  stop_injecting();
  the_fault = fault;
  done = 0;
  mode.store(Mode::nth, std::memory_order_release);
}

void inject_by_chance(std::uint64_t seed, std::uint64_t in) {
  stop_injecting();
  chance_state = seed;
  one_in = in;
  done = 0;
  mode.store(Mode::by_chance, std::memory_order_release);
}

void stop_injecting() {
  mode.store(Mode::off, std::memory_order_release);
}

std::uint64_t injected() {
  return done;
}

EngineThread::EngineThread(bool is_engine) : before_(std::exchange(engine_thread, is_engine)) {}

EngineThread::~EngineThread() {
  engine_thread = before_;
}

bool EngineThread::here() {
  return engine_thread;
}

}  // namespace joust::faults
