// SPDX-License-Identifier: MIT
#pragma once

#include <QAbstractSocket>

namespace joust {

// Returns the errno that stands for an error of Qt, whose interface has no errno.
int errno_of(QAbstractSocket::SocketError error);

}  // namespace joust
