//! Runs checks, times them, and sums them up.

use std::io::{IsTerminal, Read, Write};
use std::process::Command;
use std::sync::mpsc;
use std::time::Instant;

use crate::Failure;

/// A check that nothing keeps from running.
pub(crate) struct Check {
    pub(crate) name: &'static str,
    pub(crate) command: Command,
    /// Whether the check may run while others do: it needs no lock that they hold for long.
    pub(crate) beside: bool,
}

/// Result of a check.
struct Outcome {
    name: &'static str,
    passed: bool,
    seconds: u64,
    /// Output that says why the check failed, for the end of a log; empty on a terminal.
    failures: String,
}

/// Runs all checks, also after one has failed: a single run reports every failure. Checks that may run beside others do so:
/// compilers and tests often leave a core idle. Their output is shown whole, after they have ended and between two others.
pub(crate) fn run(checks: Vec<Check>) -> Result<(), Failure> {
    let (mut beside, mut others): (Vec<_>, Vec<_>) = checks.into_iter().partition(|check| check.beside);
    if others.is_empty() {
        std::mem::swap(&mut beside, &mut others);
    }
    let (sender, receiver) = mpsc::channel();
    let outcomes = std::thread::scope(|scope| {
        scope.spawn(move || {
            for check in beside {
                eprintln!("\n== {}: starts beside the other checks", check.name);
                // The receiver lives until all checks have ended.
                let _ = sender.send(check.captured());
            }
        });
        let show = |(outcome, output): (Outcome, Vec<u8>)| {
            let _ = std::io::stderr().write_all(&output);
            outcome.print();
            outcome
        };
        let mut outcomes = Vec::new();
        for check in others {
            eprintln!("\n== {}: {}", check.name, check.line());
            let outcome = check.shown();
            outcome.print();
            outcomes.push(outcome);
            outcomes.extend(receiver.try_iter().map(show));
        }
        outcomes.extend(receiver.iter().map(show));
        outcomes
    });
    sum_up(&outcomes)
}

impl Check {
    /// Command line of the check, without the path of cargo.
    fn line(&self) -> String {
        let args: Vec<_> = self.command.get_args().map(|arg| arg.to_string_lossy()).collect();
        format!("cargo {}", args.join(" "))
    }

    /// Runs the check. Its output appears at once.
    fn shown(mut self) -> Outcome {
        let start = Instant::now();
        // Compilers and tests show progress on a terminal.
        if std::io::stderr().is_terminal() {
            let passed = self.command.status().is_ok_and(|status| status.success());
            return self.outcome(passed, start, &[]);
        }
        let mut output = Vec::new();
        let passed = self.run(|bytes| {
            let _ = std::io::stderr().write_all(bytes);
            output.extend_from_slice(bytes);
        });
        self.outcome(passed, start, &output)
    }

    /// Runs the check, and returns its output with a heading.
    fn captured(mut self) -> (Outcome, Vec<u8>) {
        let start = Instant::now();
        let mut output = format!("\n== {}: {}\n", self.name, self.line()).into_bytes();
        let passed = self.run(|bytes| output.extend_from_slice(bytes));
        (self.outcome(passed, start, &output), output)
    }

    fn outcome(&self, passed: bool, start: Instant, output: &[u8]) -> Outcome {
        let failures = if passed { String::new() } else { failures(&String::from_utf8_lossy(output)) };
        Outcome { name: self.name, passed, seconds: start.elapsed().as_secs(), failures }
    }

    /// Runs the command, and calls `on_output` with what it writes to both its outputs. Returns whether it succeeds.
    fn run(&mut self, mut on_output: impl FnMut(&[u8])) -> bool {
        self.read(&mut on_output).unwrap_or_else(|error| {
            on_output(format!("error: {error}\n").as_bytes());
            false
        })
    }

    fn read(&mut self, on_output: &mut impl FnMut(&[u8])) -> std::io::Result<bool> {
        let (mut reader, writer) = std::io::pipe()?;
        let mut child = {
            // Taken out of `self`, because the reader waits for all copies of the writer to be dropped.
            let mut command = std::mem::replace(&mut self.command, Command::new(""));
            command.stdout(writer.try_clone()?).stderr(writer).spawn()?
        };
        let mut buffer = [0; 4096];
        loop {
            match reader.read(&mut buffer)? {
                0 => break,
                count => on_output(&buffer[..count]),
            }
        }
        Ok(child.wait()?.success())
    }
}

/// Returns the parts of cargo's output that say why it failed: errors, the messages of failed tests, and the last lines of a test
/// program that crashed. Without such parts, the last lines of all.
fn failures(output: &str) -> String {
    const LAST: usize = 20;
    // Drivers print this for each device that a test opens.
    let lines = output.lines().filter(|line| !line.starts_with("error: XDG_RUNTIME_DIR"));
    let lines: Vec<&str> = lines.collect();
    let mut shown = vec![false; lines.len()];
    let (mut of_tests, mut after_error) = (false, false);
    for (i, line) in lines.iter().enumerate() {
        of_tests |= *line == "failures:";
        after_error = line.starts_with("error") || (after_error && !line.is_empty());
        shown[i] |= of_tests || after_error;
        of_tests &= !line.starts_with("test result:");
        // Cargo names the status of a program, unless it is that of failed tests.
        if line.contains("process didn't exit successfully") {
            shown[i.saturating_sub(LAST)..=i].fill(true);
        }
    }
    if !shown.contains(&true) {
        shown[lines.len().saturating_sub(LAST)..].fill(true);
    }
    lines.iter().zip(shown).filter(|(_, shown)| *shown).map(|(line, _)| format!("{line}\n")).collect()
}

impl Outcome {
    fn print(&self) {
        eprintln!("== {}: {} after {} s", self.name, if self.passed { "passed" } else { "FAILED" }, self.seconds);
    }
}

/// Prints a line per check, if there are several, and repeats what failed. Fails if a check has.
fn sum_up(outcomes: &[Outcome]) -> Result<(), Failure> {
    if outcomes.len() > 1 {
        eprintln!();
        outcomes.iter().for_each(Outcome::print);
    }
    let failed = || outcomes.iter().filter(|outcome| !outcome.passed);
    for outcome in failed().filter(|outcome| !outcome.failures.is_empty()) {
        eprintln!("\n== {}: its failures again\n{}", outcome.name, outcome.failures);
    }
    let failed: Vec<_> = failed().map(|outcome| outcome.name).collect();
    match failed.is_empty() {
        true => Ok(()),
        false => Err(Failure::Failed(format!("failed: {}", failed.join(", ")))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &'static str, script: &str, beside: bool) -> Check {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Check { name, command, beside }
    }

    #[test]
    #[cfg(unix)]
    fn output_of_both_streams_is_captured_in_its_order() {
        let (outcome, output) = check("both", "echo one; echo two >&2; echo three; exit 3", true).captured();
        assert!(!outcome.passed);
        let text = String::from_utf8(output).unwrap();
        assert!(text.ends_with("\none\ntwo\nthree\n"), "{text}");
    }

    #[test]
    fn failures_are_found_in_the_output_of_cargo() {
        let passed = (0..30).map(|i| format!("test number_{i} ... ok\n")).collect::<String>();
        let log = format!(
            "   Compiling demo v0.1.0\nerror: XDG_RUNTIME_DIR is invalid\nrunning 31 tests\n{passed}test bad ... FAILED\n\nfailures:\n\n---- bad ----\npanicked at\n\n\
             failures:\n    bad\n\ntest result: FAILED. 30 passed\n\nerror: test failed, to rerun pass `--lib`\n\n\
             running 31 tests\n{passed}error: test failed, to rerun pass `--test other`\n\n\
             Caused by:\n  process didn't exit successfully: `other` (signal: 11)\n\n   Doc-tests demo\ntest a ... ok\n"
        );
        let found = failures(&log);
        let starts = "failures:\n\n---- bad ----\npanicked at\n\nfailures:\n    bad\n\ntest result: FAILED. 30 passed\n\
                      error: test failed, to rerun pass `--lib`\ntest number_13 ... ok\n";
        assert!(found.starts_with(starts), "{found}");
        assert!(found.ends_with("(signal: 11)\n") && !found.contains("number_12 "), "{found}");
        assert_eq!(
            failures("error[E0425]: no `x`\n --> a.rs\n  |\n\nwarning: unused\n"),
            "error[E0425]: no `x`\n --> a.rs\n  |\n"
        );
        assert!(failures(&passed).starts_with("test number_10 ... ok\n") && failures("").is_empty());
    }

    #[test]
    #[cfg(unix)]
    fn checks_run_beside_others_and_fail_by_name() {
        let folder = std::env::temp_dir().join(format!("gpuskin-checks-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let [a, b] = ["a", "b"].map(|name| folder.join(name).display().to_string());
        // Each waits for the other: one after another, they would not end.
        let wait = |own: &str, other: &str| {
            format!("touch '{own}'; for i in $(seq 500); do [ -e '{other}' ] && exit 0; sleep 0.02; done; exit 9")
        };
        let checks = vec![check("first", &wait(&a, &b), false), check("aside", &wait(&b, &a), true)];
        let result = run(checks);
        std::fs::remove_dir_all(&folder).unwrap();
        assert!(result.is_ok());
        let failing = vec![check("first", "exit 0", false), check("aside", "exit 1", true)];
        let Err(Failure::Failed(message)) = run(failing) else { panic!("no failure") };
        assert_eq!(message, "failed: aside");
        let Err(Failure::Failed(message)) = run(vec![check("aside", "exit 1", true)]) else { panic!("no failure") };
        assert_eq!(message, "failed: aside");
    }
}
