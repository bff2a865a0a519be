// SPDX-License-Identifier: MIT
#include "engines/optional/module.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <stdexcept>
#include <system_error>

namespace joust {

namespace fs = std::filesystem;

// Returns the file beside the program as it was installed, or as it was built. Empty if neither exists.
std::string EngineModule::file() const {
  std::error_code unknown;
  const fs::path program = fs::read_symlink("/proc/self/exe", unknown);
  for (const fs::path& candidate : {program.parent_path().parent_path() / installed, fs::path(built)})
    if (::access(candidate.c_str(), R_OK) == 0) return candidate.string();
  return {};
}

std::string EngineModule::missing() const {
  if (!file().empty()) return {};
  return fmt::format("its module is missing: {} beside the program's folder, or {}", installed, built);
}

void EngineModule::run(const char* entry, const Hosting& hosting, Stop& stop) const {
  void* const loaded = ::dlopen(file().c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  void* const found = loaded == nullptr ? nullptr : ::dlsym(loaded, entry);
  if (found == nullptr) throw std::runtime_error(fmt::format("{}: {}", engines, ::dlerror()));
  reinterpret_cast<void (*)(const Hosting&, Stop&)>(found)(hosting, stop);
}

}  // namespace joust
