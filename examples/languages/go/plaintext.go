// SPDX-License-Identifier: MIT

// One text over HTTP with net/http, which has a goroutine for each connection. It adds the fields Date,
// Content-Length and Content-Type. TCP_NODELAY is on: it is the default of package net.
//
// Left out on purpose: limits, deadlines, logging, an orderly stop, other paths.
package main

import (
	"io"
	"log"
	"net/http"
	"os"
)

func main() {
	http.HandleFunc("/", func(writer http.ResponseWriter, _ *http.Request) {
		writer.Header().Set("Content-Type", "text/plain")
		io.WriteString(writer, "Hello, World!")
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[1], nil))
}
