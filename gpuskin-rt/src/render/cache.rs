//! The cache path: poses that instances share are composed and skinned once, and kept for all frames.

use core::fmt;

use super::Error;
use super::compute::{layout, pipeline};
use super::crowd::CrowdDescriptor;
use super::explain::DrawPath;
use super::geometry::Geometry;
use super::layouts::{bind_group, storage, uniform};
use super::palette::{MATRIX, Poses};
use super::posed::Posed;
use crate::cache::{self, FILL, FILL_GROUP, VERTEX};
use crate::cull::DISPATCH;
use crate::local::shader::PaletteUniform;
use crate::playback::{clamped_offset, frame_pair};
use crate::shader::{MODEL_BYTES, Variant};
use crate::skin::SkinnedVertex;
use crate::{ClipInfo, ClipRecord, FramePair, Model, Playback, SkinMatrix, Time};

/// Poses are counted along y of a dispatch.
const MOST_POSES: u64 = 65_535;

/// Whether instances of a crowd share poses, and vertices of these are kept.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum CacheState {
    /// Every instance shows its own moment: [`CrowdDescriptor::time_grid`] is not set.
    NotAsked,
    /// They share poses, and each of these is composed and skinned once.
    On {
        /// Poses that there is room for.
        poses: u32,
        /// Moments of all clips.
        moments: u32,
        /// Bytes that they take.
        bytes: u64,
        /// Who shares them.
        share: Share,
    },
    /// Every instance shows its own moment: not all moments of all clips fit [`CrowdDescriptor::cache_bytes`], or what the
    /// device binds. [`CrowdDescriptor::path`] can ask for it all the same.
    NoRoom {
        /// Poses that there is room for.
        poses: u32,
        /// Moments of all clips.
        moments: u32,
    },
    /// They show moments of the grid, and nothing is kept: [`CrowdDescriptor::path`] is [`DrawPath::Palette`].
    Palette,
    /// Every instance shows its own moment: nothing looks at instances before the draw, because they are not culled.
    NotCulled,
    /// Every instance shows its own moment: with [`RendererDescriptor::motion_vectors`](super::RendererDescriptor::motion_vectors)
    /// poses of two moments are needed.
    MotionVectors,
}

impl fmt::Display for CacheState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAsked => {
                f.write_str("none, each instance shows its own moment: `CrowdDescriptor::time_grid` is not set")
            }
            Self::On { poses, moments, bytes, share } => {
                let megabytes = *bytes as f64 / 1e6;
                write!(
                    f,
                    "the vertices of {poses} poses are kept ({moments} moments of all clips; {megabytes:.1} MB)"
                )?;
                match share {
                    Share::Unseen => f.write_str(", for those who are so small that it does not show"),
                    Share::All => f.write_str(", for all, however near"),
                }
            }
            Self::NoRoom { poses, moments } => {
                let own = "none, each instance shows its own moment";
                write!(f, "{own}: `CrowdDescriptor::cache_bytes`, or what the device binds, has room for ")?;
                write!(f, "{poses} of {moments} moments of all clips")
            }
            Self::Palette => f.write_str("none: `CrowdDescriptor::path` asks for the palette"),
            Self::NotCulled => f.write_str("none, each instance shows its own moment: instances are not culled"),
            Self::MotionVectors => {
                f.write_str("none, each instance shows its own moment: `RendererDescriptor::motion_vectors` is on")
            }
        }
    }
}

/// Who shares poses, where there is a [`CrowdDescriptor::time_grid`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Share {
    /// Instances of which no view shows that they do: seen at most [`RendererDescriptor::lod_error`](super::RendererDescriptor::lod_error)
    /// pixels away from where their own moment has them, by what their clip's bones do in half a step. Those that are nearer
    /// show their own moment. Nobody shares where `lod_error` is 0.
    #[default]
    Unseen,
    /// All, however near.
    All,
}

/// How far vertices of instances that share poses may be from where their own moments have them, metres at scale 1, for each
/// clip: what `grid` as [`CrowdDescriptor::time_grid`] costs, half a step of a clip's time at most. 0 for a clip that has
/// too many moments to be shared. Found at eight moments a step, of every vertex: a tool's work, not a game's.
///
/// # Errors
/// When a file of the model is missing or of another bake.
pub fn time_errors(model: &Model, grid: f32) -> Result<Vec<f32>, Error> {
    let posed = Posed::new(model)?;
    let apart = |a: &Vec<SkinnedVertex>, b: &Vec<SkinnedVertex>| {
        a.iter().zip(b).map(|(a, b)| a.position.distance_squared(b.position)).fold(0.0, f32::max).sqrt()
    };
    let clips = model.meta.clips.iter().zip(&posed.records);
    let of_clip = |(clip, record): (&ClipInfo, &ClipRecord)| {
        worst_step::<8, _>(record, cache::steps(clip.duration as f32, grid), |frames| posed.vertices(frames), apart)
    };
    Ok(clips.map(of_clip).collect())
}

/// The most that something is apart between a moment and what is shared there, found at so many moments a step.
fn worst_step<const PARTS: u32, T>(
    record: &ClipRecord,
    steps: u32,
    at: impl Fn(FramePair) -> T,
    apart: impl Fn(&T, &T) -> f32,
) -> f32 {
    let at = |part: u32| {
        let offset = clamped_offset(f64::from(part) / f64::from(PARTS * steps));
        at(frame_pair(&Playback { offset, ..Playback::default() }, record, Time::ZERO))
    };
    let mut worst = 0.0_f32;
    let mut before = (steps > 0).then(|| at(0));
    for step in 0..steps {
        let after = at(PARTS * (step + 1));
        for part in 1..PARTS {
            let own = at(PARTS * step + part);
            let shared =
                [(2 * part <= PARTS).then_some(before.as_ref()).flatten(), (2 * part >= PARTS).then_some(&after)];
            worst = shared.into_iter().flatten().map(|shared| apart(&own, shared)).fold(worst, f32::max);
        }
        before = Some(after);
    }
    worst
}

/// Clips of so many steps, and what their moments cost at most: what half a step does to the corners of boxes around what bones
/// move, between which all vertices are.
fn costs(model: &Model, clips: &[(u32, f32)]) -> Result<Vec<(u32, f32)>, Error> {
    let posed = Posed::new(model)?;
    let corners = posed.corners();
    let apart = |a: &Vec<SkinMatrix>, b: &Vec<SkinMatrix>| {
        let bones = a.iter().zip(b).zip(&corners).filter_map(|((a, b), corners)| Some((a, b, corners.as_ref()?)));
        let squares = bones.flat_map(|(a, b, corners)| corners.map(|c| a.point(c).distance_squared(b.point(c))));
        squares.fold(0.0, f32::max).sqrt()
    };
    let of_clip = |(&(steps, _), record): (&(u32, f32), &ClipRecord)| {
        let off = worst_step::<2, _>(record, steps, |frames| posed.bones(frames), apart);
        // 0 would be no matter.
        (steps, off.max(f32::MIN_POSITIVE))
    };
    Ok(clips.iter().zip(&posed.records).map(of_clip).collect())
}

/// What the instances of a crowd share.
#[derive(Clone, Debug)]
pub(crate) struct Sharing {
    /// Of each clip: steps, and what they cost.
    clips: Vec<(u32, f32)>,
    /// Poses that are kept, of all palettes together.
    pub(crate) kept: u32,
    pub(crate) moments: u32,
}

impl Sharing {
    /// What a crowd was asked to share, and how that came.
    pub(crate) fn of(
        device: &wgpu::Device,
        (model, geometry): (&Model, &Geometry),
        culls: bool,
        descriptor: &CrowdDescriptor,
    ) -> Result<(Option<Self>, CacheState), Error> {
        let wrong = |reason: String| Err(Error::Argument { model: model.meta.name.to_string(), reason });
        let &CrowdDescriptor { time_grid, cache_bytes, share, path, .. } = descriptor;
        let Some(poses) = geometry.poses() else {
            return match path {
                Some(path @ (DrawPath::Palette | DrawPath::Cache)) => {
                    let encoding = geometry.variant.encoding.name();
                    wrong(format!(
                        "path: {path} composes poses of local-packed, and it plays {encoding} here; set `encoding = \
                         \"local-packed\"` for it in gpuskin.toml, and request a device with at least \
                         wgpu::Limits::downlevel_defaults()"
                    ))
                }
                _ => Ok((None, CacheState::NotAsked)),
            };
        };
        let forced = path == Some(DrawPath::Cache);
        let Some(grid) = time_grid else {
            return match forced {
                true => wrong(
                    "path: the cache keeps poses at moments of a grid; set `time_grid`, 1.0 / 30.0 for one".into(),
                ),
                false => Ok((None, CacheState::NotAsked)),
            };
        };
        if !(grid.is_finite() && grid > 0.0) {
            return wrong(format!("time_grid: {grid} seconds; it must be above zero"));
        }
        let state = match geometry.bounds.as_deref().filter(|_| culls) {
            None => Err(CacheState::NotCulled),
            Some(_) if poses.moments() > 1 => Err(CacheState::MotionVectors),
            Some(bounds) => Ok(bounds),
        };
        let bounds = match state {
            Ok(bounds) => bounds,
            Err(state) if forced => return wrong(format!("path: cache: {state}")),
            Err(state) => return Ok((None, state)),
        };
        let steps = |clip: &ClipInfo| (cache::steps(clip.duration as f32, grid), 0.0);
        let clips: Vec<(u32, f32)> = model.meta.clips.iter().map(steps).collect();
        let moments = cache::set_steps(&mut bounds.to_vec(), &clips);
        let of_a_pose = bytes_of_a_pose(geometry, poses);
        let room = room(&device.limits(), geometry, poses, cache_bytes).min(moments);
        let on = CacheState::On { poses: room, moments, bytes: u64::from(room) * of_a_pose, share };
        let (state, kept) = match path {
            Some(DrawPath::Palette) => (CacheState::Palette, 0),
            Some(DrawPath::Cache) if room == 0 => {
                return wrong(format!(
                    "cache_bytes: a pose takes {of_a_pose} bytes, and {cache_bytes} have room for none that the device can \
                     bind; give it more, or leave `path` to the renderer"
                ));
            }
            Some(DrawPath::Cache) => (on, room),
            _ if room < moments || moments == 0 => return Ok((None, CacheState::NoRoom { poses: room, moments })),
            _ => (on, room),
        };
        let clips = if share == Share::All { clips } else { costs(model, &clips)? };
        Ok((Some(Self { clips, kept, moments }), state))
    }

    /// Puts the steps of clips where the culling pass finds them.
    pub(crate) fn set_steps(&self, bounds: &mut [u32]) {
        cache::set_steps(bounds, &self.clips);
    }
}

/// Poses that a device keeps in so many bytes.
fn room(limits: &wgpu::Limits, geometry: &Geometry, poses: &Poses, bytes: u64) -> u32 {
    let vertices = u64::from(geometry.vertex_count) * VERTEX;
    // Half of the largest binding for the palette's part: the other instances need theirs, too.
    let bones = u64::from(poses.stride()) * MATRIX * 2;
    let groups = u64::from(limits.max_compute_workgroups_per_dimension).min(MOST_POSES);
    if geometry.vertices_len() > poses.binding || u64::from(geometry.vertex_count.div_ceil(FILL_GROUP)) > groups {
        return 0;
    }
    let room = (poses.binding / vertices.max(1)).min(poses.binding / bones.max(1));
    room.min(bytes / bytes_of_a_pose(geometry, poses)).min(groups) as u32
}

fn bytes_of_a_pose(geometry: &Geometry, poses: &Poses) -> u64 {
    u64::from(geometry.vertex_count) * VERTEX + u64::from(poses.stride()) * MATRIX
}

/// What skins poses, made when a crowd first keeps them.
#[derive(Debug)]
pub(crate) struct Fill {
    layouts: [wgpu::BindGroupLayout; 2],
    pipeline: wgpu::ComputePipeline,
}

impl Fill {
    pub(crate) fn new(device: &wgpu::Device, variant: Variant) -> Self {
        let parameters = uniform(size_of::<PaletteUniform>() as u64, false);
        let (read, write) = (storage(true, false), storage(false, false));
        let layouts = [&[read, uniform(MODEL_BYTES, false)][..], &[parameters, read, write]];
        let layouts = layouts.map(|bindings| layout(device, LABEL, bindings));
        let pipeline = pipeline(device, LABEL, (&cache::fill(variant), FILL), &[&layouts[0], &layouts[1]]);
        Self { layouts, pipeline }
    }
}

const LABEL: Option<&str> = Some("gpuskin cache");

/// The poses that are kept beside a palette: the first of it, and their vertices.
#[derive(Clone, Debug)]
pub(crate) struct Kept {
    pub(crate) parameters: wgpu::Buffer,
    /// Of the palette pass.
    compute: wgpu::BindGroup,
    fill: [wgpu::BindGroup; 2],
    pipeline: wgpu::ComputePipeline,
    /// What vertices are drawn with.
    pub(crate) drawing: wgpu::BindGroup,
}

impl Kept {
    /// So many poses; `drawing` makes the bind group of a draw from the buffer of their vertices.
    pub(crate) fn new(
        device: &wgpu::Device,
        geometry: &Geometry,
        poses: u32,
        (parameters, palette): (wgpu::Buffer, &wgpu::Buffer),
        compute: wgpu::BindGroup,
        drawing: impl FnOnce(&wgpu::Buffer) -> wgpu::BindGroup,
    ) -> Self {
        let vertices = device.create_buffer(&wgpu::BufferDescriptor {
            label: LABEL,
            size: u64::from(poses) * u64::from(geometry.vertex_count) * VERTEX,
            usage: wgpu::BufferUsages::STORAGE,
            mapped_at_creation: false,
        });
        let fill = geometry.fill(device);
        let group = |layout, resources: &[_]| bind_group(device, LABEL, layout, resources);
        let whole = wgpu::Buffer::as_entire_binding;
        let groups = [
            group(&fill.layouts[0], &[whole(palette), geometry.constants()]),
            group(&fill.layouts[1], &[whole(&parameters), geometry.vertex_words(), whole(&vertices)]),
        ];
        let drawing = drawing(&vertices);
        Self { parameters, compute, fill: groups, pipeline: fill.pipeline.clone(), drawing }
    }

    /// The same, with another bind group of the palette pass.
    pub(crate) fn with_compute(&self, compute: wgpu::BindGroup) -> Self {
        Self { compute, ..self.clone() }
    }

    /// Makes the poses that are new, and their vertices: as many as the culling pass has written to the arguments.
    pub(crate) fn record(&self, pass: &mut wgpu::ComputePass<'_>, poses: &Poses, arguments: &wgpu::Buffer) {
        poses.set(pass, &self.compute, 0);
        pass.dispatch_workgroups_indirect(arguments, DISPATCH);
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.fill[0], &[]);
        pass.set_bind_group(1, &self.fill[1], &[]);
        pass.dispatch_workgroups_indirect(arguments, 2 * DISPATCH);
    }
}
