// SPDX-License-Identifier: MIT
#include "engines/files/pipe_pool.hpp"

#include <array>
#include <utility>

#include "base/system/pipe.hpp"
#include "base/system/splice.hpp"

namespace joust {
namespace {

constexpr std::size_t kMostIdle = 8;  // pipes kept for reuse
constexpr Duration kTryAgain = std::chrono::seconds(1);

// Asks for the largest pipe that the user may have, and returns its size.
std::size_t widen(int pipe) {
  constexpr std::array kSizes{PipePool::kPipeBytes, PipePool::kPipeBytes / 4, PipePool::kLeastBytes};
  for (const std::size_t size : kSizes)
    if (::fcntl(pipe, F_SETPIPE_SZ, static_cast<int>(size)) >= 0) break;
  const int bytes = ::fcntl(pipe, F_GETPIPE_SZ);
  return bytes < 0 ? 0 : static_cast<std::size_t>(bytes);
}

}  // namespace

PipePool::PipePool(Tally& tally) : tally_(tally) {
  idle_.reserve(kMostIdle);
}

bool PipePool::is_open() const {
  if (refused_.load(std::memory_order_relaxed)) return false;
  return !closed_.load(std::memory_order_relaxed) || Clock::now() >= open_again_.load();
}

std::optional<PipePool::Pipe> PipePool::borrow() {
  {
    const std::lock_guard lock(mutex_);
    if (lent_ == kMostLent) return std::nullopt;
    ++lent_;
    if (!idle_.empty()) {
      Pipe pipe = std::move(idle_.back());
      idle_.pop_back();
      return pipe;
    }
  }
  auto pipe = make();
  if (!pipe) {
    const std::lock_guard lock(mutex_);
    --lent_;
  }
  return pipe;
}

void PipePool::give_back(Pipe pipe, bool is_empty) {
  const std::lock_guard lock(mutex_);
  --lent_;
  if (is_empty && idle_.size() < kMostIdle) idle_.push_back(std::move(pipe));
}

std::optional<PipePool::Pipe> PipePool::make() {
  if constexpr (!kHasSplice) {
    refuse();
    return std::nullopt;
  }
  auto [from, into] = open_pipe(O_CLOEXEC);
  if (!into.is_open()) {
    close_for_a_while("splice: at times there was no pipe to be had, and files were written from memory");
    return std::nullopt;
  }
  Pipe pipe{std::move(from), std::move(into)};
  pipe.bytes = widen(pipe.into.get());
  if (pipe.bytes < kLeastBytes) {
    close_for_a_while(
        "splice: at times pipes were too small (fs.pipe-user-pages-soft), and files written from memory");
    return std::nullopt;
  }
  if (pipe.bytes < kPipeBytes)
    tally_.note("splice: some pipes are smaller than 1 MiB (fs.pipe-user-pages-soft, fs.pipe-max-size)");
  closed_ = false;
  return pipe;
}

void PipePool::close_for_a_while(std::string_view why) {
  tally_.note(why);
  open_again_ = Clock::now() + kTryAgain;
  closed_ = true;
}

void PipePool::refuse() {
  refused_ = true;
  tally_.note("splice: refused by the kernel, so that files were written from memory");
}

}  // namespace joust
