//! The command line: what it refuses, how, and with which exit status.

use std::path::Path;
use std::process::{Command, Output};

fn gpuskin(args: &[&str]) -> Output {
    in_folder(Path::new("."), args)
}

fn in_folder(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpuskin"));
    command.args(args).current_dir(folder).env_remove("GPUSKIN_COMMAND").output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[track_caller]
fn misused(args: &[&str], expected: &str) {
    let output = gpuskin(args);
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.starts_with(&format!("error: {expected}\n")), "{stderr}");
    assert!(stderr.contains("\nUsage: gpuskin "), "{stderr}");
    assert!(output.stdout.is_empty());
}

#[test]
fn what_is_wrong_with_the_command_line() {
    misused(&[], "no command given");
    misused(&["bak"], "no command `bak`: did you mean `bake`?");
    misused(&["frobnicate"], "no command `frobnicate`");
    misused(&["bake", "--manifst", "x"], "no flag `--manifst`: did you mean `--manifest`?");
    misused(&["bake", "-q"], "no flag `-q`");
    misused(&["bake", "--out"], "`--out` needs a value: --out DIR");
    misused(&["bake", "--check=yes"], "unexpected argument for option '--check': \"yes\"");
    misused(&["bake", "--out", "a", "--out", "b"], "`--out` is given twice");
    misused(&["bake", "art"], "`art` is one too many");
    misused(&["bake", "--check", "--dry-run"], "`--check` and `--dry-run` exclude each other");
    misused(&["inspect"], "FILE.ktx2 is missing");
    misused(&["inspect", "a", "b"], "`b` is one too many");
    misused(&["preview", "--model", "a"], "`--out FILE.png` is missing");
    misused(&["preview", "--model", "a", "--out", "a.jpg"], "`--out a.jpg` is not a .png");
    let pose = ["pose", "--model", "a", "--clip", "0", "--out", "x", "--path"];
    let with = |rest: &[&'static str]| [&pose[..], rest].concat();
    misused(&pose[..7], "`--path source|cpu|gpu` is missing");
    misused(&with(&["cpu"]), "`--times T,T,...` or `--frames all|N,N,...` is missing");
    misused(&with(&["cpu", "--times", "0", "--frames", "0"]), "`--times` and `--frames` exclude each other");
    misused(&with(&["cpu", "--times", "0,x"]), "`x` in `--times` is not a number that can stand there");
    misused(&with(&["cpu", "--times", "nan"]), "`nan` in `--times` is not a number that can stand there");
    misused(&with(&["cpu", "--frames", "-1"]), "`-1` in `--frames` is not a number that can stand there");
    misused(&with(&["scource", "--times", "0"]), "`--path` cannot be `scource`: did you mean `source`?");
    misused(
        &with(&["cpu", "--times", "0", "--encoding", "matrix-16"]),
        "`--encoding` cannot be `matrix-16`: did you mean `matrix-f16`?",
    );
}

#[test]
fn help() {
    let output = gpuskin(&["--help"]);
    assert!(output.status.success());
    for command in ["bake", "inspect", "pose", "preview"] {
        assert!(text(&output.stdout).contains(&format!("\n  {command}")));
        let help = gpuskin(&[command, "--help"]);
        let help_text = text(&help.stdout);
        assert!(help.status.success() && help_text.contains(&format!("Usage: gpuskin {command}")), "{help_text}");
        assert!(help_text.lines().all(|line| line.chars().count() <= 120), "{help_text}");
    }
    assert!(text(&gpuskin(&["--version"]).stdout).starts_with("gpuskin "));
}

#[test]
fn findings_are_drawn_plainly_into_a_pipe() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("gpuskin.toml"), "[[model]]\nname = \"a\"\npath = \"a.glb\"\nfsp = 3\n").unwrap();
    let output = in_folder(folder.path(), &["bake"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty());
    assert_eq!(
        text(&output.stderr),
        "  × no such file: a.glb
   ╭─[gpuskin.toml:3:8]
 3 │ path = \"a.glb\"
   ·        ───────
   ╰────
  help: paths start at the folder of the manifest: there is no a.glb

  × [[model]] has no key `fsp`
   ╭─[gpuskin.toml:4:1]
 4 │ fsp = 3
   · ───
   ╰────
  help: did you mean `fps`?
"
    );
    let output = in_folder(folder.path(), &["bake", "--manifest", "no.toml"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("the manifest no.toml does not exist"));
}

#[test]
fn files_that_are_no_textures() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.ktx2"), b"not at all").unwrap();
    let output = in_folder(folder.path(), &["inspect", "a.ktx2"]);
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(1), "  × a.ktx2 is not a KTX2 file\n".into()));
    let output = in_folder(folder.path(), &["inspect", "b.ktx2"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("b.ktx2 cannot be read"));
}
