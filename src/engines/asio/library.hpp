// SPDX-License-Identifier: MIT
#pragma once

// The parts of Boost.Asio that the engines use. Other headers of the library are included only after this
// one, so that all files are compiled with the same settings.
#define BOOST_ASIO_NO_DEPRECATED
#define BOOST_ASIO_DISABLE_VISIBILITY

// Other headers of Boost 1.81 need these two without including them.
#include <boost/asio/handler_alloc_hook.hpp>
#include <boost/asio/handler_invoke_hook.hpp>

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>

#include <array>
#include <cstddef>
#include <mutex>
#include <new>
#include <system_error>
#include <utility>

#include "base/fd.hpp"
#include "joust/time.hpp"

namespace joust {

namespace asio = boost::asio;

// The library's own names stand for any executor, which costs an indirect call for each use. These names
// stand for the executor of an io_context.
using AsioExecutor = asio::io_context::executor_type;
using AsioStrand = asio::strand<AsioExecutor>;
using AsioError = boost::system::error_code;
using AsioProtocol = asio::generic::stream_protocol;  // TCP and unix sockets
using AsioSocket = asio::basic_stream_socket<AsioProtocol, AsioExecutor>;
using AsioAcceptor = asio::basic_socket_acceptor<AsioProtocol, AsioExecutor>;
using AsioDescriptor = asio::posix::basic_stream_descriptor<AsioExecutor>;
using AsioTimer = asio::basic_waitable_timer<Clock, asio::wait_traits<Clock>, AsioExecutor>;

// Makes a socket of the library from a socket of ours. Throws std::system_error; the library has an exception
// class of its own for that.
inline AsioSocket asio_socket(const AsioExecutor& context, int family, Fd socket) {
  AsioSocket made(context);
  AsioError error;
  static_cast<void>(made.assign(AsioProtocol(family, 0), socket.get(), error));
  if (error) throw std::system_error(error.value(), std::generic_category(), "Boost.Asio: assign()");
  static_cast<void>(socket.release());
  return made;
}

// Cancels the operations of a socket, or of a descriptor.
template <typename Object>
void cancel_all(Object& object) noexcept {
  AsioError ignored;
  static_cast<void>(object.cancel(ignored));
}

// Closes a socket, and cancels its operations.
inline void close(AsioSocket& socket) noexcept {
  AsioError ignored;
  static_cast<void>(socket.close(ignored));
}

// An object of the library for a descriptor that another object owns and closes.
template <typename Object>
class AsioLoan : public Object {
 public:
  using Object::Object;
  AsioLoan(AsioLoan&&) = default;
  ~AsioLoan() { end(); }
  // Cancels the operations that are in progress, and gives the descriptor back.
  void end() {
    if (Object::is_open()) Object::release();
  }
};

// Memory for the handlers of the hub, without which no peer is accepted, told anything or removed. A strand
// that finds no memory for the next handler never runs again. While there is memory the reserve stays
// untouched. Any thread. It must outlive the contexts.
class AsioReserve {
 public:
  void* allocate(std::size_t bytes);  // throws std::bad_alloc
  void deallocate(void* memory) noexcept;

 private:
  // A handler needs one block, and the strand on its way to it two.
  static constexpr std::size_t kBlocks = 32, kBlockBytes = 512;
  struct alignas(std::max_align_t) Block {
    std::array<std::byte, kBlockBytes> bytes;
  };

  std::mutex mutex_;
  std::array<Block, kBlocks> blocks_;
  std::array<bool, kBlocks> taken_{};
};

// The allocator of the library's operations that takes from a reserve where no memory is left.
template <typename T>
class AsioAllocator {
 public:
  using value_type = T;

  explicit AsioAllocator(AsioReserve& reserve) : reserve_(&reserve) {}
  template <typename Other>
  explicit(false) AsioAllocator(const AsioAllocator<Other>& other) : reserve_(other.reserve_) {}

  T* allocate(std::size_t count) { return static_cast<T*>(reserve_->allocate(count * sizeof(T))); }
  void deallocate(T* memory, std::size_t /*count*/) noexcept { reserve_->deallocate(memory); }
  friend bool operator==(const AsioAllocator&, const AsioAllocator&) = default;

 private:
  template <typename Other>
  friend class AsioAllocator;

  AsioReserve* reserve_;
};

// The strand of the hub, whose handlers have the reserve.
class AsioHome {
 public:
  AsioHome(const AsioExecutor& context, AsioReserve& reserve) : strand_(context), reserve_(reserve) {}

  // Returns a handler that runs on the strand.
  template <typename Handler>
  auto bind(Handler handler) {
    return asio::bind_allocator(AsioAllocator<void>(reserve_),
                                asio::bind_executor(strand_, std::move(handler)));
  }
  // Calls the handler after those that are pending.
  template <typename Handler>
  void post(Handler handler) {
    asio::post(strand_, bind(std::move(handler)));
  }
  AsioExecutor context() const { return strand_.get_inner_executor(); }
  AsioReserve& reserve() { return reserve_; }

 private:
  AsioStrand strand_;
  AsioReserve& reserve_;
};

}  // namespace joust
