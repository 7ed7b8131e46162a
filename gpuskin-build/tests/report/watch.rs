//! `gpuskin watch`: bakes after a change, and tells the open page.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdout, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::place::{Place, data_of, manifest_of, pole};

/// Longest wait for a bake.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A running `gpuskin watch`, ended when dropped.
pub struct Watch {
    process: Child,
    output: BufReader<ChildStdout>,
    port: u16,
}

impl Watch {
    pub fn start(place: &Place) -> Self {
        // Port 0 is a free one.
        let mut command = place.command(&["watch", "--port", "0"]);
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("gpuskin.toml: http://127.0.0.1:").expect(&line);
        Self { process, output, port: address.trim_end_matches('/').parse().unwrap() }
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    fn send(&self, request: &str) -> BufReader<TcpStream> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(TIMEOUT)).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        BufReader::new(stream)
    }

    /// Returns a whole response.
    fn get(&self, path: &str) -> String {
        let host = format!("localhost:{}", self.port);
        let mut text = String::new();
        self.send(&format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n")).read_to_string(&mut text).unwrap();
        text
    }

    fn events(&self, more: &str) -> Events {
        let port = self.port;
        Events(self.send(&format!("GET /events HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{more}\r\n")))
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Stream of the data of each bake.
struct Events(BufReader<TcpStream>);

impl Events {
    /// Returns identifier and data of the next event.
    fn next(&mut self) -> (String, Value) {
        let mut id = String::new();
        loop {
            let mut line = String::new();
            assert!(self.0.read_line(&mut line).unwrap() > 0, "the stream has ended");
            if let Some(text) = line.strip_prefix("id: ") {
                id = text.trim().to_owned();
            }
            if let Some(data) = line.strip_prefix("data: ") {
                return (id, serde_json::from_str(data).unwrap());
            }
        }
    }
}

fn codes(report: &Value) -> Vec<&str> {
    report["diagnostics"].as_array().unwrap().iter().map(|one| one["code"].as_str().unwrap()).collect()
}

pub fn an_edited_clip_reaches_the_page_and_a_failure_keeps_the_last_bake() {
    let place = Place::new(&manifest_of(&["pole"]));
    let watch = Watch::start(&place);
    let page = watch.get("/");
    assert!(page.starts_with("HTTP/1.1 200 OK\r\n") && page.contains("connect-src 'self'"), "{page:.600}");
    let mut events = watch.events("");
    let (_, first) = events.next();
    assert!(data_of(&page) == first && first["live"] == true);
    let clips = |data: &Value| -> Vec<String> {
        let clips = data["report"]["models"][0]["clips"].as_array().unwrap();
        clips.iter().map(|clip| clip["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(clips(&first), ["sway", "fall_over"]);
    // A clip is renamed.
    place.write("pole.gltf", &pole().replace("Rig|Sway", "Rig|Swing"));
    let (id, second) = events.next();
    assert_eq!((clips(&second), &second["failure"]), (vec!["swing".to_owned(), "fall_over".to_owned()], &Value::Null));
    let module = place.read("baked/gpuskin.rs");
    assert!(module.contains("SWING"), "{module}");
    // A failure names its remedy, and the last bake stays.
    place.write("pole.gltf", "{");
    let (_, third) = events.next();
    assert_eq!(clips(&third), clips(&second));
    assert_eq!((codes(&third["failure"]), &third["failure"]["failed"]), (vec!["gpuskin::gltf::syntax"], &true.into()));
    assert!(third["codes"]["gpuskin::gltf::syntax"]["remedy"].is_string(), "{}", third["codes"]);
    assert_eq!(place.read("baked/gpuskin.rs"), module);
    // The manifest is watched as well; a browser that was away gets what it has missed.
    let mut again = watch.events(&format!("Last-Event-ID: {id}\r\n"));
    assert_eq!(again.next().1["failure"], third["failure"]);
    place.write("pole.gltf", &pole());
    assert_eq!(events.next().1["failure"], Value::Null);
    place.write("gpuskin.toml", &manifest_of(&["pole", "missing"]));
    assert_eq!(codes(&events.next().1["failure"]), ["gpuskin::file::not_found"]);
    place.write("missing.gltf", &pole());
    let (_, last) = events.next();
    assert_eq!((&last["failure"], last["report"]["models"].as_array().unwrap().len()), (&Value::Null, 2));
}

pub fn only_this_machine_is_answered() {
    let place = Place::new(&manifest_of(&["pole"]));
    let watch = Watch::start(&place);
    let status = |request: String| {
        let mut line = String::new();
        watch.send(&request).read_line(&mut line).unwrap();
        line.trim().to_owned()
    };
    let port = watch.port;
    let of_host = |host: &str| status(format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n"));
    assert_eq!(of_host("evil.example"), "HTTP/1.1 403 Forbidden");
    assert_eq!(of_host(&format!("evil.example:{port}")), "HTTP/1.1 403 Forbidden");
    assert_eq!(of_host(&format!("127.0.0.1:{port}")), "HTTP/1.1 200 OK");
    let post = format!("POST / HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n");
    assert_eq!(status(post), "HTTP/1.1 405 Method Not Allowed");
    assert_eq!(status("hello\r\n\r\n".to_owned()), "HTTP/1.1 400 Bad Request");
    assert!(watch.get("/../gpuskin.toml").starts_with("HTTP/1.1 404 Not Found\r\n"));
}

pub fn a_port_in_use_is_an_error_with_a_remedy() {
    let place = Place::new(&manifest_of(&["pole"]));
    let other = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = other.local_addr().unwrap().port().to_string();
    let output = place.command(&["watch", "--port", &port]).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("gpuskin::watch::port") && stderr.contains("leave the flag out"), "{stderr}");
    let output = place.command(&["watch", "--port", "many"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}

/// In a pipe, the address is all that is printed, and a signal ends the command at once. Not the interrupt of a
/// terminal, which shells let background jobs ignore.
#[cfg(unix)]
pub fn a_signal_ends_it_and_leaves_whole_files() {
    let place = Place::new(&manifest_of(&["pole"]));
    let mut watch = Watch::start(&place);
    watch.events("").next();
    let id = watch.process.id().to_string();
    assert!(std::process::Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    watch.process.wait().unwrap();
    let mut rest = String::new();
    watch.output.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "");
    assert!(place.bake(&["--check"]).contains("is up to date"));
}
