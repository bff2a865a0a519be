// SPDX-License-Identifier: MIT
//
// One text over HTTP with node:http. It adds the fields Date, Connection and Keep-Alive. Connections are
// kept longer than the 5 s that are usual, because those of a race pause while others work.
//
// Left out on purpose: limits, logging, an orderly stop, worker processes, other paths.
const http = require('node:http');

const text = 'Hello, World!';
const server = http.createServer({ noDelay: true, keepAliveTimeout: 3_600_000 }, (request, response) => {
  response.writeHead(200, { 'Content-Type': 'text/plain', 'Content-Length': Buffer.byteLength(text) });
  response.end(text);
});
server.listen({ host: '127.0.0.1', port: Number(process.argv[2]), backlog: 4096 });
