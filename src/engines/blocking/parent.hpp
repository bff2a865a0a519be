// SPDX-License-Identifier: MIT
#pragma once

#include <poll.h>
#include <sys/types.h>

#include <atomic>
#include <csignal>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/fd.hpp"
#include "base/memory.hpp"
#include "base/system/events.hpp"
#include "engines/engine.hpp"
#include "net/listener.hpp"
#include "net/stop.hpp"

namespace joust {

// Sends a signal to the process of this descriptor, which is of base/system/process.hpp. Unlike kill(), never
// signals another process that has got the number of an ended one.
void signal_process(const Fd& process, int number);

// Returns why the kernel has no such descriptors; empty if it has them.
std::string no_process_descriptors();

// Ends a system call of a child, and does nothing else.
inline constexpr int kInterruptChild = SIGURG;

// Sets the handling of signals in the child, which calls it with SignalsBlocked. A signal to the whole group
// of processes, such as that of Ctrl-C, is left to the parent. SIGPIPE stays blocked, for send_file().
void take_childs_signals();

// The process that accepts connections, forks a child for each of them, and reaps the children. For engines
// that serve each connection in processes of its own.
//
// It holds a pidfd of each child, which becomes readable at the child's end. So no handler of SIGCHLD is
// needed, which would belong to the whole program. While no process can be made, the connection that has been
// accepted waits, and later peers wait in the accept queue. Only one child at a time prepares itself, because
// several could take from one another what each of them still needs. The kernel kills the children of a
// parent that dies (PR_SET_PDEATHSIG).
class ParentProcess {
 public:
  // `serve` is the work of a child, with a connected, blocking socket. It returns when the connection is
  // over, and soon after `ending` is set: then all connections end, finished or not. A signal
  // (kInterruptChild) ends its system calls when the stop is requested and when `ending` is set. The signal
  // is repeated, because the child may just be about to sleep. An exception of `serve` means that no session
  // exists.
  using Serve = std::function<void(Fd socket, const std::atomic<bool>& ending)>;
  // `prepare` makes what the child needs before `serve`, for engines that need more than the child. If a
  // resource is short, it throws, the child ends, and the connection waits for another child.
  using Prepare = std::function<void(int socket)>;
  ParentProcess(const Hosting& hosting, Stop& stop, Serve serve, Prepare prepare = {});
  ~ParentProcess();
  ParentProcess(const ParentProcess&) = delete;
  ParentProcess& operator=(const ParentProcess&) = delete;
  void run();

 private:
  struct Child {
    pid_t pid;
    Fd process;  // a pidfd
  };

  // How far the child forked last is with its preparation.
  enum class Preparation : std::uint8_t { under_way, complete, short_of_something };

  bool over() const { return drain_by_ && children_.empty() && !waiting_.is_open(); }
  void wait();
  void reap_ended();
  void reap(const Child& child);
  void accept_from_ready();
  void accept_peers(const Listener& listener);
  bool start_child();
  bool await_prepared(const Child& child);
  bool pause_accepting();  // always returns false
  void give_up_waiting();
  [[noreturn]] void become_child(pid_t parent);
  void prepare();
  void begin_drain();
  void end_children();
  void interrupt_children();
  void kill_children();

  const Hosting& hosting_;
  Stop& stop_;
  const Serve serve_;
  const Prepare prepare_;
  SharedMemory<std::atomic<Preparation>> preparation_{Preparation::under_way};
  std::optional<EventDescriptor> prepared_;  // readable when a child has ended its preparation
  std::span<Listener* const> listeners_;     // empty after the stop
  std::vector<Child> children_;
  std::vector<pollfd> events_;  // for ppoll: the stop, the listeners, the children
  Fd waiting_;                  // accepted, and no process exists for it yet
  Time now_ = Clock::now();
  std::optional<Time> accept_again_;  // set while accepting is paused
  std::optional<Time> drain_by_;
  SharedMemory<std::atomic<bool>> ending_{false};  // for the children: all must end now, finished or not
  std::optional<Time> kill_at_;                    // when children that still run are killed
  Time interrupt_again_{};
  Duration interrupt_after_{};
};

}  // namespace joust
