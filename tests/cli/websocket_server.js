// SPDX-License-Identifier: MIT
// A server of echo, with the package ws: node websocket_server.js PORT
const { WebSocketServer } = require('ws');

const server = new WebSocketServer({ host: '127.0.0.1', port: Number(process.argv[2]) });
server.on('connection', (connection) =>
  connection.on('message', (data, isBinary) => connection.send(data, { binary: isBinary })));
