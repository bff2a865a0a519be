// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace joust::http {

// The hosts that a server answers. A server that only this machine can reach answers only hosts that can mean
// this machine. A page of any other host, whose owner changes its address to 127.0.0.1, would have the same
// origin as the server for a browser, and could read the served files (DNS rebinding).
class AnsweredHosts {
 public:
  AnsweredHosts() = default;  // answers all hosts

  // Answers loopback addresses, `localhost`, and `others`: names or addresses with a comma between them.
  // Throws std::invalid_argument for any other text.
  static AnsweredHosts of_loopback(std::string_view others);

  // `host` is the host of a request; its port does not matter. A request without a host is answered: no
  // browser sends one.
  bool contain(std::string_view host) const;

 private:
  bool has_all_ = true;
  std::vector<std::string> others_;  // in lower case, without a dot at the end
};

}  // namespace joust::http
