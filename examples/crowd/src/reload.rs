//! `--watch`: models from a folder instead of the program, loaded again whenever they change.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use gpuskin_rt::{LoadError, Model};

use crate::baked::models;

/// Models of the scene.
#[derive(Clone, Debug)]
pub struct Models {
    /// Model of the soldiers.
    pub soldier: Model,
    /// Model of the hounds.
    pub hound: Model,
}

/// Watches a folder that contains the folders of the models, as `gpuskin bake --out DIR` leaves it
/// in `DIR/gpuskin`.
#[derive(Debug)]
pub struct Watch {
    folder: PathBuf,
    looked: Option<Instant>,
    /// State of the files at the last check, and at the last load.
    seen: Stamp,
    read: Option<Stamp>,
}

/// Files with their lengths and modification times.
type Stamp = BTreeMap<PathBuf, (u64, Option<SystemTime>)>;

/// Time between two checks. A bake writes one file after the other, so the models are loaded only
/// after the files were unchanged for as long.
const PAUSE: Duration = Duration::from_millis(300);

impl Watch {
    /// Watches a folder.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), looked: None, seen: Stamp::new(), read: None }
    }

    /// Loads the current models.
    ///
    /// # Errors
    /// Returns an error if a model cannot be read.
    pub fn load(&self) -> Result<Models, LoadError> {
        let model = |baked: &Model| Model::load(self.folder.join(&*baked.meta.name));
        Ok(Models { soldier: model(&models::SOLDIER)?, hound: model(&models::HOUND)? })
    }

    /// Loads the models if they have changed since the last load; the first call always loads them.
    /// Most calls only read the clock; the folder is checked at most three times per second.
    pub fn poll(&mut self) -> Option<Result<Models, LoadError>> {
        if self.looked.is_some_and(|looked| looked.elapsed() < PAUSE) {
            return None;
        }
        let first = self.looked.is_none();
        self.looked = Some(Instant::now());
        let stamp = self.stamp();
        let settled = first || stamp == self.seen;
        self.seen = stamp;
        if !settled || self.read.as_ref() == Some(&self.seen) {
            return None;
        }
        self.read = Some(self.seen.clone());
        Some(self.load())
    }

    fn stamp(&self) -> Stamp {
        let folders = models::ALL.iter().map(|model| self.folder.join(&*model.meta.name));
        let files = folders.flat_map(|folder| std::fs::read_dir(folder).into_iter().flatten());
        files.filter_map(|file| stamp(&file.ok()?.path())).collect()
    }
}

fn stamp(path: &Path) -> Option<(PathBuf, (u64, Option<SystemTime>))> {
    let about = std::fs::metadata(path).ok()?;
    Some((path.to_owned(), (about.len(), about.modified().ok())))
}
