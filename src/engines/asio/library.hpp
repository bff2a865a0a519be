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

#include <system_error>

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

}  // namespace joust
