// SPDX-License-Identifier: MIT
//
// One text over HTTP with hyper on Tokio: a task for each connection. hyper adds the fields Date and
// Content-Length.
//
// Left out on purpose: limits, deadlines, logging, an orderly stop, other paths.
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{HeaderValue, CONTENT_TYPE};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use std::convert::Infallible;
use std::io;
use tokio::net::TcpListener;

async fn answer(_: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let mut reply = Response::new(Full::new(Bytes::from_static(b"Hello, World!")));
    reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    Ok(reply)
}

#[tokio::main]
async fn main() -> io::Result<()> {
    let port = std::env::args().nth(1).expect("usage: hyper_plaintext PORT");
    let listener = TcpListener::bind(format!("127.0.0.1:{port}")).await?;
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        // An error is a peer that resets, which ends its own connection only.
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service_fn(answer)));
    }
}
