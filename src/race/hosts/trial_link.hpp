// SPDX-License-Identifier: MIT
#pragma once

#include <expected>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "hosts/link.hpp"

namespace joust::race {

// A link during one generation. After its first failure it is not used again, so that a host that hangs is
// waited for once. The link outlives it.
class TrialLink {
 public:
  explicit TrialLink(HostLink& link) : link_(&link) {}

  const std::string& name() const { return link_->name(); }

  std::expected<nlohmann::json, std::string> call(const nlohmann::json& request, Duration patience) {
    if (failure_) return std::unexpected(*failure_);
    return kept(link_->call(request, patience));
  }
  std::expected<void, std::string> post(const nlohmann::json& request) {
    if (failure_) return std::unexpected(*failure_);
    return kept(link_->post(request));
  }
  std::expected<nlohmann::json, std::string> await(Duration patience) {
    if (failure_) return std::unexpected(*failure_);
    return kept(link_->await(patience));
  }

 private:
  template <typename Result>
  Result kept(Result result) {
    if (!result) failure_ = result.error();
    return result;
  }

  HostLink* link_;
  std::optional<std::string> failure_{};
};

}  // namespace joust::race
