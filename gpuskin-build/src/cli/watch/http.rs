//! The little of HTTP that a browser on this machine needs.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;

/// Maximum size in bytes of the head of a request.
const MAX_HEAD_BYTES: u64 = 16 << 10;

/// Head of a request.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Request {
    pub(super) method: String,
    /// Path and query.
    pub(super) target: String,
    pub(super) host: String,
    /// Identifier of the last event that a stream has seen.
    pub(super) last_event: Option<String>,
}

impl Request {
    /// Reads a request. Returns `None` if it is no HTTP request.
    pub(super) fn read(stream: impl Read) -> io::Result<Option<Self>> {
        let mut lines = BufReader::new(stream.take(MAX_HEAD_BYTES));
        let mut line = String::new();
        lines.read_line(&mut line)?;
        let mut words = line.split_ascii_whitespace();
        let (Some(method), Some(target), Some(version)) = (words.next(), words.next(), words.next()) else {
            return Ok(None);
        };
        if !version.starts_with("HTTP/1.") {
            return Ok(None);
        }
        let mut request = Self { method: method.to_owned(), target: target.to_owned(), ..Self::default() };
        loop {
            line.clear();
            // A head that is cut off or too long has no empty line.
            if lines.read_line(&mut line)? == 0 {
                return Ok(None);
            }
            let Some((name, value)) = line.split_once(':') else { break };
            match name.to_ascii_lowercase().as_str() {
                "host" => request.host = value.trim().to_owned(),
                "last-event-id" => request.last_event = Some(value.trim().to_owned()),
                _ => {}
            }
        }
        Ok(line.trim().is_empty().then_some(request))
    }

    /// Whether the browser meant this server. A page of another site whose name was made to lead to
    /// the loopback address (DNS rebinding) sends its own name.
    pub(super) fn is_local(&self, port: u16) -> bool {
        ["127.0.0.1", "localhost", "[::1]"].iter().any(|name| self.host == format!("{name}:{port}"))
    }
}

/// Writes a whole response, and no more.
pub(super) fn respond(mut stream: &TcpStream, status: &str, kind: &str, body: &[u8]) -> io::Result<()> {
    let head = head(status, kind, &format!("Content-Length: {}\r\n", body.len()));
    stream.write_all(head.as_bytes())?;
    stream.write_all(body)
}

/// Returns the head of a response.
pub(super) fn head(status: &str, kind: &str, more: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n\
         Content-Security-Policy: frame-ancestors 'none'\r\nCross-Origin-Resource-Policy: same-origin\r\n{more}\
         Connection: close\r\n\r\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<Request> {
        Request::read(text.as_bytes()).unwrap()
    }

    #[test]
    fn requests_are_read() {
        let request = read("GET /events?seen=3 HTTP/1.1\r\nHOST: localhost:8642\r\nLast-Event-ID: 7\r\n\r\n").unwrap();
        assert_eq!(
            (&*request.method, &*request.target, request.last_event.as_deref()),
            ("GET", "/events?seen=3", Some("7"))
        );
        assert!(request.is_local(8642) && !request.is_local(8643));
        for host in ["evil.example:8642", "localhost", "127.0.0.1.evil.example:8642", "", "localhost:86420"] {
            assert!(!Request { host: host.to_owned(), ..Request::default() }.is_local(8642), "{host}");
        }
        for text in
            ["", "\r\n", "GET /\r\n\r\n", "GET / SPDY/3\r\n\r\n", "GET / HTTP/1.1\r\nHost: a", "GET / HTTP/1.1\r\nHost"]
        {
            assert_eq!(read(text), None, "{text:?}");
        }
        let long = format!("GET / HTTP/1.1\r\nX: {}\r\n\r\n", "x".repeat(20_000));
        assert_eq!(read(&long), None, "the head is bounded");
        assert!(Request::read(&b"GET \xff HTTP/1.1\r\n\r\n"[..]).is_err());
    }
}
