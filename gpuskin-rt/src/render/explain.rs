//! Explains how a crowd is drawn, and why.

use core::fmt;
use core::ops::Range;

use super::crowd_core::Drawn;
use super::draw_run::DrawRun;
use super::layouts::MATRIX_BYTES;
use super::palette::computes;
use super::sharing::CacheState;
use super::{Crowd, CrowdRenderer, DrawPath, Error};
use crate::cull::MAX_VIEWS;
use crate::shader::MorphUse;
use crate::{Encoding, View};

/// Whether instances outside all views are culled, and why not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CullingState {
    /// Culling is on: an instance that no view sees costs neither a pose nor a draw.
    On {
        /// Number of views of the renderer.
        views: usize,
    },
    /// Culling is on, and the CPU does it, because [`DrawPath::Direct`] has no pass that could: an instance
    /// that a view does not see is not drawn in it. Drawing with a game's own pipeline draws all.
    OnCpu {
        /// Number of views of the renderer.
        views: usize,
    },
    /// All instances are drawn: a game's compute passes write them, so that the CPU does not know where they
    /// are, and [`DrawPath::Direct`] has no pass that tests instances before the draw.
    Written,
    /// All instances are drawn: [`RendererDescriptor::culling`](super::RendererDescriptor::culling)
    /// is off.
    NotAsked,
    /// All instances are drawn: the model was baked without bounds.
    NoBounds,
    /// All instances are drawn: the renderer has more views than culling supports.
    TooManyViews {
        /// Number of views of the renderer.
        views: usize,
        /// Largest number of views that culling supports.
        max: usize,
    },
}

/// Explanation of how a crowd is drawn, and why; returned by [`Crowd::explain`]. `Display` prints
/// one sentence per line.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Explanation {
    /// Name of the model.
    #[doc(hidden)]
    pub model: String,
    /// Source of the bones.
    #[doc(hidden)]
    pub path: DrawPath,
    /// Encoding that the model plays on this device.
    #[doc(hidden)]
    pub encoding: Encoding,
    /// Limit that the device lacks for the model's first encoding, if the model plays another one.
    #[doc(hidden)]
    pub lacks: Option<Error>,
    /// Number of instances at the last [`CrowdRenderer::prepare`], visible or not.
    #[doc(hidden)]
    pub instances: u32,
    /// Bytes of instance records and appearances uploaded by the last [`CrowdRenderer::prepare`]:
    /// proportional to the number of commands.
    #[doc(hidden)]
    pub uploaded_bytes: u64,
    /// Whether instances share poses, and whether their vertices are cached.
    #[doc(hidden)]
    pub cache: CacheState,
    /// Whether instances outside all views are culled.
    #[doc(hidden)]
    pub culling: CullingState,
    /// Whether occluded instances are left out of the main view too, once [`CrowdRenderer::reveal`]
    /// is called.
    #[doc(hidden)]
    pub occlusion: bool,
    /// Number of palette buffers: several if one binding of the device cannot hold all bones. Each
    /// is drawn separately.
    #[doc(hidden)]
    pub palettes: u32,
    /// Number of levels of detail in use: 1 if all instances are drawn in the finest LOD.
    #[doc(hidden)]
    pub lods: u32,
    /// Palette bytes per instance; 0 on [`DrawPath::Direct`].
    #[doc(hidden)]
    pub bytes_per_instance: u64,
    /// Number of poses for which the palettes have room, if it is not always that of the crowd's capacity.
    #[doc(hidden)]
    pub room: Option<u64>,
    /// Draw calls per view: parts times palettes, and twice that with a cache or if palettes lack room. Independent of the
    /// number of instances. One call per level of detail on a device without
    /// [`wgpu::Features::INDIRECT_FIRST_INSTANCE`], and on D3D12.
    #[doc(hidden)]
    pub draws: u32,
    /// For a model with morph targets whose poses a compute pass composes: whether a pass adds the deltas of all poses too,
    /// because memory for their sums suffices ([`RendererDescriptor::morph_bytes`](super::RendererDescriptor::morph_bytes)).
    #[doc(hidden)]
    pub morphs_added: Option<bool>,
    /// Number of crowds whose culling and poses are merged into the same dispatches, this one included.
    #[doc(hidden)]
    pub merged: u32,
}

impl<M> Crowd<M> {
    /// Explains how the crowd is drawn on this device, and why, as of the last
    /// [`CrowdRenderer::prepare`]. No GPU readback.
    ///
    /// ```no_run
    /// # use gpuskin_rt::{BakedModel, Crowd, CrowdRenderer};
    /// # fn example<Soldier: BakedModel>(crowd: &Crowd<Soldier>, renderer: &CrowdRenderer) {
    /// println!("{}", crowd.explain(renderer));
    /// // soldier: palette path for local-packed: a compute pass composes poses
    /// //   10000 instances in 1 palette (1632 bytes per instance), 4 draws per view
    /// //   culling: on, instances outside all 2 views cost neither a pose nor a draw
    /// # }
    /// ```
    pub fn explain(&self, renderer: &CrowdRenderer) -> Explanation {
        let model = &self.core.model;
        let geometry = &model.geometry;
        let encoding = geometry.variant.encoding;
        let limits = renderer.gpu().device.limits();
        let (culls, views) = renderer.culls();
        let drawn = self.core.drawn_in(View::MAIN);
        let levels_of = |drawn: &Drawn| -> Vec<Range<u32>> {
            let draw_runs = drawn.draw_runs(Some(View::MAIN)).filter(|run| run.others().is_none());
            let of_run = |run: DrawRun<'_>| run.palette.map_or(0..1, |palette| palette.lods);
            draw_runs.map(of_run).collect()
        };
        let draw_runs = drawn.as_ref().map(levels_of).unwrap_or_default();
        let culled_lods = drawn.as_ref().and_then(|drawn| Some(drawn.culled.as_ref()?.lods()));
        let palettes = draw_runs.iter().filter(|lods| lods.start == 0).count() as u32;
        let poses = geometry.poses();
        let culling = if !culls {
            CullingState::NotAsked
        } else if geometry.bounds.is_none() {
            CullingState::NoBounds
        } else if views > MAX_VIEWS {
            CullingState::TooManyViews { views, max: MAX_VIEWS }
        } else if poses.is_some() {
            CullingState::On { views }
        } else if self.core.culls_on_cpu() {
            CullingState::OnCpu { views }
        } else {
            CullingState::Written
        };
        let cache = match self.core.cache {
            CacheState::NotAsked => CacheState::NotAsked,
            _ if !matches!(culling, CullingState::On { .. }) => CacheState::NotCulled,
            state => state,
        };
        let path = match (poses, cache) {
            (None, _) => DrawPath::Direct,
            (_, CacheState::On { .. }) => DrawPath::Cache,
            _ => DrawPath::Palette,
        };
        let others = drawn.iter().flat_map(|drawn| drawn.draw_runs(Some(View::MAIN))).any(|run| run.others().is_some());
        let kinds = if path == DrawPath::Cache || others { 2 } else { 1 };
        Explanation {
            model: self.meta.name.to_string(),
            path,
            cache,
            encoding,
            lacks: (encoding != self.meta.encoding).then(|| computes(&limits, &self.meta).err()).flatten(),
            instances: drawn.as_ref().map_or(0, |drawn| drawn.instances),
            uploaded_bytes: self.core.uploaded_bytes(),
            occlusion: matches!(culling, CullingState::On { .. }) && renderer.occlusion.is_some(),
            culling,
            palettes: poses.map_or(0, |_| palettes),
            lods: culled_lods.or_else(|| draw_runs.iter().map(|lods| lods.end).max()).unwrap_or(1),
            bytes_per_instance: poses.map_or(0, |poses| u64::from(poses.stride()) * MATRIX_BYTES),
            room: drawn.as_ref().and_then(|drawn| drawn.palettes.as_ref()?.room()),
            draws: (draw_runs.len() * kinds * self.core.parts.len()) as u32,
            morphs_added: (geometry.variant.morphs == MorphUse::Applied && poses.is_some() && drawn.is_some())
                .then(|| drawn.iter().flat_map(|drawn| drawn.draw_runs(Some(View::MAIN))).all(adds_morphs)),
            merged: renderer.batching.merged(&self.core),
        }
    }
}

/// Whether a compute pass has added the morph targets of a draw run.
fn adds_morphs(run: DrawRun<'_>) -> bool {
    run.palette.is_some_and(|palette| palette.morphs_added)
}

impl fmt::Display for CullingState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::On { views } => {
                let which = if *views == 1 { "the view".into() } else { format!("all {views} views") };
                write!(f, "on, instances outside {which} cost neither a pose nor a draw")
            }
            Self::OnCpu { views } => {
                let which = if *views == 1 { "the view".into() } else { format!("one of {views} views") };
                write!(f, "on the CPU, instances outside {which} are not drawn in it")
            }
            Self::Written => f.write_str("off, all instances are drawn: compute passes of the game write them"),
            Self::NotAsked => f.write_str("off, all instances are drawn: `RendererDescriptor::culling` is off"),
            Self::NoBounds => f.write_str("off, all instances are drawn: the model has no bounds; bake it again"),
            Self::TooManyViews { views, max } => {
                write!(f, "off, all instances are drawn: the renderer has {views} views, and culling supports {max}")
            }
        }
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (model, path, encoding) = (&self.model, self.path, self.encoding.name());
        let why = match path {
            DrawPath::Palette => "a compute pass composes poses",
            DrawPath::Cache => "a compute pass composes poses, and instances share them",
            DrawPath::Direct if self.encoding.is_vertex() => "vertices read the animation texture",
            DrawPath::Direct => "a render pass draws poses from the animation texture",
        };
        writeln!(f, "{model}: {path} path for {encoding}: {why}")?;
        if let Some(error) = &self.lacks {
            writeln!(f, "  not the model's first encoding: {error}")?;
        }
        let many = |count: u32, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
        write!(f, "  {}", many(self.instances, "instance"))?;
        if path != DrawPath::Direct {
            write!(f, " in {} ({} bytes per instance", many(self.palettes, "palette"), self.bytes_per_instance)?;
            self.room.map_or(Ok(()), |room| write!(f, ", room for the poses of {room}"))?;
            f.write_str(")")?;
        }
        writeln!(f, ", {} per view", many(self.draws, "draw"))?;
        if self.merged > 1 {
            writeln!(f, "  merged with {}", many(self.merged - 1, "other crowd"))?;
        }
        if self.lods > 1 {
            writeln!(f, "  {}, chosen by LOD error", many(self.lods, "level") + " of detail")?;
        }
        if self.cache != CacheState::NotAsked {
            writeln!(f, "  cache: {}", self.cache)?;
        }
        match self.morphs_added {
            None => {}
            Some(true) => writeln!(f, "  morph targets: a compute pass adds their deltas, once per frame")?,
            Some(false) => writeln!(
                f,
                "  morph targets: vertices add their deltas in each pass, because `RendererDescriptor::morph_bytes` is too \
                 little for all instances; raise it, or set `CrowdDescriptor::visible`"
            )?,
        }
        write!(f, "  culling: {}", self.culling)?;
        if self.occlusion {
            f.write_str("\n  occlusion: on, the main view leaves out occluded instances from the second frame on")?;
        }
        Ok(())
    }
}
