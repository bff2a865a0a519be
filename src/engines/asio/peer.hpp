// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "connection/stream_connection.hpp"
#include "engines/asio/library.hpp"
#include "engines/loop/queue.hpp"
#include "engines/loop/waiting.hpp"

namespace joust {

class AsioHub;

// A connection of an engine on Asio. It determines what is to be read, written and waited for next, and
// passes the results to the session. The engine makes the asynchronous calls. Handlers keep the peer by
// shared pointers.
//
// All members but tell() are used on the peer's executor only. The engine chooses an executor that runs one
// thread at a time: a strand, or a context with one thread.
class AsioPeer : public std::enable_shared_from_this<AsioPeer>, public Place {
 public:
  AsioPeer(AsioHub& hub, AsioSocket socket);
  virtual ~AsioPeer() = default;
  AsioPeer(const AsioPeer&) = delete;
  AsioPeer& operator=(const AsioPeer&) = delete;

  enum class News : std::uint8_t { established, published, stop, end };
  // Passes news to the peer's executor. `reserve`: for the memory of that.
  void tell(News news, AsioReserve& reserve);
  void close() noexcept;  // for the hub: before the peer has been told anything

  std::size_t index = 0;  // for the hub: the position in its list of peers

 protected:
  // The engine's part: posts hear(news) to the peer's executor, in memory of the allocator.
  virtual void pass_on(News news, const AsioAllocator<void>& memory) = 0;
  // The engine's part, called after every change: starts the operations that are to begin. It may throw.
  virtual void go_on() = 0;
  // The engine's part, called once, after the socket's operations were cancelled: ends the other waits.
  virtual void on_closed() noexcept = 0;
  // Fetches the peer and its session into the caches at the same time. With thousands of peers, the memory
  // that a message uses is no longer there. An engine calls this first of all when a read has a result.
  // `last` is the end of the peer.
  void fetch_ahead(const void* last) const {
    const auto* const first = reinterpret_cast<const char*>(this);
    prefetch(first, static_cast<std::size_t>(static_cast<const char*>(last) - first));
    if (connection_) connection_->prefetch_session();
  }

  void hear(News news) noexcept;
  void look_again() noexcept;  // checks which operations are to begin
  void break_off(const std::exception& error) noexcept;
  bool is_open() const { return connection_ && !closed_; }
  AsioSocket& socket() { return socket_; }

  // Operations. If begin_...() returns an operation, the engine starts it and reports its result. A cancelled
  // operation is no failure: it begins again if it is still wanted. For files the library only waits until
  // the socket is ready, and then the kernel moves the bytes.
  enum class Operation : std::uint8_t { none, transfer, wait };
  bool wants_read() const { return is_open() && !reading_ && connection_->wants_input(); }
  Operation begin_read();
  asio::mutable_buffer room() { return asio::buffer(buffer_); }
  void read(const AsioError& error, std::size_t n) noexcept;
  void readable(const AsioError& error) noexcept;

  // Returns the operation that is to begin. An engine may also begin a transfer, write at once and report the
  // result; then would_block is no failure.
  // After a short write the library assumes that the socket is full, and its next write would wait until the
  // socket has been full. But the kernel also writes only a part where a mapped file has shrunk. So a wait
  // comes first, which checks the socket.
  Operation wanted_write() const {
    if (!is_open() || writing_ || (!from_file_ && count_ == 0)) return Operation::none;
    return from_file_ || fell_short_ ? Operation::wait : Operation::transfer;
  }
  Operation begin_write();
  std::span<const asio::const_buffer> pieces() const { return std::span(pieces_).first(count_); }
  void written(const AsioError& error, std::size_t n) noexcept;
  void writable(const AsioError& error) noexcept;

  // While nothing is wanted from the peer, only a wait for an error detects its reset. The engine binds the
  // wait to unwatch(), by which a read ends it.
  bool begin_watch();
  asio::cancellation_slot unwatch() { return unwatch_.slot(); }
  void watched(const AsioError& error) noexcept;

  // Returns when to call deadline_passed(), which may be called early.
  Time wakes_at() const;
  void deadline_passed() noexcept;

 private:
  template <typename Step>
  void take_step(Step&& step) noexcept;
  void settle(Time now);
  bool may_have_more();
  void prepare_output(Time now);

  static constexpr std::size_t kFirstRead = 1 << 10;  // the size of a new peer's buffer, in bytes

  // Members that every message uses come first, close together.
  AsioHub& hub_;
  AsioSocket socket_;
  std::vector<std::byte> buffer_;
  bool reading_ = false;
  bool writing_ = false;
  bool watching_ = false;
  bool closed_ = false;
  bool telling_ = false;      // a publication was passed on: output is not held back any longer
  bool hung_up_ = false;      // the peer has hung up, so that a watch would end again and again
  bool found_ = false;        // input was found since the last deadline
  bool stopping_ = false;     // the stop is still to be passed to the session
  bool fell_short_ = false;   // the last write was short
  bool no_sendfile_ = false;  // the kernel has refused sendfile()
  bool from_file_ = false;    // the next output comes from a file,
  std::size_t count_ = 0;     // or consists of this number of pieces
  std::optional<StreamConnection> connection_;
  std::array<asio::const_buffer, 16> pieces_;
  std::uint64_t read_until_ = 0;        // count of received bytes after which a stop waits for no more input
  std::atomic<bool> published_{false};  // the news of a publication is on its way
  asio::cancellation_signal unwatch_;
  Lateness lateness_;
};

}  // namespace joust
