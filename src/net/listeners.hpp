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

// The listeners of one server: one for each address of its name, all with the same port.
class Listeners {
 public:
  // Listens on all `endpoints`. If their port is 0, listens on a port that is free on all of them. Addresses
  // that this machine does not have are left out as long as it has one of them (IPv6 is often switched off in
  // containers). Throws std::system_error if an address is refused for another reason, or if the machine has
  // none of them.
  Listeners(std::span<const Endpoint> endpoints, const SocketOptions& options,
            Transport transport = Transport::stream);

  std::span<Listener* const> all() const { return all_; }                 // never empty
  std::vector<std::string> addresses() const;  // in the order of all(), with the port
  const std::vector<std::string>& left_out() const { return left_out_; }  // with the reason, for people

  // Returns the options, read from the kernel, of an accepted connection, or of the first listener before
  // that.
  SocketFacts facts() const;

 private:
  void open_all(std::span<const Endpoint> endpoints, const SocketOptions& options);
  void open(const Endpoint& endpoint, const SocketOptions& options);

  Transport transport_;
  std::vector<std::unique_ptr<Listener>> owned_;
  std::vector<Listener*> all_;
  std::vector<std::string> left_out_;
  std::exception_ptr refusal_;  // the refusal of the first address that was left out
};

}  // namespace joust
