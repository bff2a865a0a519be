// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace joust::fuzz {

// Inputs that get far, to begin from.
std::vector<std::string> file_corpus();
std::vector<std::string> listing_corpus();
std::vector<std::string> broadcast_corpus();
std::vector<std::string> work_corpus();
std::vector<std::string> http_corpus();
std::vector<std::string> resp_corpus();
std::vector<std::string> websocket_corpus();
std::vector<std::string> websocket_room_corpus();
std::vector<std::string> datagram_corpus();
std::vector<std::string> journal_corpus();
std::vector<std::string> handshake_corpus();
std::vector<std::string> relay_corpus();
std::vector<std::string> host_message_corpus();

}  // namespace joust::fuzz
