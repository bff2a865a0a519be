// SPDX-License-Identifier: MIT
#include "net/lookup.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <system_error>
#include <thread>

#include "base/signals.hpp"
#include "base/units.hpp"

namespace joust {
namespace {

using Answer = std::expected<std::vector<Endpoint>, Failure>;

// The state of one lookup. The thread may outlive the caller, so both share the ownership.
struct Lookup {
  std::mutex mutex;
  std::condition_variable answered;
  std::optional<Answer> answer;
};

Failure failed_with(int error, std::string_view text) {
  return {Stage::resolve, error, fmt::format("'{}'", text)};
}

Answer answer_of(const Resolver& resolver, const std::string& text) {
  try {
    return resolver(text);
  } catch (const std::bad_alloc&) {
    return std::unexpected(failed_with(ENOMEM, text));
  }
}

void look_up(const std::shared_ptr<Lookup>& lookup, const Resolver& resolver, const std::string& text) {
  Answer answer = answer_of(resolver, text);
  const std::lock_guard lock(lookup->mutex);
  lookup->answer = std::move(answer);
  lookup->answered.notify_all();
}

}  // namespace

std::expected<std::vector<Endpoint>, Failure> resolve_within(Duration limit, std::string_view text,
                                                             const Resolver& resolver) {
  if (!holds_name(text)) return resolver(text);
  const auto lookup = std::make_shared<Lookup>();
  try {
    const SignalsBlocked blocked;  // the program's signals are for its own threads
    std::thread(look_up, lookup, resolver, std::string(text)).detach();
  } catch (const std::system_error& error) {
    return std::unexpected(failed_with(error.code().value(), text));
  }
  std::unique_lock lock(lookup->mutex);
  if (lookup->answered.wait_for(lock, limit, [&] { return lookup->answer.has_value(); }))
    return std::move(*lookup->answer);
  return std::unexpected(
      Failure{Stage::resolve, ETIMEDOUT, fmt::format("'{}': no answer in {}", text, format_duration(limit))});
}

}  // namespace joust
