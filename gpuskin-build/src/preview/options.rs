//! Options of a contact sheet, and the model that they select.

use std::sync::Arc;

use glam::Vec3;
use gpuskin_rt::internals::morph::MorphLists;
use gpuskin_rt::internals::skin::skin_vertices;
use gpuskin_rt::internals::{
    Clip, ColorFormat, Dynamic, Encoding, Instance, Metadata, Model, ModelVariant, Part, RendererDescriptor, Time,
};
use rayon::prelude::*;

use super::framing::{ClipExtent, Orbit};
use super::layout;
use crate::bake::{BakeOptions, BakedModel, import_one};
use crate::diagnostic::{Diagnostic, DiagnosticCode, Diagnostics, Label};
use crate::import::Pixels;
use crate::manifest::{Manifest, Textures};
use crate::model::Model as SourceModel;
use crate::suggest::{instead, quoted};

/// Options of a contact sheet.
#[derive(Clone, Debug, Default)]
pub struct SheetOptions {
    /// Encoding to draw; `None` draws the manifest's. Two compared encodings ignore it.
    pub encoding: Option<Encoding>,
    /// Names of the clips to draw, in this order; empty draws all clips.
    pub clips: Vec<String>,
    /// Names of parts that are not drawn.
    pub hidden_parts: Vec<String>,
    /// Name of the variant to draw; `None` draws the model's own textures.
    pub variant: Option<String>,
    /// Level of detail to draw; 0 is the finest.
    pub lod: usize,
    /// Direction of the camera.
    pub camera: Orbit,
}

/// A model in one encoding, as baked and as the runtime loads it, and the part of it to draw.
pub(super) struct PreviewModel {
    pub(super) baked: BakedModel,
    pub(super) runtime: Model,
    /// The model before its encoding.
    pub(super) source: Arc<SourceModel>,
    /// Indices of the clips to draw.
    pub(super) clips: Vec<usize>,
    pub(super) camera: Orbit,
    hidden_parts: Vec<u8>,
    variant: ModelVariant<Dynamic>,
    /// Level of detail to draw; 0 is the finest.
    pub(super) lod: usize,
}

impl PreviewModel {
    /// Bakes a model. Also returns its warnings.
    pub(super) fn new(
        manifest: &Manifest,
        model: &str,
        encoding: Option<Encoding>,
        options: &SheetOptions,
    ) -> Result<(Self, Diagnostics), Diagnostics> {
        // All devices support RGBA8, and it needs no encoding.
        let plain = Textures { formats: vec![ColorFormat::Rgba8], universal: false };
        let bake = BakeOptions { model: Some(model), encoding, textures: Some(&plain), ..Default::default() };
        let (imported, mut warnings) = import_one(manifest, &bake, Pixels::Decode)?;
        let source = imported.model().clone();
        let (baked, runtime) = imported.bake(&bake, &mut warnings)?;
        let meta = &baked.meta;
        let selected = Selection::new(meta, options).map_err(|diagnostic| diagnostic.within(Label::model(model)))?;
        let Selection { clips, hidden_parts, variant } = selected;
        let (camera, lod) = (options.camera, options.lod);
        Ok((Self { baked, runtime, source, clips, camera, hidden_parts, variant, lod }, warnings))
    }

    pub(super) fn meta(&self) -> &Metadata {
        &self.baked.meta
    }

    pub(super) fn clip_names(&self) -> impl Iterator<Item = &str> {
        self.meta().clips.iter().map(|clip| &*clip.name)
    }

    /// Whether a part is not drawn.
    pub(super) fn hides(&self, part: u8) -> bool {
        self.hidden_parts.contains(&part)
    }

    /// Returns an instance that shows one time of a clip and does not advance.
    pub(super) fn standing(&self, clip: usize, seconds: f64) -> Instance<Dynamic> {
        self.instance(clip, Vec3::ZERO).seek(seconds).speed(0.0)
    }

    /// Returns an instance at a position that plays a clip, in the variant and without the hidden parts.
    pub(super) fn instance(&self, clip: usize, position: Vec3) -> Instance<Dynamic> {
        let instance = Instance::at(position).play(Clip::new(clip as u16)).variant(self.variant);
        self.hidden_parts.iter().fold(instance, |instance, part| instance.without(Part::new(*part)))
    }

    /// Returns the height of a picture, in pixels, at which the runtime chooses a level of detail.
    /// `half_height`: half the height of an orthographic view, in metres.
    pub(super) fn camera_height(&self, lod: usize, half_height: f32) -> f32 {
        let levels = &self.meta().mesh.levels;
        let Some(coarser) = lod.checked_sub(1).and_then(|level| levels.get(level)) else { return 0.0 };
        // The runtime draws the coarsest level whose error is at most `lod_error` pixels.
        let next = levels.get(lod).map_or(4.0 * coarser.error, |next| next.error);
        let error = (coarser.error * next).sqrt().max(f32::MIN_POSITIVE);
        2.0 * half_height * RendererDescriptor::default().lod_error / error
    }

    /// Times that are drawn of each clip of the model, in seconds.
    pub(super) fn times(&self) -> Vec<Vec<f64>> {
        self.meta().clips.iter().map(layout::times).collect()
    }

    /// Returns the extent of each clip of the model over the given times.
    pub(super) fn outlines(&self, times: &[Vec<f64>]) -> Vec<ClipExtent> {
        let (texels, vertices) = (self.baked.texels(&self.runtime), self.baked.vertices(&self.runtime));
        let (meta, records) = (self.meta(), &self.baked.trace().plan.records);
        let morphs = self.baked.morphs(&self.runtime);
        let outline = |(clip, times): (usize, &Vec<f64>)| {
            let extents = times.iter().map(|seconds| {
                let instance = self.standing(clip, *seconds).record(meta, Time::ZERO);
                let mesh = (&vertices[..], &MorphLists::new(&morphs));
                let skinned = skin_vertices(&texels, records, &instance, Time::ZERO, mesh, meta.normals);
                ClipExtent::of(skinned.iter().map(|vertex| vertex.position), self.camera)
            });
            extents.reduce(ClipExtent::union).unwrap_or_else(|| ClipExtent::of([], self.camera))
        };
        times.par_iter().enumerate().map(outline).collect()
    }
}

/// Clips, parts and a variant by index.
struct Selection {
    clips: Vec<usize>,
    hidden_parts: Vec<u8>,
    variant: ModelVariant<Dynamic>,
}

impl Selection {
    fn new(meta: &Metadata, options: &SheetOptions) -> Result<Self, Diagnostic> {
        let names = || meta.clips.iter().map(|clip| &*clip.name);
        let clip = |name: &String| {
            names().position(|other| other == name).ok_or_else(|| {
                let message = format!("clip {} not found", quoted(name));
                Diagnostic::error(DiagnosticCode::ClipNotFound, message).help(instead(name, names()))
            })
        };
        let parts = || meta.parts.iter().map(|part| &**part);
        let part = |name: &String| {
            parts().position(|other| other == name).map(|index| index as u8).ok_or_else(|| {
                let message = format!("part {} not found", quoted(name));
                Diagnostic::error(DiagnosticCode::PreviewPart, message).help(instead(name, parts()))
            })
        };
        let clips = match options.clips.is_empty() {
            true => (0..meta.clips.len()).collect(),
            false => options.clips.iter().map(clip).collect::<Result<_, _>>()?,
        };
        let hidden_parts = options.hidden_parts.iter().map(part).collect::<Result<_, _>>()?;
        let variant = match &options.variant {
            None => ModelVariant::BASE,
            Some(name) => meta.find(name).ok_or_else(|| {
                let message = format!("variant {} not found", quoted(name));
                Diagnostic::error(DiagnosticCode::PreviewVariant, message).help(instead(name, meta.variants()))
            })?,
        };
        let coarsest = meta.mesh.levels.len();
        if options.lod > coarsest {
            let message = format!("there is no level of detail {}", options.lod);
            let help = match coarsest {
                0 => format!("with {} the model has only level 0; see the key `lods`", meta.encoding.name()),
                _ => format!("choose one from 0, the finest, to {coarsest}"),
            };
            return Err(Diagnostic::error(DiagnosticCode::PreviewLod, message).help(help));
        }
        Ok(Self { clips, hidden_parts, variant })
    }
}
