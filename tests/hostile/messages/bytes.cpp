// SPDX-License-Identifier: MIT
//
// echo and uppercase: any bytes are right.
#include "hostile/messages.hpp"

namespace joust::hostile {
namespace {

class ByteMessages : public Messages {
 public:
  explicit ByteMessages(Chance& chance) : chance_(chance) {}
  std::string valid() override { return std::string(chance_.size(200'000), 'v'); }
  std::string small() override { return std::string(chance_.size(64), 's'); }
  std::string invalid() override { return chance_.bytes(chance_.size(10'000)); }

 private:
  Chance& chance_;
};

}  // namespace

std::unique_ptr<Messages> byte_messages(Chance& chance) {
  return std::make_unique<ByteMessages>(chance);
}

std::unique_ptr<Messages> messages_of(const std::string& protocol, Chance& chance) {
  if (protocol == "broadcast") return broadcast_messages(chance);
  if (protocol == "file") return file_messages(chance);
  if (protocol == "http") return http_messages(chance);
  if (protocol == "resp") return resp_messages(chance);
  if (protocol == "websocket") return websocket_messages(chance);
  if (protocol == "work") return work_messages(chance);
  return byte_messages(chance);
}

}  // namespace joust::hostile
