//! The shaders as text, for a game's own pipelines. Needs no wgpu.
//!
//! [`source`] gives the WGSL that skins a model: put it before your own and call `gpuskin_skin_vertex`. Everything in
//! it begins with `gpuskin_` or `Gpuskin`.
//!
//! ```
//! use gpuskin_rt::shader::{self, Variant};
//! # let variant = Variant::all().next().unwrap();
//! let outline = shader::source(variant, 1) + r"
//!     @group(0) @binding(0) var<uniform> view_proj: mat4x4<f32>;
//!     @group(0) @binding(1) var<uniform> clock: vec4<u32>;          // Time::words(), then padding
//!
//!     @vertex
//!     fn vertex(input: GpuskinInput) -> @builtin(position) vec4<f32> {
//!         let skinned = gpuskin_skin_vertex(input, clock.xy);       // position, normal, tangent, uv, color in the world
//!         return view_proj * vec4<f32>(skinned.position + 0.02 * skinned.normal, 1.0);
//!     }
//!
//!     @fragment
//!     fn fragment() -> @location(0) vec4<f32> { return vec4<f32>(0.0, 0.0, 0.0, 1.0); }
//! ";
//! # assert!(outline.contains("var gpuskin_animation"));
//! ```
//!
//! | in the text | |
//! |---|---|
//! | `gpuskin_skin_vertex(GpuskinInput, now: vec2<u32>) -> GpuskinSkinned` | a vertex of an instance in the world |
//! | `gpuskin_skin_vertex_before(GpuskinInput, before: vec2<u32>) -> GpuskinSkinned` | the same in the frame before, for motion vectors |
//! | `gpuskin_unpack(GpuskinInput) -> GpuskinVertex` | as it was modelled; what of it does not move |
//! | `gpuskin_instance_of(GpuskinInput, now) -> GpuskinInstance` | transform and playback of an instance |
//! | `gpuskin_look_of(GpuskinInput) -> GpuskinLook` | its tint, the parts that it does not wear, the game's own data |
//! | `gpuskin_instance_number(GpuskinInput) -> u32` | its number among those of a draw, for picking: `Crowd::draw_numbered` |
//! | `gpuskin_point(GpuskinInstance, p)`, `gpuskin_direction` | from the model to the world |
//! | `gpuskin_frame_pair(GpuskinPlayback, GpuskinClip, now) -> GpuskinFramePair` | what it shows |
//! | `gpuskin_shown(GpuskinInput, GpuskinInstance, now) -> GpuskinShown` | where its pose is: its frames, or its palette |
//! | `gpuskin_bone(GpuskinShown, bone) -> mat3x4<f32>` | a bone's skin matrix; `vec4(p, 1.0) * matrix` |
//! | `gpuskin_pose(GpuskinShown, GpuskinVertex) -> mat3x4<f32>` | the same, blended for a vertex |
//! | `gpuskin_skin(mat3x4<f32>, GpuskinVertex) -> GpuskinSkinned` | a vertex in the model |
//! | `gpuskin_baked(GpuskinFramePair, row) -> GpuskinBaked` | the same, where rows of the texture are vertices: instead of the last three |
//! | `gpuskin_in_model(GpuskinShown, GpuskinVertex) -> GpuskinSkinned` | the same, of either kind |
//!
//! Triangles of a part that is [`flat`](crate::MeshPart::flat) share corners, whose normals are smooth. Their own normal is
//! `normalize(cross(dpdy(p), dpdx(p)))` in a fragment that is at p from the eye on, a varying: towards who sees it.
//!
//! Motion vectors: the same vertex at the clock of the frame before, `CrowdRenderer::time_before`. Who is moved by a command
//! has no motion of its own from that, and a clip or live bones that have just begun stand still before it. Poses of
//! `local-packed` are kept from one `prepare` to the next where `RendererDescriptor::motion_vectors` asks for it, and else
//! stand still; in a texture, and of fields, all moments are there.
//!
//! ```wgsl
//! struct Motion {
//!     view_proj: mat4x4<f32>,
//!     view_proj_before: mat4x4<f32>,
//!     clock: vec2<u32>,
//!     clock_before: vec2<u32>,
//! }
//! @group(0) @binding(0) var<uniform> motion: Motion;
//!
//! struct Varyings {
//!     @builtin(position) position: vec4<f32>,
//!     @location(0) now: vec4<f32>,
//!     @location(1) before: vec4<f32>,
//! }
//!
//! @vertex
//! fn vertex(input: GpuskinInput) -> Varyings {
//!     let now = motion.view_proj * vec4<f32>(gpuskin_skin_vertex(input, motion.clock).position, 1.0);
//!     let before = gpuskin_skin_vertex_before(input, motion.clock_before).position;
//!     return Varyings(now, now, motion.view_proj_before * vec4<f32>(before, 1.0));
//! }
//!
//! @fragment
//! fn fragment(varyings: Varyings) -> @location(0) vec4<f32> {
//!     // Of the picture, half of its width and height each.
//!     return vec4<f32>(varyings.now.xy / varyings.now.w - varyings.before.xy / varyings.before.w, 0.0, 1.0);
//! }
//! ```
//!
//! Vertex buffers and the bind group come from the renderer: `render::vertex_buffers`, `CrowdRenderer::model_layout`
//! and `Crowd::draw_geometry`.
//!
//! [`field_source`] gives the same functions for the instances of a [`field`](crate::field), and
//! `gpuskin_field_instance(number, now)`, `gpuskin_field_look(number)`, `gpuskin_noise` and `gpuskin_hash`:
//! `render::field_vertex_buffers`, `CrowdRenderer::field_layout` and `Field::draw_geometry` go with it.

use core::fmt::Write;

use bytemuck::{Pod, Zeroable};

use crate::{Encoding, MAX_CLIPS, Metadata, Normals, Packing, VertexFormat};

/// What makes one model's shader differ from another's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Variant {
    /// How bones or vertices stand in the animation texture.
    pub encoding: Encoding,
    /// The animation texture has several layers: `texture_2d_array`, else `texture_2d`.
    pub array: bool,
    /// Layout of the vertices.
    pub vertex: VertexFormat,
    /// How bones turn normals.
    pub normals: Normals,
}

impl Variant {
    /// The one of a model.
    pub fn of(meta: &Metadata) -> Self {
        let array = meta.texture.layers > 1 && !meta.encoding.needs_compute();
        Self { encoding: meta.encoding, array, vertex: meta.mesh.format, normals: meta.normals }
    }

    /// Whether vertices of this layout go with the encoding: rows of the texture that are vertices want those that do
    /// not move, and tangents must be somewhere.
    pub fn is_sound(self) -> bool {
        let VertexFormat { packing, tangent, .. } = self.vertex;
        (packing == Packing::Static) == self.encoding.is_vertex() && (!tangent || self.encoding.holds_tangents())
    }

    /// All of them, with plain normals for one layout of vertices only, and with colours for one encoding of bones and one of
    /// vertices: they touch nothing else.
    pub fn all() -> impl Iterator<Item = Self> {
        let packings = [Packing::Full, Packing::Narrow, Packing::Wide, Packing::Static];
        let formats = packings.into_iter().flat_map(|packing| {
            [false, true].into_iter().map(move |tangent| VertexFormat { packing, tangent, color: false })
        });
        let colored = formats.clone().flat_map(|vertex| {
            let vertex = VertexFormat { color: true, ..vertex };
            let one = |encoding| Self { encoding, array: false, vertex, normals: Normals::Cofactor };
            [Encoding::MatrixF16, Encoding::VatF16].map(one)
        });
        let all = formats.flat_map(|vertex| {
            let shapes = |encoding: Encoding| if encoding.needs_compute() { &[false][..] } else { &[false, true] };
            let normals = Normals::Cofactor;
            Encoding::ALL.into_iter().flat_map(move |encoding| {
                shapes(encoding).iter().map(move |&array| Self { encoding, array, vertex, normals })
            })
        });
        let vertex = VertexFormat { packing: Packing::Narrow, tangent: false, color: false };
        let plain = Encoding::ALL.into_iter().map(move |encoding| Self {
            encoding,
            array: false,
            vertex,
            normals: Normals::Plain,
        });
        all.chain(plain).chain(colored).filter(|variant| variant.is_sound())
    }

    /// Words of each attribute of a vertex, at the locations from 0 on.
    pub const fn vertex_attributes(self) -> &'static [u32] {
        match self.vertex.words() {
            2 => &[2],
            3 => &[3],
            6 => &[4, 2],
            7 => &[4, 3],
            8 => &[4, 4],
            9 => &[4, 4, 1],
            14 => &[4, 4, 4, 2],
            15 => &[4, 4, 4, 3],
            18 => &[4, 4, 4, 4, 2],
            _ => &[4, 4, 4, 4, 3],
        }
    }
}

/// Location of the first of the attributes of an instance; a vertex has those before it.
pub const INSTANCE_LOCATION: u32 = 5;
/// Attributes of an instance, four words each.
pub const INSTANCE_ATTRIBUTES: u32 = 4;
/// Location of the [`InstanceLook`](crate::InstanceLook).
pub const LOOK_LOCATION: u32 = INSTANCE_LOCATION + INSTANCE_ATTRIBUTES;
/// First location that no variant uses.
pub const FREE_LOCATION: u32 = LOOK_LOCATION + 1;
/// Binding of the animation texture, or of the palette, in the model's bind group.
pub const ANIMATION_BINDING: u32 = 0;
/// Binding of the [`ModelUniform`] in the model's bind group.
pub const MODEL_BINDING: u32 = 1;
/// Binding of the instances in the model's bind group, where there is a palette.
pub const INSTANCES_BINDING: u32 = 2;
/// Binding of the list of those that are drawn, with a dynamic offset, where there is a palette.
pub const DRAWN_BINDING: u32 = 3;
/// Binding of the [`InstanceLook`](crate::InstanceLook)s in the model's bind group, where there is a palette.
pub const LOOKS_BINDING: u32 = 4;
/// Binding of the [`FieldUniform`](crate::field::FieldUniform) in the bind group of a field's model.
pub const FIELD_BINDING: u32 = 2;
/// Bytes of the uniform buffer of a model: [`ModelUniform`], then the records of its clips.
pub const MODEL_BYTES: u64 = (size_of::<ModelUniform>() + MAX_CLIPS * size_of::<crate::ClipRecord>()) as u64;

/// The uniform buffer of a model, up to the records of its clips. Twin of `GpuskinModel` in `shaders/model.wgsl`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct ModelUniform {
    /// The animation texture is `1 << width_shift` texels wide.
    pub width_shift: u32,
    /// Rows of a frame: bones or vertices.
    pub rows: u32,
    /// Frames in a layer.
    pub frames_per_layer: u32,
    /// Matrices from one instance's first in the palette to the next one's; 0 where there is none.
    pub palette_stride: u32,
    /// Least position, metres.
    pub position_min: [f32; 3],
    /// Vertices of the mesh.
    pub vertices: u32,
    /// Greatest position less the least.
    pub position_extent: [f32; 3],
    /// Matrices from an instance's pose in the palette to that of the moment before; 0 where none is kept.
    pub palette_before: u32,
    /// Least texture coordinate.
    pub uv_min: [f32; 2],
    /// Greatest texture coordinate less the least.
    pub uv_extent: [f32; 2],
    /// [`crate::ValueRange::min`]; where there is a palette what all clips reach, metres.
    pub value_min: [f32; 4],
    /// [`crate::ValueRange::extent`].
    pub value_extent: [f32; 4],
}

impl ModelUniform {
    /// The one of a model.
    pub fn of(meta: &Metadata) -> Self {
        let range = &meta.mesh.range;
        Self {
            width_shift: meta.texture.width.max(1).ilog2(),
            rows: meta.texture.rows,
            frames_per_layer: meta.texture.frames_per_layer,
            position_min: range.position_min,
            vertices: meta.mesh.vertex_count,
            position_extent: range.position_extent,
            uv_min: range.uv_min,
            uv_extent: range.uv_extent,
            value_min: meta.texture.range.min,
            value_extent: meta.texture.range.extent,
            ..Self::default()
        }
    }
}

/// WGSL that skins models of this variant: structures, bindings in `@group(group)`, functions. No entry points.
pub fn source(variant: Variant, group: u32) -> String {
    text(variant, group, Instances::Records)
}

/// The same for instances that share a pose, whose vertices are skinned already: of [`Encoding::LocalPacked`].
/// `Crowd::draw_from_cache` draws them. There are no bones in it: of the table above it lacks `gpuskin_bone`, `gpuskin_pose` and
/// `gpuskin_skin`. `GpuskinInput` has the index of the vertex, `@builtin(vertex_index) vertex: u32`.
pub fn cached_source(variant: Variant, group: u32) -> String {
    text(variant, group, Instances::Cached)
}

/// The same for fields, whose instances are made of their numbers. For models with an animation texture.
pub fn field_source(variant: Variant, group: u32) -> String {
    text(variant, group, Instances::Field)
}

/// Where instances come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Instances {
    /// Their records.
    Records,
    /// Likewise, and vertices are skinned already.
    Cached,
    /// A formula.
    Field,
}

fn text(variant: Variant, group: u32, instances: Instances) -> String {
    let mut text = interface(variant, group, instances);
    text.push_str(&color_word(variant.vertex));
    for module in modules(variant, instances) {
        text.push('\n');
        text.push_str(module);
    }
    text
}

/// The renderer's own shader: [`source`] in group 1, and its entry points.
pub fn crowd(variant: Variant) -> String {
    drawn(variant, Instances::Records)
}

/// The renderer's own shader of fields or crowds.
pub(crate) fn drawn(variant: Variant, instances: Instances) -> String {
    text(variant, 1, instances) + "\n" + include_str!("../shaders/crowd.wgsl")
}

/// The shader that reads vertices back: [`source`] in group 1, and its entry points.
pub fn capture(variant: Variant) -> String {
    source(variant, 1) + "\n" + include_str!("../shaders/capture.wgsl")
}

/// What depends on numbers: the vertex input and the bindings.
fn interface(variant: Variant, group: u32, instances: Instances) -> String {
    let mut text =
        String::from("// Words of a vertex, then of an instance. Missing words of an attribute are not read.\n");
    text.push_str("struct GpuskinInput {\n");
    for location in 0..variant.vertex_attributes().len() {
        let _ = writeln!(text, "    @location({location}) words_{location}: vec4<u32>,");
    }
    if variant.encoding.needs_compute() {
        let (number, poses) = match instances {
            Instances::Cached => {
                ("    @builtin(vertex_index) vertex: u32,\n", "gpuskin_kept_vertices: array<vec4<u32>>")
            }
            _ => ("", "gpuskin_palette: array<mat3x4<f32>>"),
        };
        let _ = write!(
            text,
            "    // Of the list of those that are drawn.\n    @builtin(instance_index) drawn: u32,\n{number}}}\n\n\
             @group({group}) @binding({ANIMATION_BINDING}) var<storage, read> {poses};\n\
             @group({group}) @binding({MODEL_BINDING}) var<uniform> gpuskin_model: GpuskinModel;\n\
             // Four an instance.\n\
             @group({group}) @binding({INSTANCES_BINDING}) var<storage, read> gpuskin_instances: array<vec4<u32>>;\n\
             // Place in the palette; number of the instance.\n\
             @group({group}) @binding({DRAWN_BINDING}) var<storage, read> gpuskin_drawn: array<vec2<u32>>;\n\
             // By the number of the instance.\n\
             @group({group}) @binding({LOOKS_BINDING}) var<storage, read> gpuskin_looks: array<vec4<u32>>;\n"
        );
        return text;
    }
    if instances == Instances::Records {
        for i in 0..INSTANCE_ATTRIBUTES {
            let _ = writeln!(text, "    @location({}) instance_{i}: vec4<u32>,", INSTANCE_LOCATION + i);
        }
        let _ = writeln!(text, "    @location({LOOK_LOCATION}) look: vec4<u32>,");
    }
    text.push_str("    @builtin(instance_index) number: u32,\n");
    let dimension = if variant.array { "2d_array" } else { "2d" };
    let channel = if variant.encoding.format().is_integer() { "u32" } else { "f32" };
    let _ = write!(
        text,
        "}}\n\n\
         alias GpuskinTexel = vec4<{channel}>;\n\
         @group({group}) @binding({ANIMATION_BINDING}) var gpuskin_animation: texture_{dimension}<{channel}>;\n\
         @group({group}) @binding({MODEL_BINDING}) var<uniform> gpuskin_model: GpuskinModel;\n"
    );
    if instances == Instances::Field {
        let _ = writeln!(text, "@group({group}) @binding({FIELD_BINDING}) var<uniform> gpuskin_field: GpuskinField;");
    }
    text
}

/// Where the colour of a vertex stands, if it has one: in the last of its words.
fn color_word(vertex: VertexFormat) -> String {
    if !vertex.color {
        return String::new();
    }
    let last = vertex.words() - 1;
    let (attribute, component) = (last / 4, ["x", "y", "z", "w"][last % 4]);
    format!(
        "\nfn gpuskin_color_word(input: GpuskinInput) -> u32 {{\n    return input.words_{attribute}.{component};\n}}\n"
    )
}

fn modules(variant: Variant, instances: Instances) -> impl Iterator<Item = &'static str> {
    let texel = match (variant.encoding.needs_compute(), variant.array) {
        (true, _) => None,
        (false, true) => Some(include_str!("../shaders/texel_array.wgsl")),
        (false, false) => Some(include_str!("../shaders/texel_plain.wgsl")),
    };
    let color = match variant.vertex.color {
        true => include_str!("../shaders/color_unorm.wgsl"),
        false => include_str!("../shaders/color_none.wgsl"),
    };
    let own = if variant.encoding.is_vertex() { of_vertices(variant) } else { of_bones(variant, instances) };
    let from: &[&str] = match instances {
        Instances::Field => &[include_str!("../shaders/field.wgsl"), include_str!("../shaders/instance_field.wgsl")],
        _ if variant.encoding.needs_compute() => &[include_str!("../shaders/instance_list.wgsl")],
        _ => &[include_str!("../shaders/instance_attributes.wgsl")],
    };
    [
        include_str!("../shaders/playback.wgsl"),
        include_str!("../shaders/instance.wgsl"),
        include_str!("../shaders/look.wgsl"),
        include_str!("../shaders/model.wgsl"),
        include_str!("../shaders/skinned.wgsl"),
        color,
    ]
    .into_iter()
    .chain(texel)
    .chain(from.iter().copied())
    .chain(own)
    .chain([include_str!("../shaders/skin_vertex.wgsl")])
}

/// Where rows of the animation texture are bones.
fn of_bones(variant: Variant, instances: Instances) -> Vec<&'static str> {
    let textured = !variant.encoding.needs_compute();
    let frames = textured.then_some(include_str!("../shaders/shown_frames.wgsl"));
    let mixed = textured.then_some(include_str!("../shaders/bone.wgsl"));
    let (stored, bone) = match variant.encoding {
        Encoding::MatrixUnorm => {
            (Some(include_str!("../shaders/matrix_unorm.wgsl")), include_str!("../shaders/bone_matrix.wgsl"))
        }
        Encoding::TrsF16 => (Some(include_str!("../shaders/trs.wgsl")), include_str!("../shaders/bone_trs.wgsl")),
        Encoding::Fixed16 => (Some(include_str!("../shaders/fixed16.wgsl")), include_str!("../shaders/bone_trs.wgsl")),
        Encoding::TrsPacked => (None, include_str!("../shaders/trs_packed.wgsl")),
        Encoding::LocalPacked => (None, include_str!("../shaders/bone_palette.wgsl")),
        _ => (Some(include_str!("../shaders/matrix.wgsl")), include_str!("../shaders/bone_matrix.wgsl")),
    };
    let VertexFormat { packing, tangent, .. } = variant.vertex;
    let unpack = match packing {
        Packing::Full => include_str!("../shaders/vertex_full.wgsl"),
        _ => include_str!("../shaders/vertex_packed.wgsl"),
    };
    let weights = match packing {
        Packing::Full => None,
        Packing::Wide => Some(include_str!("../shaders/weights_wide.wgsl")),
        _ => Some(include_str!("../shaders/weights_narrow.wgsl")),
    };
    let unpack_tangent = match (tangent, packing) {
        (false, _) => include_str!("../shaders/tangent_none.wgsl"),
        (true, Packing::Full) => include_str!("../shaders/tangent_full.wgsl"),
        (true, _) => include_str!("../shaders/tangent_packed.wgsl"),
    };
    let normal = match variant.normals {
        Normals::Cofactor => include_str!("../shaders/normal_cofactor.wgsl"),
        Normals::Plain => include_str!("../shaders/normal_plain.wgsl"),
    };
    let vertex = [include_str!("../shaders/vertex.wgsl"), unpack, unpack_tangent].into_iter().chain(weights);
    if instances == Instances::Cached {
        return vertex.chain([include_str!("../shaders/cached.wgsl")]).collect();
    }
    [include_str!("../shaders/skin_matrix.wgsl"), normal, bone]
        .into_iter()
        .chain(vertex)
        .chain(frames)
        .chain(stored)
        .chain(mixed)
        .chain([include_str!("../shaders/skin.wgsl")])
        .collect()
}

/// Where they are vertices.
fn of_vertices(variant: Variant) -> Vec<&'static str> {
    let unorm = include_str!("../shaders/vat_unorm.wgsl");
    let (splits, stored) = match variant.encoding {
        Encoding::VatUnorm8 => (Some(include_str!("../shaders/vat_unorm8.wgsl")), unorm),
        Encoding::VatUnorm16 => (Some(include_str!("../shaders/vat_unorm16.wgsl")), unorm),
        Encoding::VatUnorm24 => (Some(include_str!("../shaders/vat_unorm24.wgsl")), unorm),
        Encoding::VatPacked => (None, include_str!("../shaders/vat_packed.wgsl")),
        Encoding::VatPackedFine => (None, include_str!("../shaders/vat_packed_fine.wgsl")),
        _ => (None, include_str!("../shaders/vat_float.wgsl")),
    };
    let tangent = if variant.vertex.tangent {
        include_str!("../shaders/vat_tangent.wgsl")
    } else {
        include_str!("../shaders/vat_tangent_none.wgsl")
    };
    let shared = [
        include_str!("../shaders/shown_frames.wgsl"),
        include_str!("../shaders/vertex_static.wgsl"),
        tangent,
        include_str!("../shaders/vat.wgsl"),
        stored,
    ];
    splits.into_iter().chain(shared).collect()
}

/// WGSL of the pass that takes changes of instances to where they belong.
#[cfg(any(test, feature = "wgpu"))]
pub(crate) const SCATTER: &str = include_str!("../shaders/scatter.wgsl");

#[cfg(test)]
mod tests;
