// SPDX-License-Identifier: MIT
//
// Echo with Tokio: a task for each connection, and tokio::io::copy from a connection to itself, which has a
// buffer of 8 KiB. The runtime is the usual one, with a worker for each core that the process may use.
//
// Left out on purpose: limits, deadlines, logging, an orderly stop.
use std::io;
use tokio::net::{TcpListener, TcpStream};

async fn echo(mut stream: TcpStream) -> io::Result<u64> {
    stream.set_nodelay(true)?;
    let (mut reader, mut writer) = stream.split();
    tokio::io::copy(&mut reader, &mut writer).await
}

#[tokio::main]
async fn main() -> io::Result<()> {
    let port = std::env::args().nth(1).expect("usage: tokio_echo PORT");
    let listener = TcpListener::bind(format!("127.0.0.1:{port}")).await?;
    loop {
        let (stream, _) = listener.accept().await?;
        // An error is a peer that resets, which ends its own connection only.
        tokio::spawn(echo(stream));
    }
}
