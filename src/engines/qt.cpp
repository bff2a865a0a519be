// SPDX-License-Identifier: MIT
//
// qt: one event loop of Qt; its signals report sockets, and slots serve them.
//
//     QEventLoop::exec --> readyRead, bytesWritten --> QTcpSocket::read --> session --> QTcpSocket::write
//          ^                                                                                |
//          +---- aboutToBlock:  deadlines <---- publications <---- posted: the unfinished --+
//
// Good at: programs that have a Qt event loop anyway; few connections. Bad at: thousands of connections,
// because Qt waits by poll(2), where the cost depends on the number of open sockets, and asks how many bytes
// there are before each read. A timer counts in milliseconds. The sockets are unbuffered
// (QIODevice::Unbuffered): a buffered QTcpSocket closes as soon as its peer ends its direction, with replies
// still in its buffer, and copies every byte once more. Left out on purpose: QLocalSocket, which is a
// QTcpSocket inside, and QLocalServer, which closes itself at the first accept that fails.
// qt/loop.cpp has the slots.
#include "engines/qt/application.hpp"
#include "engines/qt/loop.hpp"

namespace joust {
namespace {

void run(const Hosting& hosting, Stop& stop) {
  const QtApplication application(hosting.tally);
  run_in_qthread([&] { run_loops<QtLoop>(hosting, stop); });
}

}  // namespace

extern const Engine kQt{
    .name = "qt",
    .summary = "Qt: signals and slots on one event loop",
    .threads = "1",
    .wait_ignored = kQtWaits,
    .no_file_ring = kQtReads,
    .no_file_mapping = kQtCopies,
    .keeps = kGLibKeeps,
    .run = run,
};

}  // namespace joust
