//! Licences, versions and origins of all crates that are built into games and build scripts,
//! checked against deny.toml. `cargo deny check` checks the same and also advisories, which need a
//! network; it runs here if it is installed.

use std::collections::BTreeMap;
use std::process::{Command, ExitCode};

use gpuskin_test_harness::{Need, note, run, test};
use gpuskin_tests::shared::workspace;
use serde_json::Value;

/// Need of `cargo deny`. Without it, advisories and yanked versions are not checked.
const CARGO_DENY: Need = Need {
    variable: "GPUSKIN_REQUIRE_CARGO_DENY",
    missing: || {
        let installed = cargo(&["deny", "--version"]).output().is_ok_and(|output| output.status.success());
        (!installed).then(|| "cargo deny is not installed".to_owned())
    },
};

fn main() -> ExitCode {
    run([
        test!(licences_are_allowed),
        test!(crates_have_one_version_and_come_from_the_registry),
        test!(cargo_deny_check_passes, CARGO_DENY),
    ])
}

fn cargo(args: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(args).current_dir(workspace());
    command
}

/// All packages that this machine builds for the workspace with all features.
fn packages() -> Vec<Value> {
    let version = Command::new("rustc").arg("-vV").output().unwrap();
    let version = String::from_utf8(version.stdout).unwrap();
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
    let args = ["metadata", "--format-version", "1", "--locked", "--all-features", "--filter-platform", host];
    let output = cargo(&args).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let all: Value = serde_json::from_slice(&output.stdout).unwrap();
    all["packages"].as_array().unwrap().clone()
}

fn policy() -> toml::Table {
    std::fs::read_to_string(workspace().join("deny.toml")).unwrap().parse().unwrap()
}

fn licences_are_allowed() {
    let policy = policy();
    let allowed: Vec<&str> =
        policy["licenses"]["allow"].as_array().unwrap().iter().map(|l| l.as_str().unwrap()).collect();
    let mut refused = Vec::new();
    let packages = packages();
    for package in &packages {
        let (name, text) = (package["name"].as_str().unwrap(), package["license"].as_str().unwrap_or_default());
        let fits = spdx::Expression::parse_mode(text, spdx::ParseMode::LAX)
            .is_ok_and(|licence| licence.evaluate(|one| allowed.contains(&one.to_string().as_str())));
        if !fits {
            refused.push(format!("{name}: {text:?}"));
        }
    }
    assert!(packages.len() > 100 && refused.is_empty(), "{refused:#?}");
}

fn crates_have_one_version_and_come_from_the_registry() {
    let policy = policy();
    let skipped = policy["bans"]["skip"].as_array().unwrap().iter().map(|entry| entry["crate"].as_str().unwrap());
    let mut skipped: BTreeMap<&str, bool> = skipped.map(|name| (name, false)).collect();
    let mut versions: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for package in packages() {
        let (name, version) = (package["name"].as_str().unwrap(), package["version"].as_str().unwrap());
        versions.entry(name.to_owned()).or_default().push(version.to_owned());
        let source = package["source"].as_str();
        assert!(
            source.is_none_or(|s| s.starts_with("registry+https://github.com/rust-lang/crates.io-index")),
            "{name}: {source:?}"
        );
    }
    for (name, versions) in &versions {
        let listed = |version: &String| {
            let prefix = |entry: &str| {
                let (of, start) = entry.split_once('@').expect("name@version");
                of == name && (*version == start || version.starts_with(&format!("{start}.")))
            };
            skipped.keys().copied().find(|entry| prefix(entry))
        };
        let known: Vec<&str> = versions.iter().filter_map(listed).collect();
        assert!(
            versions.len() - known.len() <= 1,
            "{name} has versions {versions:?}; deny.toml allows as duplicates only {known:?}"
        );
        if versions.len() > 1 {
            known.iter().for_each(|entry| *skipped.get_mut(entry).unwrap() = true);
        }
    }
    let idle: Vec<_> = skipped.iter().filter(|(_, used)| !**used).collect();
    assert!(
        !cfg!(target_os = "linux") || idle.is_empty(),
        "no longer duplicated, remove from `bans.skip` in deny.toml: {idle:?}"
    );
}

/// Runs `cargo deny`, which also checks advisories if it can fetch them.
fn cargo_deny_check_passes() {
    let checks: &[&str] = match cargo(&["deny", "fetch", "db"]).output() {
        Ok(output) if output.status.success() => &["deny", "check"],
        _ => {
            note!("SKIPPED: the advisory database could not be fetched");
            &["deny", "check", "licenses", "bans", "sources"]
        }
    };
    let output = cargo(checks).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
