//! Models that are read at run time: for mods, and to show a new bake immediately.
//!
//! A model is a set of files, as written by `gpuskin bake`: `anim-<encoding>.ktx2`, `mesh.bin`,
//! `color-<n>-<format>.ktx2`. They are in a folder that is named by a hash of their content, within
//! the folder of the model. All files are validated: a model that was loaded can be played, and an
//! invalid file is refused with its name and the reason.

mod check;
mod file;

use std::collections::BTreeMap;
use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::list::List;
use crate::{ByteRange, ColorFormat, Data, Metadata, Model, Payload};
use file::Ktx2;

/// Reason why a model could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadError {
    file: PathBuf,
    reason: String,
}

impl LoadError {
    fn new(file: impl Into<PathBuf>, reason: impl Into<String>) -> Self {
        Self { file: file.into(), reason: reason.into() }
    }

    /// Prefixes the file with its folder.
    fn in_folder(self, folder: &Path) -> Self {
        Self { file: folder.join(self.file), ..self }
    }

    /// Returns the path of the file.
    pub fn file(&self) -> &Path {
        &self.file
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; bake the model again", self.file.display(), self.reason)
    }
}

impl std::error::Error for LoadError {}

/// Size of the largest file that is read: no device supports larger textures or buffers.
const MOST_BYTES: u64 = 1 << 31;
/// Greatest number of animation files per folder, one per encoding.
const MOST_ANIMATIONS: usize = 64;
/// Greatest number of bakes of a model that are tried.
const MOST_BAKES: usize = 16;
const MESH: &str = "mesh.bin";

impl Model {
    /// Reads a model from the bytes of its `anim-<encoding>.ktx2` alone: enough for a server. To
    /// draw the model, add [`Model::with_mesh`] and [`Model::with_textures`], or use
    /// [`Model::load`].
    ///
    /// # Errors
    /// If the bytes are not a KTX2 file of this format version, or are inconsistent.
    pub fn from_ktx2(animation: impl Into<Vec<u8>>) -> Result<Self, LoadError> {
        Self::animated(animation.into()).map_err(|reason| LoadError::new("animation", reason))
    }

    fn animated(bytes: Vec<u8>) -> Result<Self, String> {
        let file = Ktx2::read(&bytes)?;
        let meta = Metadata::from_postcard(&bytes[file.value.clone()]).map_err(|e| e.to_string())?;
        check::metadata(&meta)?;
        check::animation(&meta, &file, &bytes)?;
        let animation = payload(bytes, file.value.start as u64, file.levels);
        let none = || payload(Vec::new(), 0, Vec::new());
        Ok(Self { meta, animation, mesh: none(), textures: List::Borrowed(&[]), others: List::Borrowed(&[]) })
    }

    /// Adds the mesh from the bytes of `mesh.bin`.
    ///
    /// # Errors
    /// If the mesh comes from another bake, or does not match the animation.
    pub fn with_mesh(mut self, mesh: impl Into<Vec<u8>>) -> Result<Self, LoadError> {
        let bytes = mesh.into();
        check::mesh(&self.meta, &bytes).map_err(|reason| LoadError::new(MESH, reason))?;
        let whole = ByteRange { offset: 0, len: bytes.len() as u64 };
        self.mesh = payload(bytes, 0, vec![whole]);
        Ok(self)
    }

    /// Adds the material textures. `file` returns the bytes of a file by its name, for example
    /// `color-0-bc7.ktx2`.
    ///
    /// # Errors
    /// Errors of `file`; and if a texture comes from another bake, or does not match the materials.
    pub fn with_textures(
        mut self,
        mut file: impl FnMut(&str) -> Result<Vec<u8>, LoadError>,
    ) -> Result<Self, LoadError> {
        self.textures = self.textures_of(|name| file(name).map(Some))?.into();
        Ok(self)
    }

    /// Reads the material textures. `file` returns the bytes of a file, or `None` for a format that is left out.
    fn textures_of(
        &self,
        mut file: impl FnMut(&str) -> Result<Option<Vec<u8>>, LoadError>,
    ) -> Result<Vec<Payload>, LoadError> {
        let mut textures = Vec::new();
        for (n, texture) in self.meta.textures.iter().enumerate() {
            let first = textures.len();
            for format in texture.formats.iter() {
                let name = color_name(n, *format);
                let Some(bytes) = file(&name)? else {
                    textures.push(Payload::LEFT_OUT);
                    continue;
                };
                let read = Ktx2::read(&bytes);
                let checked =
                    read.and_then(|file| check::texture(&self.meta, texture, *format, &file, &bytes).map(|()| file));
                let file = checked.map_err(|reason| LoadError::new(&name, reason))?;
                textures.push(payload(bytes, file.value.start as u64, file.levels));
            }
            if textures[first..].iter().all(Payload::is_left_out) {
                return Err(LoadError::new(format!("color-{n}-*.ktx2"), "no format of the texture is among the files"));
            }
        }
        Ok(textures)
    }

    /// Reads a model from the names and bytes of its files: on a web page, which has no folders to [load](Self::load)
    /// from, or from an archive. Other files are ignored.
    ///
    /// ```
    /// # use gpuskin_rt::{LoadError, Model};
    /// # fn read(fetched: Vec<(String, Vec<u8>)>) -> Result<Model, LoadError> {
    /// // anim-local-packed.ktx2, mesh.bin; for WebGL2 anim-trs-packed.ktx2, mesh-trs-packed.bin; color-0-rgba8.ktx2
    /// Model::from_files(fetched)
    /// # }
    /// ```
    ///
    /// Files of texture formats that no device of the program reads may be left out.
    ///
    /// # Errors
    /// If the mesh, its animation or all formats of a texture are missing, or if a file is invalid or from another bake.
    pub fn from_files(
        files: impl IntoIterator<Item = (impl Into<String>, impl Into<Vec<u8>>)>,
    ) -> Result<Self, LoadError> {
        let mut files: BTreeMap<String, Vec<u8>> =
            files.into_iter().map(|(name, bytes)| (name.into(), bytes.into())).collect();
        let names: Vec<String> =
            files.keys().filter(|name| is_animation(name)).take(MOST_ANIMATIONS).cloned().collect();
        assemble(&names, |name| Ok(files.remove(name)))
    }

    /// Reads a baked model from its folder, for example `baked/gpuskin/soldier`.
    ///
    /// The files may be in the folder itself, or in folders below it, as `gpuskin bake` writes them:
    /// one per bake. While a bake replaces a model, or after one that was interrupted, there can be
    /// two. The newest one that is complete is read.
    ///
    /// # Errors
    /// If a file is missing, invalid, from another bake, or larger than 2 GiB.
    pub fn load(folder: impl AsRef<Path>) -> Result<Self, LoadError> {
        let folder = folder.as_ref();
        let mut first_error = None;
        for bake in bakes(folder) {
            match load(&bake) {
                Ok(model) => return Ok(model),
                Err(error) => first_error = first_error.or(Some(error.in_folder(&bake))),
            }
        }
        Err(first_error.unwrap_or_else(|| LoadError::new(folder.join(MESH), "there is no baked model in this folder")))
    }
}

/// Returns the folders that may hold the files of a model: the folder itself if it has a mesh, else
/// those below it that have one, newest first.
fn bakes(folder: &Path) -> Vec<PathBuf> {
    if folder.join(MESH).exists() {
        return vec![folder.to_owned()];
    }
    let below = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let written = |bake: PathBuf| Some((std::fs::metadata(bake.join(MESH)).ok()?.modified().ok()?, bake));
    let mut bakes: Vec<_> = below.filter_map(written).take(MOST_BAKES).collect();
    bakes.sort();
    bakes.into_iter().rev().map(|(_, bake)| bake).collect()
}

fn load(folder: &Path) -> Result<Model, LoadError> {
    assemble(&animations(folder)?, |name| read(folder, name).map(Some))
}

/// Makes a model of its files. `animations`: names of the animation files. `file` returns the bytes of a file; `None` if
/// there is no such file.
fn assemble(
    animations: &[String],
    mut file: impl FnMut(&str) -> Result<Option<Vec<u8>>, LoadError>,
) -> Result<Model, LoadError> {
    let mut given = |name: &str| file(name)?.ok_or_else(|| LoadError::new(name, "not among the files"));
    let mesh = given(MESH)?;
    let mut main = None;
    let (mut others, mut refused) = (Vec::new(), None);
    for name in animations {
        // There may also be files of older bakes.
        match given(name).and_then(|bytes| Model::animated(bytes).map_err(|reason| LoadError::new(name, reason))) {
            Ok(model) if mesh.starts_with(&model.meta.content_hash) => main = Some(model),
            Ok(model) => others.push(model),
            Err(error) => refused = refused.or(Some(error)),
        }
    }
    let none = || LoadError::new(MESH, "no anim-*.ktx2 of the same bake beside it");
    let mut main = main.ok_or_else(|| refused.unwrap_or_else(none))?.with_mesh(mesh)?;
    main.textures = main.textures_of(&mut file)?.into();
    let same = |other: &Model| check::names(&other.meta).eq(check::names(&main.meta));
    let others = others.into_iter().filter(same).filter_map(|other| {
        let mesh = file(&format!("mesh-{}.bin", other.meta.encoding.name())).ok()??;
        other.with_mesh(mesh).ok()
    });
    main.others = others.collect();
    Ok(main)
}

fn is_animation(name: &str) -> bool {
    name.starts_with("anim-") && name.ends_with(".ktx2")
}

/// Returns the names of the animation files of a folder, sorted.
fn animations(folder: &Path) -> Result<Vec<String>, LoadError> {
    let entries = std::fs::read_dir(folder).map_err(|e| LoadError::new("", e.to_string()))?;
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| is_animation(name)).take(MOST_ANIMATIONS).collect();
    names.sort();
    Ok(names)
}

fn read(folder: &Path, name: &str) -> Result<Vec<u8>, LoadError> {
    let failed = |reason: String| LoadError::new(name, reason);
    let path = folder.join(name);
    let about = std::fs::metadata(&path).map_err(|e| failed(e.to_string()))?;
    // A pipe never ends.
    if !about.is_file() || about.len() > MOST_BYTES {
        return Err(failed("not a regular file of at most 2 GiB".into()));
    }
    let mut bytes = Vec::new();
    let file = std::fs::File::open(&path).map_err(|e| failed(e.to_string()))?;
    file.take(MOST_BYTES).read_to_end(&mut bytes).map_err(|e| failed(e.to_string()))?;
    Ok(bytes)
}

fn color_name(n: usize, format: ColorFormat) -> String {
    format!("color-{n}-{}.ktx2", format.name())
}

fn payload(bytes: Vec<u8>, hash_at: u64, levels: Vec<ByteRange>) -> Payload {
    Payload { size: bytes.len() as u64, data: Data::Bytes(bytes.into()), hash_at, levels: levels.into() }
}
