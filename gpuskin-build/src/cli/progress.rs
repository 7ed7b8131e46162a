//! Progress of a bake.

use std::collections::BTreeMap;
use std::sync::Mutex;

use indicatif::{ProgressBar, ProgressStyle};

use crate::bake::Stage;

/// Progress bar on standard error, if that is a terminal.
pub(super) struct ProgressDisplay {
    bar: ProgressBar,
    /// Stages completed per model.
    reached: Mutex<BTreeMap<String, u64>>,
}

impl ProgressDisplay {
    pub(super) fn new() -> Self {
        let bar = ProgressBar::new(0);
        let style = ProgressStyle::with_template("{bar:24} {msg}").expect("the template is valid");
        bar.set_style(style);
        Self { bar, reached: Mutex::default() }
    }

    pub(super) fn report(&self, model: &str, stage: Stage) {
        let doing = match stage {
            Stage::Import => "reading",
            Stage::Encode => "encoding",
            Stage::Measure => "measuring",
            Stage::Done => "finished",
        };
        let mut reached = self.reached.lock().expect("no code panics while it holds the lock");
        reached.insert(model.to_owned(), stage as u64);
        // All models are read before the first is encoded, so the total is soon complete.
        self.bar.set_length(reached.len() as u64 * Stage::Done as u64);
        self.bar.set_position(reached.values().sum());
        self.bar.set_message(format!("{model}: {doing}"));
    }

    /// Removes the bar.
    pub(super) fn clear(&self) {
        self.bar.finish_and_clear();
    }
}
