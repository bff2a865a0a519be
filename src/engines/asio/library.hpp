// SPDX-License-Identifier: MIT
#pragma once

// What the engines on Boost.Asio use of it. Its headers are included here only, so that all files are
// compiled with the same settings.
#define BOOST_ASIO_NO_DEPRECATED
#define BOOST_ASIO_DISABLE_VISIBILITY

// Other headers of Boost 1.81 need these without including them.
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

// The library's own names stand for any executor, which costs an indirect call for each use. These name the
// one that is meant.
using AsioExecutor = asio::io_context::executor_type;
using AsioStrand = asio::strand<AsioExecutor>;
using AsioError = boost::system::error_code;
using AsioProtocol = asio::generic::stream_protocol;  // TCP and unix sockets
using AsioSocket = asio::basic_stream_socket<AsioProtocol, AsioExecutor>;
using AsioAcceptor = asio::basic_socket_acceptor<AsioProtocol, AsioExecutor>;
using AsioDescriptor = asio::posix::basic_stream_descriptor<AsioExecutor>;
using AsioTimer = asio::basic_waitable_timer<Clock, asio::wait_traits<Clock>, AsioExecutor>;

// A socket of the library from ours. Throws std::system_error; the library has a class of its own for that.
inline AsioSocket asio_socket(const AsioExecutor& context, int family, Fd socket) {
  AsioSocket made(context);
  AsioError error;
  static_cast<void>(made.assign(AsioProtocol(family, 0), socket.get(), error));
  if (error) throw std::system_error(error.value(), std::generic_category(), "Boost.Asio: assign()");
  static_cast<void>(socket.release());
  return made;
}

// An object of the library for a descriptor that belongs to somebody else, who closes it.
template <typename Object>
class AsioLoan : public Object {
 public:
  using Object::Object;
  AsioLoan(AsioLoan&&) = default;
  ~AsioLoan() { end(); }
  // Waits that are under way are cancelled.
  void end() {
    if (Object::is_open()) Object::release();
  }
};

}  // namespace joust
