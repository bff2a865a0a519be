// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "store/directory.hpp"

namespace joust {

// The directory that the newest files are made in. Those that follow share its handle as long as one of them
// is under way, so that its path is walked once for many small files. The handle may be of a directory that
// has been moved or removed meanwhile: whoever gives a file its name has to look. Any thread.
class RecentFolder {
 public:
  std::optional<Parent> find(std::string_view name) const;  // of that name, if it is this directory
  void keep(std::string_view name, const Parent& parent);   // that is the name's
  void forget();                                            // it is not where it was

 private:
  mutable std::mutex mutex_;
  std::string path_;
  std::weak_ptr<const Fd> handle_;
};

}  // namespace joust
