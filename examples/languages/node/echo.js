// SPDX-License-Identifier: MIT
//
// Echo with node:net: a socket is piped into itself, which reads no further while the peer does not take its
// replies, and ends the connection when the peer has. Reads have at most 64 KiB.
//
// Left out on purpose: limits, deadlines, logging, an orderly stop, worker processes.
const net = require('node:net');

const server = net.createServer({ noDelay: true }, (socket) => {
  socket.on('error', () => {}); // a peer that resets ends its own connection only
  socket.pipe(socket);
});
server.listen({ host: '127.0.0.1', port: Number(process.argv[2]), backlog: 4096 });
