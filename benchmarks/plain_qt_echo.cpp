// SPDX-License-Identifier: MIT
//
// An echo server on Qt, as a user of the library writes it: a QTcpServer, and a QTcpSocket for each client
// whose signals are connected to slots. It is the yardstick of scenarios/plain-programs.toml for the engine
// qt. It has no limits, no deadlines and no way to stop, and keeps all that a client does not read.
//
//     plain_qt_echo PORT
#include <QCoreApplication>
#include <QTcpServer>
#include <QTcpSocket>

#include "bare.hpp"

namespace {

void echo(QTcpSocket* client) {
  client->write(client->readAll());
  client->flush();  // sends now, and not in the next iteration of the event loop
}

void accept(QTcpServer* server) {
  while (QTcpSocket* client = server->nextPendingConnection()) {
    QObject::connect(client, &QTcpSocket::readyRead, client, [client] { echo(client); });
    QObject::connect(client, &QTcpSocket::disconnected, client, &QObject::deleteLater);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fputs("usage: plain_qt_echo PORT\n", stderr), 2;
  QCoreApplication application(argc, argv);
  QTcpServer server;
  QObject::connect(&server, &QTcpServer::newConnection, &server, [&server] { accept(&server); });
  // Its options are those of the sockets that it accepts.
  if (!server.setSocketDescriptor(bare::listening_socket(argv[1], SOCK_NONBLOCK)))
    return std::fputs("setSocketDescriptor() failed\n", stderr), EXIT_FAILURE;
  return QCoreApplication::exec();
}
