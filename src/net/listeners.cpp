// SPDX-License-Identifier: MIT
#include "net/listeners.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace joust {
namespace {

// How often another port is tried, if the port that the kernel chose for the first address is in use on
// another address.
constexpr int kPortTries = 16;

bool is_lacking(int error) {
  return error == EADDRNOTAVAIL || error == EAFNOSUPPORT;
}

}  // namespace

Listeners::Listeners(std::span<const Endpoint> endpoints, const SocketOptions& options, Transport transport)
    : transport_(transport) {
  const bool any_port = endpoints.size() > 1 && port_of(endpoints.front()) == 0;
  for (int tries = any_port ? kPortTries : 1; all_.empty(); --tries) {
    try {
      open_all(endpoints, options);
    } catch (const std::system_error& error) {
      if (error.code().value() != EADDRINUSE || tries == 1) throw;
    }
  }
}

void Listeners::open_all(std::span<const Endpoint> endpoints, const SocketOptions& options) {
  owned_.clear();
  left_out_.clear();
  for (const Endpoint& endpoint : endpoints) open(endpoint, options);
  if (owned_.empty()) std::rethrow_exception(refusal_);
  for (const auto& listener : owned_) all_.push_back(listener.get());
}

void Listeners::open(const Endpoint& endpoint, const SocketOptions& options) {
  const Endpoint where = owned_.empty() ? endpoint : with_port(endpoint, port_of(owned_.front()->endpoint()));
  try {
    const bool beside_ipv4 = !owned_.empty() && where.family() == AF_INET6;
    owned_.push_back(std::make_unique<Listener>(where, options, transport_, beside_ipv4));
  } catch (const std::system_error& error) {
    if (!is_lacking(error.code().value())) throw;
    if (!refusal_) refusal_ = std::current_exception();
    left_out_.push_back(fmt::format("{}: {}", to_text(where), error.code().message()));
  }
}

std::vector<std::string> Listeners::addresses() const {
  std::vector<std::string> addresses;
  for (const Listener* listener : all_) addresses.push_back(listener->address());
  return addresses;
}

SocketFacts Listeners::facts() const {
  const auto found = std::ranges::find_if(all_, &Listener::has_accepted);
  return (found == all_.end() ? all_.front() : *found)->facts();
}

}  // namespace joust
