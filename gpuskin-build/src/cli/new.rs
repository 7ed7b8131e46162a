//! `new`: writes a Cargo package that bakes a model and draws a crowd of it.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Component, Path, PathBuf};

use super::args::{Args, Command, option};
use super::outcome::{CommandOutput, Failure};
use crate::analysis::{Analysis, ClipSummary, Draft};
use crate::diagnostic::{Diagnostic, DiagnosticCode};
use crate::identifier_case::{member, type_name};

pub(super) const COMMAND: Command = Command {
    name: "new",
    summary: "Writes a Cargo package that draws a crowd of a model.",
    operand: Some("NAME"),
    flags: &[
        option("model", "MODEL.glb", "glTF model, copied to art/ [default: a sample soldier]"),
        option("gpuskin", "PATH", "checkout of gpuskin to depend on [default: the one of this build, else crates.io]"),
    ],
    notes: "Run the package with `cargo run --release`: it opens a window, or writes out.png where there is no display.",
};

const CARGO_TOML: &str = include_str!("../../templates/new/Cargo.toml.template");
const BUILD_RS: &str = include_str!("../../templates/new/build.rs");
const MAIN_RS: &str = include_str!("../../templates/new/main.rs");
const APP_RS: &str = include_str!("../../templates/new/app.rs");
const GROUND_RS: &str = include_str!("../../templates/new/ground.rs");
const GITIGNORE: &str = include_str!("../../templates/new/gitignore");
/// The sample model: `assets/soldier.glb` of the repository.
const SOLDIER: &[u8] = include_bytes!("../../templates/new/soldier.glb");

/// Number of clips that the template plays.
const MAX_PLAYED: usize = 8;
/// Names that Cargo refuses, or that collide with a crate of the template.
const RESERVED: [&str; 14] = [
    "alloc",
    "build",
    "core",
    "deps",
    "examples",
    "gpuskin-build",
    "gpuskin-rt",
    "incremental",
    "png",
    "pollster",
    "proc_macro",
    "std",
    "test",
    "winit",
];
const KEYWORDS: [&str; 39] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate", "do", "dyn", "else",
    "enum", "extern", "false", "final", "fn", "for", "if", "impl", "in", "let", "loop", "macro", "match", "mod",
    "move", "mut", "pub", "ref", "return", "static", "struct", "trait", "true", "type", "use", "where",
];

pub(super) fn run(args: &Args) -> Result<CommandOutput, Failure> {
    let target = args.operand();
    let package = package_name(&target)?;
    check_target(&target)?;
    let dependencies = dependencies(args.path("gpuskin").as_deref())?;

    let sample = tempfile::tempdir().map_err(|error| not_written(&std::env::temp_dir(), &error))?;
    let source = match args.path("model") {
        Some(path) => path,
        None => {
            let path = sample.path().join("soldier.glb");
            write(&path, SOLDIER)?;
            path
        }
    };
    let analysis = Analysis::new(&source)?;
    if !analysis.is_bakeable() {
        return Err(Failure::Diagnostics(analysis.diagnostics));
    }
    let file_name = source.file_name().unwrap_or_default().to_string_lossy();
    let path = format!("art/{file_name}");
    // The sample is known to bake.
    let draft = if args.has("model") { analysis.baked_draft(&path)? } else { analysis.draft(&path) };

    let mut values = BTreeMap::from([("package", package), ("workspace", workspace(&target).to_owned())]);
    values.extend(dependencies);
    values.extend(model_values(&analysis, &draft));
    let manifest =
        format!("# Models to bake. `gpuskin inspect art/{file_name}` prints what the file has.\n\n{}", draft.text);
    let mut files = model_files(&analysis, &source)?;
    for (path, text) in [
        ("Cargo.toml", render(CARGO_TOML, &values)),
        ("build.rs", BUILD_RS.to_owned()),
        ("gpuskin.toml", manifest),
        ("src/main.rs", render(MAIN_RS, &values)),
        ("src/app.rs", APP_RS.to_owned()),
        ("src/ground.rs", GROUND_RS.to_owned()),
        (".gitignore", GITIGNORE.to_owned()),
    ] {
        files.push((path.into(), text.into_bytes()));
    }
    write_folder(&target, &files)?;

    let mut text = format!("{}: a package that draws a crowd of {}\n", target.display(), draft.name);
    for hint in &analysis.hints {
        let _ = writeln!(text, "note: {}; {}", hint.message, hint.help);
    }
    let _ = write!(text, "\nNext:\n  cd {}\n  cargo run --release\n", target.display());
    Ok(CommandOutput { text, warnings: analysis.diagnostics })
}

/// Returns the name of the package: the last component of its path.
fn package_name(target: &Path) -> Result<String, Failure> {
    let name = target.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let fits = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.len() <= 64
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    let problem = if !fits {
        "expected letters, digits, `-` and `_`, a letter first"
    } else if KEYWORDS.contains(&name) {
        "it is a keyword of Rust"
    } else if RESERVED.contains(&name) {
        "Cargo or the template uses this name"
    } else {
        return Ok(name.to_owned());
    };
    Err(Failure::Usage(format!("`{}` cannot be the name of a package: {problem}", target.display())))
}

/// Fails if the target exists and is not an empty folder.
fn check_target(target: &Path) -> Result<(), Failure> {
    let exists = |message: String| {
        Diagnostic::error(DiagnosticCode::OutputFailed, message).help("choose another name, or remove it")
    };
    match std::fs::read_dir(target) {
        Ok(mut entries) => match entries.next() {
            None => Ok(()),
            Some(_) => Err(exists(format!("the folder {} exists and is not empty", target.display())).into()),
        },
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(exists(format!("{} exists and is not a folder: {error}", target.display())).into()),
    }
}

/// Returns the values of both dependencies in Cargo.toml: by path of a checkout, or by version.
fn dependencies(given: Option<&Path>) -> Result<BTreeMap<&'static str, String>, Failure> {
    let crates = ["gpuskin-rt", "gpuskin-build"];
    let is_checkout = |folder: &Path| crates.iter().all(|name| folder.join(name).join("Cargo.toml").is_file());
    let checkout = match given {
        Some(folder) => {
            let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
            if !is_checkout(&folder) {
                return Err(Failure::Usage(format!(
                    "`--gpuskin {}`: expected a checkout of gpuskin, with the folders gpuskin-rt and gpuskin-build",
                    folder.display()
                )));
            }
            Some(folder)
        }
        None => Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_owned).filter(|folder| is_checkout(folder)),
    };
    let value = |name: &str| match &checkout {
        Some(folder) => format!("path = {:?}", folder.join(name).display().to_string().replace('\\', "/")),
        None => format!("version = {:?}", env!("CARGO_PKG_VERSION")),
    };
    Ok(crates.map(|name| (name, value(name))).into())
}

/// Returns an empty `[workspace]` table if the package would be inside of a workspace that does not
/// list it, which Cargo refuses.
fn workspace(target: &Path) -> &'static str {
    let parent = std::path::absolute(parent(target)).unwrap_or_else(|_| target.to_owned());
    match parent.ancestors().any(|folder| folder.join("Cargo.toml").is_file()) {
        true => "\n# Separates the package from the workspace around it.\n[workspace]\n",
        false => "",
    }
}

/// Returns the values of main.rs that depend on the model.
fn model_values(analysis: &Analysis, draft: &Draft) -> BTreeMap<&'static str, String> {
    let model = &draft.name;
    let moving: Vec<&ClipSummary> = analysis.clips.iter().filter(|clip| clip.seconds > 0.0).collect();
    let mut played: Vec<&ClipSummary> = moving.iter().copied().filter(|clip| clip.loops()).collect();
    if played.is_empty() {
        played = if moving.is_empty() { analysis.clips.iter().collect() } else { moving };
    }
    // Clips of standing and walking come first: crowds play them most of the time.
    let usual = ["idle", "walk", "run"];
    let starts = |clip: &ClipSummary| usual.iter().any(|word| clip.name.starts_with(word));
    let contains = |clip: &ClipSummary| usual.iter().any(|word| clip.name.contains(word));
    played.sort_by_key(|clip| (!starts(clip), !contains(clip)));
    played.truncate(MAX_PLAYED);
    let clips: Vec<String> = played.iter().map(|clip| format!("    clips::{},", member(model, &clip.name))).collect();
    let (hidden, instance) = match draft.spare_parts.len() {
        0 => (String::new(), "instance"),
        count => {
            let names = draft.spare_parts.iter().map(|part| format!("    parts::{},\n", member(model, part)));
            let (kind, names) = (type_name(model), names.collect::<String>());
            let comment = "/// What hands hold besides their first mesh; `self.crowd.set_part_visible(id, part, true)` shows one.\n";
            let list = format!("const HIDDEN: [gpuskin_rt::Part<models::{kind}>; {count}] = [\n{names}];\n");
            (format!("{comment}{list}"), "HIDDEN.into_iter().fold(instance, Instance::without)")
        }
    };
    let [x, y, z] = analysis.baked_size().unwrap_or([1.0; 3]);
    // Arms swing wider than in the rest pose of most models.
    let spacing = 1.2 * x.max(z).max(0.3 * y).max(1e-3);
    let height = y.max(0.3 * x.max(z)).max(1e-3);
    let side = 20_u32;
    BTreeMap::from([
        ("type", type_name(model)),
        ("clips", clips.len().to_string()),
        ("clip-list", clips.join("\n")),
        ("hidden", hidden),
        ("instance", instance.to_owned()),
        ("count", (side * side).to_string()),
        ("side", side.to_string()),
        ("spacing", rounded(spacing)),
        ("height", rounded(height)),
    ])
}

/// Returns a length in metres as a Rust literal, rounded to three digits.
fn rounded(metres: f32) -> String {
    let unit = 10.0_f64.powi(f64::from(metres).log10().floor() as i32 - 2);
    let rounded = (f64::from(metres) / unit).round() * unit;
    format!("{:?}", rounded as f32)
}

/// Returns the model's file, and the files that it refers to, with their paths in the package.
fn model_files(analysis: &Analysis, source: &Path) -> Result<Vec<(PathBuf, Vec<u8>)>, Failure> {
    let folder = source.parent().unwrap_or(Path::new(""));
    let mut files = Vec::new();
    for input in &analysis.inputs {
        let relative = input.strip_prefix(folder).ok().filter(|path| is_below(path)).ok_or_else(|| {
            let message = format!("{} refers to {}, outside of its folder", analysis.path, input.display());
            Diagnostic::error(DiagnosticCode::UriRefused, message).help("export the model as .glb, which has all data")
        })?;
        let bytes = std::fs::read(input).map_err(|error| {
            Diagnostic::error(DiagnosticCode::FileUnreadable, format!("cannot read {}: {error}", input.display()))
        })?;
        files.push((Path::new("art").join(relative), bytes));
    }
    Ok(files)
}

/// Writes all files, or none: to a temporary folder beside the target, which is renamed at the end.
fn write_folder(target: &Path, files: &[(PathBuf, Vec<u8>)]) -> Result<(), Failure> {
    let parent = parent(target);
    std::fs::create_dir_all(parent).map_err(|error| not_written(parent, &error))?;
    let temporary = tempfile::Builder::new()
        .prefix(".gpuskin-new-")
        .tempdir_in(parent)
        .map_err(|error| not_written(parent, &error))?;
    // The temporary folder itself is readable only by its user.
    let folder = temporary.path().join("package");
    for (path, bytes) in files {
        write(&folder.join(path), bytes)?;
    }
    if target.exists() {
        // `check_target` has seen an empty folder. Windows does not rename over a folder.
        std::fs::remove_dir(target).map_err(|error| not_written(target, &error))?;
    }
    std::fs::rename(&folder, target).map_err(|error| not_written(target, &error))
}

fn parent(target: &Path) -> &Path {
    target.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Whether a relative path stays below its folder.
fn is_below(path: &Path) -> bool {
    path.components().all(|component| matches!(component, Component::Normal(_) | Component::CurDir))
}

/// Replaces `{{name}}` by its value.
fn render(template: &str, values: &BTreeMap<&'static str, String>) -> String {
    let mut text = template.to_owned();
    for (name, value) in values {
        text = text.replace(&format!("{{{{{name}}}}}"), value);
    }
    debug_assert!(!text.contains("{{"), "a placeholder has no value");
    text
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let folder: PathBuf = path.parent().map(Path::to_owned).unwrap_or_default();
    std::fs::create_dir_all(&folder).map_err(|error| not_written(&folder, &error))?;
    std::fs::write(path, bytes).map_err(|error| not_written(path, &error))
}

fn not_written(path: &Path, error: &std::io::Error) -> Failure {
    Diagnostic::error(DiagnosticCode::OutputFailed, format!("cannot write {}: {error}", path.display())).into()
}
