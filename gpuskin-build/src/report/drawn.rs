//! Models that the report's page draws, with the program that draws them.
//!
//! A model is packed as the runtime loads it: metadata, animation, mesh and material textures, with the
//! errors of its vertices and the difference of the source per clip, and its sockets, in postcard, compressed with gzip.
//! Textures are those of a few hundred texels: a report is no game.

use std::path::Path;
use std::sync::Arc;

use flate2::Compression;
use gpuskin_rt::internals::{ByteRange, ColorFormat, Data, Metadata, Payload};
use rayon::prelude::*;

use super::packed::{base64, gzip};
use crate::bake::BakedModel;
use crate::measure::{ClipDifference, ClipErrors, ErrorCurve, VertexErrors};

/// Script of the program, and the program as WebAssembly, compressed with gzip. Made by
/// `cargo xtask viewer` from `gpuskin-build/viewer`.
pub(super) const SCRIPT: &str = include_str!("viewer/viewer.js");
const PROGRAM: &[u8] = include_bytes!("viewer/viewer.wasm.gz");

/// Maximum size in bytes of the files of a model; larger ones are not drawn.
const MAX_MODEL: u64 = 64 << 20;
/// Maximum size in bytes of all packed models in a file.
const MAX_PACKED: usize = 64 << 20;
/// Maximum side of a texture in texels.
const MAX_SIDE: u32 = 256;

/// Use of packed models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DrawnIn {
    /// A file, which has to be small.
    File,
    /// A page of `watch`, which has to be made quickly.
    #[cfg_attr(not(feature = "cli"), expect(dead_code, reason = "only the command line watches"))]
    LivePage,
}

/// Packed models, in the order of a report: variants follow their model.
#[derive(Clone, Debug, Default)]
pub(crate) struct DrawnModels {
    /// `None` for a model that is too large, or whose files are not in the output folder.
    models: Vec<Option<Arc<DrawnModel>>>,
}

#[derive(Debug)]
struct DrawnModel {
    /// Hash of what was packed.
    hash: String,
    packed: Vec<u8>,
}

impl DrawnModels {
    /// Reads models from the output folder of their bake. `before`: those of an earlier bake, of which models that have not
    /// changed are taken.
    pub(crate) fn read(models: &[BakedModel], out: &Path, used: DrawnIn, before: &Self) -> Self {
        fn of_main(main: &BakedModel) -> impl Iterator<Item = (&BakedModel, &BakedModel)> {
            std::iter::once(main).chain(&main.others).map(move |model| (model, main))
        }
        let all: Vec<(&BakedModel, &BakedModel)> = models.iter().flat_map(of_main).collect();
        let mut models: Vec<_> =
            all.into_par_iter().map(|(model, main)| pack(model, main, out, used, before)).collect();
        if used == DrawnIn::File {
            let mut left = MAX_PACKED;
            for model in &mut models {
                match model.as_ref().map(|model| left.checked_sub(model.packed.len())) {
                    Some(Some(rest)) => left = rest,
                    _ => *model = None,
                }
            }
        }
        Self { models }
    }

    /// Whether there is nothing to draw.
    pub(super) fn is_empty(&self) -> bool {
        self.models.iter().all(Option::is_none)
    }

    /// Returns a hash of each model.
    pub(super) fn hashes(&self) -> Vec<Option<&str>> {
        self.models.iter().map(|model| model.as_ref().map(|model| model.hash.as_str())).collect()
    }

    /// Returns each model that is drawn in base64, with its index.
    pub(super) fn texts(&self) -> impl Iterator<Item = (usize, String)> {
        let packed = |(index, model): (usize, &Option<Arc<DrawnModel>>)| Some((index, base64(&model.as_ref()?.packed)));
        self.models.iter().enumerate().filter_map(packed)
    }

    /// Returns a packed model.
    #[cfg(feature = "cli")]
    pub(crate) fn get(&self, index: usize) -> Option<&[u8]> {
        Some(&self.models.get(index)?.as_ref()?.packed)
    }
}

/// Returns the program in base64.
pub(super) fn program() -> String {
    base64(PROGRAM)
}

/// Returns the errors of vertices that a packed model needs: the viewer computes them from the difference of the source, if
/// there is one. Errors leave out vertices that STEP tracks move, but differences have them.
fn packed_errors((curve, errors): (&ErrorCurve, &ClipErrors)) -> VertexErrors {
    let VertexErrors { greatest, shares } = &curve.vertices;
    let computed = *greatest > 0.0 && errors.step_tracks == 0 && !curve.difference.at_frames.is_empty();
    VertexErrors { greatest: *greatest, shares: if computed { Vec::new() } else { shares.clone() } }
}

/// Packs a model, or a variant of a main model, unless an earlier bake has the same.
fn pack(
    model: &BakedModel,
    main: &BakedModel,
    out: &Path,
    used: DrawnIn,
    before: &DrawnModels,
) -> Option<Arc<DrawnModel>> {
    // The hash of the main model's content names the files of textures.
    let source = postcard::to_stdvec(&(model, main.meta.content_hash)).ok()?;
    let hash = blake3::hash(&source).to_hex()[..16].to_owned();
    if let Some(same) = before.models.iter().flatten().find(|before| before.hash == hash) {
        return Some(same.clone());
    }
    let ([animation, mesh, ..], [_, _, textures @ ..]) = (&model.payloads[..], &main.payloads[..]) else {
        return None;
    };
    let size: u64 = [animation, mesh].into_iter().chain(textures).map(|(_, payload)| payload.size).sum();
    if size > MAX_MODEL {
        return None;
    }
    let read = |(name, payload): &(String, Payload)| -> Option<Vec<u8>> {
        let bytes = crate::fs::read(&out.join("gpuskin").join(name), MAX_MODEL).ok()?;
        (bytes.len() as u64 == payload.size).then_some(bytes)
    };
    let whole = |file: &(String, Payload)| {
        read(file).map(|bytes| Payload { data: Data::Bytes(bytes.into()), ..file.1.clone() })
    };
    let mut meta = model.meta.clone();
    let mut files = textures;
    let mut small = Vec::new();
    let mut infos = meta.textures.to_vec();
    for info in &mut infos {
        let formats = info.formats.to_vec();
        // Desktop browsers read BC7.
        let best = formats.iter().position(|format| *format == ColorFormat::Bc7).unwrap_or(0);
        let (own, rest) = files.split_at_checked(formats.len())?;
        files = rest;
        let file = own.get(best)?;
        let bytes = read(file)?;
        let format = formats[best];
        let fits = |level: &u32| {
            let [width, height] = info.level_size(*level);
            let whole = |side: u32| side.is_multiple_of(format.block_side());
            width.max(height) <= MAX_SIDE && whole(width) && whole(height)
        };
        let first = (0..info.levels).find(fits).unwrap_or(0);
        small.push(levels(&meta, &bytes, file.1.levels.get(first as usize..)?, info.layers)?);
        // The model is drawn in its own look.
        info.layers = 1;
        [info.width, info.height] = info.level_size(first);
        info.levels -= first;
        info.formats = vec![format].into();
    }
    meta.textures = infos.into();
    meta.materials.to_mut().iter_mut().for_each(|material| material.variant_layers = Vec::new().into());
    let errors: Vec<VertexErrors> = model.curves.iter().zip(&model.errors).map(packed_errors).collect();
    let differences: Vec<&ClipDifference> = model.curves.iter().map(|curve| &curve.difference).collect();
    let content = (meta, whole(animation)?, whole(mesh)?, small, errors, &model.source, differences, &model.sockets);
    let bytes = postcard::to_stdvec(&content).ok()?;
    let level = if used == DrawnIn::File { Compression::best() } else { Compression::fast() };
    Some(Arc::new(DrawnModel { hash, packed: gzip(&bytes, level) }))
}

/// Returns a texture file that has the first layer of some levels of another one alone. `layers`: number of its layers.
fn levels(meta: &Metadata, bytes: &[u8], ranges: &[ByteRange], layers: u32) -> Option<Payload> {
    let mut file = meta.content_hash.to_vec();
    let mut levels = Vec::new();
    for ByteRange { offset, len } in ranges {
        let (start, len) = (usize::try_from(*offset).ok()?, usize::try_from(*len / u64::from(layers.max(1))).ok()?);
        levels.push(ByteRange { offset: file.len() as u64, len: len as u64 });
        file.extend(bytes.get(start..start.checked_add(len)?)?);
    }
    let size = file.len() as u64;
    Some(Payload { data: Data::Bytes(file.into()), size, hash_at: 0, levels: levels.into() })
}
