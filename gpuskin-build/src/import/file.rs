//! A glTF file with its buffers, which are loaded on first use.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use gltf::json::validation::USize64;
use gltf::json::{self, Index};

use super::Inputs;
use super::document::{self, Document, Meshopt, View};
use super::meshopt::Stream;
use super::{glb, uri, vrm};
use crate::diagnostic::{Diagnostic, DiagnosticCode, Label};
use crate::limits::{self, Limits};
use crate::manifest::Manifest;
use crate::suggest::quoted;

/// Maximum number of messages per file that quote from the JSON. The JSON is parsed again for each
/// quote.
const MAX_QUOTES: u32 = 32;

/// Size of a decoded number, in bytes.
const NUMBER: u64 = 8;

/// First bytes of a file that stands for a file in Git LFS, in a working copy without Git LFS.
const LFS_POINTER: &[u8] = b"version https://git-lfs.github.com/spec/";

/// Supported extensions that change how meshes are stored, or what channels animate.
const READ: [&str; 5] = [
    "KHR_animation_pointer",
    "KHR_mesh_quantization",
    "KHR_draco_mesh_compression",
    "EXT_meshopt_compression",
    "KHR_meshopt_compression",
];
/// Prefixes of extensions that change neither positions nor normals, as in the reference
/// implementation.
const HARMLESS: [&str; 6] =
    ["KHR_materials_", "KHR_texture_", "EXT_texture_", "MSFT_texture_", "KHR_lights_", "KHR_xmp"];

/// Decompressed elements of a primitive, tightly packed, by accessor.
pub(super) type Unpacked = BTreeMap<usize, Vec<u8>>;

/// State shared by all files of one import.
pub(super) struct ImportContext<'a> {
    inputs: RefCell<&'a mut Inputs>,
    /// Count of numbers that accessors may still decode to, summed over all files. Accessors can
    /// share bytes or have none, so the size of a file does not bound the size of its decoded data.
    numbers: Cell<u64>,
    pub limits: Limits,
    /// Folders outside of the file's own folder that URIs may lead to.
    roots: Vec<PathBuf>,
    /// Folder of the manifest.
    folder: PathBuf,
}

impl<'a> ImportContext<'a> {
    /// Creates the shared state. Each path is added to `inputs` before the file is read.
    pub(super) fn new(manifest: &Manifest, inputs: &'a mut Inputs) -> Self {
        let limits = manifest.limits;
        let numbers = Cell::new(limits.memory / NUMBER);
        let roots = manifest.roots.iter().map(|root| manifest.folder.join(root)).collect();
        Self { inputs: RefCell::new(inputs), numbers, limits, roots, folder: manifest.folder.clone() }
    }

    /// Reads a regular file, up to the size limit.
    fn read(&self, path: &Path) -> Result<Vec<u8>, Diagnostic> {
        let bytes = self.inputs.borrow_mut().read(path, self.limits.file)?;
        if bytes.starts_with(LFS_POINTER) {
            let message = format!("{} is a Git LFS pointer, not the file that it stands for", path.display());
            return Err(Diagnostic::error(DiagnosticCode::FileUnreadable, message).help("run `git lfs pull`"));
        }
        Ok(bytes)
    }
}

/// A glTF file.
pub(super) struct File<'a> {
    /// Path as written in the manifest.
    pub shown: String,
    pub document: Document,
    folder: PathBuf,
    bytes: Vec<u8>,
    json: Range<usize>,
    bin: Option<Range<usize>>,
    /// Rules of the container that the file breaks without effect.
    pub broken_rules: Vec<&'static str>,
    /// Whether an accessor was read that needs `KHR_mesh_quantization`.
    pub quantized: Cell<bool>,
    /// Number of quotes left, of [`MAX_QUOTES`].
    quotes: Cell<u32>,
    /// For each buffer, the index of the first buffer with the same URI, so that each file is read
    /// once.
    first: Vec<usize>,
    loaded: Vec<OnceCell<Result<Vec<u8>, Diagnostic>>>,
    /// Decompressed buffer views.
    decoded: Vec<OnceCell<Result<Vec<u8>, Box<Diagnostic>>>>,
    may_have_events: OnceCell<bool>,
    /// Elements that take the place of buffer views while a primitive is read.
    pub unpacked: RefCell<Rc<Unpacked>>,
    shared: &'a ImportContext<'a>,
}

impl<'a> File<'a> {
    /// Reads and parses a file; `shown` is its path in messages.
    pub(super) fn open(path: &Path, shown: &str, shared: &'a ImportContext<'a>) -> Result<Self, Vec<Diagnostic>> {
        let one = |diagnostic: Diagnostic| vec![diagnostic.within(Label::file(shown))];
        let bytes = shared.read(path).map_err(|e| vec![e])?;
        let chunks = glb::chunks(&bytes).map_err(one)?;
        let document = Document::parse(&bytes[chunks.json.clone()], shared.limits.memory).map_err(one)?;
        let refused = required(&document);
        if !refused.is_empty() {
            return Err(refused.into_iter().map(|diagnostic| diagnostic.within(Label::file(shown))).collect());
        }
        let mut by_uri = BTreeMap::new();
        let buffers = document.buffers.iter().enumerate();
        let first = buffers.map(|(i, b)| b.uri.as_ref().map_or(i, |uri| *by_uri.entry(uri.clone()).or_insert(i)));
        let first = first.collect();
        let loaded = document.buffers.iter().map(|_| OnceCell::new()).collect();
        let decoded = document.buffer_views.iter().map(|_| OnceCell::new()).collect();
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        Ok(Self {
            shown: shown.to_owned(),
            document,
            folder,
            bytes,
            json: chunks.json,
            bin: chunks.bin,
            broken_rules: chunks.broken_rules,
            quantized: Cell::new(false),
            quotes: Cell::new(MAX_QUOTES),
            first,
            loaded,
            decoded,
            may_have_events: OnceCell::new(),
            unpacked: RefCell::default(),
            shared,
        })
    }

    /// Looks up an index in a list of the document. `what` names an item of the list in errors,
    /// such as `accessor`.
    pub(super) fn get<'l, T, I>(&self, list: &'l [T], index: Index<I>, what: &str) -> Result<&'l T, Diagnostic> {
        list.get(index.value()).ok_or_else(|| {
            Diagnostic::error(
                DiagnosticCode::GltfIndex,
                format!("{what} {index} does not exist; the file has {}", list.len()),
            )
        })
    }

    /// Returns the JSON text.
    pub(super) fn json(&self) -> &[u8] {
        &self.bytes[self.json.clone()]
    }

    /// Returns the JSON value at a path such as `/accessors/3/type`, for values that were read as
    /// [`json::validation::Checked::Invalid`].
    pub(super) fn written(&self, place: &str) -> String {
        let left = self.quotes.get();
        self.quotes.set(left.saturating_sub(1));
        let written = (left > 0).then(|| document::written(self.json(), place)).flatten();
        written.unwrap_or_else(|| "…".into())
    }

    /// Returns whether a clip of the file may have events in its `extras`; most files have none.
    pub(super) fn may_have_events(&self) -> bool {
        *self.may_have_events.get_or_init(|| self.json().windows(8).any(|bytes| bytes == b"\"events\""))
    }

    /// Returns the bytes and the stride of a buffer view.
    pub(super) fn view(&self, index: Index<json::buffer::View>) -> Result<(&[u8], Option<u64>), Diagnostic> {
        let view = self.get(&self.document.buffer_views, index, "buffer view")?;
        let bytes = match view.compression() {
            None => self.range(view.buffer, view.byte_offset, view.byte_length),
            Some(header) => {
                let decoded =
                    self.decoded[index.value()].get_or_init(|| self.decompress(view, header).map_err(Box::new));
                decoded.as_deref().map_err(|e| (**e).clone().within("meshopt compression"))
            }
        };
        let bytes = bytes.map_err(|e| e.within(format_args!("buffer view {index}")))?;
        Ok((bytes, view.byte_stride.map(|s| s.0)))
    }

    fn decompress(&self, view: &View, header: &Meshopt) -> Result<Vec<u8>, Diagnostic> {
        if let Some(stride) = view.byte_stride.filter(|stride| stride.0 != header.byte_stride.0) {
            let message = format!(
                "the view has a stride of {} bytes, but its compression header has a stride of {} bytes",
                stride.0, header.byte_stride.0
            );
            return Err(Diagnostic::error(DiagnosticCode::GltfCompression, message));
        }
        let stream = Stream::new(header, view.byte_length.0)?;
        let encoded = self.range(header.buffer, header.byte_offset, header.byte_length)?;
        self.claim(view.byte_length.0.div_ceil(NUMBER))?;
        stream.decode(encoded)
    }

    /// Returns a range of the bytes of a buffer.
    fn range(
        &self,
        buffer: Index<json::Buffer>,
        offset: Option<USize64>,
        length: USize64,
    ) -> Result<&[u8], Diagnostic> {
        let bytes = self.buffer(buffer)?;
        let offset = offset.unwrap_or_default().0;
        match offset.checked_add(length.0).filter(|end| *end <= bytes.len() as u64) {
            // `end` is at most the length of a slice, so it fits `usize`.
            Some(end) => Ok(&bytes[offset as usize..end as usize]),
            None => Err(Diagnostic::error(
                DiagnosticCode::GltfBuffer,
                format!(
                    "{} bytes at offset {offset} exceed buffer {buffer}, which has {} bytes",
                    length.0,
                    bytes.len()
                ),
            )),
        }
    }

    /// Returns the bytes of a buffer. Everything that reads a damaged buffer fails, so errors name it as their cause.
    fn buffer(&self, index: Index<json::Buffer>) -> Result<&[u8], Diagnostic> {
        let buffer = self.get(&self.document.buffers, index, "buffer")?;
        self.loaded_buffer(buffer, index).map_err(|e| e.caused_by(format!("{}: buffer {index}", self.shown)))
    }

    fn loaded_buffer(&self, buffer: &json::Buffer, index: Index<json::Buffer>) -> Result<&[u8], Diagnostic> {
        if buffer.byte_length.0 == 0 {
            return Err(Diagnostic::error(
                DiagnosticCode::GltfBuffer,
                format!("buffers[{index}].byteLength is missing or zero"),
            ));
        }
        let bytes = match &buffer.uri {
            None => match (&self.bin, index.value()) {
                (Some(bin), 0) => &self.bytes[bin.clone()],
                _ => {
                    let message = format!("buffer {index} has no URI, and the file has no binary chunk for it");
                    return Err(Diagnostic::error(DiagnosticCode::GltfBuffer, message)
                        .help("if the file is compressed, export it without compression"));
                }
            },
            Some(uri) => {
                let loaded = self.loaded[self.first[index.value()]].get_or_init(|| self.resource(uri));
                let within = |e: &Diagnostic| e.clone().within(format_args!("buffer {index}"));
                loaded.as_deref().map_err(within)?
            }
        };
        if (bytes.len() as u64) < buffer.byte_length.0 {
            let message =
                format!("buffer {index} has {} bytes; {} bytes were expected", bytes.len(), buffer.byte_length.0);
            return Err(
                Diagnostic::error(DiagnosticCode::GltfCutOff, message).help("the file is truncated: export it again")
            );
        }
        Ok(bytes)
    }

    /// Returns the content of a URI: decoded data, or a file in an allowed folder.
    pub(super) fn resource(&self, uri: &str) -> Result<Vec<u8>, Diagnostic> {
        if let Some(data) = uri::data(uri) {
            return data;
        }
        let path = self.folder.join(uri::relative(uri, !self.shared.roots.is_empty())?);
        self.shared.inputs.borrow_mut().seen(&path, None);
        let read = uri::confined(&self.folder, &self.shared.roots, &path).and_then(|()| self.shared.read(&path));
        read.map_err(|e| {
            if path.exists() {
                return e;
            }
            e.help(format!("copy the file along with {}, or export as .glb, which contains all files", self.shown))
        })
    }

    /// Returns the content of a file that the manifest names.
    pub(super) fn beside_manifest(&self, path: &str) -> Result<Vec<u8>, Diagnostic> {
        self.shared.read(&self.shared.folder.join(path))
    }

    /// Subtracts from the count of numbers that the model may still decode to. Called before the
    /// numbers are allocated.
    pub(super) fn claim(&self, numbers: u64) -> Result<(), Diagnostic> {
        let left = self.shared.numbers.get();
        self.shared.numbers.set(left.checked_sub(numbers).ok_or_else(|| {
            let most = limits::format_bytes(self.limits().memory);
            Diagnostic::error(
                DiagnosticCode::LimitMemory,
                format!("with these {numbers} numbers, the decoded model is larger than the limit of {most}"),
            )
        })?);
        Ok(())
    }

    /// Returns the size that decoded data may still have, in bytes.
    pub(super) fn memory_left(&self) -> u64 {
        self.shared.numbers.get().saturating_mul(NUMBER)
    }

    /// Returns the limits for one model.
    pub(super) fn limits(&self) -> &Limits {
        &self.shared.limits
    }
}

/// Whether an extension is supported, or cannot affect the import.
pub(super) fn is_known(name: &str) -> bool {
    READ.contains(&name) || HARMLESS.iter().any(|start| name.starts_with(start))
}

/// Returns an error for each required extension that is not supported.
fn required(document: &Document) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    for name in &document.extensions_required {
        // VRM adds to a glTF file that can be drawn without it.
        if !is_known(name) && !vrm::is_extension(name) {
            let message = format!("the required extension {} is unknown", quoted(name));
            let help = "export the file without the extension";
            diagnostics.push(Diagnostic::error(DiagnosticCode::GltfRequired, message).help(help));
        }
    }
    diagnostics
}
