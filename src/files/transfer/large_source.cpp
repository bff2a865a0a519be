// SPDX-License-Identifier: MIT
#include "files/transfer/large_source.hpp"

#include <fcntl.h>

#include <utility>

#include "base/check.hpp"
#include "files/store/file_version.hpp"

namespace joust::transfer {
namespace {

Fd duplicate_of(const Fd& fd) {
  return Fd(checked(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 0), "fcntl(F_DUPFD_CLOEXEC)"));
}

}  // namespace

LargeSource::LargeSource(std::size_t item, OpenSource source, std::size_t connections)
    : ranges(source.version.size, connections),
      item_(item),
      version_(source.version),
      fd_(std::move(source.fd)),
      file_(std::make_shared<SourceFile>(duplicate_of(fd_), version_.size, FileRead::sendfile)),
      once_(duplicate_of(fd_), version_.size, FileRead::read),
      digest_(version_.size) {}

// Compares size and time only: reading changes neither, and a change of the mode or of the name changes no
// bytes.
bool LargeSource::has_changed() const {
  const FileVersion now = version_of(fd_.get());
  return now.size != version_.size || now.modified_ns != version_.modified_ns;
}

void LargeSource::make_digest(const std::function<void()>& ready) {
  for (bool more = true; more && !stopped_;) {
    for (std::uint64_t end = pace_; digest_.done() >= end; end = pace_) pace_.wait(end);
    const auto through = digest_.advance(once_);
    readable_ = through && *through;
    more = through && !*through;
  }
  digested_.store(true, std::memory_order_release);
  if (!stopped_) ready();
}

void LargeSource::pace_digest(std::uint64_t end) {
  pace_ = end;
  pace_.notify_one();
}

void LargeSource::stop_digest() {
  stopped_ = true;
  pace_digest(UINT64_MAX);
}

}  // namespace joust::transfer
