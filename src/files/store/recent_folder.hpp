// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "files/store/directory.hpp"

namespace joust {

// The directory in which the newest files are made. Files that follow share its handle as long as one of them
// is under way, so that the path is resolved once for many small files. The directory may have been moved or
// removed meanwhile: the code that gives a file its name has to check that. Any thread.
class RecentFolder {
 public:
  std::optional<Parent> find(std::string_view name) const;  // the parent of the name, if it is this directory
  void keep(std::string_view name, const Parent& parent);   // `parent` is the parent of the name
  void forget();                                            // the directory is no longer at its path

 private:
  mutable std::mutex mutex_;
  std::string path_;
  std::weak_ptr<const Fd> handle_;
};

}  // namespace joust
