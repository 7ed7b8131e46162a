//! `cache`: statistics, verification and removal of cache entries.

use std::fmt::Write;
use std::path::Path;

use super::args::{Args, Command, MANIFEST, MESSAGE_FORMAT, option};
use super::cache_folder;
use super::outcome::{CommandOutput, Failure};
use super::text::{Table, bytes, count};
use crate::cache::{Cache, SharedTraffic, Traffic};
use crate::diagnostic::{Diagnostic, DiagnosticCode, Diagnostics};

pub(super) const COMMAND: Command = Command {
    name: "cache",
    summary: "Shows, checks or empties the cache.",
    operand: Some("stats|clean|verify"),
    flags: &[MANIFEST, option("dir", "DIR", "folder of the cache [default: the cache of `bake`]"), MESSAGE_FORMAT],
    notes: "`bake` stores models and textures in the folder GPUSKIN_CACHE, else in the target folder of the Cargo package\n\
            that contains the manifest, else in the user's cache folder, and reuses them until an input changes. When\n\
            the cache exceeds GPUSKIN_CACHE_SIZE (4 GiB), the least recently used entries are removed. The folder can\n\
            be deleted at any time. These commands apply to that folder. For a shared cache behind it (`bake\n\
            --shared-cache`), `stats` prints what was downloaded from it and uploaded to it.",
};

pub(super) fn run(args: &Args) -> Result<CommandOutput, Failure> {
    let operand = args.operand();
    let folder = args.manifest().parent().map(Path::to_owned).unwrap_or_default();
    let cache = args.path("dir").map(Cache::new).or_else(|| cache_folder::open(&folder).map(|(cache, _)| cache));
    let what = operand.to_str().filter(|what| ["stats", "clean", "verify"].contains(what));
    let what = what.ok_or_else(|| {
        Failure::Usage(format!("unknown argument `{}`: expected stats, clean or verify", operand.display()))
    })?;
    let cache = cache.ok_or_else(|| {
        let message = "there is no cache: the manifest is not in a Cargo package, and the user has no cache folder";
        Diagnostic::error(DiagnosticCode::CacheNone, message).help("name a folder with --dir or GPUSKIN_CACHE")
    })?;
    let shown = cache.folder().display();
    match what {
        "stats" => Ok(stats(&cache).into()),
        "clean" => {
            let (entries, size) = cache.clean();
            Ok(format!("{} removed, {}, from {shown}\n", count(entries as u64, "entry", "entries"), bytes(size)).into())
        }
        _ => {
            let verified = cache.verify();
            let mut diagnostics = Diagnostics::default();
            for path in &verified.damaged {
                let message = format!("{} was damaged and has been removed", path.display());
                diagnostics.push(
                    Diagnostic::warning(DiagnosticCode::CacheDamaged, message)
                        .help("no action needed: the next bake writes the entry again"),
                );
            }
            let sound = count(verified.sound as u64, "entry is", "entries are");
            Ok(CommandOutput { text: format!("{sound} intact in {shown}\n"), warnings: diagnostics })
        }
    }
}

fn stats(cache: &Cache) -> String {
    let stats = cache.stats();
    let mut table = Table::new(["kind", ">entries", ">bytes"]);
    let mut total = (0, 0);
    for (kind, (entries, size)) in &stats.kinds {
        let name = kind.map_or("of another version", |kind| kind.name());
        table.row([name.to_owned(), entries.to_string(), bytes(*size)]);
        total = (total.0 + entries, total.1 + size);
    }
    table.row(["all".to_owned(), total.0.to_string(), bytes(total.1)]);
    let mut text = format!("{}\n{}", cache.folder().display(), table.render());
    let _ = writeln!(text, "  limit: {}", bytes(stats.limit));
    let Traffic { here, made, damaged, shared, .. } = cache.traffic();
    let entries = |number| count(number, "entry", "entries");
    let _ = writeln!(text, "  bakes read {} and wrote {}; {damaged} damaged", entries(here), entries(made));
    for (url, SharedTraffic { downloaded, downloaded_bytes, uploaded, uploaded_bytes, damaged, .. }) in &shared {
        let (downloaded, uploaded) = (entries(*downloaded), entries(*uploaded));
        let _ = writeln!(
            text,
            "  {url}: {downloaded} downloaded, {}; {uploaded} uploaded, {}; {damaged} damaged",
            bytes(*downloaded_bytes),
            bytes(*uploaded_bytes)
        );
    }
    text
}
