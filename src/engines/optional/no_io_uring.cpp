// SPDX-License-Identifier: MIT
#include "engines/io_uring/available.hpp"

namespace joust {

// For systems without io_uring: the knob asio-backend of the engines on Boost.Asio has the choice io-uring.
std::string uring_unavailable(RingSize /*size*/) {
  return uring_unavailable();
}
std::string refused_call(std::string_view call, int /*error*/, RingSize /*size*/) {
  return std::string(call);
}
std::string uring_unavailable() {
  return "io_uring is an interface of Linux";
}

}  // namespace joust
