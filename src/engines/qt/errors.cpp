// SPDX-License-Identifier: MIT
#include "engines/qt/errors.hpp"

#include <cerrno>

namespace joust {

int errno_of(QAbstractSocket::SocketError error) {
  switch (error) {
    case QAbstractSocket::RemoteHostClosedError:
      return ECONNRESET;
    case QAbstractSocket::SocketAccessError:
      return EPERM;
    case QAbstractSocket::SocketResourceError:
      return EMFILE;
    case QAbstractSocket::SocketTimeoutError:
      return ETIMEDOUT;
    case QAbstractSocket::NetworkError:
      return errno == EFAULT ? EFAULT : ECONNABORTED;
    case QAbstractSocket::UnsupportedSocketOperationError:
      return EOPNOTSUPP;
    default:
      return EIO;
  }
}

}  // namespace joust
