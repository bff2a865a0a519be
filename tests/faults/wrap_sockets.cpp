// SPDX-License-Identifier: MIT
//
// Calls on sockets.
#include <sys/socket.h>
#include <sys/uio.h>

#include <cerrno>

#include "faults/seam.hpp"

namespace joust::faults {
namespace {

Call accept_call{"accept4", {EINTR, EAGAIN, ECONNABORTED, EPROTO, EMFILE, ENFILE, ENOBUFS, ENOMEM}};
Call recv_call{"recv", {EINTR, EAGAIN, ENOMEM, ECONNRESET, ETIMEDOUT, kShort}};
Call readv_call{"readv", {EINTR, EAGAIN, ENOMEM, ECONNRESET, ETIMEDOUT, kShort}};
Call send_call{"send", {EINTR, EAGAIN, ENOMEM, ENOBUFS, EPIPE, ECONNRESET, kShort}};
Call sendmsg_call{"sendmsg", {EINTR, EAGAIN, ENOMEM, ENOBUFS, EPIPE, ECONNRESET, kShort}};
Call connect_call{"connect", {EINTR, EAGAIN, ECONNREFUSED, ENETUNREACH, EADDRNOTAVAIL, ETIMEDOUT}};
Call socket_call{"socket", {EMFILE, ENFILE, ENOBUFS, ENOMEM}};
Call setsockopt_call{"setsockopt", {ENOMEM, ENOPROTOOPT}};
Call getsockopt_call{"getsockopt", {ENOBUFS, ENOPROTOOPT}};
Call getpeername_call{"getpeername", {ENOTCONN, ENOBUFS}};
Call shutdown_call{"shutdown", {ENOTCONN}};

}  // namespace
}  // namespace joust::faults

using namespace joust::faults;

extern "C" {

int __real_accept4(int, sockaddr*, socklen_t*, int);
int __wrap_accept4(int socket, sockaddr* address, socklen_t* size, int flags) {
  return call_or_fail(accept_call, __real_accept4, socket, address, size, flags);
}

ssize_t __real_recv(int, void*, size_t, int);
ssize_t __wrap_recv(int socket, void* buffer, size_t size, int flags) {
  const int error = recv_call.fault();
  if (error == kShort) size = fall_short(size);
  return error > 0 ? fail(error) : __real_recv(socket, buffer, size, flags);
}

ssize_t __real_readv(int, const iovec*, int);
ssize_t __wrap_readv(int socket, const iovec* pieces, int count) {
  const int error = readv_call.fault();
  if (error == kShort) return __real_recv(socket, pieces->iov_base, fall_short(pieces->iov_len), 0);
  return error > 0 ? fail(error) : __real_readv(socket, pieces, count);
}

ssize_t __real_send(int, const void*, size_t, int);
ssize_t __wrap_send(int socket, const void* buffer, size_t size, int flags) {
  const int error = send_call.fault();
  if (error == kShort) size = fall_short(size);
  return error > 0 ? fail(error) : __real_send(socket, buffer, size, flags);
}

ssize_t __real_sendmsg(int, const msghdr*, int);
ssize_t __wrap_sendmsg(int socket, const msghdr* message, int flags) {
  const int error = sendmsg_call.fault();
  if (error == kShort && message->msg_iovlen > 0)
    return __real_send(socket, message->msg_iov->iov_base, fall_short(message->msg_iov->iov_len), flags);
  return error > 0 ? fail(error) : __real_sendmsg(socket, message, flags);
}

int __real_connect(int, const sockaddr*, socklen_t);
int __wrap_connect(int socket, const sockaddr* address, socklen_t size) {
  return call_or_fail(connect_call, __real_connect, socket, address, size);
}

int __real_socket(int, int, int);
int __wrap_socket(int domain, int type, int protocol) {
  return call_or_fail(socket_call, __real_socket, domain, type, protocol);
}

int __real_setsockopt(int, int, int, const void*, socklen_t);
int __wrap_setsockopt(int socket, int level, int option, const void* value, socklen_t size) {
  return call_or_fail(setsockopt_call, __real_setsockopt, socket, level, option, value, size);
}

int __real_getsockopt(int, int, int, void*, socklen_t*);
int __wrap_getsockopt(int socket, int level, int option, void* value, socklen_t* size) {
  return call_or_fail(getsockopt_call, __real_getsockopt, socket, level, option, value, size);
}

int __real_getpeername(int, sockaddr*, socklen_t*);
int __wrap_getpeername(int socket, sockaddr* address, socklen_t* size) {
  return call_or_fail(getpeername_call, __real_getpeername, socket, address, size);
}

int __real_shutdown(int, int);
int __wrap_shutdown(int socket, int how) {
  return call_or_fail(shutdown_call, __real_shutdown, socket, how);
}
}
