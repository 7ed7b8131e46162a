//! Culling: which instances a view sees, by what their clips reach, and in which level of detail; and which of them others
//! hide. Twin of `shaders/cull.wgsl`, and its text. Needs no wgpu.

mod pyramid;

use core::mem::offset_of;

use bytemuck::{Pod, Zeroable};
use glam::{Mat4, Vec3, Vec4};

use crate::local::shader::PaletteUniform;
use crate::{Aabb, InstanceRecord, MAX_CLIPS, MAX_LEVELS, Metadata, Time};

pub use pyramid::{
    Before, DepthPyramid, LevelUniform, PYRAMID, PYRAMID_GROUP, PyramidUniform, ROUNDING, TEXELS_ACROSS, pyramid,
    pyramid_levels,
};

/// Views that are looked at. With more of them nothing is culled.
pub const MOST_VIEWS: usize = 15;
/// Lists: for what each view sees, for what all of them see together, and for what the second pass of the main view finds,
/// one a level of detail; twice, where those who share their poses have lists of their own.
pub const MOST_LISTS: usize = (MOST_VIEWS + 2) * MAX_LEVELS * 2;
/// Bytes before the first list: their lengths, how many instances get a place in the palette, and how many did before; how many
/// poses are kept for all that share them, and of how many that was done.
pub const LISTS_AT: u64 = (4 * (MOST_LISTS as u64 + 4)).next_multiple_of(256);
/// Bytes of an entry of a list.
pub const ENTRY: u64 = 8;
/// Bytes of what occlusion keeps of an instance from frame to frame, behind the lists.
pub const MARK: u64 = 4;
/// Bytes of where a moment is kept that instances share, behind those.
pub const MOMENT: u64 = 4;
/// Bytes before the arguments of the first draw: of the palette pass for instances, then for poses that are kept, and of what
/// skins those; each [`DISPATCH`] bytes after the other.
pub const DRAWS_AT: u64 = 3 * DISPATCH;
/// Bytes of the arguments of a dispatch, padded.
pub const DISPATCH: u64 = 16;
/// Bytes of the arguments of a draw.
pub const DRAW: u64 = 20;
/// Instances that a workgroup looks at.
pub const GROUP_SIZE: u32 = 64;
/// Words of [`pack_bounds`] before those of the first clip; four each.
pub(crate) const BOUNDS_HEADER: usize = 8;
/// Bytes of the uniform buffer that [`pack_bounds`] fills.
pub const BOUNDS_BYTES: u64 = 4 * BOUNDS_HEADER as u64 + 16 * MAX_CLIPS as u64;

/// Of its diagonal, how much a clip's box grows: between two frames limbs swing out of what the frames reach. At 900
/// degrees a second and 30 frames, a limb does so by 3 % of its length.
const BETWEEN_FRAMES: f32 = 1.0 / 32.0;
/// The same for mixes of clips: an arm on its way from up to down is in front.
const BETWEEN_CLIPS: f32 = 1.0 / 4.0;
/// The same for layers: a clip that adds moves a limb that another has moved already.
const BETWEEN_LAYERS: f32 = 1.0 / 2.0;

/// Binding 0 of both passes. Twin of `GpuskinCullParameters` in `shaders/cull.wgsl`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct CullUniform {
    /// The moment: [`Time::words`].
    pub clock: [u32; 2],
    /// Instances to look at.
    pub instances: u32,
    /// Views, at most [`MOST_VIEWS`].
    pub views: u32,
    /// Entries of a list.
    pub capacity: u32,
    /// Parts of the mesh.
    pub parts: u32,
    /// Workgroups of a dispatch in one direction.
    pub most_groups: u32,
    /// Levels of detail, at most [`MAX_LEVELS`].
    pub levels: u32,
    /// Poses that the palette has room for, beside those that are kept. Instances beyond that share those of others.
    pub places: u32,
    /// Not 0: layers may reach anywhere, because live bones are among them.
    pub live: u32,
    /// Words before the marks of instances, among those of the lists; 0: there are none.
    pub marks_at: u32,
    /// Not 0: the main view shows all that it sees, whatever the marks say.
    pub everyone: u32,
    /// Poses that are kept for all instances that share them: the first of the palette; 0: none are.
    pub kept: u32,
    /// Words before where each moment of [`cache`](crate::cache) is kept, among those of the lists.
    pub kept_at: u32,
    /// Moments that there are.
    pub moments: u32,
    /// Not used, zero.
    pub reserved: u32,
    /// [`MeshLevel::error`](crate::MeshLevel::error) of each level, ascending; 0 of the finest.
    pub errors: [f32; MAX_LEVELS],
}

/// A view as the pass has it. Twin of `GpuskinCullView` in `shaders/cull.wgsl`.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct CullView {
    /// World to clip space; one that is zero sees nothing.
    pub view_proj: [[f32; 4]; 4],
    /// Where the camera stands in the world.
    pub eye: [f32; 3],
    /// Half the height of the picture over the error that may show, both in pixels; 0: the finest level for all.
    pub detail: f32,
}

/// What the clips of a model reach, as `GpuskinBounds` in `shaders/cull.wgsl` has it; `None` where that is not known.
pub fn pack_bounds(meta: &Metadata) -> Option<Vec<u32>> {
    let all = grown(&meta.bounds, BETWEEN_CLIPS)?;
    let (min, extent) = (Vec3::from(all.min), Vec3::from(all.max) - Vec3::from(all.min));
    let layered = (BETWEEN_LAYERS - BETWEEN_CLIPS) * meta.bounds.diagonal();
    let mut words: Vec<u32> =
        min.extend(layered).to_array().into_iter().chain(extent.extend(0.0).to_array()).map(f32::to_bits).collect();
    for clip in meta.clips.iter() {
        let clip = grown(&clip.bounds, BETWEEN_FRAMES).unwrap_or(all);
        let part = |v: f32, axis: usize| f64::from(v - min[axis]) / f64::from(extent[axis].max(f32::MIN_POSITIVE));
        let steps = |v: f64| (v * 65_535.0).clamp(0.0, 65_535.0) as u32;
        // Outwards, and a step for the arithmetic.
        words.extend([0, 1, 2].map(|axis| {
            let least = steps(part(clip.min[axis], axis) - 1.0 / 65_535.0);
            least | steps(part(clip.max[axis], axis) + 2.0 / 65_535.0) << 16
        }));
        words.push(0);
    }
    Some(words)
}

/// Least and extent of what all clips reach, by words of [`pack_bounds`]; the fourth of each is zero.
#[cfg(feature = "wgpu")]
pub(crate) fn whole_reach(bounds: &[u32]) -> [[f32; 4]; 2] {
    let vector = |at: usize| [0, 1, 2, 3].map(|i| if i < 3 { f32::from_bits(bounds[at + i]) } else { 0.0 });
    [vector(0), vector(4)]
}

/// The same of a model whose instances carry what reaches so many metres further, as words of [`pack_bounds`].
pub fn reaching(bounds: &[u32], metres: f32) -> Vec<u32> {
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
            // Outwards, and a step for the arithmetic.
            let least = (steps(least - f64::from(metres)) - 1.0).clamp(0.0, 65_535.0) as u32;
            clip[axis] = least | ((steps(greatest + f64::from(metres)) + 2.0).clamp(0.0, 65_535.0) as u32) << 16;
        }
    }
    words
}

/// What an instance may reach in the world, by words of [`pack_bounds`]: the middle of a box, and the halves of its edges.
/// `None` where live poses may lie over its clip: they reach anywhere. `live`: some instance of its crowd has one.
///
/// # Panics
/// If there are no words of the clip that it plays.
pub fn reach(bounds: &[u32], instance: &InstanceRecord, live: bool, now: Time) -> Option<(Vec3, [Vec3; 3])> {
    let layered = instance.layer_set() != 0;
    if layered && live {
        return None;
    }
    let vector = |at: usize| Vec3::from([0, 1, 2].map(|i| f32::from_bits(bounds[at + i])));
    let (min, extent) = (vector(0), vector(4));
    let (mut least, mut greatest) = (Vec3::ZERO, Vec3::ONE);
    // A mix of clips is within none of them.
    if !layered && instance.weight(now) >= 1.0 {
        let at = BOUNDS_HEADER + instance.clip_index() * 4;
        let part = |shift: u32| Vec3::from([0, 1, 2].map(|i| (bounds[at + i] >> shift & 0xffff) as f32)) / 65_535.0;
        (least, greatest) = (part(0), part(16));
    }
    let margin = if layered { f32::from_bits(bounds[3]) } else { 0.0 };
    let half = (0.5 * (greatest - least) * extent + margin) * instance.scale;
    let edges = [Vec3::X * half.x, Vec3::Y * half.y, Vec3::Z * half.z].map(|edge| instance.direction(edge));
    Some((instance.point(min + 0.5 * (least + greatest) * extent), edges))
}

/// A box that is larger on all sides by so much of its diagonal; `None` where it is empty or not finite.
fn grown(bounds: &Aabb, share: f32) -> Option<Aabb> {
    let (min, max) = (Vec3::from(bounds.min), Vec3::from(bounds.max));
    let by = Vec3::splat((max - min).length() * share);
    let (min, max) = (min - by, max + by);
    let good = (max - min).is_finite() && (max - min).min_element() >= 0.0;
    good.then_some(Aabb { min: min.into(), max: max.into() })
}

/// Whether a view may see a box: its middle, and the halves of its edges. `view_proj` as [`Camera`](crate::Camera) has it;
/// one that is zero sees nothing.
pub fn in_view(view_proj: &[[f32; 4]; 4], middle: Vec3, edges: [Vec3; 3]) -> bool {
    let rows = Mat4::from_cols_array_2d(view_proj).transpose();
    let [x, y, z, w] = [rows.x_axis, rows.y_axis, rows.z_axis, rows.w_axis];
    let outside = |plane: Vec4| {
        let normal = plane.truncate();
        let [a, b, c] = edges.map(|edge| normal.dot(edge).abs());
        normal.dot(middle) + plane.w + (a + b + c) < 0.0
    };
    w != Vec4::ZERO && ![w + x, w - x, w + y, w - y, z, w - z].into_iter().any(outside)
}

/// By how many of the errors that may show a view shows a metre of an instance of some scale, where a box of it is nearest;
/// `None` where it is too near to tell, and where nothing may show.
pub fn metre(view: &CullView, middle: Vec3, edges: [Vec3; 3], scale: f32) -> Option<f32> {
    let rows = Mat4::from_cols_array_2d(&view.view_proj).transpose();
    let depth = rows.w_axis.truncate();
    let [a, b, c] = edges.map(|edge| depth.dot(edge).abs());
    let near = depth.dot(middle) + rows.w_axis.w - (a + b + c);
    let known = view.detail > 0.0 && near > 0.0;
    known.then(|| view.detail * rows.y_axis.truncate().length() * scale.abs() / near)
}

/// The level of detail in which a view shows a box of an instance of some scale: the coarsest whose error, seen where the
/// box is nearest, is not greater than what may show. `errors`: [`CullUniform::errors`] of the levels that there are.
pub fn level(view: &CullView, errors: &[f32], middle: Vec3, edges: [Vec3; 3], scale: f32) -> usize {
    let Some(metre) = metre(view, middle, edges, scale) else { return 0 };
    let coarser = errors.iter().skip(1).take_while(|error| **error * metre <= 1.0);
    coarser.count()
}

/// Compute entry point of [`cull`]: a thread an instance, workgroups counted along x, then y.
pub const CULL: &str = "gpuskin_cull";
/// The same of [`reveal`].
pub const REVEAL: &str = "gpuskin_reveal";
/// Compute entry point of [`arguments`], after the first pass: one workgroup.
pub const ARGUMENTS: &str = "gpuskin_write_arguments";
/// The same after the second.
pub const REVEALED_ARGUMENTS: &str = "gpuskin_write_revealed";

/// WGSL of the culling pass.
pub fn cull() -> String {
    text(&[include_str!("../shaders/cull_views.wgsl")])
}

/// WGSL of the second culling pass, which finds what the main view shows after all.
pub fn reveal() -> String {
    let constants = format!(
        "// Of the sum of the sizes of products.\nconst gpuskin_rounding: f32 = {ROUNDING};\n\
         const gpuskin_texels_across: u32 = {TEXELS_ACROSS}u;\n"
    );
    text(&[&constants, include_str!("../shaders/hidden.wgsl"), include_str!("../shaders/cull_reveal.wgsl")])
}

/// WGSL of the pass after either of them.
pub fn arguments() -> String {
    let [count, first] =
        [offset_of!(PaletteUniform, instances), offset_of!(PaletteUniform, first_instance)].map(|at| at / 4);
    format!(
        "const gpuskin_instances_word: u32 = {count}u;\nconst gpuskin_first_word: u32 = {first}u;\n{}\n{}",
        lists(),
        include_str!("../shaders/cull_arguments.wgsl")
    )
}

/// What both passes are made of.
fn text(own: &[&str]) -> String {
    let mut text =
        format!("const gpuskin_most_views: u32 = {MOST_VIEWS}u;\nconst gpuskin_lists_at: u32 = {}u;\n", LISTS_AT / 4);
    text += &lists();
    let shared = [
        include_str!("../shaders/playback.wgsl"),
        include_str!("../shaders/instance.wgsl"),
        include_str!("../shaders/cull_still.wgsl"),
        include_str!("../shaders/cull.wgsl"),
    ];
    for module in shared.iter().chain(own) {
        text.push('\n');
        text.push_str(module);
    }
    text
}

/// Words before the lists.
fn lists() -> String {
    let words = [("most_lists", 0), ("places_taken", 1), ("poses_kept", 2), ("poses_filled", 3)];
    let mut text: String =
        words.iter().map(|(name, at)| format!("const gpuskin_{name}: u32 = {}u;\n", MOST_LISTS + at)).collect();
    text.push_str("// Where a moment is kept: less than that is nowhere, and 1 is nowhere yet.\nconst gpuskin_kept_from: u32 = 2u;\n");
    text
}
