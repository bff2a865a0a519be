// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <stdexcept>

#include "base/units.hpp"
#include "files/protocol/options.hpp"

namespace joust::file {
namespace {

template <typename Parse>
std::uint64_t number(const Parameters& parameters, const std::string& option, Parse&& parse) {
  const auto value = parse(parameters.option(option));
  if (!value) throw std::invalid_argument(fmt::format("--{}: {}", option, value.error()));
  return *value;
}

std::vector<ProtocolOption> for_the_server() {
  return {
      {.name = "root",
       .summary =
           "the directory whose files are served; it is opened once, at the start; without it files are "
           "kept in memory until the end",
       .standard = "",
       .loads = false},
      {.name = "sample",
       .summary = "offer a file in memory: NAME=BYTES [without --root: sample=64KiB]",
       .standard = "",
       .loads = false},
      {.name = "overwrite",
       .summary = "uploads may replace files",
       .standard = "no",
       .choices = {"no", "yes"},
       .loads = false},
      {.name = "access",
       .summary = "what clients may do: read files, write them, or both",
       .standard = "both",
       .choices = {"both", "read", "write"},
       .loads = false},
      {.name = "min-rate",
       .summary = "bytes per second: a client that sends an upload or reads a download slower is "
                  "disconnected; 0: none is",
       .standard = "1KiB",
       .loads = false},
      {.name = "max-file-bytes", .summary = "of one uploaded file", .standard = "64GiB", .loads = false},
      {.name = "max-stored-bytes",
       .summary = "that all uploads together may add [nine tenths of the free disk; in memory: half of what "
                  "is free]",
       .standard = "",
       .loads = false},
      {.name = "max-uploads",
       .summary = "in the making at once; beyond, the address that has most gives way; 0: none are taken",
       .standard = "256",
       .loads = false},
  };
}

std::vector<ProtocolOption> for_the_client() {
  return {
      {.name = "op",
       .summary = "what to do with files",
       .standard = "get",
       .choices = {"get", "put", "info"},
       .serves = false},
      {.name = "name",
       .summary = "the file on the server [sample; of a put: that of --file, or upload]",
       .standard = "",
       .serves = false},
      {.name = "sink",
       .summary = "where to put what comes [null; with --output: file]",
       .standard = "",
       .choices = {"", "null", "memory", "file"},
       .serves = false},
      {.name = "output", .summary = "the file that --sink file writes", .standard = "", .serves = false},
      {.name = "file",
       .summary = "the local file to put; it is read once before, for its digest",
       .standard = "",
       .serves = false},
      {.name = "bytes", .summary = "put as many bytes of generated data", .standard = "", .serves = false},
      {.name = "segments",
       .summary = "ranges that one transfer is cut into, carried by as many connections: more connections "
                  "(-c) are a multiple; 0: one for each",
       .standard = "1",
       .serves = false},
  };
}

std::vector<ProtocolOption> for_both() {
  return {
      {.name = "file-read",
       .summary = "how bytes get from a file to a socket, where the engine can",
       .standard = "sendfile",
       .choices = {"read", "mmap", "sendfile"}},
      {.name = "file-write",
       .summary = "and from a socket into a file (mmap: up to 1GiB; writev: through a ring buffer)",
       .standard = "write",
       .choices = {"write", "splice", "mmap", "writev"}},
      {.name = "requests-per-connection",
       .summary = "fragments and uploads before a connection ends; 0: no limit",
       .standard = "0"},
  };
}

}  // namespace

std::vector<ProtocolOption> options() {
  std::vector<ProtocolOption> all = for_the_server();
  for (auto& more : {for_the_client(), for_both()}) all.insert(all.end(), more.begin(), more.end());
  return all;
}

std::uint64_t bytes_of(const Parameters& parameters, const std::string& option) {
  return number(parameters, option, parse_bytes);
}

std::optional<std::uint64_t> bytes_if_given(const Parameters& parameters, const std::string& option) {
  return parameters.option(option).empty() ? std::nullopt : std::optional(bytes_of(parameters, option));
}

std::uint64_t count_of(const Parameters& parameters, const std::string& option) {
  return number(parameters, option, parse_count);
}

bool is_yes(const Parameters& parameters, const std::string& option) {
  return parameters.option(option) == "yes";
}

FileRead file_read(const Parameters& parameters) {
  const std::string& way = parameters.option("file-read");
  return way == "mmap" ? FileRead::mmap : way == "sendfile" ? FileRead::sendfile : FileRead::read;
}

FileWrite file_write(const Parameters& parameters) {
  const std::string& way = parameters.option("file-write");
  if (way == "writev") return FileWrite::writev;
  return way == "mmap" ? FileWrite::mmap : way == "splice" ? FileWrite::splice : FileWrite::write;
}

std::string way_used(const std::string& wish, const std::string& plain, bool went_plain) {
  return went_plain && wish != plain ? fmt::format("{} ({} was not possible)", plain, wish) : wish;
}

}  // namespace joust::file
