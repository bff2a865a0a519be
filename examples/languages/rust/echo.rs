// SPDX-License-Identifier: MIT
//
// Echo with the standard library alone: a thread for each connection, and io::copy from a connection to
// itself, which has a buffer of 8 KiB.
//
// Left out on purpose: limits, deadlines, logging, an orderly stop.
use std::io;
use std::net::{TcpListener, TcpStream};
use std::thread;

fn echo(stream: TcpStream) -> io::Result<u64> {
    stream.set_nodelay(true)?;
    io::copy(&mut &stream, &mut &stream)
}

fn main() -> io::Result<()> {
    let port = std::env::args().nth(1).expect("usage: echo PORT");
    let listener = TcpListener::bind(format!("127.0.0.1:{port}"))?;
    for stream in listener.incoming() {
        let stream = stream?;
        // An error is a peer that resets, which ends its own connection only.
        thread::spawn(move || echo(stream));
    }
    Ok(())
}
