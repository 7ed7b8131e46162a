//! Documents: every relative link leads to a file, and every file that ARCHITECTURE.md or CONTRIBUTING.md names exists.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Documents whose code spans name files of the repository.
const NAME_FILES: [&str; 2] = ["ARCHITECTURE.md", "CONTRIBUTING.md"];
/// Folders that hold build products or other repositories.
const SKIPPED: [&str; 3] = ["target", "node_modules", "book"];
/// Endings of names of files.
const FILE_TYPES: [&str; 6] = [".rs", ".wgsl", ".md", ".toml", ".txt", ".json"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

/// Adds all files and folders below `folder` as paths relative to the repository, with `/` separators.
fn collect(folder: &Path, prefix: &str, paths: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        if (name.starts_with('.') && ![".cargo", ".ci"].contains(&name.as_str())) || SKIPPED.contains(&name.as_str()) {
            continue;
        }
        let path = format!("{prefix}{name}");
        if entry.file_type().unwrap().is_dir() {
            collect(&entry.path(), &format!("{path}/"), paths);
        }
        paths.insert(path);
    }
}

fn repository() -> BTreeSet<String> {
    let mut paths = BTreeSet::new();
    collect(&root(), "", &mut paths);
    paths
}

/// Returns the documents outside of code blocks, as path and text.
fn documents() -> Vec<(String, String)> {
    let paths = repository();
    let documents = paths.iter().filter(|path| path.ends_with(".md"));
    documents.map(|path| (path.clone(), without_code_blocks(&fs::read_to_string(root().join(path)).unwrap()))).collect()
}

fn without_code_blocks(text: &str) -> String {
    let mut inside = false;
    let outside = text.lines().filter(|line| {
        let fence = line.trim_start().starts_with("```");
        inside ^= fence;
        !inside && !fence
    });
    outside.collect::<Vec<_>>().join("\n")
}

/// Returns the parts of `text` between `open` and `close`.
fn between<'a>(text: &'a str, open: &str, close: char) -> Vec<&'a str> {
    text.split(open).skip(1).filter_map(|rest| Some(rest.split_once(close)?.0)).collect()
}

#[test]
fn relative_links_lead_to_files() {
    let (mut links, mut broken) = (0, Vec::new());
    for (path, text) in documents() {
        let folder = root().join(&path).parent().unwrap().to_path_buf();
        for target in between(&text, "](", ')') {
            let file = target.split('#').next().unwrap();
            if file.is_empty() || file.contains("://") || file.starts_with("mailto:") {
                continue;
            }
            links += 1;
            if !folder.join(file).exists() {
                broken.push(format!("{path}: {target}"));
            }
        }
    }
    assert!(links > 100, "only {links} links were found");
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn named_files_exist() {
    let paths = repository();
    // A name may leave out leading folders, as `encode/local.rs` does.
    let exists = |name: &str| paths.contains(name) || paths.iter().any(|path| path.ends_with(&format!("/{name}")));
    let (mut names, mut missing) = (0, Vec::new());
    for (path, text) in documents() {
        if !NAME_FILES.contains(&path.as_str()) {
            continue;
        }
        for span in text.split('`').skip(1).step_by(2) {
            let is_path = span.chars().all(|c| c.is_alphanumeric() || "_-./".contains(c));
            let is_file = FILE_TYPES.iter().any(|end| span.len() > end.len() && span.ends_with(end));
            // Capitals stand for any name.
            let placeholder = span.contains("NAME") || span.contains("MODEL");
            if !is_path || !(is_file || span.ends_with('/')) || placeholder {
                continue;
            }
            names += 1;
            if !exists(span.trim_end_matches('/')) {
                missing.push(format!("{path}: {span}"));
            }
        }
    }
    assert!(names > 20, "only {names} names were found");
    assert!(missing.is_empty(), "{missing:#?}");
}
