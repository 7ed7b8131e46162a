//! Server of the report: the page, the models that it draws, and a stream of the data of each bake.

use std::io::{self, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::http::{Request, head, respond};
use crate::report::{DrawnModels, PageData, live_page};

/// First port that is tried.
pub(super) const DEFAULT_PORT: u16 = 8642;
/// Number of ports that are tried.
pub(super) const PORTS: u16 = 20;
/// Maximum number of connections at a time.
const MAX_CONNECTIONS: usize = 64;
/// Time after which a client that sends or reads nothing is given up.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Time between signs of life in a stream without events, which find out whether it is still read.
const PULSE: Duration = Duration::from_secs(5);

/// A server that listens.
pub(super) struct Server {
    listener: TcpListener,
    port: u16,
}

/// Result of the last bake, shared with the threads of the server.
#[derive(Clone, Default)]
pub(super) struct Publisher(Arc<Shared>);

#[derive(Default)]
struct Shared {
    bake: Mutex<PublishedBake>,
    published: Condvar,
    connections: AtomicUsize,
}

#[derive(Clone, Default)]
struct PublishedBake {
    /// Number of the bake, from 1; 0 before the first.
    number: u64,
    failed: bool,
    data: Arc<str>,
    models: Arc<DrawnModels>,
}

impl Server {
    /// Listens on a port of the loopback address; without a port, on the first free one of a few.
    pub(super) fn bind(port: Option<u16>) -> io::Result<Self> {
        let bind = |port| TcpListener::bind((Ipv4Addr::LOCALHOST, port));
        let listener = match port {
            Some(port) => bind(port),
            None => {
                let mut ports = DEFAULT_PORT..DEFAULT_PORT + PORTS;
                let first = bind(DEFAULT_PORT);
                ports.next();
                ports.fold(first, |found, port| found.or_else(|_| bind(port)))
            }
        }?;
        let port = listener.local_addr()?.port();
        Ok(Self { listener, port })
    }

    pub(super) fn address(&self) -> String {
        format!("http://127.0.0.1:{}/", self.port)
    }

    /// Answers requests in threads of its own, until the process ends.
    pub(super) fn start(self) -> Publisher {
        let publisher = Publisher::default();
        let shared = publisher.clone();
        std::thread::spawn(move || {
            for stream in self.listener.incoming().flatten() {
                let (publisher, port) = (shared.clone(), self.port);
                // More connections than a few browsers open are dropped.
                if publisher.0.connections.fetch_add(1, Ordering::Relaxed) >= MAX_CONNECTIONS {
                    publisher.0.connections.fetch_sub(1, Ordering::Relaxed);
                    continue;
                }
                std::thread::spawn(move || {
                    // A client that goes away is no error.
                    let _ = publisher.answer(&stream, port);
                    publisher.0.connections.fetch_sub(1, Ordering::Relaxed);
                });
            }
        });
        publisher
    }
}

impl Publisher {
    /// Publishes the result of a bake, unless it is that of the last one.
    pub(super) fn publish(&self, data: &PageData<'_>, models: &Arc<DrawnModels>, failed: bool) {
        let json: Arc<str> = data.to_json(true).into();
        let mut bake = self.lock();
        if bake.number > 0 && bake.data == json {
            return;
        }
        *bake = PublishedBake { number: bake.number + 1, failed, data: json, models: models.clone() };
        self.0.published.notify_all();
    }

    /// Whether the last bake failed.
    pub(super) fn failed(&self) -> bool {
        self.lock().failed
    }

    fn lock(&self) -> MutexGuard<'_, PublishedBake> {
        self.0.bake.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a bake other than the one of a number. Returns the same bake after a while without
    /// another.
    fn next(&self, seen: u64) -> PublishedBake {
        let same = |bake: &mut PublishedBake| bake.number == seen;
        let waited = self.0.published.wait_timeout_while(self.lock(), PULSE, same);
        waited.unwrap_or_else(PoisonError::into_inner).0.clone()
    }

    fn answer(&self, stream: &TcpStream, port: u16) -> io::Result<()> {
        stream.set_read_timeout(Some(TIMEOUT))?;
        stream.set_write_timeout(Some(TIMEOUT))?;
        let text = "text/plain; charset=utf-8";
        let Some(request) = Request::read(stream)? else {
            return respond(stream, "400 Bad Request", text, b"not an HTTP request\n");
        };
        if !request.is_local(port) {
            let reason = format!("open http://127.0.0.1:{port}/ instead\n");
            return respond(stream, "403 Forbidden", text, reason.as_bytes());
        }
        if request.method != "GET" {
            return respond(stream, "405 Method Not Allowed", text, b"only GET\n");
        }
        match request.target.as_str() {
            "/" => {
                // The first bake may take a while.
                let mut bake = self.next(0);
                while bake.number == 0 {
                    bake = self.next(0);
                }
                respond(stream, "200 OK", "text/html; charset=utf-8", live_page(&bake.data).as_bytes())
            }
            "/events" => {
                let seen = request.last_event.as_deref().and_then(|event| event.strip_prefix(&process()));
                self.stream(stream, seen.and_then(|seen| seen.parse().ok()).unwrap_or(0))
            }
            target => {
                let index = target.strip_prefix("/model/").and_then(|index| index.parse().ok());
                let bake = self.lock().clone();
                match index.and_then(|index| bake.models.get(index)) {
                    Some(model) => respond(stream, "200 OK", "application/gzip", model),
                    None => respond(stream, "404 Not Found", text, b"not found\n"),
                }
            }
        }
    }

    /// Sends the data of each bake from now on, and the last one if the client has not seen it.
    fn stream(&self, mut stream: &TcpStream, mut seen: u64) -> io::Result<()> {
        stream.write_all(head("200 OK", "text/event-stream", "").as_bytes())?;
        stream.write_all(b"retry: 1000\n\n")?;
        loop {
            let bake = self.next(seen);
            match bake.number == seen {
                true => stream.write_all(b": still there\n\n")?,
                false => write!(stream, "id: {}{}\nevent: bake\ndata: {}\n\n", process(), bake.number, bake.data)?,
            }
            seen = bake.number;
        }
    }
}

/// Returns the start of the identifiers of events: an earlier run of the command has another one.
fn process() -> String {
    format!("{}.", std::process::id())
}
