//! Shows a folder on the loopback address.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

/// Longest head of a request that is read, bytes.
const MAX_HEAD: u64 = 16 << 10;
/// Time after which a silent connection is closed.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Server of static files, for this machine alone.
pub(crate) struct Server {
    listener: TcpListener,
    folder: PathBuf,
}

impl Server {
    /// Listens on a port of 127.0.0.1; 0 takes a free one.
    pub(crate) fn bind(folder: &Path, port: u16) -> std::io::Result<Self> {
        Ok(Self { listener: TcpListener::bind((Ipv4Addr::LOCALHOST, port))?, folder: folder.canonicalize()? })
    }

    pub(crate) fn port(&self) -> u16 {
        self.listener.local_addr().map_or(0, |address| address.port())
    }

    /// Answers requests until the process ends.
    pub(crate) fn run(self) {
        for stream in self.listener.incoming().flatten() {
            let folder = self.folder.clone();
            std::thread::spawn(move || drop(answer(&stream, &folder)));
        }
    }
}

fn answer(mut stream: &TcpStream, folder: &Path) -> std::io::Result<()> {
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    let mut head = BufReader::new(stream.take(MAX_HEAD));
    let mut request = String::new();
    head.read_line(&mut request)?;
    // The rest of the head says nothing of interest, but is read before the answer.
    let mut line = String::new();
    while head.read_line(&mut line)? > 2 {
        line.clear();
    }
    let mut words = request.split_whitespace();
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let path = target.split(['?', '#']).next().unwrap_or_default().trim_start_matches('/');
    let (status, kind, body) = match (method, file(folder, path)) {
        ("GET" | "HEAD", Some(path)) => ("200 OK", media_type(&path), fs::read(&path).unwrap_or_default()),
        ("GET" | "HEAD", None) => ("404 Not Found", "text/plain", b"not found".to_vec()),
        _ => ("405 Method Not Allowed", "text/plain", Vec::new()),
    };
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nCache-Control: no-cache\r\n\
         X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n"
    )?;
    if method == "GET" {
        stream.write_all(&body)?;
    }
    stream.flush()
}

/// Path of a file in the folder; `None` if there is none. Names with escapes are not known.
fn file(folder: &Path, path: &str) -> Option<PathBuf> {
    let path = Path::new(if path.is_empty() { "index.html" } else { path });
    let plain = path.components().all(|part| matches!(part, Component::Normal(_)));
    let found = folder.join(path).canonicalize().ok().filter(|_| plain)?;
    (found.starts_with(folder) && found.is_file()).then_some(found)
}

fn media_type(path: &Path) -> &'static str {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript",
        Some("css") => "text/css",
        // Browsers compile while they fetch, with this type alone.
        Some("wasm") => "application/wasm",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn get(port: u16, target: &str) -> String {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
        write!(stream, "GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn only_files_of_the_folder_are_served() {
        let outside = std::env::temp_dir().join(format!("gpuskin-serve-{}", std::process::id()));
        let folder = outside.join("page");
        fs::create_dir_all(folder.join("sub")).unwrap();
        fs::write(folder.join("index.html"), "the page").unwrap();
        fs::write(folder.join("sub/a.wasm"), "wasm").unwrap();
        fs::write(outside.join("secret"), "secret").unwrap();
        let server = Server::bind(&folder, 0).unwrap();
        let port = server.port();
        std::thread::spawn(|| server.run());
        assert!(get(port, "/?api=webgl2").ends_with("the page"));
        assert!(get(port, "/sub/a.wasm").contains("Content-Type: application/wasm"));
        for target in ["/../secret", "/sub/../../secret", "/sub", "/none", "//etc/passwd", "/%2e%2e/secret"] {
            let answer = get(port, target);
            assert!(answer.starts_with("HTTP/1.1 404") && !answer.contains("secret\n"), "{target}: {answer}");
        }
        fs::remove_dir_all(outside).unwrap();
    }
}
