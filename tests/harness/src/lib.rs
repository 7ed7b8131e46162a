//! Harness of tests that need something that a machine may lack: a GPU, fixtures, a tool. libtest can ignore tests only at
//! compile time; here a test with a missing [`Need`] is reported as ignored, with the reason, or fails if an environment
//! variable requires the need. Names, filters, options and output are those of libtest.
//!
//! A test file with `harness = false` lists its tests:
//!
//! ```no_run
//! use gpuskin_test_harness::{Need, note, run, test};
//!
//! const NETWORK: Need = Need { variable: "REQUIRE_NETWORK", missing: || Some("no network".to_owned()) };
//!
//! fn always_runs() {}
//! fn needs_a_network() {
//!     note!("shown if this test fails, or with --nocapture");
//! }
//!
//! fn main() -> std::process::ExitCode {
//!     run([test!(always_runs), test!(needs_a_network, NETWORK)])
//! }
//! ```

use std::backtrace::{Backtrace, BacktraceStatus};
use std::cell::RefCell;
use std::panic::{catch_unwind, set_hook, take_hook};
use std::process::ExitCode;

use libtest_mimic::{Arguments, Completion, Failed, Trial};

/// Something that a test needs and that a machine may lack.
#[derive(Clone, Copy, Debug)]
pub struct Need {
    /// Environment variable that makes a test fail if the need is missing; unset, empty and `0` ignore the test.
    pub variable: &'static str,
    /// Returns what is missing and where it was searched; `None` if the need is met.
    pub missing: fn() -> Option<String>,
}

impl Need {
    /// Whether the environment requires the need.
    pub fn is_required(&self) -> bool {
        std::env::var_os(self.variable).is_some_and(|value| !value.is_empty() && value != "0")
    }
}

/// Test of a list for [`run`].
#[derive(Clone, Copy, Debug)]
pub struct Test {
    /// Path of the function, as libtest names it: `module::function`.
    pub name: &'static str,
    /// Needs of the test; the first missing one is reported.
    pub needs: &'static [Need],
    /// Body of the test, which panics if it fails.
    pub body: fn(),
}

/// Creates a [`Test`] from a function and its needs: `test!(module::function, NEED, OTHER_NEED)`.
#[macro_export]
macro_rules! test {
    ($body:path $(, $need:path)*) => {
        $crate::Test { name: stringify!($body), needs: &[$($need),*], body: $body }
    };
}

/// Prints a line as `println!` does under libtest: at once with `--nocapture`, otherwise only if the test fails.
#[macro_export]
macro_rules! note {
    ($($text:tt)*) => { $crate::print_note(format!($($text)*)) };
}

thread_local! {
    /// Output of the test that runs on this thread; `None` outside of tests, and with `--nocapture`.
    static OUTPUT: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Prints a line or keeps it; see [`note`].
pub fn print_note(line: String) {
    OUTPUT.with_borrow_mut(|output| match output {
        Some(output) => *output += &(line + "\n"),
        None => println!("{line}"),
    });
}

/// Runs the tests that the command line selects, and reports them as libtest does.
pub fn run(tests: impl IntoIterator<Item = Test>) -> ExitCode {
    let arguments = Arguments::from_args();
    let captures = !arguments.nocapture && !arguments.show_output;
    if captures {
        keep_panic_messages();
    }
    let mut tests: Vec<Test> = tests.into_iter().collect();
    tests.sort_by_key(|test| test.name);
    let trial = |test: Test| Trial::ignorable_test(test.name, move || run_one(&test, captures));
    let trials = tests.into_iter().map(trial).collect();
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn run_one(test: &Test, captures: bool) -> Result<Completion, Failed> {
    for need in test.needs {
        let Some(missing) = (need.missing)() else { continue };
        return match need.is_required() {
            true => Err(format!("{} is set, and this is missing: {missing}", need.variable).into()),
            false => Ok(Completion::ignored_with(missing)),
        };
    }
    let body = test.body;
    let run = move || {
        OUTPUT.set(captures.then(String::new));
        let result = catch_unwind(body);
        result.map_err(|_| OUTPUT.take().unwrap_or_default())
    };
    // Joined: drivers may crash if the process ends while values of a thread that used them are dropped, for which a scope of threads
    // does not wait.
    let thread = std::thread::Builder::new().name(test.name.to_owned()).spawn(run);
    let result = thread.map_err(|e| e.to_string())?.join().map_err(|_| "the thread of the test ended".to_owned())?;
    result.map(|()| Completion::Completed).map_err(|output| output.trim_end().into())
}

/// Adds the message of a panic to the output of its test. Panics on other threads are printed at once.
fn keep_panic_messages() {
    let print = take_hook();
    set_hook(Box::new(move |panic| {
        let message = panic.to_string();
        let backtrace = Backtrace::capture();
        let kept = OUTPUT.with_borrow_mut(|output| {
            output.as_mut().is_some_and(|output| {
                *output += &(message + "\n");
                if backtrace.status() == BacktraceStatus::Captured {
                    *output += &format!("{backtrace}\n");
                }
                true
            })
        });
        if !kept {
            print(panic);
        }
    }));
}
