// SPDX-License-Identifier: MIT
#include "plugins/plugin_file.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <list>
#include <mutex>
#include <span>

#include "base/bytes.hpp"
#include "base/files.hpp"
#include "plugins/plugin_protocol.hpp"

namespace joust {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kDigitsOfDigest = 12;  // 48 bits: no two of a user's plug-ins agree by chance
constexpr auto kHowTo =
    "a plug-in is a shared library with the table of joust/plugin.h, made by cc -shared -fPIC "
    "(docs/howto/write-a-plug-in.md)";

// The plug-ins of the process. An element never moves.
struct Loaded {
  std::mutex mutex;
  std::list<Protocol> protocols;
};

Loaded& loaded() {
  static Loaded all;
  return all;
}

std::unexpected<std::string> wrong(const std::string& file, std::string_view what) {
  return std::unexpected(fmt::format("plug-in '{}': {}", file, what));
}

// Returns the digest of a file as hexadecimal digits. An error says why it cannot be read.
std::expected<std::string, std::string> digest_of(const std::string& file) {
  std::error_code unknown;
  const fs::file_type type = fs::status(file, unknown).type();
  if (type == fs::file_type::not_found)
    return std::unexpected("there is no such file; build it, or correct the path");
  if (!unknown && type != fs::file_type::regular)
    return std::unexpected(fmt::format("it is no regular file; {}", kHowTo));
  errno = 0;
  std::ifstream bytes(file, std::ios::binary);
  Digester digester;
  std::array<char, 16 << 10> part{};
  while (bytes.read(part.data(), part.size()) || bytes.gcount() > 0)
    digester.add(std::as_bytes(std::span(part).first(static_cast<std::size_t>(bytes.gcount()))));
  if (!bytes.eof()) {
    const char* const why = std::strerror(errno == 0 ? EIO : errno);
    return std::unexpected(fmt::format("it cannot be read: {}", why));
  }
  return to_hex(digester.value());
}

// Returns the table of a file. An error says what is wrong with the file. The words of the loader begin with
// the file's name.
std::expected<const joust_protocol_v1*, std::string> table_of(const std::string& file) {
  if (std::string missing = missing_of_library(file); !missing.empty()) return std::unexpected(missing);
  void* const library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) {
    std::string why = ::dlerror();
    if (why.starts_with(file + ": ")) why.erase(0, file.size() + 2);
    return std::unexpected(fmt::format("it cannot be loaded: {}; {}", why, kHowTo));
  }
  const auto* const table = static_cast<const joust_protocol_v1*>(::dlsym(library, "joust_protocol"));
  if (table == nullptr)
    return std::unexpected(
        fmt::format("it has no symbol 'joust_protocol', or does not export it; {}", kHowTo));
  if (std::string objection = objection_to(*table); !objection.empty())
    return std::unexpected(std::move(objection));
  return table;
}

}  // namespace

std::expected<const Protocol*, std::string> load_plugin(const std::string& file) {
  std::error_code unknown;
  const fs::path canonical = fs::weakly_canonical(file, unknown);
  const std::string path = unknown ? fs::absolute(file, unknown).string() : canonical.string();
  Loaded& all = loaded();
  const std::lock_guard lock(all.mutex);
  for (const Protocol& protocol : all.protocols)
    if (protocol.plugin == path) return &protocol;
  const auto digest = digest_of(path);
  if (!digest) return wrong(file, digest.error());
  const auto table = table_of(path);
  if (!table) return wrong(file, table.error());
  Protocol protocol = protocol_of(**table);
  protocol.name += '@' + digest->substr(0, kDigitsOfDigest);
  protocol.plugin = path;
  all.protocols.push_back(std::move(protocol));
  return &all.protocols.back();
}

std::vector<const Protocol*> loaded_plugins() {
  Loaded& all = loaded();
  const std::lock_guard lock(all.mutex);
  std::vector<const Protocol*> plugins;
  for (const Protocol& protocol : all.protocols) plugins.push_back(&protocol);
  return plugins;
}

}  // namespace joust
