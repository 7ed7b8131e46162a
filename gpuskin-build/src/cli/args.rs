//! Arguments of a command: declared once, for parsing, help and suggestions.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use lexopt::Arg;

use super::Failure;
use crate::suggest::closest;

/// What a command understands.
pub(super) struct Command {
    pub(super) name: &'static str,
    /// One line.
    pub(super) summary: &'static str,
    /// The arguments without flags: `FILE.ktx2`, as they stand in the usage line; at most one.
    pub(super) operand: Option<&'static str>,
    pub(super) flags: &'static [Flag],
    /// Stands at the end of the help.
    pub(super) notes: &'static str,
}

/// `--manifest PATH`, at most once.
pub(super) struct Flag {
    /// Without the dashes.
    pub(super) name: &'static str,
    /// What follows it.
    pub(super) value: Option<&'static str>,
    /// In the usage line without brackets, with an alternative after `|`.
    pub(super) required: bool,
    /// One line or more.
    pub(super) help: &'static str,
}

/// A flag that takes a value and may be left out.
pub(super) const fn option(name: &'static str, value: &'static str, help: &'static str) -> Flag {
    Flag { name, value: Some(value), required: false, help }
}

/// A flag that takes a value and must be there.
pub(super) const fn required(name: &'static str, value: &'static str, help: &'static str) -> Flag {
    Flag { name, value: Some(value), required: true, help }
}

/// A flag that stands alone.
pub(super) const fn switch(name: &'static str, help: &'static str) -> Flag {
    Flag { name, value: None, required: false, help }
}

/// `--manifest`, as every command has it.
pub(super) const MANIFEST: Flag = option("manifest", "PATH", "the manifest [default: gpuskin.toml]");

/// `--message-format`, as commands that take a manifest have it.
pub(super) const MESSAGE_FORMAT: Flag = option(
    "message-format",
    "text|json",
    "json: errors and warnings to standard output, an object a line, and nothing else",
);

/// The arguments of a command, as given.
#[derive(Debug, Default)]
pub(super) struct Args {
    flags: BTreeMap<&'static str, OsString>,
    operand: Option<OsString>,
}

impl Command {
    /// Parses the arguments; `None`: the user wants help.
    pub(super) fn parse(&self, args: impl Iterator<Item = OsString>) -> Result<Option<Args>, Failure> {
        let usage = |error: lexopt::Error| Failure::Usage(error.to_string());
        let mut parser = lexopt::Parser::from_args(args);
        let mut parsed = Args::default();
        while let Some(arg) = parser.next().map_err(usage)? {
            let name = match arg {
                Arg::Short('h') | Arg::Long("help") => return Ok(None),
                Arg::Short(short) => return Err(Failure::Usage(format!("no flag `-{short}`"))),
                Arg::Long(name) => name.to_owned(),
                Arg::Value(value) => {
                    if self.operand.is_none() || parsed.operand.is_some() {
                        return Err(Failure::Usage(format!("`{}` is one too many", value.to_string_lossy())));
                    }
                    parsed.operand = Some(value);
                    continue;
                }
            };
            let Some(flag) = self.flags.iter().find(|flag| flag.name == name) else {
                let near = closest(&name, self.flags.iter().map(|flag| flag.name));
                let near = near.map(|near| format!(": did you mean `--{near}`?")).unwrap_or_default();
                return Err(Failure::Usage(format!("no flag `--{name}`{near}")));
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
            return Err(Failure::Usage(format!("`--{} {}` is missing", flag.name, flag.value.unwrap_or_default())));
        }
        match self.operand {
            Some(operand) if parsed.operand.is_none() => Err(Failure::Usage(format!("{operand} is missing"))),
            _ => Ok(Some(parsed)),
        }
    }

    /// The usage line, wrapped.
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

    /// All that `--help` shows.
    pub(super) fn help(&self, program: &str) -> String {
        let mut text = format!("{}\n\n{}\n", self.summary, self.usage(program));
        for flag in self.flags {
            let mut help = flag.help.lines();
            text.push_str(&format!("  {:<24}{}\n", flag.text(), help.next().unwrap_or_default()));
            for line in help {
                text.push_str(&format!("  {:<24}{line}\n", ""));
            }
        }
        text.push_str(&format!("  {:<24}this text\n", "-h, --help"));
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
    /// Whether a flag is there.
    pub(super) fn has(&self, name: &str) -> bool {
        self.flags.contains_key(name)
    }

    /// Value of a flag, as a path.
    pub(super) fn path(&self, name: &str) -> Option<PathBuf> {
        self.flags.get(name).map(PathBuf::from)
    }

    /// Value of a flag, as text.
    pub(super) fn text(&self, name: &str) -> Result<Option<&str>, Failure> {
        let Some(value) = self.flags.get(name) else { return Ok(None) };
        match value.to_str() {
            Some(text) => Ok(Some(text)),
            None => Err(Failure::Usage(format!("the value of `--{name}` is not UTF-8"))),
        }
    }

    /// Value of a flag that the command declares as required, as text.
    pub(super) fn required(&self, name: &str) -> Result<&str, Failure> {
        self.text(name).map(|text| text.expect("parsing looks for required flags"))
    }

    /// Value of a flag, one of a few words.
    pub(super) fn word<'a>(&'a self, name: &str, words: &[&'static str]) -> Result<Option<&'a str>, Failure> {
        self.text(name)?.map(|text| known(name, text, words)).transpose()
    }

    /// Value of a flag, some of a few words with commas between them.
    pub(super) fn words<'a>(&'a self, name: &str, words: &[&'static str]) -> Result<Option<Vec<&'a str>>, Failure> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        text.split(',').map(|text| known(name, text.trim(), words)).collect::<Result<_, _>>().map(Some)
    }

    /// The manifest's path.
    pub(super) fn manifest(&self) -> PathBuf {
        self.path("manifest").unwrap_or_else(|| "gpuskin.toml".into())
    }

    /// The argument without a flag, where the command has one.
    pub(super) fn operand(&self) -> PathBuf {
        self.operand.as_ref().expect("parsing looks for it").into()
    }
}

/// A word, if it is one of these.
fn known<'a>(flag: &str, text: &'a str, words: &[&'static str]) -> Result<&'a str, Failure> {
    if words.contains(&text) {
        return Ok(text);
    }
    let near = match closest(text, words.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("it is one of {}", words.join(", ")),
    };
    Err(Failure::Usage(format!("`--{flag}` cannot be `{text}`: {near}")))
}
