// SPDX-License-Identifier: MIT
#include "connection/distinct_texts.hpp"

#include <algorithm>

namespace joust {

void DistinctTexts::keep(std::string_view text) {
  text = text.substr(0, kLongest);
  for (Place& place : places_) {
    State state = place.state.load(std::memory_order_acquire);
    if (state == State::free && place.state.compare_exchange_strong(state, State::written)) {
      std::ranges::copy(text, place.text.begin());
      place.size = static_cast<std::uint8_t>(text.size());
      return place.state.store(State::ready, std::memory_order_release);
    }
    if (state == State::ready && std::string_view(place.text.data(), place.size) == text) return;
  }
}

// Returns each text once. Two threads that keep the same text at once may both have stored it.
std::vector<std::string> DistinctTexts::all() const {
  std::vector<std::string> texts;
  for (const Place& place : places_) {
    if (place.state.load(std::memory_order_acquire) != State::ready) continue;
    std::string text(place.text.data(), place.size);
    if (std::ranges::find(texts, text) == texts.end()) texts.push_back(std::move(text));
  }
  return texts;
}

}  // namespace joust
