//! Sharing of poses: plans which instances of a crowd use the poses of a time grid.

use core::fmt;

use super::Error;
use super::cpu_model::CpuModel;
use super::descriptor::{CrowdDescriptor, DrawPath, PoseSharing};
use super::geometry::Geometry;
use super::layouts::MATRIX_BYTES;
use super::palette::PoseEvaluator;
use crate::cache::{self, CACHED_VERTEX_BYTES, FILL_GROUP_SIZE};
use crate::playback::{clamped_offset, frame_pair};
use crate::shader::MorphUse;
#[cfg(feature = "testing")]
use crate::skin::SkinnedVertex;
use crate::{Affine3, ClipInfo, ClipRecord, FramePair, Model, Playback, Time};

/// Largest number of poses: workgroups along y of a dispatch.
const MAX_POSES: u64 = 65_535;

/// Whether instances of a crowd share poses, and whether their skinned vertices are cached.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum CacheState {
    /// Instances do not share poses: [`CrowdDescriptor::time_grid`] is not set.
    NotAsked,
    /// Instances share poses; each shared pose is composed and skinned once.
    On {
        /// Number of poses that the cache can hold.
        poses: u32,
        /// Number of samples of all clips on the time grid.
        samples: u32,
        /// Bytes of the cache.
        bytes: u64,
        /// Condition under which an instance uses a shared pose.
        sharing: PoseSharing,
    },
    /// Instances do not share poses: the samples of all clips do not fit into
    /// [`CrowdDescriptor::cache_bytes`], or into the largest binding of the device.
    /// [`CrowdDescriptor::path`] can force the cache.
    NoRoom {
        /// Number of poses that the cache can hold.
        poses: u32,
        /// Number of samples of all clips on the time grid.
        samples: u32,
    },
    /// Instances snap to the time grid, but no pose is cached: [`CrowdDescriptor::path`] is
    /// [`DrawPath::Palette`].
    Palette,
    /// Instances do not share poses: they are not culled, so no pass tests them before the draw.
    NotCulled,
    /// Instances do not share poses:
    /// [`RendererDescriptor::motion_vectors`](super::RendererDescriptor::motion_vectors) needs the
    /// current and the previous pose.
    MotionVectors,
    /// Instances do not share poses: the model has morph targets.
    Morphs,
}

impl fmt::Display for CacheState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAsked => {
                f.write_str("off, each instance plays its exact time: `CrowdDescriptor::time_grid` is not set")
            }
            Self::On { poses, samples, bytes, sharing } => {
                let megabytes = *bytes as f64 / 1e6;
                write!(
                    f,
                    "vertices of up to {poses} poses are cached ({samples} samples of all clips; {megabytes:.1} MB)"
                )?;
                match sharing {
                    PoseSharing::WithinLodError => f.write_str(", shared where the difference cannot be seen"),
                    PoseSharing::Always => f.write_str(", shared by all instances, however near"),
                }
            }
            Self::NoRoom { poses, samples } => {
                let own = "off, each instance plays its exact time";
                write!(f, "{own}: `CrowdDescriptor::cache_bytes`, or the largest binding of the device, holds only ")?;
                write!(f, "{poses} of {samples} samples of all clips")
            }
            Self::Palette => f.write_str("off: `CrowdDescriptor::path` asks for the palette"),
            Self::NotCulled => f.write_str("off, each instance plays its exact time: instances are not culled"),
            Self::MotionVectors => {
                f.write_str("off, each instance plays its exact time: `RendererDescriptor::motion_vectors` is on")
            }
            Self::Morphs => f.write_str("off, each instance plays its exact time: the model has morph targets"),
        }
    }
}

/// Returns, per clip, the largest distance between the vertices of a shared pose and of the exact
/// pose, in metres at scale 1. `grid`: [`CrowdDescriptor::time_grid`], seconds; the time differs by
/// at most half a grid step. 0 for a clip with too many samples to be shared. Measures every vertex
/// at eight times per step: work for a tool, not for a game.
///
/// # Errors
/// If a file of the model is missing or from another bake.
#[cfg(feature = "testing")]
pub fn time_grid_errors(model: &Model, grid: f32) -> Result<Vec<f32>, Error> {
    let posed = CpuModel::new(model)?;
    let apart = |a: &Vec<SkinnedVertex>, b: &Vec<SkinnedVertex>| {
        a.iter().zip(b).map(|(a, b)| a.position.distance_squared(b.position)).fold(0.0, f32::max).sqrt()
    };
    let clips = model.meta.clips.iter().zip(&posed.records);
    let of_clip = |(clip, record): (&ClipInfo, &ClipRecord)| {
        greatest_step_error::<8, _>(
            record,
            cache::steps(clip.duration as f32, grid),
            |frames| posed.vertices_between(frames),
            apart,
        )
    };
    Ok(clips.map(of_clip).collect())
}

/// Returns the largest difference between an exact pose and the shared one, measured at `PARTS`
/// times per grid step.
fn greatest_step_error<const PARTS: u32, T>(
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

/// Returns the number of steps per clip, and the largest error of its shared poses in metres: the
/// distance that the corners of each bone's bounding box move in half a step. All vertices lie
/// between those corners.
fn step_errors(model: &Model, clips: &[(u32, f32)]) -> Result<Vec<(u32, f32)>, Error> {
    let posed = CpuModel::new(model)?;
    let corners = posed.corners();
    let apart = |a: &Vec<Affine3>, b: &Vec<Affine3>| {
        let bones = a.iter().zip(b).zip(&corners).filter_map(|((a, b), corners)| Some((a, b, corners.as_ref()?)));
        let squares = bones.flat_map(|(a, b, corners)| corners.map(|c| a.point(c).distance_squared(b.point(c))));
        squares.fold(0.0, f32::max).sqrt()
    };
    let of_clip = |(&(steps, _), record): (&(u32, f32), &ClipRecord)| {
        let off = greatest_step_error::<2, _>(record, steps, |frames| posed.bones(frames), apart);
        // 0 would mean that the error does not matter.
        (steps, off.max(f32::MIN_POSITIVE))
    };
    Ok(clips.iter().zip(&posed.records).map(of_clip).collect())
}

/// Shared poses of a crowd.
#[derive(Clone, Debug)]
pub(crate) struct SharedPoses {
    /// Per clip: number of grid steps, and sharing error in metres.
    clips: Vec<(u32, f32)>,
    /// Number of cached poses, over all palettes.
    pub(crate) cached_poses: u32,
    /// Number of cache entries.
    pub(crate) entries: u32,
}

impl SharedPoses {
    /// Plans the sharing that a crowd was asked for, and returns the resulting state.
    pub(crate) fn of(
        device: &wgpu::Device,
        (model, geometry): (&Model, &Geometry),
        culls: bool,
        descriptor: &CrowdDescriptor,
    ) -> Result<(Option<Self>, CacheState), Error> {
        let wrong = |reason: String| Err(Error::Argument { model: model.meta.name.to_string(), reason });
        let &CrowdDescriptor { time_grid, cache_bytes, sharing, path, .. } = descriptor;
        let Some(poses) = geometry.poses() else {
            return match path {
                Some(path @ (DrawPath::Palette | DrawPath::Cache)) => {
                    let encoding = geometry.variant.encoding.name();
                    wrong(format!(
                        "path: {path} needs local-packed, but the model plays {encoding} on this device; set `encoding = \
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
                true => wrong("path: the cache needs a time grid; set `time_grid`, to 1.0 / 30.0 for example".into()),
                false => Ok((None, CacheState::NotAsked)),
            };
        };
        if !(grid.is_finite() && grid > 0.0) {
            return wrong(format!("time_grid: {grid} seconds; it must be finite and above zero"));
        }
        let state = match geometry.bounds.as_deref().filter(|_| culls) {
            None => Err(CacheState::NotCulled),
            Some(_) if geometry.variant.morphs != MorphUse::None => Err(CacheState::Morphs),
            Some(_) if poses.pose_times() > 1 => Err(CacheState::MotionVectors),
            Some(bounds) => Ok(bounds),
        };
        let bounds = match state {
            Ok(bounds) => bounds,
            Err(state) if forced => return wrong(format!("path: the cache is {state}")),
            Err(state) => return Ok((None, state)),
        };
        let steps = |clip: &ClipInfo| (cache::steps(clip.duration as f32, grid), 0.0);
        let clips: Vec<(u32, f32)> = model.meta.clips.iter().map(steps).collect();
        let [samples, entries] = cache::set_steps(&mut bounds.to_vec(), &clips);
        let of_a_pose = bytes_per_pose(geometry, poses);
        let cache_capacity = cache_capacity(&device.limits(), geometry, poses, cache_bytes).min(samples);
        let on =
            CacheState::On { poses: cache_capacity, samples, bytes: u64::from(cache_capacity) * of_a_pose, sharing };
        let (state, cached_poses) = match path {
            Some(DrawPath::Palette) => (CacheState::Palette, 0),
            Some(DrawPath::Cache) if cache_capacity == 0 => {
                return wrong(format!(
                    "cache_bytes: {cache_bytes} bytes hold no pose that the device can bind, because a pose takes \
                     {of_a_pose} bytes; raise it, or leave `path` unset"
                ));
            }
            Some(DrawPath::Cache) => (on, cache_capacity),
            _ if cache_capacity < samples || samples == 0 => {
                return Ok((None, CacheState::NoRoom { poses: cache_capacity, samples }));
            }
            _ => (on, cache_capacity),
        };
        let clips = if sharing == PoseSharing::Always { clips } else { step_errors(model, &clips)? };
        Ok((Some(Self { clips, cached_poses, entries }), state))
    }

    /// Writes the steps of clips into the bounds, for the culling pass.
    pub(crate) fn set_steps(&self, bounds: &mut [u32]) {
        cache::set_steps(bounds, &self.clips);
    }
}

/// Returns the number of poses that a device can cache in `bytes`.
fn cache_capacity(limits: &wgpu::Limits, geometry: &Geometry, poses: &PoseEvaluator, bytes: u64) -> u32 {
    let vertices = u64::from(geometry.vertex_count) * CACHED_VERTEX_BYTES;
    // Cached poses take at most half of the largest palette binding, because other instances need
    // theirs too.
    let bones = u64::from(poses.stride()) * MATRIX_BYTES * 2;
    let groups = u64::from(limits.max_compute_workgroups_per_dimension).min(MAX_POSES);
    if geometry.vertices_len() > poses.binding || u64::from(geometry.vertex_count.div_ceil(FILL_GROUP_SIZE)) > groups {
        return 0;
    }
    let cache_capacity = (poses.binding / vertices.max(1)).min(poses.binding / bones.max(1));
    cache_capacity.min(bytes / bytes_per_pose(geometry, poses)).min(groups) as u32
}

fn bytes_per_pose(geometry: &Geometry, poses: &PoseEvaluator) -> u64 {
    u64::from(geometry.vertex_count) * CACHED_VERTEX_BYTES + u64::from(poses.stride()) * MATRIX_BYTES
}
