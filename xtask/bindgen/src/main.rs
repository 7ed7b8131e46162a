//! Makes a page's program of a compiled one: `gpuskin-bindgen SCRIPT NAME WASM OUT [--small]`.
//!
//! - `SCRIPT`: kind of the script, `web` or `no-modules`
//! - `NAME`: stem of the files' names
//! - `WASM`: the program that cargo compiled
//! - `OUT`: folder of the files
//! - `--small`: without the names of functions

use std::process::ExitCode;

use wasm_bindgen_cli_support::Bindgen;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let (script, name, wasm, out, small) = match args[..] {
        [script, name, wasm, out] => (script, name, wasm, out, false),
        [script, name, wasm, out, "--small"] => (script, name, wasm, out, true),
        _ => {
            eprintln!("usage: gpuskin-bindgen web|no-modules NAME WASM OUT [--small]");
            return ExitCode::from(2);
        }
    };
    let mut bindgen = Bindgen::new();
    bindgen.input_path(wasm).out_name(name).typescript(false).remove_producers_section(true).remove_name_section(small);
    // The script finds the program beside itself, as with `wasm-bindgen`.
    bindgen.omit_default_module_path(false);
    let result = match script {
        "no-modules" => bindgen.no_modules(true),
        _ => bindgen.web(true),
    };
    match result.and_then(|bindgen| bindgen.generate(out)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // With its causes.
            eprintln!("error: {wasm}: {error:#}");
            ExitCode::FAILURE
        }
    }
}
