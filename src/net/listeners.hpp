// SPDX-License-Identifier: MIT
#pragma once

#include <exception>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "net/address.hpp"
#include "net/listener.hpp"
#include "net/socket_options.hpp"

namespace joust {

// The listeners of one server: one for each address that its name stands for, all with the same port.
class Listeners {
 public:
  // Listens on all `endpoints`; where their port is 0, on one that is free on all of them. Addresses that
  // this machine does not have (IPv6 is often switched off in containers) are left out as long as one is
  // there. Throws std::system_error when an address is refused for another reason, or when none is there.
  Listeners(std::span<const Endpoint> endpoints, const SocketOptions& options,
            Transport transport = Transport::stream);

  std::span<Listener* const> all() const { return all_; }                 // never empty
  std::vector<std::string> addresses() const;                             // in the same order, with the port
  const std::vector<std::string>& left_out() const { return left_out_; }  // with the reason, for people

  // What the kernel says of an accepted connection, or of the first listener while there was none.
  SocketFacts facts() const;

 private:
  void open_all(std::span<const Endpoint> endpoints, const SocketOptions& options);
  void open(const Endpoint& endpoint, const SocketOptions& options);

  Transport transport_;
  std::vector<std::unique_ptr<Listener>> owned_;
  std::vector<Listener*> all_;
  std::vector<std::string> left_out_;
  std::exception_ptr refusal_;  // of the first address that was left out
};

}  // namespace joust
