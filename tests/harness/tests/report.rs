//! Output and exit status of a list of tests, which this program runs as a child process.

use std::process::{Command, ExitCode};

use gpuskin_test_harness::{Need, note, run, test};

const MET: Need = Need { variable: "SAMPLE_REQUIRE_MET", missing: || None };
const MISSING: Need = Need { variable: "SAMPLE_REQUIRE_MISSING", missing: || Some("no such thing".to_owned()) };

fn main() -> ExitCode {
    if std::env::var_os("SAMPLE").is_some() {
        run([test!(sample::passes, MET), test!(sample::lacks, MET, MISSING), test!(sample::fails)])
    } else {
        run([
            test!(missing_needs_are_reported_as_ignored),
            test!(required_needs_fail),
            test!(output_is_shown_for_failed_tests_only),
            test!(filters_and_lists_work_as_in_libtest),
        ])
    }
}

mod sample {
    use super::note;

    pub(crate) fn passes() {
        note!("line of passes");
    }

    pub(crate) fn lacks() {
        panic!("the need is missing, so this must not run");
    }

    pub(crate) fn fails() {
        note!("line of fails");
        assert_eq!(1 + 1, 3, "sums differ");
    }
}

/// Runs the sample. Returns whether it succeeded, and its output.
fn sample(arguments: &[&str], required: bool) -> (bool, String) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(arguments).env("SAMPLE", "1").env_remove("SAMPLE_REQUIRE_MISSING").env_remove("RUST_BACKTRACE");
    if required {
        command.env("SAMPLE_REQUIRE_MISSING", "1");
    }
    let output = command.output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    (output.status.success(), String::from_utf8(output.stdout).unwrap())
}

fn missing_needs_are_reported_as_ignored() {
    let (passed, text) = sample(&["--skip", "fails"], false);
    assert!(passed, "{text}");
    let line = text.lines().find(|line| line.starts_with("test sample::lacks ")).unwrap();
    assert!(line.contains("ignored") && line.contains("no such thing"), "{text}");
    assert!(text.contains("1 passed; 0 failed; 1 ignored;"), "{text}");
}

fn required_needs_fail() {
    let (passed, text) = sample(&["sample::lacks"], true);
    assert!(!passed, "{text}");
    assert!(text.contains("SAMPLE_REQUIRE_MISSING is set, and this is missing: no such thing"), "{text}");
}

fn output_is_shown_for_failed_tests_only() {
    let (passed, text) = sample(&[], false);
    assert!(!passed, "{text}");
    for part in ["---- sample::fails", "line of fails", "report.rs", "sums differ", "left: 2"] {
        assert!(text.contains(part), "no {part} in\n{text}");
    }
    assert!(!text.contains("line of passes"), "{text}");
    let (_, text) = sample(&["sample::passes", "--nocapture"], false);
    assert!(text.contains("line of passes"), "{text}");
}

fn filters_and_lists_work_as_in_libtest() {
    let (_, text) = sample(&["--list"], false);
    let tests: Vec<&str> = text.lines().filter(|line| line.ends_with(": test")).collect();
    assert_eq!(tests, ["sample::fails: test", "sample::lacks: test", "sample::passes: test"]);
    let (passed, text) = sample(&["--exact", "sample::passes"], false);
    assert!(passed && text.contains("1 passed; 0 failed; 0 ignored; 0 measured; 2 filtered out"), "{text}");
}
