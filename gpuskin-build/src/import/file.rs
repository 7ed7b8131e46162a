//! A glTF file with the buffers that it names, read when they are first needed.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::ops::Range;
use std::path::{Path, PathBuf};

use gltf::json::validation::USize64;
use gltf::json::{self, Index};

use super::Inputs;
use super::document::{self, Document, Meshopt, View};
use super::meshopt::Stream;
use super::{glb, uri};
use crate::finding::{Code, Finding, Label};
use crate::fs::stat::{Stat, now};
use crate::suggest::quoted;

/// Largest file, bytes: what the length field of a GLB can say.
const MAX_FILE: u64 = u32::MAX as u64;
/// Numbers that accessors of one model may decode to, all together: 512 MiB of `f64`, or 200 clips of 100 bones and 300
/// keys. Accessors can share bytes or have none, so the size of a file does not bound what it unfolds to.
const MAX_NUMBERS: u64 = 1 << 26;

/// How often a message may quote from the JSON, which is read again for it.
const MAX_QUOTES: u32 = 32;

/// Bytes that one of those numbers takes.
const NUMBER: u64 = 8;

/// Extensions about how meshes are stored that are read.
const READ: [&str; 3] = ["KHR_mesh_quantization", "EXT_meshopt_compression", "KHR_meshopt_compression"];
/// The one that is not.
const DRACO: &str = "KHR_draco_mesh_compression";
/// Beginnings of extensions that change no position and no normal, as the reference has them.
const HARMLESS: [&str; 6] =
    ["KHR_materials_", "KHR_texture_", "EXT_texture_", "MSFT_texture_", "KHR_lights_", "KHR_xmp"];

/// What all files of one import share.
pub(super) struct Shared<'a> {
    inputs: RefCell<&'a mut Inputs>,
    numbers: Cell<u64>,
}

impl<'a> Shared<'a> {
    /// Files go into `inputs` before they are read.
    pub(super) fn new(inputs: &'a mut Inputs) -> Self {
        Self { inputs: RefCell::new(inputs), numbers: Cell::new(MAX_NUMBERS) }
    }

    /// Reads a regular file of bounded size.
    fn read(&self, path: &Path) -> Result<Vec<u8>, Finding> {
        self.inputs.borrow_mut().seen(path, None);
        let failed =
            |e: std::io::Error| Finding::error(Code::FileUnreadable, format!("cannot read {}: {e}", path.display()));
        // Asked first: opening a pipe would wait for its writer.
        let metadata = fs::metadata(path).map_err(failed)?;
        if !metadata.is_file() {
            return Err(Finding::error(Code::FileUnreadable, format!("{} is not a regular file", path.display())));
        }
        let (stat, at) = (Stat::of(&metadata), now());
        let mut bytes = Vec::new();
        crate::fs::open(path).and_then(|f| f.take(MAX_FILE + 1).read_to_end(&mut bytes)).map_err(failed)?;
        if bytes.len() as u64 > MAX_FILE {
            return Err(Finding::error(Code::LimitFile, format!("{} is larger than 4 GiB", path.display())));
        }
        self.inputs.borrow_mut().seen(path, Some((stat, at, &bytes)));
        Ok(bytes)
    }
}

/// What a file is read for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Everything.
    Model,
    /// Its clips; how its meshes are stored does not matter.
    Clips,
}

/// A glTF file.
pub(super) struct File<'a> {
    /// Its path as in the manifest.
    pub shown: String,
    pub document: Document,
    folder: PathBuf,
    bytes: Vec<u8>,
    json: Range<usize>,
    bin: Option<Range<usize>>,
    /// Whether an accessor was read that needs `KHR_mesh_quantization`.
    pub quantized: Cell<bool>,
    /// Quotes that are left.
    quotes: Cell<u32>,
    /// For each buffer, the first buffer with its URI: a file is read once.
    first: Vec<usize>,
    loaded: Vec<OnceCell<Result<Vec<u8>, Finding>>>,
    /// Compressed buffer views, decoded.
    decoded: Vec<OnceCell<Result<Vec<u8>, Box<Finding>>>>,
    shared: &'a Shared<'a>,
}

impl<'a> File<'a> {
    /// Reads and parses it; `shown` names it in messages.
    pub(super) fn open(
        path: &Path,
        shown: &str,
        purpose: Purpose,
        shared: &'a Shared<'a>,
    ) -> Result<Self, Vec<Finding>> {
        let one = |finding: Finding| vec![finding.within(Label::file(shown))];
        let bytes = shared.read(path).map_err(|e| vec![e])?;
        let chunks = glb::chunks(&bytes).map_err(one)?;
        let document = Document::parse(&bytes[chunks.json.clone()]).map_err(one)?;
        let refused = required(&document, purpose);
        if !refused.is_empty() {
            return Err(refused.into_iter().map(|finding| finding.within(Label::file(shown))).collect());
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
            quantized: Cell::new(false),
            quotes: Cell::new(MAX_QUOTES),
            first,
            loaded,
            decoded,
            shared,
        })
    }

    /// Looks an index up in one of the document's lists; `what` names an item of it: `accessor`.
    pub(super) fn get<'l, T, I>(&self, list: &'l [T], index: Index<I>, what: &str) -> Result<&'l T, Finding> {
        list.get(index.value()).ok_or_else(|| {
            Finding::error(Code::GltfIndex, format!("there is no {what} {index}; the file has {}", list.len()))
        })
    }

    /// Its JSON.
    pub(super) fn json(&self) -> &[u8] {
        &self.bytes[self.json.clone()]
    }

    /// What the JSON says at a place, `/accessors/3/type`, that was read as [`json::validation::Checked::Invalid`].
    pub(super) fn written(&self, place: &str) -> String {
        let left = self.quotes.get();
        self.quotes.set(left.saturating_sub(1));
        Some(self.json())
            .filter(|_| left > 0)
            .and_then(|json| document::written(json, place))
            .unwrap_or_else(|| "…".into())
    }

    /// The bytes of a buffer view and its stride.
    pub(super) fn view(&self, index: Index<json::buffer::View>) -> Result<(&[u8], Option<u64>), Finding> {
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

    fn decompress(&self, view: &View, header: &Meshopt) -> Result<Vec<u8>, Finding> {
        if let Some(stride) = view.byte_stride.filter(|stride| stride.0 != header.byte_stride.0) {
            let message =
                format!("the view has a stride of {}, its compression one of {}", stride.0, header.byte_stride.0);
            return Err(Finding::error(Code::GltfCompression, message));
        }
        let stream = Stream::new(header, view.byte_length.0)?;
        let encoded = self.range(header.buffer, header.byte_offset, header.byte_length)?;
        self.claim(view.byte_length.0.div_ceil(NUMBER))?;
        stream.decode(encoded)
    }

    /// A part of a buffer.
    fn range(&self, buffer: Index<json::Buffer>, offset: Option<USize64>, length: USize64) -> Result<&[u8], Finding> {
        let bytes = self.buffer(buffer)?;
        let offset = offset.unwrap_or_default().0;
        match offset.checked_add(length.0).filter(|end| *end <= bytes.len() as u64) {
            // In range of a slice, hence of usize.
            Some(end) => Ok(&bytes[offset as usize..end as usize]),
            None => Err(Finding::error(
                Code::GltfBuffer,
                format!("{} bytes at {offset} pass the end of buffer {buffer}, which has {}", length.0, bytes.len()),
            )),
        }
    }

    fn buffer(&self, index: Index<json::Buffer>) -> Result<&[u8], Finding> {
        let buffer = self.get(&self.document.buffers, index, "buffer")?;
        if buffer.byte_length.0 == 0 {
            return Err(Finding::error(Code::GltfBuffer, format!("buffers[{index}].byteLength is missing or zero")));
        }
        let bytes = match &buffer.uri {
            None => match (&self.bin, index.value()) {
                (Some(bin), 0) => &self.bytes[bin.clone()],
                _ => {
                    let message = format!("buffer {index} has no URI, and no binary chunk is there for it");
                    return Err(Finding::error(Code::GltfBuffer, message)
                        .help("if the file is compressed, export it without compression"));
                }
            },
            Some(uri) => {
                let loaded = self.loaded[self.first[index.value()]].get_or_init(|| self.resource(uri));
                let within = |e: &Finding| e.clone().within(format_args!("buffer {index}"));
                loaded.as_deref().map_err(within)?
            }
        };
        if (bytes.len() as u64) < buffer.byte_length.0 {
            let message = format!("buffer {index} has {} bytes and should have {}", bytes.len(), buffer.byte_length.0);
            return Err(Finding::error(Code::GltfCutOff, message).help("the file is cut off: export it again"));
        }
        Ok(bytes)
    }

    /// The content of a URI: data, or a file below the folder of this one.
    pub(super) fn resource(&self, uri: &str) -> Result<Vec<u8>, Finding> {
        if let Some(data) = uri::data(uri) {
            return data;
        }
        let path = self.folder.join(uri::relative(uri)?);
        self.shared.inputs.borrow_mut().seen(&path, None);
        uri::confined(&self.folder, &path)?;
        self.shared.read(&path)
    }

    /// Claims numbers from what the model may decode to, before they are allocated.
    pub(super) fn claim(&self, numbers: u64) -> Result<(), Finding> {
        let left = self.shared.numbers.get();
        self.shared.numbers.set(left.checked_sub(numbers).ok_or_else(|| {
            Finding::error(
                Code::LimitMemory,
                format!("{numbers} numbers more than the {MAX_NUMBERS} that a model may unfold to"),
            )
            .help("split the model, or leave clips out with [model.clips.<name>]")
        })?);
        Ok(())
    }
}

/// Whether an extension is read, or changes nothing that is.
pub(super) fn is_known(name: &str) -> bool {
    READ.contains(&name) || HARMLESS.iter().any(|start| name.starts_with(start))
}

/// What the file says a reader must know, and this one does not.
fn required(document: &Document, purpose: Purpose) -> Vec<Finding> {
    let mut findings = Vec::new();
    for name in &document.extensions_required {
        let name = name.as_str();
        if is_known(name) || (name == DRACO && purpose == Purpose::Clips) {
            continue;
        }
        findings.push(if name == DRACO {
            Finding::error(Code::GltfRequired, format!("it requires the extension {DRACO}, which is not supported"))
                .help("export without Draco compression (Blender: Data > Compression off)")
        } else {
            Finding::error(Code::GltfRequired, format!("it requires the extension {}, which is unknown", quoted(name)))
                .help("export without it")
        });
    }
    findings
}
