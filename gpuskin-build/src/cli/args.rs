//! Arguments of a command, declared once for parsing, help and suggestions.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use lexopt::Arg;

use super::outcome::Failure;
use crate::suggest::closest;

/// Declaration of a subcommand.
pub(super) struct Command {
    pub(super) name: &'static str,
    /// One line.
    pub(super) summary: &'static str,
    /// Positional argument as shown in the usage line (`FILE.ktx2`); at most one.
    pub(super) operand: Option<&'static str>,
    pub(super) flags: &'static [Flag],
    /// Printed at the end of the help.
    pub(super) notes: &'static str,
}

/// Declaration of a flag such as `--manifest PATH`. A flag can be given at most once.
pub(super) struct Flag {
    /// Without the dashes.
    pub(super) name: &'static str,
    /// Placeholder of the value, if the flag takes one.
    pub(super) value: Option<&'static str>,
    /// Required flags appear without brackets in the usage line.
    pub(super) required: bool,
    /// One or more lines.
    pub(super) help: &'static str,
}

/// Declares an optional flag with a value.
pub(super) const fn option(name: &'static str, value: &'static str, help: &'static str) -> Flag {
    Flag { name, value: Some(value), required: false, help }
}

/// Declares a required flag with a value.
pub(super) const fn required(name: &'static str, value: &'static str, help: &'static str) -> Flag {
    Flag { name, value: Some(value), required: true, help }
}

/// Declares a flag without a value.
pub(super) const fn switch(name: &'static str, help: &'static str) -> Flag {
    Flag { name, value: None, required: false, help }
}

/// `--manifest`, shared by several commands.
pub(super) const MANIFEST: Flag = option("manifest", "PATH", "path of the manifest [default: gpuskin.toml]");

/// `--message-format`, shared by the commands that read a manifest.
pub(super) const MESSAGE_FORMAT: Flag = option(
    "message-format",
    "text|json",
    "json: errors and warnings on standard output, one object per line, and no other output",
);

/// Parsed arguments of a command.
#[derive(Debug, Default)]
pub(super) struct Args {
    flags: BTreeMap<&'static str, OsString>,
    operand: Option<OsString>,
}

impl Command {
    /// Returns the error for a value without a flag, with the flag that may have been meant.
    fn unexpected(&self, value: &str) -> Failure {
        // Commands with an operand take a file, but not a second one.
        if self.operand.is_none() && [".glb", ".gltf", ".vrm"].iter().any(|ending| value.ends_with(ending)) {
            let instead = "models are declared in gpuskin.toml; `gpuskin inspect` and `gpuskin view` take a file";
            return Failure::Usage(format!("unexpected argument `{value}`: {instead}"));
        }
        let meant = if value.ends_with(".toml") { "manifest" } else { "model" };
        let meant = self.flags.iter().find(|flag| flag.name == meant);
        let meant = meant.map(|flag| format!(": did you mean `--{} {value}`?", flag.name)).unwrap_or_default();
        Failure::Usage(format!("unexpected argument `{value}`{meant}"))
    }

    /// Parses the arguments. Returns `None` if the user asks for help.
    pub(super) fn parse(&self, args: impl Iterator<Item = OsString>) -> Result<Option<Args>, Failure> {
        let usage = |error: lexopt::Error| Failure::Usage(error.to_string());
        let mut parser = lexopt::Parser::from_args(args);
        let mut parsed = Args::default();
        while let Some(arg) = parser.next().map_err(usage)? {
            let name = match arg {
                Arg::Short('h') | Arg::Long("help") => return Ok(None),
                Arg::Short(short) => return Err(Failure::Usage(format!("unknown flag `-{short}`"))),
                Arg::Long(name) => name.to_owned(),
                Arg::Value(value) => {
                    if self.operand.is_none() || parsed.operand.is_some() {
                        return Err(self.unexpected(&value.to_string_lossy()));
                    }
                    parsed.operand = Some(value);
                    continue;
                }
            };
            let Some(flag) = self.flags.iter().find(|flag| flag.name == name) else {
                let near = closest(&name, self.flags.iter().map(|flag| flag.name));
                let near = near.map(|near| format!(": did you mean `--{near}`?")).unwrap_or_default();
                return Err(Failure::Usage(format!("unknown flag `--{name}`{near}")));
            };
            let value = match flag.value {
                Some(what) => {
                    parser.value().map_err(|_| Failure::Usage(format!("`--{name}` needs a value: --{name} {what}")))?
                }
                None => OsString::new(),
            };
            if parsed.flags.insert(flag.name, value).is_some() {
                return Err(Failure::Usage(format!("`--{name}` is given twice")));
            }
        }
        if let Some(flag) = self.flags.iter().find(|f| f.required && !parsed.flags.contains_key(f.name)) {
            return Err(Failure::Usage(format!("missing flag `--{} {}`", flag.name, flag.value.unwrap_or_default())));
        }
        match self.operand {
            Some(operand) if parsed.operand.is_none() => Err(Failure::Usage(format!("missing argument {operand}"))),
            _ => Ok(Some(parsed)),
        }
    }

    /// Returns the usage line, wrapped at 100 columns.
    pub(super) fn usage(&self, program: &str) -> String {
        let head = format!("Usage: {program} {}", self.name);
        let parts = self.operand.map(str::to_owned).into_iter().chain(self.flags.iter().map(|flag| {
            let text = flag.text();
            if flag.required { text } else { format!("[{text}]") }
        }));
        let (mut lines, mut line) = (String::new(), head.clone());
        for part in parts {
            if line.len() + 1 + part.len() > 100 {
                lines.push_str(&line);
                lines.push('\n');
                line = " ".repeat(head.len());
            }
            line.push(' ');
            line.push_str(&part);
        }
        lines + &line + "\n"
    }

    /// Returns the text of `--help`.
    pub(super) fn help(&self, program: &str) -> String {
        let mut text = format!("{}\n\n{}\n", self.summary, self.usage(program));
        let width = self.flags.iter().map(|flag| flag.text().len() + 2).fold(24, usize::max);
        for flag in self.flags {
            let mut help = flag.help.lines();
            text.push_str(&format!("  {:<width$}{}\n", flag.text(), help.next().unwrap_or_default()));
            for line in help {
                text.push_str(&format!("  {:<width$}{line}\n", ""));
            }
        }
        text.push_str(&format!("  {:<width$}print this help\n", "-h, --help"));
        if !self.notes.is_empty() {
            text.push_str(&format!("\n{}\n", self.notes));
        }
        text
    }
}

impl Flag {
    fn text(&self) -> String {
        match self.value {
            Some(value) => format!("--{} {value}", self.name),
            None => format!("--{}", self.name),
        }
    }
}

impl Args {
    /// Whether the flag was given.
    pub(super) fn has(&self, name: &str) -> bool {
        self.flags.contains_key(name)
    }

    /// Returns the value of a flag as a path.
    pub(super) fn path(&self, name: &str) -> Option<PathBuf> {
        self.flags.get(name).map(PathBuf::from)
    }

    /// Returns the value of a flag as text.
    pub(super) fn text(&self, name: &str) -> Result<Option<&str>, Failure> {
        let Some(value) = self.flags.get(name) else { return Ok(None) };
        match value.to_str() {
            Some(text) => Ok(Some(text)),
            None => Err(Failure::Usage(format!("the value of `--{name}` is not UTF-8"))),
        }
    }

    /// Returns the value of a required flag as text.
    pub(super) fn required(&self, name: &str) -> Result<&str, Failure> {
        self.text(name).map(|text| text.expect("parse() checks required flags"))
    }

    /// Returns the value of a flag that takes one of `words`.
    pub(super) fn word<'a>(&'a self, name: &str, words: &[&'static str]) -> Result<Option<&'a str>, Failure> {
        self.text(name)?.map(|text| known(name, text, words)).transpose()
    }

    /// Returns the value of a flag that takes a comma-separated list of `words`.
    pub(super) fn words<'a>(&'a self, name: &str, words: &[&'static str]) -> Result<Option<Vec<&'a str>>, Failure> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        text.split(',').map(|text| known(name, text.trim(), words)).collect::<Result<_, _>>().map(Some)
    }

    /// Path of the manifest.
    pub(super) fn manifest(&self) -> PathBuf {
        self.path("manifest").unwrap_or_else(|| "gpuskin.toml".into())
    }

    /// Returns the positional argument.
    ///
    /// Panics if the command declares none.
    pub(super) fn operand(&self) -> PathBuf {
        self.operand.as_ref().expect("parse() checks the argument").into()
    }
}

/// Returns `text` if it is one of `words`, else a usage error.
fn known<'a>(flag: &str, text: &'a str, words: &[&'static str]) -> Result<&'a str, Failure> {
    if words.contains(&text) {
        return Ok(text);
    }
    let near = match closest(text, words.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("expected one of {}", words.join(", ")),
    };
    Err(Failure::Usage(format!("invalid value `{text}` for `--{flag}`: {near}")))
}
