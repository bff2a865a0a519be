// SPDX-License-Identifier: MIT
#include "files/transfer/send_connection.hpp"

#include <fmt/format.h>

#include "base/printable.hpp"
#include "files/transfer/transfer_session.hpp"

namespace joust::transfer {
namespace {

constexpr std::string_view kRemedy = "; --overwrite replaces files, --skip-existing leaves them";

}  // namespace

FileWishes wishes_for(const SendTransfer& send, const FileVersion& version) {
  FileWishes wishes = send.wishes();
  wishes.modified_ns = version.modified_ns;
  wishes.mode = version.mode;
  return wishes;
}

bool has_same_looks(const FileVersion& version, const file::Facts& facts) {
  return facts.modified_ns == version.modified_ns &&
         (!facts.mode || (*facts.mode & kPermissionBits) == version.mode);
}

bool is_skipped(const SendTransfer& send, const file::Offered& offered) {
  return offered.skipped && send.wishes().skips_existing;
}

std::string words_on(const std::string& name, const FileRefusal& refusal) {
  const bool is_in_the_way = refusal.error == FileError::not_a_file;
  return words_of(name, refusal) +
         (is_in_the_way ? "; move it away there, or send to another directory" : "");
}

void note_there(SendTransfer& send, const SendTransfer::Work& work, const Digest& digest, bool by_this) {
  if (by_this) return send.stored(work, digest);
  send.asks_first(true);
  send.skipped(work);
}

void note_other(SendTransfer& send, const SendTransfer::Work& work) {
  send.failed(work, fmt::format("{}: exists on the server, and is another file{}",
                                printable(send.item(work.item).name), kRemedy));
}

void note_unknown(SendTransfer& send, const SendTransfer::Work& work, bool answer_lost) {
  const std::string name = printable(send.item(work.item).name);
  send.failed(work, answer_lost
                        ? fmt::format("{}: is there, but the server does not tell whether it is this file: "
                                      "the connection was lost before its answer; --overwrite sends it again",
                                      name)
                        : fmt::format("{}: exists on the server{}", name, kRemedy));
}

}  // namespace joust::transfer
