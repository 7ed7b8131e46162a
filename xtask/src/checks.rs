//! Runs checks, times them, and sums them up.

use std::io::{Read, Write};
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
        let passed = self.command.status().is_ok_and(|status| status.success());
        Outcome { name: self.name, passed, seconds: start.elapsed().as_secs() }
    }

    /// Runs the check, and returns its output with a heading.
    fn captured(mut self) -> (Outcome, Vec<u8>) {
        let start = Instant::now();
        let mut output = format!("\n== {}: {}\n", self.name, self.line()).into_bytes();
        let passed = match self.read_into(&mut output) {
            Ok(passed) => passed,
            Err(error) => {
                output.extend(format!("error: {error}\n").bytes());
                false
            }
        };
        (Outcome { name: self.name, passed, seconds: start.elapsed().as_secs() }, output)
    }

    /// Appends what the command writes to both its outputs. Returns whether the command succeeds.
    fn read_into(&mut self, output: &mut Vec<u8>) -> std::io::Result<bool> {
        let (mut reader, writer) = std::io::pipe()?;
        let mut child = {
            // Taken out of `self`, because the reader waits for all copies of the writer to be dropped.
            let mut command = std::mem::replace(&mut self.command, Command::new(""));
            command.stdout(writer.try_clone()?).stderr(writer).spawn()?
        };
        reader.read_to_end(output)?;
        Ok(child.wait()?.success())
    }
}

impl Outcome {
    fn print(&self) {
        eprintln!("== {}: {} after {} s", self.name, if self.passed { "passed" } else { "FAILED" }, self.seconds);
    }
}

/// Prints a line per check, if there are several. Fails if a check has.
fn sum_up(outcomes: &[Outcome]) -> Result<(), Failure> {
    if outcomes.len() > 1 {
        eprintln!();
        outcomes.iter().for_each(Outcome::print);
    }
    let failed: Vec<_> = outcomes.iter().filter(|outcome| !outcome.passed).map(|outcome| outcome.name).collect();
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
