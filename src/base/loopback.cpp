// SPDX-License-Identifier: MIT
#include "base/loopback.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <string>

namespace joust {

bool is_loopback_address(std::string_view text) {
  if (text.contains('\0')) return false;
  const std::string address(text);  // ends with a zero
  in_addr four{};
  if (::inet_pton(AF_INET, address.c_str(), &four) == 1) return ntohl(four.s_addr) >> 24 == 127;
  in6_addr six{};
  if (::inet_pton(AF_INET6, address.c_str(), &six) != 1) return false;
  return IN6_IS_ADDR_LOOPBACK(&six) || (IN6_IS_ADDR_V4MAPPED(&six) && six.s6_addr[12] == 127);
}

}  // namespace joust
