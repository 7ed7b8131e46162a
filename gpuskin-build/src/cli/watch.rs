//! `watch`: bakes whenever an input is saved, and shows the report in a browser.

mod changes;
mod http;
mod server;

use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use changes::Snapshot;
use server::{DEFAULT_PORT, PORTS, Publisher, Server};

use super::args::{Args, Command, MANIFEST, option};
use super::cache_folder;
use super::outcome::{CommandOutput, Failure, print, print_error};
use super::progress::ProgressDisplay;
use crate::bake::BakeFailure;
use crate::bake_job::{BakeJob, BakeScope, BakeSummary};
use crate::cache::Cache;
use crate::diagnostic::{Diagnostic, DiagnosticCode, Diagnostics, Style};
use crate::models_by_name::models_by_name;
use crate::report::{DrawnIn, DrawnModels, PageData, Report};

pub(super) const COMMAND: Command = Command {
    name: "watch",
    summary: "Bakes whenever a model or the manifest is saved, and shows the report in a browser.",
    operand: None,
    flags: &[
        MANIFEST,
        option("out", "DIR", "output folder [default: baked/ beside the manifest]"),
        option("port", "NUMBER", "port on the loopback address [default: 8642, or the next free one]"),
    ],
    notes: "Prints the address of the report. The open page shows each bake without a reload; after a bake that\n\
            fails, it shows the errors and the last bake that succeeded. Ctrl+C ends the command.",
};

pub(super) fn run(args: &Args) -> Result<CommandOutput, Failure> {
    let port = match args.text("port")? {
        Some(text) => Some(text.parse().map_err(|_| {
            Failure::Usage(format!("invalid value `{text}` for `--port`: expected a number from 0 to 65535"))
        })?),
        None => None,
    };
    let manifest = args.manifest();
    let folder = manifest.parent().map(Path::to_owned).unwrap_or_default();
    let out = args.path("out").unwrap_or_else(|| folder.join("baked"));
    let server = Server::bind(port).map_err(|error| busy(port, &error))?;
    print(&format!("{}: {}\n", manifest.display(), server.address()));
    let publisher = server.start();
    let (cache, _) = cache_folder::open(&folder).unzip();
    let watch = Watch { manifest: &manifest, out: &out, cache: cache.as_ref() };
    let mut inputs = BTreeSet::from([manifest.clone()]);
    let mut good: Option<(Report, Arc<DrawnModels>)> = None;
    let mut changed: Option<Instant> = None;
    loop {
        let (taken, before) = (Instant::now(), Snapshot::of(&inputs));
        let result = watch.bake();
        // A file that is still being written is baked again, and this result is not shown. Files that are written all the
        // time are shown after a while.
        let waited = changed.is_some_and(|changed| changed.elapsed() > MAX_WAIT);
        if changed.is_some() && !waited && !before.is_final(taken) {
            continue;
        }
        let read = watch.publish(taken, result, &mut good, &publisher);
        // Files of the last good bake are watched after a failure, too: saving one may repair it.
        match publisher.failed() {
            true => inputs.extend(read),
            false => inputs = read,
        }
        inputs.insert(manifest.clone());
        // A file that appears may repair a bake.
        let models = models_by_name(&manifest);
        inputs.extend(models.iter().flat_map(|model| &model.files).map(|file| folder.join(file)));
        // A file that was unknown before the bake may have changed after it was read: another bake, from
        // the cache, finds out.
        changed = before.has(&inputs).then(|| {
            before.extended(&inputs).wait_for_change();
            Instant::now()
        });
    }
}

fn busy(port: Option<u16>, error: &std::io::Error) -> Diagnostic {
    let message = match port {
        Some(port) => format!("port {port} cannot be used: {error}"),
        None => format!("no port from {DEFAULT_PORT} to {} can be used: {error}", DEFAULT_PORT + PORTS - 1),
    };
    Diagnostic::error(DiagnosticCode::WatchPort, message)
}

/// Maximum time until the result of a bake is shown, for files that are written all the time.
const MAX_WAIT: Duration = Duration::from_secs(5);

struct Watch<'a> {
    manifest: &'a Path,
    out: &'a Path,
    cache: Option<&'a Cache>,
}

impl Watch<'_> {
    fn bake(&self) -> Result<BakeSummary, BakeFailure> {
        let progress = ProgressDisplay::new();
        let job = BakeJob {
            manifest: self.manifest,
            out: self.out,
            model: None,
            explain: false,
            scope: BakeScope::Whole,
            cache: self.cache,
            progress: Some(&|model, stage| progress.report(model, stage)),
            describe: &|_| String::new(),
            may_write: &|| Ok(()),
            waiting: &|| print_error("waiting for another bake of the same manifest\n"),
        };
        let result = job.run(false);
        progress.clear();
        result
    }

    /// Publishes the result of a bake. `good` is that of the last bake that succeeded. Returns the files that were read.
    fn publish(
        &self,
        start: Instant,
        result: Result<BakeSummary, BakeFailure>,
        good: &mut Option<(Report, Arc<DrawnModels>)>,
        publisher: &Publisher,
    ) -> BTreeSet<PathBuf> {
        match result {
            Ok(done) => {
                let report = Report::new(&done.models, &done.warnings);
                let before = good.as_ref().map(|(_, drawn)| drawn.clone()).unwrap_or_default();
                let drawn = Arc::new(DrawnModels::read(&done.models, self.out, DrawnIn::LivePage, &before));
                let data = PageData { report: &report, comparison: None, failure: None, drawn: &drawn };
                publisher.publish(&data, &drawn, false);
                let (baked, count) = (done.baked, done.count);
                tell(&done.warnings, &format!("{baked} of {count} baked in {} ms\n", start.elapsed().as_millis()));
                *good = Some((report, drawn));
                done.inputs
            }
            Err(failed) => {
                let failure = Report::of_failure(self.manifest, None, &failed.diagnostics);
                let drawn = good.as_ref().map(|(_, drawn)| drawn.clone()).unwrap_or_default();
                let data = PageData {
                    report: good.as_ref().map_or(&failure, |(report, _)| report),
                    comparison: None,
                    failure: good.as_ref().map(|_| &failure),
                    drawn: &drawn,
                };
                publisher.publish(&data, &drawn, true);
                tell(&failed.diagnostics, "");
                failed.inputs
            }
        }
    }
}

/// Prints the result of a bake. In a pipe, nothing but the address is printed to standard output.
fn tell(diagnostics: &Diagnostics, line: &str) {
    print_error(&diagnostics.render(Style::for_stderr()));
    if std::io::stdout().is_terminal() {
        print(line);
    }
}
