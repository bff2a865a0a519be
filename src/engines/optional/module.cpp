// SPDX-License-Identifier: MIT
#include "engines/optional/module.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <stdexcept>

#include "base/library_file.hpp"
#include "base/own_file.hpp"

namespace joust {

std::string EngineModule::file() const {
  return own_file(installed, built).string();
}

std::string EngineModule::missing() const {
  if (!file().empty()) return {};
  return fmt::format("its module is missing: {} beside the program's folder", installed);
}

void EngineModule::run(const char* entry, const Hosting& hosting, Stop& stop) const {
  if (const std::string missing = missing_of_library(file()); !missing.empty())
    throw std::runtime_error(fmt::format("{}: {}: {}", engines, file(), missing));
  void* const loaded = ::dlopen(file().c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  void* const found = loaded == nullptr ? nullptr : ::dlsym(loaded, entry);
  if (found == nullptr) throw std::runtime_error(fmt::format("{}: {}", engines, ::dlerror()));
  reinterpret_cast<void (*)(const Hosting&, Stop&)>(found)(hosting, stop);
}

}  // namespace joust
