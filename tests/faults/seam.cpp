// SPDX-License-Identifier: MIT
#include "faults/seam.hpp"

#include <utility>

namespace joust::faults {
namespace {

thread_local bool engine_thread = false;

std::vector<Call*>& calls() {
  static std::vector<Call*> all;
  return all;
}

// What is to be injected; constant while an engine runs. A wrapper of operator new asks too, so nothing here
// allocates.
std::vector<Fault> faults_to_come;

}  // namespace

Call::Call(std::string_view name, std::initializer_list<int> faults) : name_(name), faults_(faults) {
  calls().push_back(this);
}

int Call::fault() {
  if (!engine_thread) return 0;
  const std::uint64_t number = made_.fetch_add(1) + 1;
  for (const Fault& fault : faults_to_come)
    if (fault.call == this && fault.nth == number) return fault.error;
  return 0;
}

std::span<Call* const> all_calls() {
  return calls();
}

void reset_counts() {
  for (Call* call : calls()) call->made_ = 0;
}

void inject(std::span<const Fault> faults) {
  faults_to_come.assign(faults.begin(), faults.end());
}

void stop_injecting() {
  faults_to_come.clear();
}

EngineThread::EngineThread(bool is_engine) : before_(std::exchange(engine_thread, is_engine)) {}

EngineThread::~EngineThread() {
  engine_thread = before_;
}

bool EngineThread::here() {
  return engine_thread;
}

}  // namespace joust::faults
