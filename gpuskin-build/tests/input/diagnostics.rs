//! Diagnostic codes, their documentation, and the JSON output for tools.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use gpuskin_build::internals::diagnostic::Label;
use gpuskin_build::{Diagnostic, DiagnosticCode, Manifest};

fn page() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/diagnostics.md");
    std::fs::read_to_string(path).unwrap().replace("\r\n", "\n")
}

/// Returns name and text of each section.
fn sections(page: &str) -> Vec<(&str, &str)> {
    page.split("\n## `").skip(1).map(|section| section.split_once("`\n").expect("a name between backticks")).collect()
}

/// Returns language and text of the first fenced block of a section.
fn example(section: &str) -> (&str, &str) {
    let block = section.split("```").nth(1).expect("an example");
    block.split_once('\n').expect("text in it")
}

#[test]
fn page_has_a_section_for_each_code() {
    let page = page();
    let names: Vec<&str> = sections(&page).iter().map(|(name, _)| *name).collect();
    assert_eq!(names, DiagnosticCode::ALL.iter().map(|code| code.name()).collect::<Vec<_>>());
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
    for (code, (name, text)) in DiagnosticCode::ALL.iter().zip(sections(&page)) {
        assert!(
            text.starts_with(&format!("\n{}\n", code.meaning())),
            "the section of {name} does not start with: {}",
            code.meaning()
        );
        assert!(
            text.ends_with(&format!("\nRemedy: {}\n", code.remedy()).trim_end_matches('\n'))
                || text.ends_with(&format!("\nRemedy: {}\n", code.remedy())),
            "the section of {name} does not end with: Remedy: {}",
            code.remedy()
        );
        assert!(!example(text).1.trim().is_empty(), "the section of {name} has no example");
    }
}

/// Examples that are manifests must give the documented diagnostic.
#[test]
fn example_manifests_give_the_documented_code() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("art")).unwrap();
    for name in ["soldier.glb", "soldier.fbx"] {
        std::fs::write(folder.path().join("art").join(name), b"").unwrap();
    }
    let page = page();
    let manifests = sections(&page).into_iter().filter(|(_, text)| example(text).0 == "toml");
    let mut count = 0;
    for (name, text) in manifests {
        let diagnostics = Manifest::parse(&folder.path().join("gpuskin.toml"), example(text).1).unwrap_err();
        assert!(diagnostics.iter().any(|f| f.code().name() == name), "{name}: {diagnostics}");
        count += 1;
    }
    assert!(count > 10, "{count}");
}

/// Every documented code must be used.
#[test]
fn every_code_is_used() {
    fn sources(folder: &Path, all: &mut Vec<PathBuf>) {
        for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                sources(&path, all);
            } else if path.extension().is_some_and(|extension| extension == "rs")
                && !path.ends_with("diagnostic/code.rs")
            {
                all.push(path);
            }
        }
    }
    let mut files = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    let text: String = files.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect();
    for code in DiagnosticCode::ALL {
        let word = format!("DiagnosticCode::{code:?}");
        let used = text.match_indices(&word).any(|(at, _)| !text[at + word.len()..].starts_with(char::is_alphanumeric));
        assert!(used, "{word} is not used");
    }
}

#[test]
fn json_contains_code_message_and_location() {
    let label = Label::file("art/a.glb").clip("Run").node(3, Some("Hip"));
    let diagnostic = Diagnostic::warning(DiagnosticCode::ClipFlip, "odd \"\n").within(Label::accessor(7)).within(label);
    let diagnostic = diagnostic.within(Label::model("soldier"));
    assert_eq!(diagnostic.message(), "model `soldier`: art/a.glb: clip `Run`: node 3 `Hip`: accessor 7: odd \"\n");
    let json: serde_json::Value = serde_json::from_str(&diagnostic.to_json()).unwrap();
    let expected = serde_json::json!({
        "code": "gpuskin::clip::flip",
        "severity": "warning",
        "message": diagnostic.message(),
        "help": DiagnosticCode::ClipFlip.remedy(),
        "file": "art/a.glb",
        "model": "soldier",
        "clip": "Run",
        "node": { "index": 3, "name": "Hip" },
        "accessor": 7,
    });
    assert_eq!(json, expected);

    let text = "[[model]]\nname = \"a\"\npath = \"a.glb\"\n[[model]]\nname = \"a\"\npath = \"ä\"\nencodign = 1\n";
    let diagnostics = Manifest::parse(Path::new("nowhere/gpuskin.toml"), text).unwrap_err();
    let lines = diagnostics.to_json_lines();
    let objects: Vec<serde_json::Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(objects.len(), diagnostics.len());
    let of = |code: &str| objects.iter().find(|o| o["code"] == code).unwrap_or_else(|| panic!("no {code} in {lines}"));
    let collision = of("gpuskin::name::collision");
    let place = |o: &serde_json::Value| (o["line"].as_u64(), o["column"].as_u64(), o["label"].clone());
    assert_eq!(place(&collision["span"]), (Some(5), Some(8), "again here".into()));
    assert_eq!(place(&collision["related"][0]), (Some(2), Some(8), "first here".into()));
    let span = &of("gpuskin::manifest::unknown_key")["span"];
    let bytes = span["start"].as_u64().unwrap() as usize..span["end"].as_u64().unwrap() as usize;
    assert_eq!(
        (&text[bytes], span["line"].as_u64(), span["file"].as_str()),
        ("encodign", Some(7), Some("nowhere/gpuskin.toml"))
    );
    assert!(of("gpuskin::manifest::unknown_key")["help"].as_str().unwrap().contains("`encoding`"));
}
