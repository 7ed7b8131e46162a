//! `web`: builds the demo page into a folder of static files, and shows it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cargo::{cargo, root};
use crate::serve::Server;
use crate::{Failure, deps};

const HELP: &str = "\
Builds the demo page, examples/web, into a folder of static files, and prints their sizes.

Usage: cargo xtask web [--with-deps] [--webgpu-only] [--out DIR] [--serve [--port N]]

  --with-deps    installs the target wasm32-unknown-unknown
  --webgpu-only  leaves WebGL2 out: a program of half the size
  --out DIR      folder [default: target/web]
  --serve        shows the folder on http://127.0.0.1:PORT/ until it is interrupted
  --port N       port of --serve [default: 8080]
";

/// Target of web programs.
pub(crate) const TARGET: &str = "wasm32-unknown-unknown";
/// Profile of programs that are fetched.
pub(crate) const SMALL_PROFILE: &str = "web";
/// A page as it is built: package, cargo profile, and features beyond the default ones.
pub(crate) struct Page<'a> {
    pub(crate) package: &'a str,
    pub(crate) profile: &'a str,
    pub(crate) default_features: bool,
    pub(crate) features: &'a [&'a str],
    /// Kind of script that wasm-bindgen writes: `web` or `no-modules`.
    pub(crate) script: &'a str,
    /// Static files that are copied into the folder.
    pub(crate) files: Option<&'a Path>,
}

pub(crate) fn run(args: Vec<OsString>) -> Result<(), Failure> {
    let mut parser = lexopt::Parser::from_args(args);
    let (mut with_deps, mut default_features, mut serve, mut port) = (false, true, false, 8080_u16);
    let mut out = root().join("target/web");
    while let Some(arg) = parser.next()? {
        match arg {
            lexopt::Arg::Long("with-deps") => with_deps = true,
            lexopt::Arg::Long("webgpu-only") => default_features = false,
            lexopt::Arg::Long("out") => out = parser.value()?.into(),
            lexopt::Arg::Long("serve") => serve = true,
            lexopt::Arg::Long("port") => {
                let text = parser.value()?;
                let number = text.to_str().and_then(|text| text.parse().ok());
                port = number.ok_or_else(|| Failure::Usage(format!("no port: {}", text.display())))?;
            }
            lexopt::Arg::Long("help") | lexopt::Arg::Short('h') => {
                print!("{HELP}");
                return Ok(());
            }
            other => return Err(other.unexpected().into()),
        }
    }
    deps::ensure(deps::Needs::Compiler, with_deps)?;
    if with_deps {
        install_target()?;
    }
    if let Some(lack) = lacks_target() {
        return Err(Failure::Failed(lack));
    }
    let files = root().join("examples/web/page");
    let page = Page {
        package: "web",
        profile: SMALL_PROFILE,
        default_features,
        features: &[],
        script: "web",
        files: Some(&files),
    };
    build(&page, &out)?;
    print_sizes(&out);
    println!("page: {}", out.join("index.html").display());
    if serve {
        let failed = |error: std::io::Error| {
            Failure::Failed(format!("port {port} cannot be served: {error}; --port names another"))
        };
        let server = Server::bind(&out, port).map_err(failed)?;
        println!("http://127.0.0.1:{}/  (Ctrl-C ends)", server.port());
        server.run();
    }
    Ok(())
}

/// Returns how to install the target of web programs, if it is missing.
pub(crate) fn lacks_target() -> Option<String> {
    let missing = !target_installed();
    missing.then(|| format!("the target {TARGET} is missing; install it with: rustup target add {TARGET}"))
}

/// Installs the target of web programs, if it is missing.
pub(crate) fn install_target() -> Result<(), Failure> {
    if target_installed() {
        return Ok(());
    }
    let mut rustup = Command::new("rustup");
    rustup.args(["target", "add", TARGET]);
    eprintln!("== rustup target add {TARGET}");
    crate::cargo::run(rustup).map_err(|_| Failure::Failed(format!("rustup could not add the target {TARGET}")))
}

fn target_installed() -> bool {
    let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or("rustc".into()));
    rustc.args(["--print", "target-libdir", "--target", TARGET]).current_dir(root());
    rustc.output().is_ok_and(|output| Path::new(String::from_utf8_lossy(&output.stdout).trim()).is_dir())
}

fn version(program: &Path) -> Option<String> {
    let output = Command::new(program).arg("--version").output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).split_whitespace().last()?.to_owned())
}

/// Builds a page into a folder, which is made anew.
pub(crate) fn build(page: &Page<'_>, out: &Path) -> Result<(), Failure> {
    let io = |what: &Path| {
        let what = what.to_owned();
        move |error: std::io::Error| Failure::Failed(format!("{}: {error}", what.display()))
    };
    let mut command =
        cargo(["build", "--lib", "--target", TARGET, "--profile", page.profile, "--package", page.package]);
    command.arg("--message-format=json-render-diagnostics");
    if !page.default_features {
        command.arg("--no-default-features");
    }
    if !page.features.is_empty() {
        command.arg("--features").arg(page.features.join(","));
    }
    // Panics name source files: without the folders of this machine.
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| std::env::home_dir().map(|home| home.join(".cargo"))).unwrap_or_default();
    let remap = |from: &Path, to: &str| format!("--remap-path-prefix={}={to}", from.display());
    let flags = [remap(&home, "cargo"), remap(root(), ".")].join("\x1f");
    command.env("CARGO_ENCODED_RUSTFLAGS", flags).stderr(std::process::Stdio::inherit());
    eprintln!("== cargo build --package {} --target {TARGET} --profile {}", page.package, page.profile);
    let output = command.output().map_err(|error| Failure::Failed(format!("cargo cannot be run: {error}")))?;
    if !output.status.success() {
        return Err(Failure::Failed(format!("`{}` could not be built", page.package)));
    }
    let messages = String::from_utf8_lossy(&output.stdout).into_owned();
    let wasm = field(&messages, &format!("{}.wasm", page.package.replace('-', "_")), "\"filenames\":[\"");
    let wasm = wasm.ok_or_else(|| Failure::Failed("cargo named no program".to_owned()))?;

    // `bindgen` runs in another folder.
    let out = &std::path::absolute(out).map_err(io(out))?;
    let _ = std::fs::remove_dir_all(out);
    std::fs::create_dir_all(out).map_err(io(out))?;
    crate::cargo::run(bindgen(page, Path::new(&wasm), out))?;
    if let Some(files) = page.files {
        copy(files, out).map_err(io(files))?;
    }
    // The files of the models, as the demo's build script baked them.
    if let Some(baked) = field(&messages, "crowd", "\"out_dir\":\"") {
        let baked = Path::new(&baked).join("gpuskin");
        copy(&baked, &out.join("gpuskin")).map_err(io(&baked))?;
    }
    Ok(())
}

/// Returns the command that makes a page's program of a compiled one.
fn bindgen(page: &Page<'_>, wasm: &Path, out: &Path) -> Command {
    let mut command = cargo(["run", "--quiet", "--locked", "--manifest-path", "xtask/bindgen/Cargo.toml"]);
    command.args(["--target-dir", "target/bindgen", "--", page.script, page.package]).args([wasm, out]);
    if page.profile == SMALL_PROFILE {
        command.arg("--small");
    }
    command
}

/// Value of a text field in the last of cargo's messages that mentions a word and has the field. Paths with
/// characters that JSON escapes are not unescaped, except for backslashes.
fn field(messages: &str, word: &str, field: &str) -> Option<String> {
    let line = messages.lines().rfind(|line| line.contains(word) && line.contains(field))?;
    let (_, rest) = line.split_once(field)?;
    Some(rest.split('"').next()?.replace("\\\\", "\\"))
}

/// Copies a folder, with its subfolders.
fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        match entry.file_type()?.is_dir() {
            true => copy(&entry.path(), &target)?,
            false => drop(std::fs::copy(entry.path(), target)?),
        }
    }
    Ok(())
}

/// Builds the page with what the browser test measures, serves it, and runs the test on it.
pub(crate) fn test(args: Vec<OsString>) -> Result<(), Failure> {
    let out = root().join("target/web-test");
    let [files, more] = ["page", "tests/page"].map(|folder| root().join("examples/web").join(folder));
    // The profile of the other tests, which shares the baker and the baked models with them.
    let page = Page {
        package: "web",
        profile: "release",
        default_features: true,
        features: &["measure"],
        script: "web",
        files: Some(&files),
    };
    build(&page, &out)?;
    let failed = |error: std::io::Error| Failure::Failed(format!("{}: {error}", out.display()));
    copy(&more, &out).map_err(failed)?;
    let server = Server::bind(&out, 0).map_err(failed)?;
    let address = format!("http://127.0.0.1:{}/", server.port());
    std::thread::spawn(|| server.run());
    let mut tests = cargo(["test"]);
    tests.args(crate::cargo::COMMON).args(["--test", "browser", "--", "--test-threads=1", "--nocapture"]).args(args);
    tests.env("GPUSKIN_WEB_PAGE", address).env("GPUSKIN_REQUIRE_BROWSER", "1");
    crate::cargo::run(tests)
}

/// Returns what the browser test lacks on this machine.
pub(crate) fn lacks_for_test() -> Option<String> {
    lacks_target().or_else(|| {
        let missing: Vec<&str> =
            ["chromium", "chromedriver"].into_iter().filter(|program| version(Path::new(program)).is_none()).collect();
        let programs = missing.join(" and ");
        (!missing.is_empty())
            .then(|| format!("{programs} missing; on Debian: apt-get install chromium chromium-driver"))
    })
}

/// Prints the sizes of the code, as it is and as servers send it.
fn print_sizes(out: &Path) {
    let compressed = |program: &str, args: &[&str], path: &Path| {
        let output = Command::new(program).args(args).arg(path).output().ok().filter(|output| output.status.success());
        output.map(|output| output.stdout.len() as u64)
    };
    let mut totals = [Some(0), Some(0), Some(0)];
    let kb = |bytes: Option<u64>| bytes.map_or("    -".to_owned(), |bytes| format!("{:.1}", bytes as f64 / 1000.0));
    println!("{:<14} {:>10} {:>10} {:>10}", "kB", "raw", "gzip -9", "brotli");
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(out).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let mut row = |name: &str, sizes: [Option<u64>; 3]| {
        println!("{name:<14} {:>10} {:>10} {:>10}", kb(sizes[0]), kb(sizes[1]), kb(sizes[2]));
        for (total, size) in totals.iter_mut().zip(sizes) {
            *total = total.zip(size).map(|(a, b)| a + b);
        }
    };
    for path in paths.iter().filter(|path| path.is_file()) {
        let raw = std::fs::metadata(path).ok().map(|meta| meta.len());
        let sizes = [raw, compressed("gzip", &["-9", "-c"], path), compressed("brotli", &["-c"], path)];
        row(&path.file_name().unwrap_or_default().to_string_lossy(), sizes);
    }
    let [raw, gzip, brotli] = totals;
    println!("{:<14} {:>10} {:>10} {:>10}", "all", kb(raw), kb(gzip), kb(brotli));
}

#[cfg(test)]
mod tests {
    use super::root;

    /// wasm-bindgen refuses programs that were compiled with another version.
    #[test]
    fn wasm_bindgen_has_one_version() {
        let version = |lock: &str, package: &str| {
            let text = std::fs::read_to_string(root().join(lock)).expect("a lock file");
            let (_, rest) = text.split_once(&format!("name = \"{package}\"\nversion = \"")).expect("a package");
            rest.split_once('"').expect("a version").0.to_owned()
        };
        let tool = version("xtask/bindgen/Cargo.lock", "wasm-bindgen-cli-support");
        assert_eq!(tool, version("Cargo.lock", "wasm-bindgen"), "change it in xtask/bindgen/Cargo.toml");
    }
}
