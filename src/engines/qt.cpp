// SPDX-License-Identifier: MIT
//
// qt: one event loop of Qt; its signals report sockets, and slots serve them.
//
//     QEventLoop::exec --> readyRead, bytesWritten --> QIODevice::read --> session --> QIODevice::write
//          ^                                                                               |
//          +---- aboutToBlock:  deadlines <---- publications <---- posted: the unfinished -+
//
// Good at: programs that have a Qt event loop anyway; few connections. Bad at: thousands of connections,
// because Qt waits by poll(2), whose cost depends on the number of open sockets, and each read is preceded by
// a question for the number of bytes. A timer counts in milliseconds. The sockets are of the class
// QAbstractSocket, without a buffer: a QTcpSocket has one, copies every byte once more, and closes as soon as
// its peer ends its direction, with replies still in the buffer. Left out on purpose: QTcpServer, which spins
// when descriptors run out; QLocalServer, which closes itself at the first accept that fails; and
// QLocalSocket, which is a QTcpSocket inside. qt/loop.cpp and qt/exchange.cpp have the slots.
#include "engines/qt/application.hpp"
#include "engines/qt/loop.hpp"

namespace joust {

// optional/with_qt.cpp has the descriptor.
extern "C" void joust_run_qt(const Hosting& hosting, Stop& stop) {
  const QtApplication application(hosting.tally);
  run_in_qthread([&] { run_loops<QtLoop>(hosting, stop); });
}

}  // namespace joust
