// SPDX-License-Identifier: MIT
//
// Echo, or a room in which every message goes to all, with the package ws of Node: node ws.js echo|room PORT
//
// A connection is not read from while 256 KiB wait for it. In a room a slow member is not waited for.
const { WebSocketServer } = require('ws');

const [, , service, port] = process.argv;
const kMostWaiting = 256 << 10; // bytes

const server = new WebSocketServer({ host: '127.0.0.1', port: Number(port), backlog: 4096 });

function echo(connection) {
  connection.on('message', (data, binary) => {
    connection.send(data, { binary }, () => {
      if (connection.isPaused && connection.bufferedAmount < kMostWaiting) connection.resume();
    });
    if (connection.bufferedAmount >= kMostWaiting) connection.pause();
  });
}

function room(connection) {
  connection.on('message', (data, binary) => {
    for (const member of server.clients) member.send(data, { binary });
  });
}

server.on('connection', service === 'room' ? room : echo);
server.on('connection', (connection) => connection.on('error', () => {}));
