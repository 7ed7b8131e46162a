//! Models from a folder instead of the program, and anew whenever they change: `--watch`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use gpuskin_rt::{LoadError, Model};

use crate::baked::models;

/// The models of the scene.
#[derive(Clone, Debug)]
pub struct Models {
    /// `soldier`
    pub soldier: Model,
    /// `hound`
    pub hound: Model,
}

/// Looks at a folder with the folders of the models, as `gpuskin bake --out DIR` leaves it in `DIR/gpuskin`.
#[derive(Debug)]
pub struct Watch {
    folder: PathBuf,
    looked: Option<Instant>,
    /// Files as they were when they were last looked at, and when they were last read.
    seen: Stamp,
    read: Option<Stamp>,
}

/// Files, their lengths and when they were written.
type Stamp = BTreeMap<PathBuf, (u64, Option<SystemTime>)>;

/// From one look to the next. A bake writes a file after the other: what is read has not changed for as long.
const PAUSE: Duration = Duration::from_millis(300);

impl Watch {
    /// Watches a folder.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), looked: None, seen: Stamp::new(), read: None }
    }

    /// The models as they are.
    ///
    /// # Errors
    /// When one of them cannot be read.
    pub fn load(&self) -> Result<Models, LoadError> {
        let model = |baked: &Model| Model::load(self.folder.join(&*baked.meta.name));
        Ok(Models { soldier: model(&models::SOLDIER)?, hound: model(&models::HOUND)? })
    }

    /// The models, where they have changed since this was last asked; the first time always. Costs a look at the clock,
    /// and at the folder three times a second.
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
