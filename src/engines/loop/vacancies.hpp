// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "joust/service.hpp"

namespace joust {

// The dialled connections of one loop that are gone, and those that are not there yet: asks the service
// whether others are to be dialled in their places, and when. It neither waits nor dials. One thread.
class Vacancies {
 public:
  Vacancies(Service& service, std::size_t at_first)
      : service_(service), publications_(service.publications()), count_(at_first) {}

  // A dialled connection has ended, or could not be opened.
  void add();
  // A connection that is to be dialled now, if there is one. Call it until there is none.
  std::optional<Redial> take(Time now);
  // When to call take() again, but for publications; nothing if it need not be called.
  std::optional<Time> due() const;
  bool empty() const { return count_ == 0; }
  void abandon() { count_ = 0; }  // the program is stopping

 private:
  Service& service_;
  const Publications* const publications_;
  std::uint64_t seen_ = 0;  // publications
  std::size_t count_;
  Time ask_at_{};
};

}  // namespace joust
