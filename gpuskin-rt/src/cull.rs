//! Culling: selects the instances that a view can see, from the bounds of their clips, and their
//! levels of detail; with occlusion culling, also drops instances that are hidden behind others.
//! CPU reference and WGSL source of `shaders/cull.wgsl`. Does not need wgpu.

mod pyramid;

use core::mem::offset_of;

use bytemuck::{Pod, Zeroable};
use glam::{Mat4, Vec3, Vec4};

use crate::bit_fields;
use crate::local::shader::PaletteUniform;
use crate::shader::{UNIFORM_CLIPS, clips_across};
use crate::{Aabb, InstanceRecord, MAX_LODS, Metadata, Time};

pub use pyramid::{
    DepthPyramid, MipUniform, PYRAMID_ENTRY_POINT, PYRAMID_GROUP_SIZE, PyramidSource, PyramidUniform, ROUNDING,
    TEXELS_ACROSS, pyramid, pyramid_mip_levels,
};

/// Greatest number of views. With more views, nothing is culled.
pub const MAX_VIEWS: usize = 31;
/// Greatest number of instance lists: one per view, one for all views together and one for the
/// second pass of the main view, each per level of detail; and twice that number, because instances
/// drawn from the pose cache have lists of their own.
pub const MAX_LISTS: usize = (MAX_VIEWS + 2) * MAX_LODS * 2;
/// Byte offset of the first instance list. Before it: the list lengths, then the number of palette
/// slots in use and in use in the previous frame, the number of cached poses, the number of those
/// already filled, and the number of slots that both passes wanted.
pub const LISTS_AT: u64 = (4 * (MAX_LISTS as u64 + 5)).next_multiple_of(256);
/// Word of the number of slots that both passes wanted, after the list lengths.
const SLOTS_WANTED: usize = 4;
/// Byte offset of the number of palette slots that the passes of the last frame wanted.
pub const SLOTS_WANTED_AT: u64 = 4 * (MAX_LISTS + SLOTS_WANTED) as u64;
/// Size of an instance list entry, bytes.
pub const ENTRY_BYTES: u64 = 8;
/// Size of the occlusion mark per instance, bytes. Marks persist from frame to frame, behind the
/// lists.
pub const MARK_BYTES: u64 = 4;
/// Size of the pose cache entry per sample, bytes. Entries follow the marks.
pub const SAMPLE_BYTES: u64 = 4;
/// Byte offset of the first draw arguments. Before them, [`DISPATCH_BYTES`] bytes each: dispatch
/// arguments of the palette pass for instances, of the palette pass for cached poses, and of the
/// pass that skins cached poses.
pub const DRAWS_AT: u64 = 3 * DISPATCH_BYTES;
/// Size of the arguments of a dispatch, bytes, including padding.
pub const DISPATCH_BYTES: u64 = 16;
/// Size of the arguments of a draw, bytes.
pub const DRAW_BYTES: u64 = 20;
/// Number of instances per workgroup.
pub const GROUP_SIZE: u32 = 64;
/// Number of words of [`pack_bounds`] before those of the first clip; each clip has four words.
pub(crate) const BOUNDS_HEADER: usize = 8;
/// The first sample of each clip in the pose cache is a multiple of this number, because it has 17 bits.
pub(crate) const SAMPLE_ALIGNMENT: u32 = 8;
/// Size of the uniform buffer that [`pack_bounds`] fills for a model of at most [`UNIFORM_CLIPS`] clips, bytes.
pub const BOUNDS_BYTES: u64 = 4 * BOUNDS_HEADER as u64 + 16 * UNIFORM_CLIPS as u64;

/// Margin around a clip's box, as a fraction of its diagonal: between two frames, limbs swing out
/// of the box around the frames. At 900 degrees per second and 30 frames per second, by 3 % of the
/// limb's length.
const INTERPOLATION_MARGIN: f32 = 1.0 / 32.0;
/// Margin for blends of clips, as a fraction of the diagonal: an arm that moves from up to down
/// passes in front of the body.
const CROSSFADE_MARGIN: f32 = 1.0 / 4.0;
/// Margin for layers, as a fraction of the diagonal: an additive clip moves a limb that another
/// clip has already moved.
const LAYER_MARGIN: f32 = 1.0 / 2.0;

/// Uniform of both culling passes, binding 0. CPU layout of `GpuskinCullParameters` in
/// `shaders/cull_parameters.wgsl`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct CullUniform {
    /// Time: [`Time::words`].
    pub time: [u32; 2],
    /// Number of instances.
    pub instances: u32,
    /// Number of views, at most [`MAX_VIEWS`].
    pub views: u32,
    /// Number of entries per instance list.
    pub capacity: u32,
    /// Number of mesh parts.
    pub parts: u32,
    /// Greatest number of workgroups per dispatch in one dimension.
    pub max_groups: u32,
    /// Number of levels of detail, at most [`MAX_LODS`].
    pub lods: u32,
    /// Number of palette slots, in addition to those of cached poses. Instances beyond that share
    /// the slots of others, unless [`Self::slotless`].
    pub palette_slots: u32,
    /// Not 0: layers have no bounds, because some of them are live bones.
    pub live: u32,
    /// Word offset of the occlusion marks from the lists; 0: there are none.
    pub marks_at: u32,
    /// Not 0: the main view ignores the occlusion marks and shows every instance in its frustum.
    pub ignore_marks: u32,
    /// Number of cached poses, which come first in the palette; 0: there is no pose cache.
    pub cached_poses: u32,
    /// Word offset of the entries of the pose cache from the lists.
    pub cache_at: u32,
    /// Number of entries of the pose cache: samples, and gaps between clips.
    pub cache_entries: u32,
    /// [`MeshInfo::influence_error`](crate::model::MeshInfo::influence_error), metres; 0: all influences are always used.
    pub influence_error: f32,
    /// Not 0: instances beyond the palette slots are in lists of their own, whose vertices evaluate the pose. They fill
    /// the lists from the end.
    pub slotless: u32,
    /// Zero.
    pub reserved: [u32; 3],
    /// LOD error per level, ascending, metres: [`MeshLod::error`](crate::model::MeshLod::error); 0 for LOD
    /// 0.
    pub errors: [f32; MAX_LODS],
}

/// A view of the culling pass. CPU layout of `GpuskinCullView` in `shaders/cull.wgsl`.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct CullView {
    /// World space to clip space; a zero matrix sees nothing.
    pub view_proj: [[f32; 4]; 4],
    /// Position of the camera. World space, metres.
    pub eye: [f32; 3],
    /// Half the height of the picture divided by the allowed LOD error, both in pixels; 0: LOD 0
    /// for all instances.
    pub lod_scale: f32,
}

/// Packs the bounds of the model's clips into the layout of `GpuskinBounds` in `shaders/cull_bounds_uniform.wgsl`;
/// `None` if the bounds are empty or not finite.
pub fn pack_bounds(meta: &Metadata) -> Option<Vec<u32>> {
    let all = expanded(&meta.bounds, CROSSFADE_MARGIN)?;
    let (min, extent) = (Vec3::from(all.min), Vec3::from(all.max) - Vec3::from(all.min));
    let layered = (LAYER_MARGIN - CROSSFADE_MARGIN) * meta.bounds.diagonal();
    let mut words: Vec<u32> =
        min.extend(layered).to_array().into_iter().chain(extent.extend(0.0).to_array()).map(f32::to_bits).collect();
    for clip in meta.clips.iter() {
        let clip = expanded(&clip.bounds, INTERPOLATION_MARGIN).unwrap_or(all);
        let part = |v: f32, axis: usize| f64::from(v - min[axis]) / f64::from(extent[axis].max(f32::MIN_POSITIVE));
        let steps = |v: f64| (v * 65_535.0).clamp(0.0, 65_535.0) as u32;
        // Rounded outwards, plus one step for rounding errors of the arithmetic.
        words.extend([0, 1, 2].map(|axis| {
            let least = steps(part(clip.min[axis], axis) - 1.0 / 65_535.0);
            least | steps(part(clip.max[axis], axis) + 2.0 / 65_535.0) << 16
        }));
        words.push(0);
    }
    Some(words)
}

/// Returns minimum and extent of the bounds of all clips, from words of [`pack_bounds`]; the fourth
/// component of each is zero.
#[cfg(feature = "wgpu")]
pub(crate) fn all_clip_bounds(bounds: &[u32]) -> [[f32; 4]; 2] {
    let vector = |at: usize| [0, 1, 2, 3].map(|i| if i < 3 { f32::from_bits(bounds[at + i]) } else { 0.0 });
    [vector(0), vector(4)]
}

/// Expands the words of [`pack_bounds`] by `metres` on all sides, for instances with attachments.
pub fn expand_bounds(bounds: &[u32], metres: f32) -> Vec<u32> {
    let mut words = bounds.to_vec();
    if metres.is_nan() || metres <= 0.0 || words.len() < BOUNDS_HEADER {
        return words;
    }
    let word = |at: usize| f32::from_bits(bounds[at]);
    let minimum = [0, 1, 2].map(|axis| word(axis) - metres);
    let extent = [4, 5, 6].map(|axis| word(axis) + 2.0 * metres);
    for axis in 0..3 {
        (words[axis], words[4 + axis]) = (minimum[axis].to_bits(), extent[axis].to_bits());
    }
    for clip in words[BOUNDS_HEADER..].as_chunks_mut::<4>().0 {
        for axis in 0..3 {
            let place = |steps: u32| f64::from(steps) / 65_535.0 * f64::from(word(4 + axis)) + f64::from(metres);
            let steps = |metres: f64| metres / f64::from(extent[axis]) * 65_535.0;
            let (least, greatest) = (place(clip[axis] & 0xffff), place(clip[axis] >> 16));
            // Rounded outwards, plus one step for rounding errors of the arithmetic.
            let least = (steps(least - f64::from(metres)) - 1.0).clamp(0.0, 65_535.0) as u32;
            clip[axis] = least | ((steps(greatest + f64::from(metres)) + 2.0).clamp(0.0, 65_535.0) as u32) << 16;
        }
    }
    words
}

/// Returns the world-space box of an instance, from words of [`pack_bounds`]: its centre, and its
/// half edges. `None` if live bones may be blended over its clip, because they have no bounds.
/// `live`: whether any instance of the crowd has live bones.
///
/// # Panics
/// If `bounds` has no words for the current clip.
pub fn instance_box(bounds: &[u32], instance: &InstanceRecord, live: bool, time: Time) -> Option<(Vec3, [Vec3; 3])> {
    let layered = instance.layer_set() != 0;
    if layered && live {
        return None;
    }
    let vector = |at: usize| Vec3::from([0, 1, 2].map(|i| f32::from_bits(bounds[at + i])));
    let (min, extent) = (vector(0), vector(4));
    let (mut least, mut greatest) = (Vec3::ZERO, Vec3::ONE);
    // A blend of clips stays within the bounds of none of them.
    if !layered && instance.weight(time) >= 1.0 {
        let at = BOUNDS_HEADER + instance.clip_index() * 4;
        let part = |shift: u32| Vec3::from([0, 1, 2].map(|i| (bounds[at + i] >> shift & 0xffff) as f32)) / 65_535.0;
        (least, greatest) = (part(0), part(16));
    }
    let margin = if layered { f32::from_bits(bounds[3]) } else { 0.0 };
    let half = (0.5 * (greatest - least) * extent + margin) * instance.scale;
    let edges = [Vec3::X * half.x, Vec3::Y * half.y, Vec3::Z * half.z].map(|edge| instance.direction(edge));
    Some((instance.point(min + 0.5 * (least + greatest) * extent), edges))
}

/// Expands a box on all sides by a fraction of its diagonal; `None` if it is empty or not finite.
fn expanded(bounds: &Aabb, share: f32) -> Option<Aabb> {
    let (min, max) = (Vec3::from(bounds.min), Vec3::from(bounds.max));
    let by = Vec3::splat((max - min).length() * share);
    let (min, max) = (min - by, max + by);
    let good = (max - min).is_finite() && (max - min).min_element() >= 0.0;
    good.then_some(Aabb { min: min.into(), max: max.into() })
}

/// View frustum: the half-spaces that its planes bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frustum {
    /// `[normal, distance]` of each plane; empty if a view sees nothing.
    planes: Option<[Vec4; 6]>,
}

impl Frustum {
    /// Frustum of a view. `view_proj`: as in [`Camera`](crate::Camera); a zero matrix sees nothing.
    pub fn new(view_proj: &[[f32; 4]; 4]) -> Self {
        let rows = Mat4::from_cols_array_2d(view_proj).transpose();
        let [x, y, z, w] = [rows.x_axis, rows.y_axis, rows.z_axis, rows.w_axis];
        Self { planes: (w != Vec4::ZERO).then_some([w + x, w - x, w + y, w - y, z, w - z]) }
    }

    /// Returns whether a box intersects the frustum. The box is given by its centre and its half edges.
    pub fn sees(&self, middle: Vec3, edges: [Vec3; 3]) -> bool {
        self.reaches(middle, |normal| {
            let [a, b, c] = edges.map(|edge| normal.dot(edge).abs());
            a + b + c
        })
    }

    /// Returns whether a cube intersects the frustum whose edges are parallel to the axes. `half`: half the length of an edge.
    #[cfg(feature = "wgpu")]
    pub(crate) fn sees_cube(&self, middle: Vec3, half: f32) -> bool {
        self.reaches(middle, |normal| half * normal.abs().element_sum())
    }

    /// `reach`: how far something reaches from its centre along a normal, in units of the length of the normal.
    fn reaches(&self, middle: Vec3, reach: impl Fn(Vec3) -> f32) -> bool {
        let outside = |plane: &Vec4| {
            let normal = plane.truncate();
            normal.dot(middle) + plane.w + reach(normal) < 0.0
        };
        self.planes.is_some_and(|planes| !planes.iter().any(outside))
    }
}

/// Returns whether a box intersects the view frustum. The box is given by its centre and its half
/// edges. `view_proj`: as in [`Camera`](crate::Camera); a zero matrix sees nothing.
pub fn in_view(view_proj: &[[f32; 4]; 4], middle: Vec3, edges: [Vec3; 3]) -> bool {
    Frustum::new(view_proj).sees(middle, edges)
}

/// Returns the ratio of the projected size of one metre of an instance to the allowed LOD error, at
/// the nearest point of its box. `None` if the box reaches the camera plane, or no error is
/// allowed.
pub fn error_scale(view: &CullView, middle: Vec3, edges: [Vec3; 3], scale: f32) -> Option<f32> {
    let rows = Mat4::from_cols_array_2d(&view.view_proj).transpose();
    let depth = rows.w_axis.truncate();
    let [a, b, c] = edges.map(|edge| depth.dot(edge).abs());
    let near = depth.dot(middle) + rows.w_axis.w - (a + b + c);
    let known = view.lod_scale > 0.0 && near > 0.0;
    known.then(|| view.lod_scale * rows.y_axis.truncate().length() * scale.abs() / near)
}

/// Returns the level of detail of an instance in a view: the coarsest whose LOD error, projected at
/// the nearest point of the box, is at most the allowed one. `errors`: [`CullUniform::errors`] of
/// the levels that exist.
pub fn lod(view: &CullView, errors: &[f32], middle: Vec3, edges: [Vec3; 3], scale: f32) -> usize {
    let Some(error_scale) = error_scale(view, middle, edges, scale) else { return 0 };
    let coarser = errors.iter().skip(1).take_while(|error| **error * error_scale <= 1.0);
    coarser.count()
}

/// Returns whether the greatest four influences of each vertex suffice for an instance: whether their error and that of the
/// level of detail, projected together, are at most the allowed error. `error_scale`: [`error_scale`].
pub fn four_influences(influence_error: f32, lod_error: f32, error_scale: Option<f32>) -> bool {
    influence_error > 0.0 && error_scale.is_some_and(|scale| (influence_error + lod_error) * scale <= 1.0)
}

/// Compute entry point of [`cull`]: one thread per instance, workgroups counted along x, then y.
pub const CULL_ENTRY_POINT: &str = "gpuskin_cull";
/// Compute entry point of [`reveal`]: one thread per instance, workgroups counted along x, then y.
pub const REVEAL_ENTRY_POINT: &str = "gpuskin_reveal";
/// Compute entry point of [`arguments`] after the first pass: one workgroup.
pub const ARGUMENTS_ENTRY_POINT: &str = "gpuskin_write_arguments";
/// Compute entry point of [`arguments`] after the second pass: one workgroup.
pub const REVEALED_ARGUMENTS_ENTRY_POINT: &str = "gpuskin_write_revealed";

/// Crowds that a culling pass reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CullScope {
    /// One crowd, of a model with at most [`UNIFORM_CLIPS`] clips.
    Single,
    /// One crowd, of a model with more clips.
    ManyClips,
    /// All crowds of a batch.
    Batch,
}

/// Returns the WGSL of the first culling pass.
pub fn cull(scope: CullScope) -> String {
    text(scope, &[include_str!("../shaders/cull_views.wgsl")])
}

/// Returns the WGSL of the second culling pass, which finds the revealed instances of the main
/// view: occluded in the last frame, visible in this one.
pub fn reveal(scope: CullScope) -> String {
    let constants = format!(
        "// Bound on rounding errors, relative to the sum of absolute products.\nconst gpuskin_rounding: f32 = {ROUNDING};\n\
         const gpuskin_texels_across: u32 = {TEXELS_ACROSS}u;\n"
    );
    text(scope, &[&constants, include_str!("../shaders/occlusion.wgsl"), include_str!("../shaders/cull_reveal.wgsl")])
}

/// Returns the WGSL of the pass that writes the indirect draw arguments after either culling pass.
pub fn arguments(scope: CullScope) -> String {
    let [count, first] =
        [offset_of!(PaletteUniform, instances), offset_of!(PaletteUniform, first_instance)].map(|at| at / 4);
    let own = match scope {
        CullScope::Single | CullScope::ManyClips => include_str!("../shaders/cull_arguments.wgsl").to_owned(),
        CullScope::Batch => format!("{TABLE}\n{}", include_str!("../shaders/cull_batch_arguments.wgsl")),
    };
    format!(
        "const gpuskin_instances_word: u32 = {count}u;\nconst gpuskin_first_word: u32 = {first}u;\n{}\n{PARAMETERS}\n{own}",
        lists(),
    )
}

/// Returns the WGSL of the table of the crowds of a batch.
pub fn batch_table() -> String {
    [PARAMETERS, TABLE].join("\n")
}

/// WGSL of [`CullUniform`].
const PARAMETERS: &str = include_str!("../shaders/cull_parameters.wgsl");
/// WGSL of the table of the crowds of a batch; needs [`PARAMETERS`].
const TABLE: &str = include_str!("../shaders/batch.wgsl");

/// Joins the WGSL that both culling passes share with `own`.
fn text(scope: CullScope, own: &[&str]) -> String {
    let mut text =
        format!("const gpuskin_max_views: u32 = {MAX_VIEWS}u;\nconst gpuskin_lists_at: u32 = {}u;\n", LISTS_AT / 4);
    text += &lists();
    text += &bit_fields::wgsl();
    if scope == CullScope::ManyClips {
        text += &clips_across();
    }
    let single = include_str!("../shaders/cull_single.wgsl");
    let bindings = match scope {
        CullScope::Single => [include_str!("../shaders/cull_bounds_uniform.wgsl"), single],
        CullScope::ManyClips => [include_str!("../shaders/cull_bounds_texture.wgsl"), single],
        CullScope::Batch => [TABLE, include_str!("../shaders/cull_batch.wgsl")],
    };
    let shared = [
        PARAMETERS,
        bindings[0],
        bindings[1],
        include_str!("../shaders/playback.wgsl"),
        include_str!("../shaders/instance.wgsl"),
        include_str!("../shaders/playback_words.wgsl"),
        include_str!("../shaders/cull_cache.wgsl"),
        include_str!("../shaders/cull.wgsl"),
    ];
    for module in shared.iter().chain(own) {
        text.push('\n');
        text.push_str(module);
    }
    text
}

/// Returns WGSL constants: word offsets before the lists.
fn lists() -> String {
    let words = [
        ("max_lists", 0),
        ("slots_taken", 1),
        ("cached_poses", 2),
        ("filled_poses", 3),
        ("slots_wanted", SLOTS_WANTED),
    ];
    let mut text: String =
        words.iter().map(|(name, at)| format!("const gpuskin_{name}: u32 = {}u;\n", MAX_LISTS + at)).collect();
    text.push_str("// Cache entry of a sample: 0 is not cached, 1 is being assigned, otherwise this plus the palette slot.\nconst gpuskin_first_cache_slot: u32 = 2u;\n");
    text += &format!("const gpuskin_sample_alignment: u32 = {}u;\n", SAMPLE_ALIGNMENT);
    text
}
