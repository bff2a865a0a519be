// SPDX-License-Identifier: MIT
#include "session/least_rate.hpp"

#include <fmt/format.h>

#include "base/units.hpp"

namespace joust {

bool LeastRate::missed(Time now) {
  if (now < ends_ || ends_ == kPaused) return false;
  ends_ = now + rule_->window;
  const double seconds = std::chrono::duration<double>(rule_->window).count();
  return static_cast<double>(std::exchange(moved_, 0)) < static_cast<double>(rule_->least) * seconds;
}

std::string LeastRate::complaint() const {
  return fmt::format("slower than {}/s for {}", format_bytes(static_cast<double>(rule_->least)),
                     format_duration(rule_->window));
}

}  // namespace joust
