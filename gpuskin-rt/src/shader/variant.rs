//! Properties of models and sources of instances that select shader code.

use super::bindings::UNIFORM_CLIPS;
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
    /// Whether the shader reads influences, tangents and colours from the vertex buffer as a storage buffer, instead of
    /// as attributes.
    #[doc(hidden)]
    pub loads_influences: bool,
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
    /// Derives the value from a model's metadata, without transforms of the previous frame and with all of a vertex in
    /// attributes.
    #[doc(hidden)]
    pub fn of(meta: &Metadata) -> Self {
        let array = meta.texture.layers > 1 && !meta.encoding.needs_compute();
        let Metadata { encoding, normals, .. } = *meta;
        let clip_texture = meta.clips.len() > UNIFORM_CLIPS && !encoding.needs_compute();
        let morphs = if meta.mesh.morphs.len > 0 { MorphUse::Applied } else { MorphUse::None };
        let (vertex, model_variants) = (meta.mesh.format, !meta.variants.is_empty());
        Self {
            encoding,
            array,
            vertex,
            normals,
            previous_transforms: false,
            clip_texture,
            morphs,
            model_variants,
            loads_influences: false,
        }
    }

    /// Returns whether vertices have tangents. Without them, the tangent of `gpuskin_skin_vertex` has no meaning.
    pub const fn has_tangents(self) -> bool {
        self.vertex.tangent
    }

    /// Returns whether vertices have colours. Without them, the color of `gpuskin_skin_vertex` is the tint of the instance.
    pub const fn has_colors(self) -> bool {
        self.vertex.color
    }

    /// Returns whether `gpuskin_second_uv` exists: vertices have second texture coordinates.
    pub const fn has_second_uv(self) -> bool {
        self.vertex.second_uv
    }

    /// Returns whether `gpuskin_variant_of` exists: the model has variants.
    pub const fn has_variants(self) -> bool {
        self.model_variants
    }

    /// Returns whether `GpuskinInput` has the index of the vertex, `@builtin(vertex_index) vertex: u32`, because morph
    /// targets move vertices or vertices have more than four influences. An entry point then cannot declare this builtin
    /// again.
    pub fn has_vertex_index(self) -> bool {
        self.morphs == MorphUse::Applied || self.loads_from_buffer()
    }

    /// Whether the shader loads influences of its own vertices. Attachments share a layout with models that do.
    pub(super) const fn loads_from_buffer(self) -> bool {
        self.loads_influences && self.vertex.packing.influences() > 4
    }

    /// Returns this variant for a device whose shaders can read `buffers` storage buffers each, with the features that
    /// fit: transforms of the previous frame if `previous`, then influences that are loaded.
    #[cfg(feature = "wgpu")]
    pub(crate) fn on_device(self, previous: bool, buffers: u32) -> Self {
        /// Storage buffers of vertex shaders that read a palette, without these features.
        const OF_PALETTE: u32 = 4;
        if !self.encoding.needs_compute() {
            return Self { previous_transforms: previous, ..self };
        }
        let previous_transforms = previous && buffers > OF_PALETTE;
        let used = OF_PALETTE + u32::from(previous_transforms);
        Self { previous_transforms, loads_influences: self.vertex.packing.influences() > 4 && buffers > used, ..self }
    }

    /// Returns whether vertices of a crowd read bones that a pass has drawn from the animation texture: without
    /// compute, poses of bones are evaluated once per instance all the same.
    #[doc(hidden)]
    pub fn is_posed(self) -> bool {
        !self.encoding.needs_compute() && !self.encoding.is_vertex()
    }

    /// Whether vertices need their index: to find cached vertices, the deltas of morph targets or influences.
    pub(super) fn reads_number(self, instances: InstanceSource) -> bool {
        match instances {
            InstanceSource::Cached => true,
            InstanceSource::Batch { .. } => self.loads_from_buffer(),
            InstanceSource::Records | InstanceSource::Added | InstanceSource::Slotless | InstanceSource::Field => {
                self.has_vertex_index()
            }
        }
    }

    /// Returns whether this vertex layout is valid for the encoding: vertex encodings need static
    /// vertices, and tangents must be stored somewhere.
    #[doc(hidden)]
    pub fn is_sound(self) -> bool {
        let VertexFormat { packing, tangent, .. } = self.vertex;
        let bones_only = self.morphs == MorphUse::None || !self.encoding.is_vertex();
        let tangents = !tangent || self.encoding.holds_tangents();
        let loaded = !self.loads_influences || (self.encoding.needs_compute() && self.vertex.packing.influences() > 4);
        (packing == Packing::Static) == self.encoding.is_vertex() && tangents && bones_only && loaded
    }

    /// Returns all variants, except that plain normals, transforms of the previous frame, clip textures, morph
    /// targets, variants of materials and loaded influences occur with one or two vertex layouts only, and colours and second texture
    /// coordinates with one bone encoding and one vertex encoding only: they affect no other code.
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
            loads_influences: false,
        };
        let packings = [Packing::Full, Packing::Narrow, Packing::Wide, Packing::Static, Packing::Full8, Packing::Wide8];
        let formats = packings.into_iter().flat_map(|packing| {
            [false, true].into_iter().map(move |tangent| VertexFormat {
                packing,
                tangent,
                second_uv: false,
                color: false,
            })
        });
        let colored = formats.clone().flat_map(move |vertex| {
            let more = [(true, false), (false, true), (true, true)];
            more.into_iter().flat_map(move |(color, second_uv)| {
                let vertex = VertexFormat { color, second_uv, ..vertex };
                [Encoding::MatrixF16, Encoding::VatF16].map(|encoding| plain(encoding, vertex))
            })
        });
        let all = formats.flat_map(move |vertex| {
            let shapes = |encoding: Encoding| if encoding.needs_compute() { &[false][..] } else { &[false, true] };
            Encoding::ALL.into_iter().flat_map(move |encoding| {
                shapes(encoding).iter().map(move |&array| Self { array, ..plain(encoding, vertex) })
            })
        });
        let of_packing = |packing| VertexFormat { packing, tangent: false, second_uv: false, color: false };
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
        let loaded = [Packing::Full8, Packing::Wide8].into_iter().flat_map(move |packing| {
            let of = move |vertex| Self { loads_influences: true, ..plain(Encoding::LocalPacked, vertex) };
            let formats = [(false, false), (true, false), (false, true), (true, true)].map(|(tangent, color)| {
                [false, true].map(|second_uv| of(VertexFormat { packing, tangent, second_uv, color }))
            });
            let formats = formats.into_iter().flatten();
            let first = of(of_packing(packing));
            let more = [Self { previous_transforms: true, ..first }, Self { morphs: MorphUse::Applied, ..first }];
            formats.chain(more)
        });
        let rest =
            plain_normals.chain(previous).chain(colored).chain(many_clips).chain(morphed).chain(varied).chain(loaded);
        all.chain(rest).filter(|variant| variant.is_sound())
    }

    /// Returns the number of words of each vertex attribute, at locations from 0 up.
    #[doc(hidden)]
    pub fn vertex_attributes(self) -> &'static [u32] {
        const OF_REMAINDER: [[u32; 6]; 4] =
            [[4, 4, 4, 4, 4, 4], [4, 4, 4, 4, 4, 1], [4, 4, 4, 4, 4, 2], [4, 4, 4, 4, 4, 3]];
        if self.loads_from_buffer() {
            // Position, normal and texture coordinates.
            return if self.vertex.packing.is_full() { &[4, 4] } else { &[4] };
        }
        let words = self.vertex.words();
        &OF_REMAINDER[words % 4][6 - words.div_ceil(4)..]
    }
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
    /// Instance records, with bones that vertices evaluate, because the palette has no room for them.
    Slotless,
    /// A formula.
    Field,
    /// Instance records of all crowds of a batch.
    #[cfg_attr(not(feature = "wgpu"), allow(dead_code, reason = "the renderer alone has batches"))]
    Batch {
        /// Whether a draw call has the materials of many models, in a table.
        table: bool,
    },
}

impl InstanceSource {
    /// Whether transforms of the previous frame are read where the variant has them.
    pub(super) fn reads_previous(self) -> bool {
        matches!(self, Self::Records | Self::Added | Self::Cached | Self::Slotless)
    }

    /// Whether the materials of a draw call are in a table.
    pub(crate) fn has_table(self) -> bool {
        matches!(self, Self::Batch { table: true })
    }

    /// Whether culling decides how many influences of the vertices are used.
    pub(super) fn chooses_influences(self, variant: Variant) -> bool {
        self.lists_slots(variant) && variant.vertex.packing.influences() > 4
    }

    /// Whether entries of the lists of drawn instances have slots of the palette.
    pub(super) fn lists_slots(self, variant: Variant) -> bool {
        variant.encoding.needs_compute()
            && matches!(self, Self::Records | Self::Added | Self::Slotless | Self::Batch { .. })
    }

    /// Whether vertices read bones that a pose pass has drawn.
    pub(crate) fn is_posed(self, variant: Variant) -> bool {
        self == Self::Records && variant.is_posed()
    }
}
