// SPDX-License-Identifier: MIT
#include "files/store/file_digest.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <system_error>
#include <utility>

namespace joust {
namespace {

constexpr std::size_t kRead = 32 << 10;                  // on the stack, which some engines keep small
constexpr std::size_t kSlice = 4 << 20;                  // about a millisecond where the file is in memory
constexpr auto kLongest = std::chrono::milliseconds(4);  // the duration of a slice that waits for a disk

}  // namespace

void FileDigest::seen(std::uint64_t offset, Bytes bytes) {
  if (offset != done_) return;
  digester_.add(bytes);
  done_ += bytes.size();
}

void FileDigest::mark() {
  if (mark_ == done_) return;
  marked_ = digester_;
  mark_ = done_;
}

void FileDigest::forget_from(std::uint64_t offset) {
  if (offset >= done_) return;
  if (offset < mark_) {
    marked_.reset();
    mark_ = 0;
  }
  digester_ = marked_;
  done_ = mark_;
}

std::expected<bool, int> FileDigest::advance(const File& file) {
  return advance(file, size_);
}

std::expected<bool, int> FileDigest::advance(const File& file, std::uint64_t end) {
  std::array<std::byte, kRead> buffer;  // on the stack: no allocation can fail
  const std::uint64_t until = std::min<std::uint64_t>(done_ + kSlice, std::min(end, size_));
  const auto latest = std::chrono::steady_clock::now() + kLongest;
  while (done_ < until) {
    const std::size_t most = std::min<std::uint64_t>(kRead, until - done_);
    const auto read = file.read_at(done_, std::span(buffer).first(most));
    if (!read) return std::unexpected(read.error());
    if (*read == 0) return std::unexpected(0);
    digester_.add(Bytes(buffer).first(*read));
    done_ += *read;
    if (std::chrono::steady_clock::now() >= latest) break;
  }
  return done_ == size_;
}

BackgroundThread::~BackgroundThread() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  more_.notify_one();
  if (thread_.joinable()) thread_.join();
}

bool BackgroundThread::take(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    try {
      if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
    } catch (const std::system_error&) {
      return false;
    }
    waiting_.push_back(std::move(work));
  }
  more_.notify_one();
  return true;
}

void BackgroundThread::finish() {
  std::unique_lock lock(mutex_);
  idle_.wait(lock, [this] { return waiting_.empty() && !is_working_; });
}

std::size_t BackgroundThread::waiting() const {
  const std::lock_guard lock(mutex_);
  return waiting_.size();
}

void BackgroundThread::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    more_.wait(lock, [this] { return ending_ || !waiting_.empty(); });
    if (ending_) return;
    {
      const auto work = std::move(waiting_.front());
      waiting_.pop_front();
      is_working_ = true;
      lock.unlock();
      work();
    }  // the task may hold the last reference to an upload, whose end takes locks of its own
    lock.lock();
    is_working_ = false;
    idle_.notify_all();
  }
}

}  // namespace joust
