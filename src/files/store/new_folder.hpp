// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "files/store/named_entry.hpp"

namespace joust {

// A new directory that a peer asks for. It has its name as soon as it is made.
class NewFolder : public NamedEntry {
 public:
  using NamedEntry::NamedEntry;

  // Makes the directory with these permission bits. An existing directory is taken as it is, or gets these
  // bits if `existing` is `replace`. Returns 0 or the errno: EEXIST if anything else has the name, EDQUOT if
  // the quota has no room for the directory.
  int create(std::uint32_t mode, Existing existing, Quota* pays);
  bool was_there() const { return was_there_; }

 private:
  int make(std::uint32_t mode);
  int take_existing();
  int set_mode(std::uint32_t mode);

  bool was_there_ = false;
};

}  // namespace joust
