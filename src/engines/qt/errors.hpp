// SPDX-License-Identifier: MIT
#pragma once

#include <QAbstractSocket>

namespace joust {

// The errno that stands for an error of Qt, which has no number of its own in its interface.
int errno_of(QAbstractSocket::SocketError error);

}  // namespace joust
