//! Shader source as text: assembles WGSL modules for a model's variant.

use core::fmt::Write;

use bytemuck::{Pod, Zeroable};

#[cfg(feature = "wgpu")]
pub(crate) mod material;

use crate::bit_fields;
use crate::{Encoding, Metadata, Normals, Packing, VertexFormat};

/// Properties of a model that select its shader code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Variant {
    /// Encoding of the bones or vertices in the animation texture.
    #[doc(hidden)]
    pub encoding: Encoding,
    /// Whether the animation texture has several layers: `texture_2d_array`; otherwise
    /// `texture_2d`.
    #[doc(hidden)]
    pub array: bool,
    /// Layout of the vertices.
    #[doc(hidden)]
    pub vertex: VertexFormat,
    /// Method by which skinning transforms normals.
    #[doc(hidden)]
    pub normals: Normals,
    /// Whether the shader reads the transforms of instances in the previous frame, for motion vectors.
    #[doc(hidden)]
    pub previous_transforms: bool,
    /// Whether the clip records are in a texture, because the model has more than [`UNIFORM_CLIPS`] clips, and
    /// an animation texture.
    #[doc(hidden)]
    pub clip_texture: bool,
    /// Whether morph targets move vertices.
    #[doc(hidden)]
    pub morphs: MorphUse,
    /// Whether instances have variants of the model's materials.
    #[doc(hidden)]
    pub model_variants: bool,
}

/// Use of the deltas of morph targets in a shader.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum MorphUse {
    /// The model has none.
    #[default]
    None,
    /// The model's bind group has them, but the vertices are those of an attachment.
    Bound,
    /// Deltas move the vertices.
    Applied,
}

impl Variant {
    /// Derives the value from a model's metadata, without transforms of the previous frame.
    #[doc(hidden)]
    pub fn of(meta: &Metadata) -> Self {
        let array = meta.texture.layers > 1 && !meta.encoding.needs_compute();
        let Metadata { encoding, normals, .. } = *meta;
        let clip_texture = meta.clips.len() > UNIFORM_CLIPS && !encoding.needs_compute();
        let morphs = if meta.mesh.morphs.len > 0 { MorphUse::Applied } else { MorphUse::None };
        let (vertex, model_variants) = (meta.mesh.format, !meta.variants.is_empty());
        Self { encoding, array, vertex, normals, previous_transforms: false, clip_texture, morphs, model_variants }
    }

    /// Returns whether vertices have tangents. Without them, the tangent of `gpuskin_skin_vertex` has no meaning.
    pub const fn has_tangents(self) -> bool {
        self.vertex.tangent
    }

    /// Returns whether `gpuskin_variant_of` exists: the model has variants.
    pub const fn has_variants(self) -> bool {
        self.model_variants
    }

    /// Returns whether `GpuskinInput` has the index of the vertex, `@builtin(vertex_index) vertex: u32`, because morph
    /// targets move vertices. An entry point then cannot declare this builtin again.
    pub fn has_vertex_index(self) -> bool {
        self.morphs == MorphUse::Applied
    }

    /// Returns whether vertices of a crowd read bones that a pass has drawn from the animation texture: without
    /// compute, poses of bones are evaluated once per instance all the same.
    #[doc(hidden)]
    pub fn is_posed(self) -> bool {
        !self.encoding.needs_compute() && !self.encoding.is_vertex()
    }

    /// Whether vertices need their index: to find cached vertices, or the deltas of morph targets.
    fn reads_number(self, instances: InstanceSource) -> bool {
        match instances {
            InstanceSource::Cached => true,
            InstanceSource::Batch => false,
            InstanceSource::Records | InstanceSource::Added | InstanceSource::Field => self.has_vertex_index(),
        }
    }

    /// Returns whether this vertex layout is valid for the encoding: vertex encodings need static
    /// vertices, and tangents must be stored somewhere.
    #[doc(hidden)]
    pub fn is_sound(self) -> bool {
        let VertexFormat { packing, tangent, .. } = self.vertex;
        let bones_only = self.morphs == MorphUse::None || !self.encoding.is_vertex();
        let tangents = !tangent || self.encoding.holds_tangents();
        (packing == Packing::Static) == self.encoding.is_vertex() && tangents && bones_only
    }

    /// Returns all variants, except that plain normals, transforms of the previous frame, clip textures, morph
    /// targets and variants of materials occur with one or two vertex layouts only, and colours with one bone encoding and one vertex encoding only: they affect
    /// no other code.
    #[doc(hidden)]
    pub fn all() -> impl Iterator<Item = Self> {
        let plain = |encoding, vertex| Self {
            encoding,
            array: false,
            vertex,
            normals: Normals::Cofactor,
            previous_transforms: false,
            clip_texture: false,
            morphs: MorphUse::None,
            model_variants: false,
        };
        let packings = [Packing::Full, Packing::Narrow, Packing::Wide, Packing::Static, Packing::Full8, Packing::Wide8];
        let formats = packings.into_iter().flat_map(|packing| {
            [false, true].into_iter().map(move |tangent| VertexFormat { packing, tangent, color: false })
        });
        let colored = formats.clone().flat_map(move |vertex| {
            let vertex = VertexFormat { color: true, ..vertex };
            [Encoding::MatrixF16, Encoding::VatF16].map(|encoding| plain(encoding, vertex))
        });
        let all = formats.flat_map(move |vertex| {
            let shapes = |encoding: Encoding| if encoding.needs_compute() { &[false][..] } else { &[false, true] };
            Encoding::ALL.into_iter().flat_map(move |encoding| {
                shapes(encoding).iter().map(move |&array| Self { array, ..plain(encoding, vertex) })
            })
        });
        let of_packing = |packing| VertexFormat { packing, tangent: false, color: false };
        let plain_normals = Encoding::ALL
            .into_iter()
            .map(move |encoding| Self { normals: Normals::Plain, ..plain(encoding, of_packing(Packing::Narrow)) });
        let previous = [Packing::Narrow, Packing::Static].into_iter().flat_map(move |packing| {
            let of = move |encoding| Self { previous_transforms: true, ..plain(encoding, of_packing(packing)) };
            Encoding::ALL.into_iter().map(of)
        });
        let many_clips = [Packing::Narrow, Packing::Static].into_iter().flat_map(move |packing| {
            let textured = Encoding::ALL.into_iter().filter(|encoding| !encoding.needs_compute());
            let of = move |encoding| Self { clip_texture: true, ..plain(encoding, of_packing(packing)) };
            textured.map(of).flat_map(|one| [one, Self { array: true, previous_transforms: true, ..one }])
        });
        let morphed = [false, true].into_iter().flat_map(move |tangent| {
            let vertex = VertexFormat { tangent, ..of_packing(Packing::Wide) };
            let bones = Encoding::ALL.into_iter().filter(|encoding| !encoding.is_vertex());
            bones.map(move |encoding| Self { morphs: MorphUse::Applied, ..plain(encoding, vertex) })
        });
        let varied = [Packing::Narrow, Packing::Static].into_iter().flat_map(move |packing| {
            let of = move |encoding| Self { model_variants: true, ..plain(encoding, of_packing(packing)) };
            [Encoding::MatrixF16, Encoding::LocalPacked, Encoding::VatF16].into_iter().map(of)
        });
        let rest = plain_normals.chain(previous).chain(colored).chain(many_clips).chain(morphed).chain(varied);
        all.chain(rest).filter(|variant| variant.is_sound())
    }

    /// Returns the number of words of each vertex attribute, at locations from 0 up.
    #[doc(hidden)]
    pub const fn vertex_attributes(self) -> &'static [u32] {
        match self.vertex.words() {
            2 => &[2],
            3 => &[3],
            6 => &[4, 2],
            7 => &[4, 3],
            8 => &[4, 4],
            9 => &[4, 4, 1],
            10 => &[4, 4, 2],
            11 => &[4, 4, 3],
            12 => &[4, 4, 4],
            14 => &[4, 4, 4, 2],
            15 => &[4, 4, 4, 3],
            18 => &[4, 4, 4, 4, 2],
            19 => &[4, 4, 4, 4, 3],
            20 => &[4, 4, 4, 4, 4],
            23 => &[4, 4, 4, 4, 4, 3],
            _ => &[4, 4, 4, 4, 4, 4],
        }
    }
}

/// Location of the first instance attribute, of the place record; vertex attributes have lower locations.
pub const INSTANCE_LOCATION: u32 = 6;
/// Number of attributes of a place record, four words each.
pub const PLACE_ATTRIBUTES: u32 = 2;
/// Location of the first attribute of a playback record.
pub const PLAYBACK_LOCATION: u32 = INSTANCE_LOCATION + PLACE_ATTRIBUTES;
/// Number of attributes of a playback record, four words each.
pub const PLAYBACK_ATTRIBUTES: u32 = 3;
/// Location of the first of two attributes with the place record of the previous frame.
pub const PREVIOUS_LOCATION: u32 = PLAYBACK_LOCATION + PLAYBACK_ATTRIBUTES;
/// First location that no variant uses.
pub const FREE_LOCATION: u32 = PREVIOUS_LOCATION + PLACE_ATTRIBUTES;
/// Binding of the animation texture, or of the palette, in the model's bind group.
pub const ANIMATION_BINDING: u32 = 0;
/// Binding of the [`ModelUniform`] in the model's bind group.
pub const MODEL_BINDING: u32 = 1;
/// Binding of the place records in the model's bind group, if there is a palette.
pub const PLACES_BINDING: u32 = 2;
/// Binding of the instance list in the model's bind group, with a dynamic offset, if there is a
/// palette.
pub const LIST_BINDING: u32 = 3;
/// Binding of the playback records in the model's bind group, if there is a palette.
pub const PLAYBACKS_BINDING: u32 = 4;
/// Binding of the transforms of the previous frame in the model's bind group, if there is a palette
/// and [`Variant::previous_transforms`].
pub const PREVIOUS_BINDING: u32 = 5;
/// Binding of the draws of a batch, in its bind group.
pub const DRAWS_BINDING: u32 = 5;
/// Binding of the places of poses in the model's bind group, with a dynamic offset, if a pass draws the poses.
pub const POSES_BINDING: u32 = 2;
/// Binding of the [`FieldUniform`](crate::field::FieldUniform) in the bind group of a field's
/// model.
pub const FIELD_BINDING: u32 = 2;
/// Binding of the texture with the clip records in the model's bind group, with [`Variant::clip_texture`].
pub const CLIPS_BINDING: u32 = 3;
/// Binding of the texture with the deltas of morph targets in the model's bind group, unless
/// [`Variant::morphs`] is [`MorphUse::None`].
pub const MORPHS_BINDING: u32 = 6;
/// Greatest number of clips whose records are in the model's uniform buffer, and whose bounds are in a uniform
/// buffer of the culling pass: 16 KiB are the largest that every device can bind. Models with more clips have
/// both in textures.
pub const UNIFORM_CLIPS: usize = 1017;
/// Width in texels of textures with a texel per clip.
pub const CLIPS_ACROSS: u32 = 128;
/// Size of a model's uniform buffer, bytes: [`ModelUniform`], then the records of up to [`UNIFORM_CLIPS`] clips.
pub const MODEL_BYTES: u64 = (size_of::<ModelUniform>() + UNIFORM_CLIPS * size_of::<crate::ClipRecord>()) as u64;

/// WGSL of [`CLIPS_ACROSS`].
pub(crate) fn clips_across() -> String {
    format!("const gpuskin_clips_across: u32 = {CLIPS_ACROSS}u;\n")
}

/// Uniform buffer of a model, up to the records of its clips. CPU layout of `GpuskinModel` in
/// `shaders/model.wgsl`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct ModelUniform {
    /// Binary logarithm of the width of the animation texture in texels.
    pub width_shift: u32,
    /// Number of rows per frame: bones or vertices.
    pub rows: u32,
    /// Number of frames per layer.
    pub frames_per_layer: u32,
    /// Number of matrices per instance in the palette; 0 if there is no palette.
    pub palette_stride: u32,
    /// Least position, metres.
    pub position_min: [f32; 3],
    /// Number of vertices of the mesh.
    pub vertices: u32,
    /// Greatest position minus least position, metres.
    pub position_extent: [f32; 3],
    /// Number of matrices from an instance's current pose in the palette to its previous pose; 0 if
    /// the palette has no previous poses.
    pub palette_previous: u32,
    /// Least texture coordinate.
    pub uv_min: [f32; 2],
    /// Greatest texture coordinate minus least texture coordinate.
    pub uv_extent: [f32; 2],
    /// Minimum of the value range, [`crate::ValueRange::min`]; with a palette, minimum of the
    /// bounds of all clips, metres.
    pub value_min: [f32; 4],
    /// Extent of the value range, [`crate::ValueRange::extent`]; with a palette, extent of the
    /// bounds of all clips, metres.
    pub value_extent: [f32; 4],
    /// Number of vertices that morph targets move.
    pub morph_vertices: u32,
    /// Number of palette slots, from the first one up, whose morph targets a compute pass adds.
    pub morph_slots: u32,
    /// Number of palette matrices per pose for the sums: one for two moved vertices, or three for four with tangents.
    pub morph_stride: u32,
    /// Zero.
    pub reserved: u32,
}

impl ModelUniform {
    /// Derives the value from a model's metadata.
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

/// Returns the WGSL of the pass that draws the poses of a variant's instances into a texture, with entry
/// points: bind group 0 has the animation texture and the model, group 1 the places.
#[cfg(any(test, feature = "wgpu"))]
pub(crate) fn pose_pass(variant: Variant) -> String {
    let mut text = animation(variant, 0);
    text.push_str(&bit_fields::wgsl());
    let before = [
        include_str!("../shaders/playback.wgsl"),
        include_str!("../shaders/instance.wgsl"),
        include_str!("../shaders/model.wgsl"),
        texel(variant),
        include_str!("../shaders/skin_matrix.wgsl"),
    ];
    let frames = frames(variant);
    let after = [
        include_str!("../shaders/bone.wgsl"),
        include_str!("../shaders/pose_places.wgsl"),
        include_str!("../shaders/pose_pass.wgsl"),
    ];
    for module in before.iter().chain(&frames).chain(variant.encoding.info().wgsl).chain(&after) {
        text.push('\n');
        text.push_str(module);
    }
    text
}

/// Compute entry point of [`morph_pass`]: one workgroup per pose, counted as those of
/// [`palette`](crate::local::shader::palette).
#[cfg(any(test, feature = "wgpu"))]
pub(crate) const MORPH_ENTRY_POINT: &str = "gpuskin_write_morphs";

/// Returns the WGSL of the pass that adds the deltas of morph targets once per pose. Group 0:
/// [`PaletteUniform`](crate::local::shader::PaletteUniform), [`ModelUniform`], playback records of the poses, the palette,
/// and the lists of deltas. `tangents`: whether vertices have tangents.
#[cfg(any(test, feature = "wgpu"))]
pub(crate) fn morph_pass(tangents: bool) -> String {
    let mut text = bit_fields::wgsl();
    let store = match tangents {
        true => include_str!("../shaders/morph_store_tangent.wgsl"),
        false => include_str!("../shaders/morph_store.wgsl"),
    };
    for module in [
        include_str!("../shaders/playback.wgsl"),
        include_str!("../shaders/instance.wgsl"),
        include_str!("../shaders/model.wgsl"),
        include_str!("../shaders/local_parameters.wgsl"),
        include_str!("../shaders/bone_translation_palette.wgsl"),
        include_str!("../shaders/morphs.wgsl"),
        include_str!("../shaders/morph_sum.wgsl"),
        include_str!("../shaders/morph_region.wgsl"),
        store,
        include_str!("../shaders/morph_pass.wgsl"),
    ] {
        text.push('\n');
        text.push_str(module);
    }
    text
}

/// Returns the WGSL that skins models of a variant: structures, bindings in `@group(group)`,
/// functions. No entry points.
pub fn source(variant: Variant, group: u32) -> String {
    text(variant, group, InstanceSource::Records)
}

/// Returns the WGSL that draws cached vertices of [`Encoding::LocalPacked`], for instances that
/// share poses: parts with `CustomPart::cached`. It has no bones: of the functions of [`source`] it
/// lacks `gpuskin_bone`, `gpuskin_blend_bones` and `gpuskin_skin`. `GpuskinInput` has the index of
/// the vertex, `@builtin(vertex_index) vertex: u32`.
pub fn cached_source(variant: Variant, group: u32) -> String {
    text(variant, group, InstanceSource::Cached)
}

/// Returns the WGSL that skins instances whose morph targets a compute pass has added, which is faster than what [`source`]
/// returns: parts with `CustomPart::morphs_added`. For models with morph targets on devices with compute.
pub fn added_morphs_source(variant: Variant, group: u32) -> String {
    text(variant, group, InstanceSource::Added)
}

/// Returns the WGSL that skins the instances of a field. For models with an animation texture.
pub fn field_source(variant: Variant, group: u32) -> String {
    text(variant, group, InstanceSource::Field)
}

/// Returns WGSL for a game's own compute passes that write the instances of a crowd,
/// [`Crowd::instance_buffers`](crate::Crowd::instance_buffers): structures and functions, without
/// bindings and entry points.
pub fn instance_writer_source() -> String {
    let mut text = bit_fields::wgsl();
    for module in [
        include_str!("../shaders/playback.wgsl"),
        include_str!("../shaders/instance.wgsl"),
        include_str!("../shaders/pack_rotation.wgsl"),
        include_str!("../shaders/write_playback.wgsl"),
    ] {
        text.push('\n');
        text.push_str(module);
    }
    text
}

/// Source of the instances.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum InstanceSource {
    /// Instance records.
    Records,
    /// Instance records, with morph targets that a compute pass has added for all of them.
    Added,
    /// Instance records, with vertices that are already skinned.
    Cached,
    /// A formula.
    Field,
    /// Instance records of all crowds of a batch.
    Batch,
}

impl InstanceSource {
    /// Whether transforms of the previous frame are read where the variant has them.
    fn reads_previous(self) -> bool {
        matches!(self, Self::Records | Self::Added | Self::Cached)
    }

    /// Whether vertices read bones that a [`pose_pass`] has drawn.
    pub(crate) fn is_posed(self, variant: Variant) -> bool {
        self == Self::Records && variant.is_posed()
    }
}

fn text(variant: Variant, group: u32, instances: InstanceSource) -> String {
    let mut text = skinning(variant, group, instances);
    if variant.model_variants {
        text.push('\n');
        text.push_str(match instances {
            InstanceSource::Field => include_str!("../shaders/variant_field.wgsl"),
            InstanceSource::Batch => include_str!("../shaders/variant_batch.wgsl"),
            _ if variant.encoding.needs_compute() => include_str!("../shaders/variant_list.wgsl"),
            _ => include_str!("../shaders/variant_attributes.wgsl"),
        });
    }
    text
}

/// Returns [`text`] in group 1 for a shader of the renderer. `layers`: whether the base colour texture of the surface has
/// layers.
fn drawn_text(variant: Variant, instances: InstanceSource, layers: bool) -> String {
    let model_variants = variant.model_variants && layers;
    let mut text = text(Variant { model_variants, ..variant }, 1, instances);
    if layers && !model_variants {
        text.push('\n');
        text.push_str(include_str!("../shaders/variant_none.wgsl"));
    }
    text
}

/// Returns the module with the base colour texture of a surface.
fn base_color(layers: bool) -> &'static str {
    match layers {
        true => include_str!("../shaders/base_color_layers.wgsl"),
        false => include_str!("../shaders/base_color_plain.wgsl"),
    }
}

/// Returns all functions except `gpuskin_variant_of`.
fn skinning(variant: Variant, group: u32, instances: InstanceSource) -> String {
    let mut text = interface(variant, group, instances);
    text.push_str(&color_word(variant.vertex));
    text.push('\n');
    text.push_str(&bit_fields::wgsl());
    for module in modules(variant, instances) {
        text.push('\n');
        text.push_str(module);
    }
    text
}

/// Returns the renderer's own shader: [`source`] in group 1, and its entry points.
pub fn crowd(variant: Variant) -> String {
    drawn(variant, InstanceSource::Records, variant.model_variants)
}

/// Returns the renderer's own shader for an instance source. `layers`: whether the base colour texture of the surface
/// has layers.
pub(crate) fn drawn(variant: Variant, instances: InstanceSource, layers: bool) -> String {
    let interface = match layers {
        true => include_str!("../shaders/diffuse_layers.wgsl"),
        false => include_str!("../shaders/diffuse_plain.wgsl"),
    };
    let own = drawn_text(variant, instances, layers);
    [&own, interface, base_color(layers), include_str!("../shaders/crowd.wgsl")].join("\n")
}

/// Returns a shader of the renderer with entry points for blended surfaces.
#[cfg(any(feature = "wgpu", test))]
pub(crate) fn blended(text: String) -> String {
    text + "\n" + include_str!("../shaders/blended.wgsl")
}

/// Returns the shader that reads vertices back: [`source`] in group 1, and its entry points.
pub fn capture(variant: Variant) -> String {
    let entry = match variant.reads_number(InstanceSource::Records) {
        true => include_str!("../shaders/capture_vertex_numbered.wgsl"),
        false => include_str!("../shaders/capture_vertex.wgsl"),
    };
    [&source(variant, 1), include_str!("../shaders/capture.wgsl"), entry].join("\n")
}

/// Returns the code that depends on numbers: the vertex input and the bindings.
fn interface(variant: Variant, group: u32, instances: InstanceSource) -> String {
    let mut text = String::from(
        "// Words of a vertex, then of an instance. The shader does not read words that an attribute lacks.\n",
    );
    text.push_str("struct GpuskinInput {\n");
    for location in 0..variant.vertex_attributes().len() {
        let _ = writeln!(text, "    @location({location}) words_{location}: vec4<u32>,");
    }
    if variant.encoding.needs_compute() {
        if instances == InstanceSource::Batch {
            let _ = write!(text, "{}", of_batch(group));
            return text;
        }
        let poses = match instances {
            InstanceSource::Cached => "gpuskin_cached_vertices: array<vec4<u32>>",
            _ => "gpuskin_palette: array<mat3x4<f32>>",
        };
        let number = if variant.reads_number(instances) { VERTEX_NUMBER } else { "" };
        let _ = write!(
            text,
            "    // Index into gpuskin_list.\n    @builtin(instance_index) drawn: u32,\n{number}}}\n\n\
             @group({group}) @binding({ANIMATION_BINDING}) var<storage, read> {poses};\n\
             @group({group}) @binding({MODEL_BINDING}) var<uniform> gpuskin_model: GpuskinModel;\n\
             // Place records, two vectors per instance.\n\
             @group({group}) @binding({PLACES_BINDING}) var<storage, read> gpuskin_places: array<vec4<u32>>;\n\
             // Palette slot; instance number.\n\
             @group({group}) @binding({LIST_BINDING}) var<storage, read> gpuskin_list: array<vec2<u32>>;\n\
             // Playback records, three vectors per instance.\n\
             @group({group}) @binding({PLAYBACKS_BINDING}) var<storage, read> gpuskin_playbacks: array<vec4<u32>>;\n"
        );
        if variant.previous_transforms {
            let _ = write!(
                text,
                "// Place records of the previous frame, two vectors per instance.\n\
                 @group({group}) @binding({PREVIOUS_BINDING}) var<storage, read> gpuskin_previous_places: array<vec4<u32>>;\n"
            );
        }
        text.push_str(&morphs_binding(variant, group));
        return text;
    }
    if instances == InstanceSource::Records {
        text.push_str(&place_record(INSTANCE_LOCATION, ""));
        for i in 0..PLAYBACK_ATTRIBUTES {
            let _ = writeln!(text, "    @location({}) playback_{i}: vec4<u32>,", PLAYBACK_LOCATION + i);
        }
        if variant.previous_transforms {
            text.push_str(&place_record(PREVIOUS_LOCATION, "previous_"));
        }
    }
    let number = if variant.reads_number(instances) { VERTEX_NUMBER } else { "" };
    let _ = write!(text, "    @builtin(instance_index) number: u32,\n{number}}}\n\n");
    text.push_str(&morphs_binding(variant, group));
    if instances.is_posed(variant) {
        let _ = write!(
            text,
            "@group({group}) @binding({ANIMATION_BINDING}) var gpuskin_poses: texture_2d_array<u32>;\n\
             @group({group}) @binding({MODEL_BINDING}) var<uniform> gpuskin_model: GpuskinModel;\n\
             @group({group}) @binding({POSES_BINDING}) var<uniform> gpuskin_pose_places: GpuskinPosePlaces;\n"
        );
        return text;
    }
    text.push_str(&animation(variant, group));
    if instances == InstanceSource::Field {
        let _ = writeln!(text, "@group({group}) @binding({FIELD_BINDING}) var<uniform> gpuskin_field: GpuskinField;");
    }
    text
}

/// Member of the vertex input with the index of the vertex.
const VERTEX_NUMBER: &str = "    @builtin(vertex_index) vertex: u32,\n";

/// Binding of the deltas of morph targets; empty without them.
fn morphs_binding(variant: Variant, group: u32) -> String {
    if variant.morphs == MorphUse::None {
        return String::new();
    }
    format!(
        "// Deltas of morph targets.\n@group({group}) @binding({MORPHS_BINDING}) var gpuskin_morph_lists: texture_2d<u32>;\n"
    )
}

/// Bindings of an animation texture and its model.
fn animation(variant: Variant, group: u32) -> String {
    let dimension = if variant.array { "2d_array" } else { "2d" };
    let channel = if variant.encoding.format().is_integer() { "u32" } else { "f32" };
    let mut text = format!(
        "alias GpuskinTexel = vec4<{channel}>;\n\
         @group({group}) @binding({ANIMATION_BINDING}) var gpuskin_animation: texture_{dimension}<{channel}>;\n\
         @group({group}) @binding({MODEL_BINDING}) var<uniform> gpuskin_model: GpuskinModel;\n"
    );
    if variant.clip_texture {
        let _ = writeln!(
            text,
            "// Clip records, one per texel.\n@group({group}) @binding({CLIPS_BINDING}) var gpuskin_clip_records: \
             texture_2d<u32>;\n{}",
            clips_across().trim_end()
        );
    }
    text
}

/// Module that reads an animation texture.
fn texel(variant: Variant) -> &'static str {
    match variant.array {
        true => include_str!("../shaders/texel_array.wgsl"),
        false => include_str!("../shaders/texel_plain.wgsl"),
    }
}

/// Rest of the vertex input, and bindings of a batch.
fn of_batch(group: u32) -> String {
    format!(
        "    // Number of the draw, and index into its list.\n    @builtin(instance_index) drawn: u32,\n}}\n\n\
         @group({group}) @binding({ANIMATION_BINDING}) var<storage, read> gpuskin_palette: array<mat3x4<f32>>;\n\
         @group({group}) @binding({MODEL_BINDING}) var<storage, read> gpuskin_crowds: array<GpuskinDrawnCrowd>;\n\
         // Place records, two vectors per instance.\n\
         @group({group}) @binding({PLACES_BINDING}) var<storage, read> gpuskin_places: array<vec4<u32>>;\n\
         // Palette slot; instance number in its crowd.\n\
         @group({group}) @binding({LIST_BINDING}) var<storage, read> gpuskin_list: array<vec2<u32>>;\n\
         // Playback records, three vectors per instance.\n\
         @group({group}) @binding({PLAYBACKS_BINDING}) var<storage, read> gpuskin_playbacks: array<vec4<u32>>;\n\
         // Per draw: first entry of its list; number of its crowd.\n\
         @group({group}) @binding({DRAWS_BINDING}) var<storage, read> gpuskin_draws: array<vec2<u32>>;\n"
    )
}

/// Attributes of a place record: translation and scale, then the rest.
fn place_record(location: u32, prefix: &str) -> String {
    format!(
        "    @location({location}) {prefix}place: vec4<f32>,\n    @location({}) {prefix}look: vec4<u32>,\n",
        location + 1
    )
}

/// Returns a function that reads the word of the vertex colour, the last word of the vertex; empty
/// without colours.
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

fn modules(variant: Variant, instances: InstanceSource) -> impl Iterator<Item = &'static str> {
    let reads_frames = !variant.encoding.needs_compute() && !instances.is_posed(variant);
    let texel = reads_frames.then(|| texel(variant));
    let color = match variant.vertex.color {
        true => include_str!("../shaders/color_unorm.wgsl"),
        false => include_str!("../shaders/color_none.wgsl"),
    };
    let own = if variant.encoding.is_vertex() { of_vertices(variant) } else { of_bones(variant, instances) };
    let from: &[&str] = match instances {
        InstanceSource::Field => {
            &[include_str!("../shaders/field.wgsl"), include_str!("../shaders/instance_field.wgsl")]
        }
        InstanceSource::Batch => &[include_str!("../shaders/instance_batch.wgsl")],
        _ if variant.encoding.needs_compute() => &[include_str!("../shaders/instance_list.wgsl")],
        _ => &[include_str!("../shaders/instance_attributes.wgsl")],
    };
    let previous = match (variant.previous_transforms && instances.reads_previous(), variant.encoding.needs_compute()) {
        (false, _) => include_str!("../shaders/previous_none.wgsl"),
        (true, true) => include_str!("../shaders/previous_list.wgsl"),
        (true, false) => include_str!("../shaders/previous_attributes.wgsl"),
    };
    [
        include_str!("../shaders/playback.wgsl"),
        include_str!("../shaders/instance.wgsl"),
        include_str!("../shaders/appearance.wgsl"),
        match instances {
            InstanceSource::Batch => include_str!("../shaders/drawn_crowd.wgsl"),
            _ => include_str!("../shaders/model.wgsl"),
        },
        include_str!("../shaders/skinned.wgsl"),
        color,
    ]
    .into_iter()
    .chain(texel)
    .chain(from.iter().copied())
    .chain([previous])
    .chain(own)
    .chain(of_morphs(variant, instances))
    .chain([include_str!("../shaders/skin_vertex.wgsl")])
}

/// Modules that move vertices by morph targets.
fn of_morphs(variant: Variant, instances: InstanceSource) -> Vec<&'static str> {
    let has_morphs = match instances {
        InstanceSource::Cached | InstanceSource::Batch => false,
        InstanceSource::Records | InstanceSource::Added | InstanceSource::Field => variant.morphs == MorphUse::Applied,
    };
    if !has_morphs {
        return vec![include_str!("../shaders/morphs_none.wgsl")];
    }
    let shared = include_str!("../shaders/morphs.wgsl");
    let from_lists = [include_str!("../shaders/morph_sum_wide.wgsl"), include_str!("../shaders/morphed_lists.wgsl")];
    let (weights, morphed) = if instances.is_posed(variant) {
        (include_str!("../shaders/bone_translation_posed.wgsl"), from_lists.to_vec())
    } else if variant.encoding.needs_compute() {
        let load = match variant.has_tangents() {
            true => include_str!("../shaders/morph_load_tangent.wgsl"),
            false => include_str!("../shaders/morph_load.wgsl"),
        };
        let region = include_str!("../shaders/morph_region.wgsl");
        let moved = include_str!("../shaders/morph_vertex.wgsl");
        let mut modules = vec![region, load, moved, include_str!("../shaders/added_morphs.wgsl")];
        modules.extend_from_slice(match instances {
            InstanceSource::Added => &[include_str!("../shaders/morphed_added.wgsl")],
            _ => &[include_str!("../shaders/morph_sum.wgsl"), include_str!("../shaders/morphed_palette.wgsl")],
        });
        (include_str!("../shaders/bone_translation_palette.wgsl"), modules)
    } else {
        (include_str!("../shaders/bone_translation.wgsl"), from_lists.to_vec())
    };
    [weights, shared].into_iter().chain(morphed).collect()
}

/// Modules that read the bones of a pose pass.
const POSED: &[&str] = &[include_str!("../shaders/pose_places.wgsl"), include_str!("../shaders/bone_posed.wgsl")];

/// Modules for encodings of bones.
fn of_bones(variant: Variant, instances: InstanceSource) -> Vec<&'static str> {
    let posed = instances.is_posed(variant);
    let textured = !variant.encoding.needs_compute() && !posed;
    let frames: &[&str] = if textured { &frames(variant) } else { &[] };
    let mixed = textured.then_some(include_str!("../shaders/bone.wgsl"));
    let VertexFormat { packing, tangent, .. } = variant.vertex;
    let unpack = match packing {
        Packing::Full | Packing::Full8 => include_str!("../shaders/vertex_full.wgsl"),
        _ => include_str!("../shaders/vertex_packed.wgsl"),
    };
    let weights = match packing {
        Packing::Full | Packing::Full8 => None,
        Packing::Wide | Packing::Wide8 => Some(include_str!("../shaders/weights_wide.wgsl")),
        _ => Some(include_str!("../shaders/weights_narrow.wgsl")),
    };
    let unpack_tangent = match (tangent, packing) {
        (false, _) => include_str!("../shaders/tangent_none.wgsl"),
        (true, Packing::Full) => include_str!("../shaders/tangent_full.wgsl"),
        (true, Packing::Full8) => include_str!("../shaders/tangent_full8.wgsl"),
        (true, _) => include_str!("../shaders/tangent_packed.wgsl"),
    };
    let normal = match variant.normals {
        Normals::Cofactor => include_str!("../shaders/normal_cofactor.wgsl"),
        Normals::Plain => include_str!("../shaders/normal_plain.wgsl"),
    };
    // Fifth to eighth influence, and the word of the tangent behind wide weights.
    let more: &[&str] = match packing {
        Packing::Full8 => &[include_str!("../shaders/influences_full8.wgsl")],
        Packing::Wide8 => &[include_str!("../shaders/influences_wide8.wgsl")],
        Packing::Wide => {
            &[include_str!("../shaders/influences_four.wgsl"), include_str!("../shaders/tangent_word_wide.wgsl")]
        }
        _ => &[include_str!("../shaders/influences_four.wgsl")],
    };
    let vertex = [include_str!("../shaders/vertex.wgsl"), unpack, unpack_tangent]
        .into_iter()
        .chain(weights)
        .chain(more.iter().copied());
    if instances == InstanceSource::Cached {
        return vertex.chain([include_str!("../shaders/cached.wgsl")]).collect();
    }
    let blend = match packing.influences() {
        8 if posed || variant.encoding.needs_compute() => include_str!("../shaders/blend_bones8_palette.wgsl"),
        8 => include_str!("../shaders/blend_bones8.wgsl"),
        _ => include_str!("../shaders/blend_bones.wgsl"),
    };
    let bones = match instances {
        InstanceSource::Batch => &[include_str!("../shaders/bone_batch.wgsl")],
        _ if posed => POSED,
        _ => variant.encoding.info().wgsl,
    };
    [include_str!("../shaders/skin_matrix.wgsl"), normal]
        .into_iter()
        .chain(vertex)
        .chain(frames.iter().copied())
        .chain(bones.iter().copied())
        .chain(mixed)
        .chain([blend, include_str!("../shaders/skin.wgsl")])
        .collect()
}

/// Modules that find frames in an animation texture.
fn frames(variant: Variant) -> [&'static str; 2] {
    let clips = match variant.clip_texture {
        true => include_str!("../shaders/clips_texture.wgsl"),
        false => include_str!("../shaders/clips_uniform.wgsl"),
    };
    [clips, include_str!("../shaders/pose_source_frames.wgsl")]
}

/// Modules for encodings of vertices.
fn of_vertices(variant: Variant) -> Vec<&'static str> {
    let tangent = if variant.vertex.tangent {
        include_str!("../shaders/vat_tangent.wgsl")
    } else {
        include_str!("../shaders/vat_tangent_none.wgsl")
    };
    let shared = [include_str!("../shaders/vertex_static.wgsl"), tangent, include_str!("../shaders/vat.wgsl")];
    frames(variant).into_iter().chain(shared).chain(variant.encoding.info().wgsl.iter().copied()).collect()
}

/// WGSL of the pass that copies changed instances to their slots.
#[cfg(any(test, feature = "wgpu"))]
pub(crate) const SCATTER: &str = include_str!("../shaders/scatter.wgsl");

#[cfg(test)]
mod tests;
