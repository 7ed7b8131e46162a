//! Shared cache: one machine downloads the models that another one has baked, and bakes succeed
//! without the cache.

mod place;
mod server;

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use place::{MODELS, Place, tree};
use server::{BUCKET, KEY, SECRET};

/// Longest time that a bake may wait for a shared cache that does not answer.
const PATIENCE: Duration = Duration::from_secs(60);

fn url(folder: &Path) -> String {
    format!("file://{}", folder.display())
}

/// Bakes on one machine, then on a second one from the shared cache, then on the second from its
/// own cache.
fn shares(place: &Place, shared: &[(&str, &str)]) {
    let writing = [shared, &[("GPUSKIN_SHARED_CACHE_MODE", "read-write")]].concat();
    let first = place.bake("first", &writing);
    assert_eq!((first.baked(), first.stderr.as_str()), (MODELS, ""), "{}", first.stdout);
    // Each entry is uploaded once: per model an input list, a model and four files.
    assert!(first.stdout.contains(&format!(", {} entries uploaded", MODELS * 6)), "{}", first.stdout);
    let second = place.bake("second", shared);
    assert_eq!((second.baked(), second.stderr.as_str()), (0, ""));
    assert!(second.stdout.contains(&format!("{} entries downloaded from ", MODELS * 6)), "{}", second.stdout);
    assert!(place.out("second") == place.out("first"));
    // The second machine now has the entries in its own cache.
    fs::remove_dir_all(place.path("second/baked")).unwrap();
    assert_eq!(place.bake("second", &[]).baked(), 0);
    assert!(place.out("second") == place.out("first"));
    let stats = place.stats("second");
    assert!(stats.contains(&format!("{} entries downloaded", MODELS * 6)), "{stats}");
}

#[test]
fn folder_is_a_shared_cache() {
    let place = Place::new();
    let folder = place.path("shared folder");
    let url = url(&folder).replace(' ', "%20");
    shares(&place, &[("GPUSKIN_SHARED_CACHE", &url)]);
    // A machine with read-only access uploads nothing.
    let before = tree(&folder);
    let source = place.path("art/pole0.gltf");
    fs::write(&source, fs::read_to_string(&source).unwrap() + "\n").unwrap();
    assert_eq!(place.bake("second", &[("GPUSKIN_SHARED_CACHE", &url)]).baked(), 1);
    assert!(tree(&folder) == before);
    // An empty variable turns the shared cache off, whatever its mode.
    assert_eq!(
        place.bake("third", &[("GPUSKIN_SHARED_CACHE", ""), ("GPUSKIN_SHARED_CACHE_MODE", "odd")]).baked(),
        MODELS
    );
}

#[test]
fn build_scripts_share_a_cache() {
    let place = Place::new();
    let url = url(&place.path("shared"));
    let shared = [("GPUSKIN_SHARED_CACHE", url.as_str()), ("GPUSKIN_SHARED_CACHE_MODE", "read-write")];
    let said = place.script("first", &shared);
    assert!(!said.stdout.contains("cargo::warning") && !said.stdout.contains("cargo::error"), "{}", said.stdout);
    let written = tree(&place.path("shared"));
    assert_eq!(written.len(), MODELS * 6, "{:?}", written.keys());
    assert_eq!(place.bake("second", &shared[..1]).baked(), 0);
    place.script("third", &shared[..1]);
    assert!(place.out("second") == place.out("first") && place.out("third") == place.out("first"));
    // The cache of a build script has no copies of the files beside it.
    let kept = tree(&place.path("third/baked/gpuskin-cache"));
    assert!(!kept.keys().any(|path| path.to_string_lossy().starts_with("file-")), "{:?}", kept.keys());
}

fn variables<'a>(endpoint: &'a str, secret: &'a str) -> Vec<(&'a str, &'a str)> {
    vec![
        ("GPUSKIN_SHARED_CACHE", "s3://studio/games/baked"),
        ("AWS_ENDPOINT", endpoint),
        ("AWS_ALLOW_HTTP", "true"),
        ("AWS_REGION", "us-east-1"),
        ("AWS_ACCESS_KEY_ID", KEY),
        ("AWS_SECRET_ACCESS_KEY", secret),
    ]
}

fn endpoint(address: SocketAddr) -> String {
    format!("http://{address}")
}

#[test]
fn s3_server_is_a_shared_cache() {
    let place = Place::new();
    let served = place.path("served");
    let endpoint = endpoint(server::s3(&served));
    let shared = variables(&endpoint, SECRET);
    shares(&place, &shared);
    let good = place.out("first");
    let objects = served.join(BUCKET).join("games/baked");
    let entries: Vec<_> = tree(&objects).into_iter().collect();
    assert_eq!(entries.len(), MODELS * 6);

    // Damaged, truncated, emptied and swapped entries: none is used.
    for (n, (path, bytes)) in entries.iter().enumerate() {
        let mut bytes = bytes.clone();
        match n % 4 {
            0 => bytes[n * 7 % 72] ^= 1,
            1 => bytes.truncate(72 + n),
            2 => bytes.clear(),
            _ => bytes = entries[(n + 1) % entries.len()].1.clone(),
        }
        fs::write(objects.join(path), bytes).unwrap();
    }
    let third = place.bake("third", &shared);
    assert_eq!((third.baked(), third.stderr.as_str()), (MODELS, ""));
    assert!(place.out("third") == good);
    let stats = place.stats("third");
    assert!(stats.lines().any(|line| line.contains("s3://studio") && !line.ends_with("; 0 damaged")), "{stats}");
    // A machine with write access replaces the damaged entries.
    let writing = [&shared[..], &[("GPUSKIN_SHARED_CACHE_MODE", "read-write")]].concat();
    assert_eq!(place.bake("fourth", &writing).baked(), MODELS);
    assert!(tree(&objects).into_iter().eq(entries));
    assert_eq!(place.bake("fifth", &shared).baked(), 0);
    assert!(place.out("fifth") == good);

    // With a wrong key everything is baked locally, with a warning.
    let wrong = variables(&endpoint, "a guess");
    let sixth = place.bake("sixth", &wrong);
    assert_eq!(sixth.baked(), MODELS);
    warned(&sixth.stderr);
    assert!(place.out("sixth") == good);
}

/// Asserts that exactly one warning names the shared cache as unavailable.
#[track_caller]
fn warned(stderr: &str) {
    assert_eq!(stderr.matches("gpuskin::cache::shared").count(), 1, "{stderr}");
    assert!(stderr.contains("is not used: "), "{stderr}");
}

/// Bakes with a shared cache that serves nothing.
fn without(address: SocketAddr, warns: bool) {
    let place = Place::new();
    let endpoint = endpoint(address);
    let shared = [&variables(&endpoint, SECRET)[..], &[("GPUSKIN_SHARED_CACHE_MODE", "read-write")]].concat();
    let start = Instant::now();
    let said = place.bake("first", &shared);
    assert!(start.elapsed() < PATIENCE, "{:?}", start.elapsed());
    assert_eq!(said.baked(), MODELS);
    if warns {
        warned(&said.stderr);
    }
    place.bake("second", &[]);
    assert!(place.out("first") == place.out("second"));
}

#[test]
fn bake_succeeds_without_a_server() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    without(address, true);
}

#[test]
fn bake_succeeds_with_a_silent_server() {
    without(server::odd(server::silent), true);
}

#[test]
fn bake_succeeds_with_a_failing_server() {
    without(server::odd(server::broken), true);
}

#[test]
fn bake_succeeds_with_truncated_answers() {
    without(server::odd(server::cut_off), true);
}

#[test]
fn bake_succeeds_with_foreign_answers() {
    // No warning: the server works, and only its entries are damaged.
    without(server::odd(server::foreign), false);
}

#[test]
fn invalid_addresses_are_reported() {
    let place = Place::new();
    for (url, part) in [
        ("studio/baked", "invalid URL"),
        ("https://example.com/baked", "expected s3://"),
        ("ftp://example.com/baked", "expected s3://"),
        ("file:///no/such/folder/anywhere", "No such file"),
    ] {
        let said = place.bake("first", &[("GPUSKIN_SHARED_CACHE", url)]);
        warned(&said.stderr);
        assert!(said.stderr.split_whitespace().collect::<Vec<_>>().join(" ").contains(part), "{url}: {}", said.stderr);
        fs::remove_dir_all(place.path("first")).unwrap();
    }
    let url = url(&place.path("shared"));
    let said = place.bake("first", &[("GPUSKIN_SHARED_CACHE", &url), ("GPUSKIN_SHARED_CACHE_MODE", "write")]);
    warned(&said.stderr);
    assert!(!place.path("shared").exists());
}
