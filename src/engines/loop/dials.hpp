// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/fd.hpp"
#include "engines/engine.hpp"
#include "joust/service.hpp"
#include "net/target.hpp"

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

// A connect in progress: which of the target's endpoints is being tried, and until when.
struct Dial {
  std::size_t endpoint = 0;
  Time until = Time::max();  // a later connection is of no use
  Time give_up{};
  bool in_progress = false;  // not yet reported to Dials as succeeded or failed
  bool again = false;        // connect() must be called again: the endpoint's backlog was full
  bool connected = false;    // reported as succeeded
};

// The connections that one loop still has to dial: limits the number in progress, and chooses the next
// endpoint after a failure. It knows which connections are dialled again. It makes no system call. One
// thread.
class Dials {
 public:
  Dials(const Hosting& hosting, std::size_t count, std::size_t vacancies)
      : hosting_(hosting), unstarted_(count), vacancies_(hosting.service, vacancies) {
    // failed() cannot be short of memory: no more connects than that are in progress or wait to be repeated.
    if (hosting.target != nullptr && hosting.target->endpoints() > 1)
      retries_.reserve(hosting.limits.dials_at_once);
  }

  // The pause before a connect that met a full backlog is repeated.
  static constexpr Duration kTryAgain = std::chrono::milliseconds(5);

  // Returns the next connect to start, which is in progress from here on. Returns nothing if enough are in
  // progress, or if none is to be started now.
  std::optional<Dial> start(Time now);
  // Returns when to call start() again even if nothing happens, if ever.
  std::optional<Time> due() const {
    return in_progress_ >= hosting_.limits.dials_at_once ? std::nullopt : vacancies_.due();
  }
  void succeeded(Dial& dial);

  // The connect failed. The same connection is tried at the target's next endpoint. After the last one, the
  // failure is reported to the service and the connection counts as failed.
  void failed(Dial& dial, int error, Time now);
  void failed(Dial& dial, const Failure& failure, Time now);

  // A connection that had been opened has ended.
  void ended() {
    if (!abandoned_) vacancies_.add();
  }

  void abandon() {  // the program is stopping
    abandoned_ = true;
    unstarted_ = 0;
    retries_.clear();
    vacancies_.abandon();
  }
  bool done() const { return unstarted_ == 0 && retries_.empty() && in_progress_ == 0 && vacancies_.empty(); }

 private:
  const Hosting& hosting_;
  std::size_t unstarted_;
  std::size_t in_progress_ = 0;
  std::vector<Dial> retries_;
  Vacancies vacancies_;
  bool abandoned_ = false;
};

// Returns the share of loop `index` when `count` items are divided evenly among `loops`.
inline std::size_t share(std::size_t count, std::size_t loops, std::size_t index) {
  return count / loops + (index < count % loops ? 1 : 0);
}

}  // namespace joust
