// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "joust/bytes.hpp"

// What fuzzers run, and tests over known inputs. The first byte of an input says how the rest is cut. Each
// entry hears the stream whole and cut, and returns what is wrong, or nothing: both must come to the same,
// and no decoder may ask for more memory than the input accounts for.
namespace joust::fuzz {

using Entry = std::string (*)(Bytes input);

std::string file_frames(Bytes input);
std::string file_server(Bytes input);
std::string file_lister(Bytes input);
std::string broadcast_frames(Bytes input);
std::string broadcast_room(Bytes input);
std::string websocket_room(Bytes input);
std::string work_server(Bytes input);
std::string work_client(Bytes input);
std::string http_server(Bytes input);
std::string http_client(Bytes input);
std::string resp_server(Bytes input);
std::string resp_client(Bytes input);
std::string websocket_server(Bytes input);
std::string websocket_client(Bytes input);
std::string datagrams(Bytes input);
std::string journals(Bytes input);
std::string relay_frames(Bytes input);
std::string host_messages(Bytes input);
// With OpenSSL only.
std::string tls_server(Bytes input);
std::string tls_client(Bytes input);

}  // namespace joust::fuzz
