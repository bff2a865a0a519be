// SPDX-License-Identifier: MIT
//
// The two ways in which engines start threads. A thread that an engine's thread starts is an engine's too.
#include <pthread.h>

#include <cerrno>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>

#include "faults/seam.hpp"

namespace joust::faults {
namespace {

Call pthread_create_call{"pthread_create", {EAGAIN}};
Call std_thread_call{"std::thread", {EAGAIN}};

struct Body {
  void* (*run)(void*);
  void* argument;
};

void* run_as_engine(void* argument) {
  const std::unique_ptr<Body> body(static_cast<Body*>(argument));
  const EngineThread mark;
  return body->run(body->argument);
}

class State : public std::thread::_State {
 public:
  explicit State(std::thread::_State_ptr inner) : inner_(std::move(inner)) {}
  void _M_run() override {
    const EngineThread mark;
    inner_->_M_run();
    inner_.reset();  // as an engine's thread still
  }

 private:
  std::thread::_State_ptr inner_;
};

}  // namespace
}  // namespace joust::faults

using namespace joust::faults;

extern "C" {

int __real_pthread_create(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
int __wrap_pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                          void* argument) {
  if (!EngineThread::here()) return __real_pthread_create(thread, attributes, run, argument);
  if (const int error = pthread_create_call.fault(); error > 0) return error;
  const EngineThread own(false);  // what is allocated here is no engine's
  auto body = std::make_unique<Body>(run, argument);
  const int result = __real_pthread_create(thread, attributes, run_as_engine, body.get());
  if (result == 0) static_cast<void>(body.release());
  return result;
}

// std::thread::_M_start_thread(std::unique_ptr<_State>, void (*)())
void __real__ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE(
    std::thread*, std::thread::_State_ptr, void (*)());
void __wrap__ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE(
    std::thread* thread, std::thread::_State_ptr state, void (*depends)()) {
  if (EngineThread::here()) {
    if (const int error = std_thread_call.fault(); error > 0)
      throw std::system_error(error, std::generic_category(), "std::thread");
    const EngineThread own(false);
    state = std::make_unique<State>(std::move(state));
  }
  __real__ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE(
      thread, std::move(state), depends);
}
}
