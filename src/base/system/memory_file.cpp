// SPDX-License-Identifier: MIT
#include "base/system/memory_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MFD_CLOEXEC
#include <cstdlib>
#include <string>

#include "base/temporary_directory.hpp"
#endif

namespace joust {

#ifdef MFD_CLOEXEC

Fd memory_file(const char* name) {
  return Fd(::memfd_create(name, MFD_CLOEXEC));
}

Fd sealable_memory_file(const char* name) {
  return Fd(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
}

int seal_memory(const Fd& file) {
  return ::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
}

#else

Fd memory_file(const char* name) {
  std::string path = temporary_directory() + "/" + name + "-XXXXXX";
  Fd file(::mkostemp(path.data(), O_CLOEXEC));
  if (file.is_open()) ::unlink(path.c_str());
  return file;
}

Fd sealable_memory_file(const char* name) {
  return memory_file(name);
}

int seal_memory(const Fd& /*file*/) {
  return 0;
}

#endif

}  // namespace joust
