//! Test models from numbers: without glTF and baker.

use glam::{Mat3, Quat, Vec2, Vec3, Vec4};
use gpuskin_rt::internals::encoding::{fixed16, packed, vat};
use gpuskin_rt::internals::morph::{MorphDelta, MorphLists};
use gpuskin_rt::internals::vertex::{Vertex, pack};
use gpuskin_rt::internals::*;
use half::f16;

pub use super::random::Random;

/// A clip; frames are numbered through all clips.
#[derive(Clone, Copy)]
pub struct TestClip {
    pub intervals: u32,
    pub stored: u32,
    pub held: HeldFrames,
    pub stepped: bool,
    pub duration: f64,
    pub looped: bool,
}

/// A loop of 7 frames, an open clip of 6 frames of which two are identical, a single pose.
pub const CLIPS: [TestClip; 3] = [
    TestClip { intervals: 7, stored: 7, held: HeldFrames::NONE, duration: 0.7, stepped: false, looped: true },
    TestClip {
        intervals: 5,
        stored: 5,
        held: HeldFrames { first: 2, count: 1 },
        duration: 1.0,
        stepped: false,
        looped: false,
    },
    TestClip { intervals: 1, stored: 1, held: HeldFrames::NONE, duration: 0.0, stepped: false, looped: false },
];

/// Returns as many clips, alternating between the three of [`CLIPS`].
pub fn many_clips(count: usize) -> Vec<TestClip> {
    CLIPS.into_iter().cycle().take(count).collect()
}

/// Ingredients of a test model.
pub struct Recipe {
    pub encoding: Encoding,
    pub format: VertexFormat,
    pub bones: u32,
    pub clips: Vec<TestClip>,
    pub frames_per_layer: u32,
    pub normals: Normals,
    pub width: u32,
    pub vertices: Vec<Vertex>,
    /// Deltas of morph targets of each vertex, and the coarsest level of detail that draws it; none at all if empty.
    pub morphs: Vec<(Vec<MorphDelta>, usize)>,
    pub indices: Vec<u32>,
    pub materials: Vec<Material>,
    /// Each texture with the bytes of its mip levels per format.
    pub textures: Vec<(ColorTexture, Vec<Vec<Vec<u8>>>)>,
}

impl Recipe {
    /// Random vertices with one influence to as many as the format holds.
    pub fn random(random: &mut Random, encoding: Encoding, format: VertexFormat, bones: u32) -> Self {
        let most = if format.packing == Packing::Static { 4 } else { format.packing.influences() };
        let vertices = (0..150).map(|i| random_vertex(random, bones, i % most + 1)).collect();
        Self {
            encoding,
            format,
            bones,
            clips: CLIPS.to_vec(),
            frames_per_layer: 32,
            normals: Normals::Cofactor,
            width: 64,
            vertices,
            morphs: Vec::new(),
            indices: (0..150).collect(),
            materials: vec![plain([1.0; 4])],
            textures: Vec::new(),
        }
    }

    /// Holds the frames of the second clip, and some tracks of the others if the encoding is `local-packed`.
    pub fn with_steps(mut self) -> Self {
        self.clips[1].stepped = true;
        self
    }

    /// Adds deltas of none to six morph targets to each vertex.
    pub fn with_morphs(mut self, random: &mut Random) -> Self {
        let bones = self.bones;
        let mut delta = |_| MorphDelta {
            row: random.below(3 * bones),
            position: random.vector() * 0.3,
            normal: random.vector() * 0.1,
            tangent: random.vector() * 0.1,
        };
        self.morphs = (0..self.vertices.len()).map(|i| ((0..i % 7).map(&mut delta).collect(), i % 3)).collect();
        self
    }

    /// Builds the model. `bone(frame, bone)` returns a skinning matrix: rotation, shear,
    /// translation. In vertex mode, each vertex is moved by a bone of its own.
    pub fn build(mut self, mut bone: impl FnMut(u32, u32) -> Pose) -> TestModel {
        let first_row = self.encoding.range_rows();
        if self.encoding.is_vertex() {
            self.bones = first_row + self.vertices.len() as u32;
            (first_row..).zip(&mut self.vertices).for_each(|(row, vertex)| vertex.joints[0] = row);
        }
        let range_frames = self.encoding.range_frames();
        let frames: u32 = self.clips.iter().map(|c| range_frames + c.stored).sum();
        let texels = self.frames_per_layer.min(frames) * self.bones * self.encoding.texels();
        let texture = AnimationTexture {
            width: self.width,
            height: texels.div_ceil(self.width),
            layers: frames.div_ceil(self.frames_per_layer),
            frames_per_layer: self.frames_per_layer,
            frames,
            rows: self.bones,
            range: VALUES,
        };
        let mut animation = vec![0; texture.byte_len(self.encoding) as usize];
        let mut put = |frame, row, bytes: Vec<u8>| {
            // Consecutive texels are consecutive bytes, even across lines of the texture.
            let at = texture.byte_offset(self.encoding, frame, row, 0) as usize;
            animation[at..at + bytes.len()].copy_from_slice(&bytes);
        };
        let mut first_frame = 0;
        let clips: Vec<ClipInfo> = self
            .clips
            .iter()
            .map(|c| {
                for row in 0..self.bones {
                    for (frame, texel) in (first_frame..first_frame + range_frames).zip(packed_range(row).texels()) {
                        put(frame, row, bytemuck::cast_slice(&texel).to_vec());
                    }
                }
                first_frame += range_frames;
                for frame in first_frame..first_frame + c.stored {
                    put(frame, 0, vat::range_bytes(self.encoding, &VALUES));
                    for row in first_row..self.bones {
                        let pose = bone(frame, row);
                        let texels = if self.encoding.is_vertex() {
                            pose.vertex(self.encoding, &self.vertices[(row - first_row) as usize])
                        } else {
                            pose.texels(self.encoding, row)
                        };
                        put(frame, row, texels);
                    }
                }
                let info = clip_info(*c, first_frame);
                first_frame += c.stored;
                info
            })
            .collect();

        let mut texture = texture;
        let mut clips = clips;
        let mut masks = Vec::new();
        if self.encoding.needs_compute() {
            let mask = |i| MaskInfo { name: format!("mask {i}").into(), bones: vec![].into() };
            masks = (0..super::local::MASKS).map(mask).collect();
            for (i, clip) in clips.iter_mut().enumerate() {
                clip.additive = super::local::reference(i).filter(|reference| (*reference as usize) < self.clips.len());
            }
            let records: Vec<ClipRecord> = clips.iter().map(ClipInfo::record).collect();
            animation = super::local::words(&mut Random(u64::from(self.bones)), self.bones, &records);
            texture.height = (animation.len() as u32 / 4).div_ceil(texture.width);
            texture.layers = 1;
            texture.frames_per_layer = texture.frames;
            animation.resize(texture.byte_len(self.encoding) as usize, 0);
        }
        let range = range_of(&self.vertices);
        let words: Vec<Vec<u32>> = self.vertices.iter().map(|v| pack(v, self.format, &range)).collect();
        let records: Vec<ClipRecord> = clips.iter().map(ClipInfo::record).collect();

        // The hash represents the bytes of the files: models with other bytes need another hash.
        let mut hash = Random(0);
        let wide_indices = self.vertices.len() > 65_536;
        let mut mesh = vec![0; 16];
        let mut add = |bytes: &[u8]| {
            let range = ByteRange { offset: mesh.len() as u64, len: bytes.len() as u64 };
            mesh.extend(bytes);
            range
        };
        let clip_range = add(bytemuck::cast_slice(&records));
        let vertex_range = add(bytemuck::cast_slice(&words.concat()));
        let index_bytes: Vec<u8> = if wide_indices {
            self.indices.iter().flat_map(|i| i.to_le_bytes()).collect()
        } else {
            self.indices.iter().flat_map(|i| (*i as u16).to_le_bytes()).collect()
        };
        let index_range = add(&index_bytes);
        let morphs = match self.morphs.is_empty() {
            true => Vec::new(),
            false => {
                let lists: Vec<_> = self.morphs.iter().map(|(deltas, _)| deltas.as_slice()).collect();
                let of = |(list, deltas): (u32, &&[MorphDelta])| if deltas.is_empty() { 0 } else { list };
                let of: Vec<u32> = (1..).zip(&lists).map(of).collect();
                MorphLists::pack(&lists, &of, |vertex| self.morphs[vertex].1)
            }
        };
        let morph_range = add(bytemuck::cast_slice(&morphs));
        for word in mesh.iter().chain(&animation).chain(self.materials.iter().flat_map(|m| m.name.as_bytes())) {
            hash.0 = hash.0.wrapping_add(u64::from(*word));
            hash.bits();
        }
        let content_hash: [u8; 16] = bytemuck::cast([hash.bits(), hash.bits()]);

        let levels = |bytes: &[Vec<u8>]| {
            let mut at = 16;
            let range = bytes.iter().map(|b| {
                at += b.len() as u64;
                ByteRange { offset: at - b.len() as u64, len: b.len() as u64 }
            });
            range.collect::<Vec<_>>()
        };
        let payload = |bytes: &[Vec<u8>]| {
            let data = [&content_hash[..], &bytes.concat()].concat();
            Payload {
                size: data.len() as u64,
                data: Data::Bytes(data.into()),
                hash_at: 0,
                levels: levels(bytes).into(),
            }
        };
        let count = self.indices.len() as u32 / self.materials.len() as u32;
        let parts: Vec<MeshPart> = (0..self.materials.len() as u32)
            .map(|material| MeshPart {
                material,
                part: None,
                flat: false,
                first_index: material * count,
                index_count: count,
            })
            .collect();
        let model = Model {
            meta: Metadata {
                content_hash,
                format_version: FORMAT_VERSION,
                name: "test".into(),
                encoding: self.encoding,
                texture,
                normals: self.normals,
                clips: clips.into(),
                bones: vec![].into(),
                events: vec![].into(),
                masks: masks.into(),
                morphs: vec![].into(),
                parts: vec![].into(),
                variants: vec![].into(),
                mesh: MeshInfo {
                    format: self.format,
                    range,
                    vertex_count: self.vertices.len() as u32,
                    vertices: vertex_range,
                    indices: index_range,
                    wide_indices,
                    clips: clip_range,
                    parts: parts.into(),
                    levels: vec![].into(),
                    influence_error: 0.0,
                    morphs: morph_range,
                    rest: None,
                },
                materials: self.materials.into(),
                textures: self.textures.iter().map(|(info, _)| info.clone()).collect(),
                rest_bounds: Aabb::EMPTY,
                bounds: Aabb::EMPTY,
            },
            animation: payload(&[animation.clone()]),
            mesh: payload(&[mesh[16..].to_vec()]),
            textures: self.textures.iter().flat_map(|(_, files)| files).map(|levels| payload(levels)).collect(),
            others: vec![].into(),
        };
        TestModel { model, animation, words, morphs, records }
    }
}

/// A model, and the data that the CPU reference needs.
pub struct TestModel {
    pub model: Model,
    animation: Vec<u8>,
    words: Vec<Vec<u32>>,
    morphs: Vec<u32>,
    pub records: Vec<ClipRecord>,
}

impl TestModel {
    /// Returns all vertices of an instance, by the CPU reference.
    pub fn on_cpu(&self, instance: &InstanceRecord, now: Time) -> Vec<skin::SkinnedVertex> {
        self.on_cpu_from(&self.texels(), instance, now)
    }

    /// Returns what [`TestModel::on_cpu`] returns, without checking the animation again. `texels`: from
    /// [`TestModel::texels`].
    pub fn on_cpu_from(&self, texels: &Texels<'_>, instance: &InstanceRecord, now: Time) -> Vec<skin::SkinnedVertex> {
        let meta = &self.model.meta;
        let vertex = |words: &Vec<u32>| vertex::unpack(words, meta.mesh.format, &meta.mesh.range);
        let vertices: Vec<Vertex> = self.words.iter().map(vertex).collect();
        let mesh = (&vertices[..], &MorphLists::new(&self.morphs));
        skin::skin_vertices(texels, &self.records, instance, now, mesh, meta.normals)
    }

    /// Returns all vertices of an instance of a `local-packed` model including layers and live
    /// bones, by the CPU reference.
    pub fn on_cpu_over(&self, frame: &render::CaptureFrame<'_>) -> Vec<skin::SkinnedVertex> {
        let meta = &self.model.meta;
        let (now, record) = (frame.time, &frame.record);
        let shown = record.pose_blend(&self.records, now);
        let over = frame.layers.unwrap_or_default().sample(&self.records, frame.live, now);
        let bones = self.tracks().pose_over(shown, &over);
        let morphs = MorphLists::new(&self.morphs);
        let vertex = |(index, words): (usize, &Vec<u32>)| {
            let vertex = vertex::unpack(words, meta.mesh.format, &meta.mesh.range);
            let vertex = skin::morphed(&bones, &morphs, index, &vertex);
            skin::in_world(record, skin::skin(&skin::blend(&bones, &vertex), &vertex, meta.normals))
        };
        self.words.iter().enumerate().map(vertex).collect()
    }

    /// Returns the words of a `local-packed` model.
    pub fn tracks(&self) -> local::LocalTracks<'_> {
        local::LocalTracks::new(&self.animation).unwrap()
    }

    /// Returns the bytes of the animation.
    pub fn animation(&self) -> &[u8] {
        &self.animation
    }

    /// Returns the animation, to be sampled in any encoding.
    pub fn texels(&self) -> Texels<'_> {
        Texels::new(self.model.meta.encoding, self.model.meta.texture, &self.animation).unwrap()
    }

    /// Returns the vertices in the bind pose.
    pub fn vertices(&self) -> impl Iterator<Item = Vertex> {
        let mesh = &self.model.meta.mesh;
        self.words.iter().map(|words| vertex::unpack(words, mesh.format, &mesh.range))
    }
}

/// Transform of a bone: `x' = rotation * (stretch * x) + translation`.
#[derive(Clone, Copy)]
pub struct Pose {
    pub rotation: Quat,
    pub scale: f32,
    /// Shear and non-uniform scale, for encodings that store it.
    pub shear: Mat3,
    pub translation: Vec3,
}

impl Pose {
    pub const REST: Self =
        Self { rotation: Quat::IDENTITY, scale: 1.0, shear: Mat3::IDENTITY, translation: Vec3::ZERO };

    /// Near the rest pose, so that blends of several bones are not singular.
    pub fn random(random: &mut Random, mirrored: bool) -> Self {
        let turn = random.within(-0.5, 0.5);
        let mut shear = Mat3::from_cols(Vec3::X, Vec3::new(random.within(-0.3, 0.3), 1.0, 0.0), Vec3::Z * 1.2);
        if mirrored {
            shear.x_axis = -shear.x_axis;
        }
        Self {
            rotation: Quat::from_axis_angle(random.direction(), turn) * if random.unit() < 0.5 { 1.0 } else { -1.0 },
            scale: random.within(0.8, 1.2),
            shear,
            translation: random.vector() * 0.3,
        }
    }

    /// Returns the bytes of a vertex in a frame.
    fn vertex(self, encoding: Encoding, vertex: &Vertex) -> Vec<u8> {
        let matrix = Mat3::from_quat(self.rotation) * self.shear * self.scale;
        let sample = vat::VertexSample {
            position: (matrix * vertex.position + self.translation).as_dvec3(),
            normal: (matrix.inverse().transpose() * vertex.normal).normalize().as_dvec3(),
            tangent: (matrix * vertex.tangent.truncate()).as_dvec3(),
        };
        vat::vertex_bytes(encoding, &sample, &VALUES)
    }

    /// Returns the bytes of a bone in a frame.
    fn texels(self, encoding: Encoding, bone: u32) -> Vec<u8> {
        let matrix = Mat3::from_quat(self.rotation) * self.shear * self.scale;
        let rows = [0, 1, 2].map(|i| matrix.row(i).extend(self.translation[i]).to_array());
        let trs = [Vec4::from(self.rotation).to_array(), self.translation.extend(self.scale).to_array()];
        let halves = |values: &[[f32; 4]]| -> Vec<u8> {
            values.iter().flatten().flat_map(|c| f16::from_f32(*c).to_le_bytes()).collect()
        };
        match encoding {
            Encoding::MatrixF32 => bytemuck::cast_slice(&rows).to_vec(),
            Encoding::MatrixF16 => halves(&rows),
            Encoding::MatrixUnorm => {
                let fraction =
                    |c: f32, lane: usize| ((c - VALUES.min[lane]) / VALUES.extent[lane] * 65_535.0).round() as u16;
                let lanes = [3, 3, 3, 0];
                rows.iter()
                    .flat_map(|r| [0, 1, 2, 3].map(|i| fraction(r[i], lanes[i])))
                    .flat_map(u16::to_le_bytes)
                    .collect()
            }
            Encoding::TrsF16 => halves(&trs),
            Encoding::Fixed16 => trs.iter().flatten().flat_map(|c| fixed16(f64::from(*c)).unwrap()).collect(),
            Encoding::TrsPacked => {
                let range = packed_range(bone);
                let place = self.rotation * range.pivot * self.scale + self.translation;
                let trs = packed::Trs {
                    rotation: Vec4::from(self.rotation).as_dvec4(),
                    place: place.as_dvec3(),
                    scale: self.scale.into(),
                };
                bytemuck::cast_slice(&packed::pack(&trs, &range)).to_vec()
            }
            // The words of `local-packed` are made for the whole model at once.
            Encoding::LocalPacked => Vec::new(),
            other => unreachable!("{other:?} has no test texels"),
        }
    }
}

/// Range that contains every number of a [`Pose`], all vertices that it moves, and tangents.
const VALUES: ValueRange = ValueRange { min: [-4.0, -4.0, -4.0, -2.0], extent: [8.0, 8.0, 8.0, 4.0] };

/// Returns a range that contains every [`Pose`], with a pivot per bone.
pub fn packed_range(bone: u32) -> packed::Range {
    packed::Range {
        place_min: Vec3::new(-2.0, -1.5, -3.0),
        place_extent: Vec3::new(4.0, 3.0, 6.0),
        scale_min: 0.75,
        scale_extent: 0.5,
        pivot: packed::round_pivot(Vec3::new(0.3, -0.7, 0.01 * bone as f32 % 1.0)),
    }
}

fn random_vertex(random: &mut Random, bones: u32, influences: usize) -> Vertex {
    let mut weights = [0.0; 8];
    for weight in &mut weights[..influences] {
        *weight = random.within(0.05, 1.0);
    }
    let sum: f32 = weights.iter().sum();
    let vertex = Vertex {
        position: random.vector(),
        normal: random.direction(),
        tangent: random.direction().extend(if random.unit() < 0.5 { 1.0 } else { -1.0 }),
        uv: Vec2::new(random.unit(), random.within(-1.0, 2.0)),
        second_uv: Vec2::ZERO,
        joints: [0; 8].map(|_| random.below(bones)),
        weights: weights.map(|w| w / sum),
        part: random.below(17),
        color: random.direction().abs().extend(random.unit()),
    };
    Vertex { second_uv: Vec2::new(1.5 * vertex.uv.y, vertex.uv.x - 0.3), ..vertex }
}

fn range_of(vertices: &[Vertex]) -> VertexRange {
    let all = |f: fn(Vec3, Vec3) -> Vec3| vertices.iter().map(|v| v.position).reduce(f).unwrap();
    let uv = |f: fn(Vec2, Vec2) -> Vec2| vertices.iter().map(|v| v.uv).reduce(f).unwrap();
    let (min, max) = (all(Vec3::min), all(Vec3::max));
    let (uv_min, uv_max) = (uv(Vec2::min), uv(Vec2::max));
    VertexRange {
        position_min: min.into(),
        position_extent: (max - min).into(),
        uv_min: uv_min.into(),
        uv_extent: (uv_max - uv_min).into(),
    }
}

fn clip_info(clip: TestClip, first_frame: u32) -> ClipInfo {
    ClipInfo {
        name: "clip".into(),
        source: "clip".into(),
        first_frame,
        intervals: clip.intervals,
        stored: clip.stored,
        held: clip.held,
        stepped: clip.stepped,
        looped: clip.looped,
        duration: clip.duration,
        frame_rate: if clip.duration > 0.0 { f64::from(clip.intervals) / clip.duration } else { 0.0 },
        bounds: Aabb::EMPTY,
        events: vec![].into(),
        root_motion: None,
        additive: None,
        encoding_error: ErrorInfo::default(),
        motion_error: ErrorInfo::default(),
    }
}

/// Returns a material of one colour, without back faces.
pub fn plain(base_color: [f32; 4]) -> Material {
    Material {
        name: format!("{base_color:?}").into(),
        base_color,
        base_color_texture: None,
        tint_mask: false,
        variant_layers: vec![].into(),
        metallic: 0.0,
        roughness: 1.0,
        occlusion_strength: 1.0,
        occlusion_second_uv: false,
        orm_texture: None,
        ior: 1.5,
        specular: 1.0,
        specular_color: [1.0; 3],
        specular_texture: None,
        clearcoat: 0.0,
        clearcoat_roughness: 0.0,
        clearcoat_texture: None,
        clearcoat_normal_scale: 1.0,
        clearcoat_normal_texture: None,
        sheen_color: [0.0; 3],
        sheen_roughness: 0.0,
        sheen_texture: None,
        normal_scale: 1.0,
        normal_texture: None,
        emissive: [0.0; 3],
        emissive_texture: None,
        double_sided: false,
        unlit: false,
        alpha_cutoff: None,
        alpha_blend: false,
    }
}

/// Returns the names of two variants, or of none.
pub fn variant_names(exist: bool) -> List<Str> {
    let names: &[&str] = if exist { &["base", "other"] } else { &[] };
    names.iter().map(|name| Str::from(*name)).collect()
}

/// Returns a texture that is sampled nearest, and clamped.
pub fn nearest(texture: u32) -> MaterialTexture {
    MaterialTexture { texture, wrap: [Wrap::Clamp; 2], nearest: true, second_uv: false }
}
