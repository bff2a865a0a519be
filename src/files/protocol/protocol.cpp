// SPDX-License-Identifier: MIT
//
// file: files of one directory, whole or in ranges, over one binary protocol (docs/file-protocol.md).
//
//     query --> facts                                  size, time, digest
//     fragment --> facts, data ..., end                a range is downloaded
//     upload, data ..., end --> stored                 a range is uploaded
//
// A server accesses files below --root only. Without --root it keeps files in memory, which the kernel frees
// when the process ends, and offers a sample. A client divides each transfer into --segments ranges.
#include "files/protocol/protocol.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "base/units.hpp"
#include "files/protocol/client.hpp"

namespace joust::file {
namespace {

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

std::optional<std::uint64_t> bytes_if_given(const Parameters& parameters, const std::string& option) {
  return parameters.option(option).empty() ? std::nullopt : std::optional(bytes_of(parameters, option));
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

namespace {

constexpr auto kOverwrite = "overwrite", kAccess = "access";

}  // namespace

std::string no_effect(const std::string& option, Role side, const Parameters& client) {
  if (option != "file-read" && option != "file-write") return {};
  const std::string& op = client.option("op");
  if (op == "info") return "--op info carries no file";
  const Role sender = op == "put" ? Role::dial : Role::serve;
  const bool reads = option == "file-read";
  if (reads == (side == sender)) return {};
  const char* const other = side == Role::serve ? "client" : "server";
  return fmt::format("with --op {} the {} {} the file", op, other, reads ? "reads" : "writes");
}

// Lets a race overwrite its files in memory: they belong to the race alone, and a user who measures writes
// expects the files to be written again. The files of a directory belong to the user. A server that only
// gives files takes none, so that an engine with a process for each connection can be one.
Settings repeatable(Settings server, const Parameters& client) {
  if (client.option("op") != "put") {
    server.emplace(kAccess, "read");
    return server;
  }
  const auto given = server.find(kOverwrite);
  if (given == server.end() && !server.contains("root")) {
    server.emplace(kOverwrite, "yes");
  } else if (given == server.end() || given->second != "yes") {
    throw std::invalid_argument(
        "--op put: a race uploads the same file many times, and the server would keep the first; say "
        "--overwrite yes, or neither --root nor --overwrite for files in memory");
  }
  return server;
}

}  // namespace joust::file

namespace joust {

Protocol file_protocol() {
  Protocol protocol;
  protocol.name = "file";
  protocol.summary = "files of one directory: fetched, sent, asked about";
  protocol.no_messages = "lost ones are not sent again yet";
  // Uploads are an exception, which demands_of() reports.
  protocol.sessions_stand_alone = true;
  protocol.takes_turns = true;
  protocol.counts_turns = true;
  // The first option ends connections, the second writes one file from one transfer.
  protocol.options_without_turns = {"requests-per-connection", "output"};
  protocol.no_reconnect = "a transfer that was begun over other connections cannot be taken over";
  protocol.no_payload = "a transfer has no payload; it has the size of its file (--name, --file), or --bytes";
  protocol.standard_messages = 1;
  protocol.has_ceiling = false;
  protocol.verified = "by size and place, and a copy by its digest after the timed window";
  protocol.options = file::options();
  protocol.make_server = file::make_server;
  protocol.make_client = file::make_client;
  protocol.demands = file::demands_of;
  protocol.no_effect = file::no_effect;
  protocol.repeatable = file::repeatable;
  protocol.check_client = [](const Parameters& parameters, const LoadPlan& plan) {
    file::local_files_rules(parameters, file::transfer_options(parameters, plan), plan);
  };
  return protocol;
}

}  // namespace joust
