//! Test servers, each in a thread that ends with the test process.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;

use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use s3s::auth::SimpleAuth;
use s3s::service::S3ServiceBuilder;

pub const KEY: &str = "farm";
pub const SECRET: &str = "hand-of-a-farm";
pub const BUCKET: &str = "studio";

/// Starts an S3-compatible server over a folder with one bucket. Requests need [`KEY`] and
/// [`SECRET`].
pub fn s3(folder: &Path) -> SocketAddr {
    std::fs::create_dir_all(folder.join(BUCKET)).unwrap();
    let mut builder = S3ServiceBuilder::new(s3s_fs::FileSystem::new(folder).unwrap());
    builder.set_auth(SimpleAuth::from_single(KEY, SECRET));
    let service = builder.build();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    std::thread::spawn(move || {
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let service = service.clone();
                tokio::spawn(async move {
                    let _ =
                        auto::Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(stream), service).await;
                });
            }
        });
    });
    address
}

/// Starts a server that passes each connection to `what`.
pub fn odd(what: fn(TcpStream)) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || what(stream));
        }
    });
    address
}

/// Reads requests, and never answers.
pub fn silent(mut stream: TcpStream) {
    let mut request = [0; 4096];
    while stream.read(&mut request).is_ok_and(|read| read > 0) {}
}

/// Answers every request with an internal server error.
pub fn broken(stream: TcpStream) {
    answer(stream, "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n");
}

/// Answers with fewer bytes than the header promises.
pub fn cut_off(stream: TcpStream) {
    let head = "HTTP/1.1 200 OK\r\nLast-Modified: Sat, 21 Nov 2026 12:00:00 GMT\r\nETag: \"1\"\r\n";
    answer(stream, &format!("{head}Content-Length: 300\r\nConnection: close\r\n\r\ngpuskin2 and no more"));
}

/// Answers every request with an HTML page.
pub fn foreign(stream: TcpStream) {
    let head = "HTTP/1.1 200 OK\r\nLast-Modified: Sat, 21 Nov 2026 12:00:00 GMT\r\nETag: \"1\"\r\n";
    answer(stream, &format!("{head}Content-Length: 14\r\n\r\n<html></html>\n"));
}

fn answer(mut stream: TcpStream, text: &str) {
    let mut request = [0; 1 << 16];
    while stream.read(&mut request).is_ok_and(|read| read > 0) {
        if stream.write_all(text.as_bytes()).is_err() || text.contains("close") {
            return;
        }
    }
}
