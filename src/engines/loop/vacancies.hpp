// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "joust/service.hpp"

namespace joust {

// The dialled connections of one loop that have ended, and those that are not dialled yet. Asks the service
// whether others are to be dialled in their places, and when. It neither waits nor dials. Used by one thread.
class Vacancies {
 public:
  Vacancies(Service& service, std::size_t at_first)
      : service_(service), publications_(service.publications()), count_(at_first) {}

  // A dialled connection has ended, or could not be opened.
  void add();
  // Returns a connection that is to be dialled now, or nothing. Call it until it returns nothing.
  std::optional<Redial> take(Time now);
  // Returns when to call take() again, apart from publications; nothing if it need not be called.
  std::optional<Time> due() const;
  bool empty() const { return count_ == 0; }
  void abandon() { count_ = 0; }  // the program is stopping

 private:
  Service& service_;
  const Publications* const publications_;
  std::uint64_t seen_ = 0;  // the publication count at the last take()
  std::size_t count_;
  Time ask_at_{};
};

}  // namespace joust
