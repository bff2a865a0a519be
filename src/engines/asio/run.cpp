// SPDX-License-Identifier: MIT
#include "engines/asio/run.hpp"

#include <boost/asio/executor_work_guard.hpp>

#include <deque>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include "engines/loop/loops.hpp"
#include "engines/loop/waiting.hpp"

namespace joust {
namespace {

thread_local FileInput* file_input = nullptr;

// Runs handlers until the context has no more work. A thread that is not to sleep calls poll(), which returns
// at once.
void run_context(asio::io_context& context, Wait wait) {
  if (wait == Wait::block) {
    context.run();
    return;
  }
  Time last_work{};
  while (!context.stopped()) {
    if (context.poll() > 0)
      last_work = Clock::now();
    else if (wait == Wait::adaptive && Clock::now() - last_work > WaitStrategy::kSpin)
      context.run_one();
  }
}

// After an exception, a context may still hold operations whose handlers belong to another context. So all
// contexts release their handlers before the first of them is destroyed.
class AsioContext : public asio::io_context {
 public:
  using asio::io_context::io_context;
  void let_go_of_handlers() { shutdown(); }
};

class AsioRun {
 public:
  AsioRun(const Hosting& hosting, Stop& stop, std::size_t contexts, const AsioHub::MakePeer& make)
      : hosting_(hosting), stop_(stop) {
    // The number of threads that run each context. For one thread, the library leaves out what only several
    // threads need.
    const auto threads_each = static_cast<int>(hosting.options.threads / contexts);
    while (contexts_.size() < contexts) {
      contexts_.emplace_back(threads_each);
      // A context takes its descriptors when it is first used: here, where a shortage ends the command.
      const AsioTimer first_use(contexts_.back());
      guards_.emplace_back(contexts_.back().get_executor());
    }
    std::vector<AsioExecutor> executors;
    for (AsioContext& context : contexts_) executors.push_back(context.get_executor());
    hub_.emplace(
        hosting, stop, std::move(executors), make, [this] { guards_.clear(); }, reserve_);
  }

  ~AsioRun() {
    hub_.reset();
    guards_.clear();
    for (AsioContext& context : contexts_) context.let_go_of_handlers();
  }
  AsioRun(const AsioRun&) = delete;
  AsioRun& operator=(const AsioRun&) = delete;

  void run() {
    const auto loop = [this](std::size_t index, const Begin& begin) {
      FileInput input(hosting_.tally, hosting_.limits);
      file_input = &input;
      begin();
      try {
        run_context(contexts_[index % contexts_.size()], hosting_.options.wait);
      } catch (...) {
        for (AsioContext& context : contexts_) context.stop();
        throw;
      }
    };
    run_loops(hosting_.options.threads, stop_, loop, hosting_.on_ready);
  }

 private:
  const Hosting& hosting_;
  Stop& stop_;
  AsioReserve reserve_;
  std::deque<AsioContext> contexts_;
  std::deque<asio::executor_work_guard<AsioExecutor>> guards_;  // keep the contexts running until all is over
  std::optional<AsioHub> hub_;
};

// Runs a client's contexts in the background, as a program does that has other work for its own thread. The
// calling thread waits for the end.
void run_in_background(AsioRun& run) {
  std::exception_ptr failure;
  const auto body = [&] {
    try {
      run.run();
    } catch (...) {
      failure = std::current_exception();
    }
  };
  try {
    std::jthread(body).join();
  } catch (const std::system_error& error) {
    throw std::system_error(error.code(), "starting the background thread");
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace

FileInput& file_input_here() {
  return *file_input;
}

void run_asio(const Hosting& hosting, Stop& stop, std::size_t contexts, const AsioHub::MakePeer& make) {
  try {
    AsioRun run(hosting, stop, contexts, make);
    return hosting.serves() ? run.run() : run_in_background(run);
  } catch (const boost::system::system_error& error) {
    const std::string operation(error.what(), std::string_view(error.what()).find(':'));
    throw std::system_error(error.code().value(), std::generic_category(), "Boost.Asio: " + operation);
  }
}

}  // namespace joust
