// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <utility>

#include "hosts/agent.hpp"
#include "hosts/link.hpp"

#include <nlohmann/json.hpp>

namespace joust::hosts {

// The conductor's own host, as one of the hosts. Requests are answered in this process, when the reply is
// awaited: so post to this host first, and await its reply last or first, as fits.
class LocalLink : public HostLink {
 public:
  // `handlers` outlive the link.
  LocalLink(const Handlers& handlers, std::string name) : handlers_(handlers), name_(std::move(name)) {}

  const std::string& name() const override { return name_; }
  std::expected<nlohmann::json, std::string> call(const nlohmann::json& request, Duration) override {
    return answer(request, handlers_);
  }
  std::expected<void, std::string> post(const nlohmann::json& request) override {
    posted_ = request;
    return {};
  }
  std::expected<nlohmann::json, std::string> await(Duration) override {
    if (!posted_) return std::unexpected("nothing was asked");
    return answer(*std::exchange(posted_, std::nullopt), handlers_);
  }

 private:
  const Handlers& handlers_;
  const std::string name_;
  std::optional<nlohmann::json> posted_{};
};

}  // namespace joust::hosts
