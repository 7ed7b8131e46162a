//! How a crowd is drawn, and why.

use core::fmt;
use core::ops::Range;

use super::cache::CacheState;
use super::crowd::Drawn;
use super::palette::{MATRIX, computes};
use super::{Crowd, CrowdRenderer, Error};
use crate::cull::MOST_VIEWS;
use crate::{Encoding, View};

/// Where the vertex shader has the bones from.
///
/// The encoding that a device plays decides it, and whether instances share poses: what stands in an animation texture can be
/// read by every vertex, a pose of [`Encoding::LocalPacked`] must be composed before, and one that many show is worth keeping.
/// [`CrowdDescriptor::path`](super::CrowdDescriptor::path) asks for one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DrawPath {
    /// Every vertex reads the animation texture. No compute, no storage buffers.
    Direct,
    /// A compute pass writes the bones of each instance that is seen, once a frame; vertices of all passes read those.
    Palette,
    /// The same, and of the poses that instances share at moments of a grid the vertices are kept: they are composed and
    /// skinned once, and drawn as if they stood still. [`CrowdDescriptor::time_grid`](super::CrowdDescriptor::time_grid).
    Cache,
}

/// Whether instances that no view sees are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CullingState {
    /// They are: an instance that none of so many views sees costs neither a pose nor a draw.
    On {
        /// Views of the renderer.
        views: usize,
    },
    /// All are drawn: nothing looks at instances before the draw on [`DrawPath::Direct`].
    Direct,
    /// All are drawn: [`RendererDescriptor::culling`](super::RendererDescriptor::culling) is off.
    NotAsked,
    /// All are drawn: the bake left no bounds of the model.
    NoBounds,
    /// All are drawn: the renderer has more views than there are lists for.
    TooManyViews {
        /// Views of the renderer.
        views: usize,
        /// Views that there are lists for.
        most: usize,
    },
}

/// How a crowd is drawn, and why: of [`Crowd::explain`]. Its `Display` says it in a sentence a line.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Explanation {
    /// The model.
    pub model: String,
    /// Where bones come from.
    pub path: DrawPath,
    /// What the model plays on this device.
    pub encoding: Encoding,
    /// What the device lacks for the encoding that was chosen first, where the model plays another.
    pub lacks: Option<Error>,
    /// Instances as of the last [`CrowdRenderer::prepare`], seen or not.
    pub instances: u32,
    /// Bytes of instances and of how they look that the last [`CrowdRenderer::prepare`] uploaded: in
    /// proportion to what was commanded.
    pub uploaded_bytes: u64,
    /// Whether they share poses whose vertices are kept.
    pub cache: CacheState,
    /// Whether those that no view sees are left out.
    pub culling: CullingState,
    /// Whether those that are hidden behind others are left out of the main view, too, once [`CrowdRenderer::reveal`] is called.
    pub occlusion: bool,
    /// Buffers that hold the bones: several where a binding of the device cannot hold all. Each is drawn by itself.
    pub palettes: u32,
    /// Levels of detail that instances are told apart by: 1 where all are drawn in the finest.
    pub levels: u32,
    /// Bytes of bones that an instance takes; 0 on [`DrawPath::Direct`].
    pub bytes_of_an_instance: u64,
    /// Draw calls a view, whatever the number of instances: parts times palettes, twice with a cache. As many for each level on
    /// a device without [`wgpu::Features::INDIRECT_FIRST_INSTANCE`], and on D3D12.
    pub draws: u32,
}

impl<M> Crowd<M> {
    /// How the crowd is drawn on this device, and why, as of the last [`CrowdRenderer::prepare`]. It asks the GPU nothing.
    ///
    /// ```no_run
    /// # use gpuskin_rt::{BakedModel, Crowd, CrowdRenderer};
    /// # fn example<Soldier: BakedModel>(crowd: &Crowd<Soldier>, renderer: &CrowdRenderer) {
    /// println!("{}", crowd.explain(renderer));
    /// // soldier: palette, because it plays local-packed, whose poses a compute pass composes
    /// //   10000 instances in 1 palette of bones (1632 bytes each), 4 draws a view
    /// //   culling: instances that none of 2 views sees cost neither a pose nor a draw
    /// # }
    /// ```
    pub fn explain(&self, renderer: &CrowdRenderer) -> Explanation {
        let model = &self.core.model;
        let geometry = &model.geometry;
        let encoding = geometry.variant.encoding;
        let limits = renderer.gpu().0.limits();
        let (culls, views) = renderer.culls();
        let drawn = self.core.drawn();
        let levels_of = |drawn: &Drawn| -> Vec<Range<u32>> {
            let runs =
                drawn.runs(Some(View::MAIN)).filter(|run| run.palette.as_ref().is_none_or(|p| p.cached.is_none()));
            runs.map(|run| run.palette.map_or(0..1, |palette| palette.levels)).collect()
        };
        let runs = drawn.as_ref().map(levels_of).unwrap_or_default();
        let palettes = runs.iter().filter(|levels| levels.start == 0).count() as u32;
        let poses = geometry.poses();
        let culling = if poses.is_none() {
            CullingState::Direct
        } else if !culls {
            CullingState::NotAsked
        } else if geometry.bounds.is_none() {
            CullingState::NoBounds
        } else if views > MOST_VIEWS {
            CullingState::TooManyViews { views, most: MOST_VIEWS }
        } else {
            CullingState::On { views }
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
        let kinds = if path == DrawPath::Cache { 2 } else { 1 };
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
            levels: runs.iter().map(|levels| levels.end).max().unwrap_or(1),
            bytes_of_an_instance: poses.map_or(0, |poses| u64::from(poses.stride()) * MATRIX),
            draws: (runs.len() * kinds * self.core.parts.len()) as u32,
        }
    }
}

impl fmt::Display for DrawPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Direct => "direct",
            Self::Palette => "palette",
            Self::Cache => "cache",
        })
    }
}

impl fmt::Display for CullingState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::On { views } => {
                let which =
                    if *views == 1 { "the view does not see".into() } else { format!("none of {views} views sees") };
                write!(f, "instances that {which} cost neither a pose nor a draw")
            }
            Self::Direct => {
                f.write_str("none, all are drawn: nothing looks at instances before vertices read the texture")
            }
            Self::NotAsked => f.write_str("none, all are drawn: `RendererDescriptor::culling` is off"),
            Self::NoBounds => f.write_str("none, all are drawn: the model has no bounds; bake it again"),
            Self::TooManyViews { views, most } => {
                write!(f, "none, all are drawn: the renderer has {views} views, and lists for {most}")
            }
        }
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (model, path, encoding) = (&self.model, self.path, self.encoding.name());
        let why = match path {
            DrawPath::Palette => "whose poses a compute pass composes",
            DrawPath::Cache => "whose poses a compute pass composes, and instances share",
            DrawPath::Direct => "which vertices read from a texture",
        };
        writeln!(f, "{model}: {path}, because it plays {encoding}, {why}")?;
        if let Some(error) = &self.lacks {
            writeln!(f, "  not what was chosen first: {error}")?;
        }
        let many = |count: u32, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
        write!(f, "  {}", many(self.instances, "instance"))?;
        if path != DrawPath::Direct {
            write!(f, " in {} of bones ({} bytes each)", many(self.palettes, "palette"), self.bytes_of_an_instance)?;
        }
        writeln!(f, ", {} a view", many(self.draws, "draw"))?;
        if self.levels > 1 {
            writeln!(f, "  {}, chosen by the error that a view shows", many(self.levels, "level") + " of detail")?;
        }
        if self.cache != CacheState::NotAsked {
            writeln!(f, "  cache: {}", self.cache)?;
        }
        write!(f, "  culling: {}", self.culling)?;
        if self.occlusion {
            f.write_str("\n  occlusion: nor do those that are hidden in the main view, from the second frame on")?;
        }
        Ok(())
    }
}
