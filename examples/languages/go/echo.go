// SPDX-License-Identifier: MIT

// Echo as the documents of package net have it: a goroutine for each connection, and io.Copy from a
// connection to itself. On Linux io.Copy moves the bytes through a pipe inside the kernel (splice), so the
// program reads none. TCP_NODELAY is on: it is the default of package net.
//
// Left out on purpose: limits, deadlines, logging, an orderly stop.
package main

import (
	"io"
	"log"
	"net"
	"os"
)

func echo(connection net.Conn) {
	defer connection.Close()
	io.Copy(connection, connection)
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:"+os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	for {
		connection, err := listener.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go echo(connection)
	}
}
