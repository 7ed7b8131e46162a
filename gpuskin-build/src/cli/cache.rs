//! `cache`: what is kept from bake to bake.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use super::args::{Args, Command, MANIFEST, MESSAGE_FORMAT, option};
use super::text::{Table, bytes, count};
use super::{Done, Failure};
use crate::cache::{Cache, SharedTraffic, Traffic};
use crate::finding::{Code, Finding, Findings};

pub(super) const COMMAND: Command = Command {
    name: "cache",
    summary: "Shows, checks or empties what is kept from bake to bake.",
    operand: Some("stats|clean|verify"),
    flags: &[MANIFEST, option("dir", "DIR", "the cache [default: that of `bake` with this manifest]"), MESSAGE_FORMAT],
    notes: "`bake` keeps models and textures where GPUSKIN_CACHE says, else in the target folder of the package that the\n\
            manifest is part of, and takes them from there while nothing that they depend on has changed. Beyond\n\
            GPUSKIN_CACHE_SIZE (4 GiB) goes what was not used for longest. It can be removed at any time. These commands\n\
            are about that folder; of a shared cache behind it (`bake --shared-cache`), `stats` says what came from there.",
};

pub(super) fn run(args: &Args) -> Result<Done, Failure> {
    let operand = args.operand();
    let folder = args.manifest().parent().map(Path::to_owned).unwrap_or_default();
    let cache = args.path("dir").map(Cache::new).or_else(|| of(&folder));
    let what = operand.to_str().filter(|what| ["stats", "clean", "verify"].contains(what));
    let what =
        what.ok_or_else(|| Failure::Usage(format!("`{}` is none of stats, clean and verify", operand.display())))?;
    let cache = cache.ok_or_else(|| {
        Finding::error(Code::CacheNone, "there is no cache: the manifest is in no Cargo package")
            .help("name one with --dir or GPUSKIN_CACHE")
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
            let mut findings = Findings::default();
            for path in &verified.damaged {
                let message = format!("{} was damaged, and is removed", path.display());
                findings.push(Finding::warning(Code::CacheDamaged, message).help("the next bake makes it again"));
            }
            let sound = count(verified.sound as u64, "entry is", "entries are");
            Ok(Done { text: format!("{sound} sound in {shown}\n"), warnings: findings })
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
    let _ = writeln!(text, "  it may take {}", bytes(stats.limit));
    let Traffic { here, made, damaged, shared, .. } = cache.traffic();
    let entries = |number| count(number, "entry", "entries");
    let _ = writeln!(text, "  bakes had {} from here and made {}; {damaged} damaged", entries(here), entries(made));
    for (url, SharedTraffic { taken, taken_bytes, put, put_bytes, damaged, .. }) in &shared {
        let (taken, put) = (entries(*taken), entries(*put));
        let _ = writeln!(
            text,
            "  {url}: {taken} from there, {}; {put} put there, {}; {damaged} damaged",
            bytes(*taken_bytes),
            bytes(*put_bytes)
        );
    }
    text
}

/// The cache of a manifest in this folder: `GPUSKIN_CACHE`, else in the target folder of the package that it is part of.
pub(super) fn of(folder: &Path) -> Option<Cache> {
    let target = || {
        if let Some(target) = std::env::var_os("CARGO_TARGET_DIR").filter(|target| !target.is_empty()) {
            return Some(PathBuf::from(target));
        }
        let folder = std::path::absolute(folder).ok()?;
        Some(folder.ancestors().find(|folder| folder.join("Cargo.lock").is_file())?.join("target"))
    };
    let cache = Cache::shared().or_else(|| Some(Cache::new(target()?.join("gpuskin-cache"))))?;
    Some(cache.with_shared_of_environment())
}
