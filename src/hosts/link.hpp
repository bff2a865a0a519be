// SPDX-License-Identifier: MIT
#pragma once

#include <expected>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "joust/time.hpp"

namespace joust {

// One other host of a race or a load, as the conductor sees it. One thread.
class HostLink {
 public:
  virtual ~HostLink() = default;
  // Returns the host's name, for messages.
  virtual const std::string& name() const = 0;
  // Sends a request and waits for its reply. Returns the reason where none came within `patience`, or the
  // link has ended.
  virtual std::expected<nlohmann::json, std::string> call(const nlohmann::json& request,
                                                          Duration patience) = 0;
  // The same in two steps, so that several hosts work at once.
  virtual std::expected<void, std::string> post(const nlohmann::json& request) = 0;
  virtual std::expected<nlohmann::json, std::string> await(Duration patience) = 0;
};

}  // namespace joust
