// SPDX-License-Identifier: MIT
//
// Echo, or one fixed text over HTTP, with epoll and nothing else: the least that a language can cost here.
//
//     server echo PORT
//     server http PORT
//
// One thread. A connection has one buffer of a fixed size: it is read again when all of the buffer is sent,
// so a slow peer slows down its own connection only. A peer that has ended its side gets all replies.
//
// Left out on purpose: limits, deadlines, logging, and HTTP itself. A request is whatever ends with an
// empty line, its head is not read, and the reply has no date.
#define _GNU_SOURCE  // accept4()
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define REPLY "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 13\r\n\r\nHello, World!"
#define REPLY_LENGTH (sizeof REPLY - 1)
#define END_OF_HEAD "\r\n\r\n"

enum { BUFFER = 64 << 10, MOST_EVENTS = 256, BACKLOG = 4096, READ_OF_HEADS = 2048 };
_Static_assert(READ_OF_HEADS / 4 * REPLY_LENGTH <= BUFFER, "the replies to one read fit into the buffer");

struct connection {
  int socket;
  bool sending;       // what epoll waits for: room to send, or something to read
  size_t from, to;    // the part of the buffer that is not sent yet
  size_t end_seen;    // bytes of END_OF_HEAD at the end of what was read
  char buffer[BUFFER];
};

static int poller;
static bool http;

static void fail(const char* what) {
  perror(what);
  exit(1);
}

static void leave(struct connection* connection) {
  close(connection->socket);
  free(connection);
}

// Adds a reply for each empty line.
static void answer_heads(struct connection* connection, const char* bytes, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const bool expected = bytes[i] == END_OF_HEAD[connection->end_seen];
    connection->end_seen = expected ? connection->end_seen + 1 : bytes[i] == '\r';
    if (connection->end_seen < sizeof END_OF_HEAD - 1) continue;
    connection->end_seen = 0;
    memcpy(connection->buffer + connection->to, REPLY, REPLY_LENGTH);
    connection->to += REPLY_LENGTH;
  }
}

// Reads once. Returns false at the end of the connection.
static bool receive(struct connection* connection) {
  char heads[READ_OF_HEADS];
  char* const into = http ? heads : connection->buffer;
  const ssize_t count = recv(connection->socket, into, http ? sizeof heads : BUFFER, 0);
  if (count <= 0) return count < 0 && (errno == EAGAIN || errno == EINTR);
  connection->from = connection->to = 0;
  if (http)
    answer_heads(connection, heads, (size_t)count);
  else
    connection->to = (size_t)count;
  return true;
}

// Sends what the buffer has. Returns false if the peer is gone.
static bool send_rest(struct connection* connection) {
  while (connection->from < connection->to) {
    const ssize_t count = send(connection->socket, connection->buffer + connection->from,
                               connection->to - connection->from, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno == EAGAIN;
    connection->from += (size_t)count;
  }
  return true;
}

static void serve(struct connection* connection) {
  if (!connection->sending && !receive(connection)) return leave(connection);
  if (!send_rest(connection)) return leave(connection);
  const bool sending = connection->from < connection->to;
  if (sending == connection->sending) return;
  connection->sending = sending;
  struct epoll_event event = {.events = sending ? EPOLLOUT : EPOLLIN, .data.ptr = connection};
  if (epoll_ctl(poller, EPOLL_CTL_MOD, connection->socket, &event) < 0) fail("epoll_ctl");
}

static void accept_one(int listener) {
  const int socket = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (socket < 0) return;
  const int on = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  struct connection* const connection = malloc(sizeof *connection);
  if (connection == NULL) fail("malloc");
  connection->socket = socket;
  connection->sending = false;
  connection->from = connection->to = connection->end_seen = 0;
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
  if (epoll_ctl(poller, EPOLL_CTL_ADD, socket, &event) < 0) fail("epoll_ctl");
}

static int listen_at(const char* port) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  const int on = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((unsigned short)atoi(port))};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (bind(listener, (struct sockaddr*)&address, sizeof address) < 0) fail("bind");
  if (listen(listener, BACKLOG) < 0) fail("listen");
  return listener;
}

int main(int argc, char** argv) {
  if (argc != 3) return fputs("usage: server echo|http PORT\n", stderr), 2;
  http = strcmp(argv[1], "http") == 0;
  const int listener = listen_at(argv[2]);
  poller = epoll_create1(EPOLL_CLOEXEC);
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
  if (poller < 0 || epoll_ctl(poller, EPOLL_CTL_ADD, listener, &event) < 0) fail("epoll");
  struct epoll_event events[MOST_EVENTS];
  for (;;) {
    const int count = epoll_wait(poller, events, MOST_EVENTS, -1);
    for (int i = 0; i < count; ++i) {
      if (events[i].data.ptr == NULL)
        accept_one(listener);
      else
        serve(events[i].data.ptr);
    }
  }
}
