// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace joust::http {

// The hosts that a server answers. One that only this machine can reach answers those that can mean it. A
// page of any other host, whose owner changes its address to 127.0.0.1, would be of one origin with the
// server in the eyes of a browser, and could read what is served (DNS rebinding).
class AnsweredHosts {
 public:
  AnsweredHosts() = default;  // all

  // Loopback addresses, `localhost`, and these: names or addresses with a comma between them. Throws
  // std::invalid_argument for what is none.
  static AnsweredHosts of_loopback(std::string_view others);

  // `host` is that of a request, with a port, which does not matter. A request that names none is answered:
  // no browser sends one.
  bool contain(std::string_view host) const;

 private:
  bool has_all_ = true;
  std::vector<std::string> others_;  // in lower case, without a dot at the end
};

}  // namespace joust::http
