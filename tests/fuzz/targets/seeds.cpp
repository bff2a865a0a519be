// SPDX-License-Identifier: MIT
//
// fuzz_seeds DIRECTORY: writes the inputs that the fuzzers begin from to a folder of DIRECTORY for each
// kind: file, listing, broadcast, work, http, resp, websocket, websocket_room, datagram, journal, handshake,
// relay and host_message.
#include <filesystem>
#include <fstream>

#include "fuzz/corpus.hpp"

namespace {

void write(const std::filesystem::path& folder, const std::vector<std::string>& corpus) {
  std::filesystem::create_directories(folder);
  for (std::size_t i = 0; i < corpus.size(); ++i)
    std::ofstream(folder / std::to_string(i), std::ios::binary) << corpus[i];
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::filesystem::path folder(argv[1]);
  write(folder / "file", joust::fuzz::file_corpus());
  write(folder / "listing", joust::fuzz::listing_corpus());
  write(folder / "broadcast", joust::fuzz::broadcast_corpus());
  write(folder / "work", joust::fuzz::work_corpus());
  write(folder / "http", joust::fuzz::http_corpus());
  write(folder / "resp", joust::fuzz::resp_corpus());
  write(folder / "websocket", joust::fuzz::websocket_corpus());
  write(folder / "websocket_room", joust::fuzz::websocket_room_corpus());
  write(folder / "datagram", joust::fuzz::datagram_corpus());
  write(folder / "journal", joust::fuzz::journal_corpus());
  write(folder / "handshake", joust::fuzz::handshake_corpus());
  write(folder / "relay", joust::fuzz::relay_corpus());
  write(folder / "host_message", joust::fuzz::host_message_corpus());
}
