// SPDX-License-Identifier: MIT
#pragma once

// The parts of Boost.Asio that the engines use. Other headers of the library are included only after this
// one, so that all files are compiled with the same settings.
#include "engines/asio/build.hpp"
#define BOOST_ASIO_NO_DEPRECATED
#define BOOST_ASIO_DISABLE_VISIBILITY

#ifdef BOOST_ASIO_HAS_IO_URING
#include "engines/asio/untagged_entries.hpp"
#endif

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

#include <system_error>

#include "base/fd.hpp"
#include "joust/time.hpp"

namespace joust::JOUST_ASIO_BUILD {

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

// On io_uring, the state that Boost 1.81 keeps for a closed or released descriptor passes to the next
// descriptor at once, even while operations of the first one are in progress. The results of these operations
// then go to the second descriptor. So an object is closed or released only after its last operation.

// Closes a socket. On io_uring, operations in progress are only cancelled, and the socket's destructor closes
// it; the handlers keep the socket's owner until then. The shutdown ends operations that the cancellation
// misses.
inline void close_soon(AsioSocket& socket, bool operations_under_way) noexcept {
  AsioError ignored;
  if (!kOnIoUring || !operations_under_way) return static_cast<void>(socket.close(ignored));
  static_cast<void>(socket.shutdown(AsioSocket::shutdown_both, ignored));
  cancel_all(socket);
}

// An object of the library for a descriptor that another object owns and closes.
template <typename Object>
class AsioLoan : public Object {
 public:
  using Object::Object;
  AsioLoan(AsioLoan&&) = default;
  ~AsioLoan() {
    if (Object::is_open()) Object::release();
  }
  // Cancels waits that are in progress.
  void end() {
    if (!Object::is_open()) return;
    if constexpr (kOnIoUring)
      cancel_all(*this);
    else
      Object::release();
  }
};

}  // namespace joust::JOUST_ASIO_BUILD
