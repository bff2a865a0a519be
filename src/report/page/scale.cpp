// SPDX-License-Identifier: MIT
#include "report/page/scale.hpp"

#include <algorithm>
#include <cmath>

namespace joust::report::page {
namespace {

// Returns the least of 1, 2 and 5 times a power of ten that divides the range into at most `most` steps.
double round_step(double range, double most) {
  const double rough = range / most;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= rough * (1 - 1e-9)) return factor * power;
  return 10 * power;
}

std::vector<double> even_ticks(double low, double high, std::size_t wanted) {
  const double step = round_step(high - low, static_cast<double>(wanted));
  std::vector<double> ticks;
  for (double k = std::ceil(low / step - 1e-9); k * step <= high * (1 + 1e-9) && ticks.size() <= 2 * wanted;
       ++k)
    ticks.push_back(k == 0 ? 0 : k * step);  // and not -0
  return ticks;
}

// Returns 1, 2 and 5 times the powers of ten in the range, or only every so many powers if these are too
// many.
std::vector<double> power_ticks(double low, double high, std::size_t wanted) {
  const int first = static_cast<int>(std::floor(std::log10(low)));
  const int last = static_cast<int>(std::ceil(std::log10(high)));
  const auto powers = static_cast<std::size_t>(last - first + 1);
  const int stride = static_cast<int>((powers + wanted - 1) / wanted);
  std::vector<double> ticks;
  for (int power = first; power <= last; power += stride)
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double tick = factor * std::pow(10, power);
      if ((factor == 1 || powers <= wanted / 2 + 1) && tick >= low && tick <= high) ticks.push_back(tick);
    }
  return ticks;
}

}  // namespace

Scale::Scale(Kind kind, const std::vector<double>& values, double margin, double from, double to)
    : kind_(kind), from_(from), to_(to) {
  bool any = false;
  for (const double value : values) {
    if (kind == Kind::logarithmic && value <= 0) continue;
    low_ = any ? std::min(low_, value) : value;
    high_ = any ? std::max(high_, value) : value;
    any = true;
  }
  if (!any) high_ = low_ + 1;
  if (kind == Kind::logarithmic) {
    if (high_ < low_ * 1.001) {
      low_ /= 1.01;
      high_ *= 1.01;
    }
    const double more = std::pow(high_ / low_, margin);
    low_ /= more;
    high_ *= more;
  } else {
    if (high_ <= low_) high_ = low_ > 0 ? low_ * 1.1 : 1;
    const double more = (high_ - low_) * margin;
    low_ = low_ >= 0 ? std::max(0.0, low_ - more) : low_ - more;
    high_ += more;
  }
}

double Scale::place_of(double value) const {
  return kind_ == Kind::logarithmic ? std::log(value / low_) / std::log(high_ / low_)
                                    : (value - low_) / (high_ - low_);
}

double Scale::at(double value) const {
  return from_ + (to_ - from_) * place_of(std::clamp(value, low_, high_));
}

std::vector<double> Scale::ticks(std::size_t wanted) const {
  if (kind_ == Kind::linear || high_ < 10 * low_) return even_ticks(low_, high_, wanted);
  return power_ticks(low_, high_, wanted);
}

}  // namespace joust::report::page
