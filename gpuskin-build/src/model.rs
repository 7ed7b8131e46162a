//! A model as imported: validated once, in `f64`, in the units of its file.

#[cfg(test)]
pub(crate) mod fixtures;

use glam::{DMat4, DQuat, DVec2, DVec3, DVec4};

/// A model: one hierarchy, one list of bones, the meshes that they move and the clips that move them.
///
/// Every index in it is in range, the hierarchy has no cycle, every number is finite.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// Name in the manifest.
    pub name: String,
    /// Nodes of the glTF file, in its order.
    pub nodes: Vec<Node>,
    /// Indices of all nodes, parents before their children.
    pub order: Vec<usize>,
    /// From the file's scene to the scene as baked: the manifest's up axis and scale.
    pub root: DMat4,
    /// Bones that move at least one vertex, and sockets. Two skins that share a joint and its inverse bind matrix share the
    /// bone.
    pub bones: Vec<Bone>,
    /// Nodes that are sockets, ascending; each has a bone.
    pub sockets: Vec<usize>,
    /// What layers act on.
    pub masks: Vec<Mask>,
    /// Names of the parts of the mesh.
    pub parts: Vec<String>,
    /// Meshes that take part, by ascending node, then by primitive.
    pub primitives: Vec<Primitive>,
    /// Materials that the primitives use.
    pub materials: Vec<Material>,
    /// Images that the materials use.
    pub images: Vec<Image>,
    /// Clips that the manifest asks for, in its order, then in the order of the files.
    pub clips: Vec<Clip>,
    /// Names of all clips' events, sorted.
    pub events: Vec<String>,
}

impl Model {
    /// Forgets its images, and that materials use them: for what looks at shapes only.
    pub(crate) fn drop_images(&mut self) {
        self.images.clear();
        self.materials.iter_mut().for_each(|m| {
            m.base_color_texture = None;
            m.metallic_roughness_texture = None;
            m.occlusion_texture = None;
            m.normal_texture = None;
            m.emissive_texture = None;
        });
    }
}

/// What layers act on.
#[derive(Clone, Debug)]
pub struct Mask {
    /// Its name in the manifest.
    pub name: String,
    /// For each node, whether it is in it.
    pub nodes: Vec<bool>,
}

/// A node of the hierarchy.
#[derive(Clone, Debug)]
pub struct Node {
    /// Its name, or `node 7`.
    pub name: String,
    /// Index of its parent.
    pub parent: Option<usize>,
    /// Its transform where no clip moves it.
    pub local: Local,
    /// What the morph targets of its mesh are multiplied by where no clip says otherwise, one each. The node's own weights,
    /// else those of its mesh, else zeros; empty where its mesh has no targets.
    pub weights: Vec<f64>,
}

/// A node's own transform, to its parent's space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Local {
    /// Scale, then rotation, then translation.
    Trs(Trs),
    /// A matrix. A clip that moves the node replaces it (as the reference implementations do; glTF forbids it).
    Matrix(DMat4),
}

/// Translation, unit quaternion and scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trs {
    /// Metres.
    pub translation: DVec3,
    /// Unit length.
    pub rotation: DQuat,
    /// Per axis.
    pub scale: DVec3,
}

impl Trs {
    /// Moves nothing.
    pub const IDENTITY: Self = Self { translation: DVec3::ZERO, rotation: DQuat::IDENTITY, scale: DVec3::ONE };
}

/// A joint of a skin, or a node that carries a rigid mesh.
#[derive(Clone, Debug)]
pub struct Bone {
    /// Name of its node.
    pub name: String,
    /// Index of its node.
    pub node: usize,
    /// From [`Primitive::positions`] to the node's space. For rigid meshes the identity, unless they share a bone: with a
    /// skin, or, where no clip moves them, with each other. A mirror where the node's transform mirrors.
    pub inverse_bind: DMat4,
}

impl Bone {
    /// The bone's frame in bind space: the inverse of its inverse bind matrix; the identity where a file has one without
    /// an inverse that `f32` can hold.
    pub fn bind(&self) -> DMat4 {
        let inverse = self.inverse_bind.inverse();
        let fits = inverse.to_cols_array().iter().all(|x| x.abs() <= f64::from(f32::MAX));
        if fits { inverse } else { DMat4::IDENTITY }
    }
}

/// A primitive of a mesh, under one node of the scene. Vertices in the accessors' order.
#[derive(Clone, Debug, Default)]
pub struct Primitive {
    /// Index of the node that carries it.
    pub node: usize,
    /// Index of its mesh in the file.
    pub mesh: usize,
    /// Index of the primitive in its mesh.
    pub index: usize,
    /// Index of its skin in the file, where it is skinned.
    pub skin: Option<usize>,
    /// In the space that the bones' inverse bind matrices start from: those of the file for skinned meshes, moved to share
    /// a bone for some rigid ones. Units of the file.
    pub positions: Vec<DVec3>,
    /// As in the file or moved with the positions; of any length, zero where the file has them so. `None`: the file has
    /// none, and the mesh is shaded flat.
    pub normals: Option<Vec<DVec3>>,
    /// With the sign of the bitangent in `w`; otherwise as the normals.
    pub tangents: Option<Vec<DVec4>>,
    /// Texture coordinates for the base colour, `KHR_texture_transform` applied; without a base colour texture those of the
    /// normal map. Empty where the material needs none, or the file has none.
    pub uvs: Vec<DVec2>,
    /// `COLOR_0`: linear RGBA, 0..1, which the base colour is multiplied by. `None`: white, or part of the material already.
    pub colors: Option<Vec<[f32; 4]>>,
    /// What moves each vertex: greatest weight first, summing to one, none zero. At least one a vertex.
    pub influences: Influences,
    /// Triangles, three different corners each, counter-clockwise from outside in the space of the positions. May be empty.
    pub triangles: Vec<[u32; 3]>,
    /// Index into [`Model::materials`].
    pub material: usize,
    /// Index into [`Model::parts`]; `None`: always worn.
    pub part: Option<u8>,
    /// What the weights of [`Self::node`] blend in before bones move the vertices. At most as many as the node has weights;
    /// each node that carries the mesh has targets of its own, moved with its positions.
    pub targets: Vec<MorphTarget>,
}

impl Primitive {
    /// Where a vertex is before bones move it, with its node's morph weights.
    pub fn position(&self, vertex: usize, weights: &[f64]) -> DVec3 {
        blend(self.positions[vertex], &self.targets, weights, |target| Some(target.positions[vertex]))
    }

    /// The normal of a vertex before bones turn it, of any length, with its node's morph weights.
    pub fn normal(&self, vertex: usize, weights: &[f64]) -> Option<DVec3> {
        let normal = self.normals.as_ref()?[vertex];
        Some(blend(normal, &self.targets, weights, |target| Some(target.normals.as_ref()?[vertex])))
    }

    /// The tangent of a vertex before bones turn it, of any length, with its node's morph weights; `w` is not blended.
    pub fn tangent(&self, vertex: usize, weights: &[f64]) -> Option<DVec4> {
        let tangent = self.tangents.as_ref()?[vertex];
        let delta = |target: &MorphTarget| Some(target.tangents.as_ref()?[vertex]);
        Some(blend(tangent.truncate(), &self.targets, weights, delta).extend(tangent.w))
    }
}

/// `base + sum weight * delta`.
fn blend(
    base: DVec3,
    targets: &[MorphTarget],
    weights: &[f64],
    delta: impl Fn(&MorphTarget) -> Option<DVec3>,
) -> DVec3 {
    let mut sum = base;
    for (target, &weight) in targets.iter().zip(weights) {
        if let (true, Some(delta)) = (weight != 0.0, delta(target)) {
            sum += delta * weight;
        }
    }
    sum
}

/// What a morph weight of one adds to the vertices of a primitive, in the space of its positions.
#[derive(Clone, Debug)]
pub struct MorphTarget {
    /// Zeros where the file has none.
    pub positions: Vec<DVec3>,
    /// To normals as they stand in [`Primitive::normals`], before they are brought to unit length. `None`: none change, or
    /// the primitive has no normals.
    pub normals: Option<Vec<DVec3>>,
    /// Likewise to tangents.
    pub tangents: Option<Vec<DVec3>>,
}

/// Lists of bones and weights, one a vertex.
#[derive(Clone, Debug, Default)]
pub struct Influences {
    ends: Vec<u32>,
    list: Vec<(u16, f64)>,
}

impl Influences {
    /// Appends the list of the next vertex.
    pub fn push(&mut self, influences: impl IntoIterator<Item = (u16, f64)>) {
        self.list.extend(influences);
        self.ends.push(self.list.len() as u32);
    }

    /// Bones and weights of a vertex.
    pub fn of(&self, vertex: usize) -> &[(u16, f64)] {
        let start = if vertex == 0 { 0 } else { self.ends[vertex - 1] };
        &self.list[start as usize..self.ends[vertex] as usize]
    }

    /// All entries, of all vertices.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut (u16, f64)> {
        self.list.iter_mut()
    }

    /// Number of vertices.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no vertex.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
}

/// What a surface looks like.
#[derive(Clone, Debug, PartialEq)]
pub struct Material {
    /// May be empty.
    pub name: String,
    /// Linear RGBA.
    pub base_color: [f32; 4],
    /// The texture that it is multiplied by.
    pub base_color_texture: Option<Texture>,
    /// 0..1, times the blue channel of the metallic-roughness texture.
    pub metallic: f32,
    /// 0..1, times the green channel of the metallic-roughness texture.
    pub roughness: f32,
    /// Roughness in green, metallic in blue.
    pub metallic_roughness_texture: Option<Texture>,
    /// 0..1.
    pub occlusion_strength: f32,
    /// Occlusion in red. As large as the metallic-roughness texture, where there is one.
    pub occlusion_texture: Option<Texture>,
    /// Whether it has a normal map, which needs tangents.
    pub normal_map: bool,
    /// For x and y of normals.
    pub normal_scale: f32,
    /// The normal map, where it can be used.
    pub normal_texture: Option<Texture>,
    /// Linear RGB, times `KHR_materials_emissive_strength`.
    pub emissive: [f32; 3],
    /// The texture that it is multiplied by.
    pub emissive_texture: Option<Texture>,
    /// Seen from behind, too.
    pub double_sided: bool,
    /// Alpha mode MASK and its cutoff.
    pub alpha_cutoff: Option<f32>,
    /// Shown in its base colour, whatever the light: `KHR_materials_unlit`.
    pub unlit: bool,
}

impl Default for Material {
    /// As glTF has it where a material says nothing.
    fn default() -> Self {
        Self {
            name: String::new(),
            base_color: [1.0; 4],
            base_color_texture: None,
            metallic: 1.0,
            roughness: 1.0,
            metallic_roughness_texture: None,
            occlusion_strength: 1.0,
            occlusion_texture: None,
            normal_map: false,
            normal_scale: 1.0,
            normal_texture: None,
            emissive: [0.0; 3],
            emissive_texture: None,
            double_sided: false,
            alpha_cutoff: None,
            unlit: false,
        }
    }
}

/// An image and how it is sampled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Texture {
    /// Index into [`Model::images`].
    pub image: usize,
    /// Along u and v.
    pub wrap: [gpuskin_rt::Wrap; 2],
    /// Magnified without filtering.
    pub nearest: bool,
}

/// A colour image, decoded.
#[derive(Clone)]
pub struct Image {
    /// For messages: `image 3 (textures/skin.png)`.
    pub name: String,
    /// Texels across.
    pub width: u32,
    /// Texels down.
    pub height: u32,
    /// RGBA8, rows top down; sRGB or not is up to the materials. Empty where only sizes were asked for.
    pub rgba: Vec<u8>,
}

impl std::fmt::Debug for Image {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Image({}, {} x {})", self.name, self.width, self.height)
    }
}

/// A clip: curves over seconds.
#[derive(Clone, Debug, Default)]
pub struct Clip {
    /// Name in Rust: as in the manifest, or the file's in snake case.
    pub name: String,
    /// Name in the glTF file, or `animation 3`.
    pub source: String,
    /// Index of the animation in its file.
    pub index: usize,
    /// Path of its file as in the manifest, where it is not the model's own.
    pub file: Option<String>,
    /// Curves, at most one for a node and property.
    pub channels: Vec<Channel>,
    /// Curves of morph weights, at most one for a node.
    pub morphs: Vec<MorphChannel>,
    /// First key of all samplers, seconds.
    pub start: f64,
    /// Last key of all samplers, seconds: a clip runs from 0 to here.
    pub end: f64,
    /// What happens in it: seconds from 0 to its end, and the index into [`Model::events`]. Ascending.
    pub events: Vec<(f64, u16)>,
    /// What moves the model as a whole, where that is not part of its poses.
    pub root: Option<RootMotionSource>,
    /// Index of the clip whose first frame it adds to; `None`: it is a pose of its own.
    pub additive: Option<usize>,
}

/// Where a clip's motion as a whole comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RootMotionSource {
    /// Index of the node that moves so.
    pub node: usize,
    /// What is not in the ground plane, and turning about other axes than y, stays in the poses.
    pub planar: bool,
}

impl Clip {
    /// Whether another clip moves all nodes alike: the same curves, to the last bit, of which the same is root motion; and is
    /// played alike.
    pub fn moves_as(&self, other: &Self) -> bool {
        let same_role = self.root == other.root && self.additive == other.additive;
        same_role && self.end == other.end && self.channels == other.channels && self.morphs == other.morphs
    }
}

/// A curve and the property that it moves.
#[derive(Clone, Debug, PartialEq)]
pub struct Channel {
    /// Index of the node.
    pub node: usize,
    /// What of it.
    pub property: Property,
    /// How.
    pub curve: Curve,
}

/// A curve of the morph weights of a node.
#[derive(Clone, Debug, PartialEq)]
pub struct MorphChannel {
    /// Index of the node.
    pub node: usize,
    /// How.
    pub curve: WeightCurve,
}

/// Keys of all morph weights of a node.
#[derive(Clone, Debug, PartialEq)]
pub struct WeightCurve {
    /// Seconds; strictly ascending, at least one.
    pub times: Vec<f64>,
    /// One row of [`Self::targets`] weights a key; three for [`Interpolation::CubicSpline`] (in-tangents, values,
    /// out-tangents).
    pub values: Vec<f64>,
    /// As many as the node has weights; at least one.
    pub targets: usize,
    /// glTF's three.
    pub interpolation: Interpolation,
}

/// A property of a node that clips move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Property {
    /// Three numbers a key.
    Translation,
    /// Four: `x, y, z, w`.
    Rotation,
    /// Three.
    Scale,
}

/// Keys and how to go between them.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Seconds; strictly ascending, at least one.
    pub times: Vec<f64>,
    /// One value a key; three for [`Interpolation::CubicSpline`] (in-tangent, value, out-tangent). Rotations of STEP and
    /// LINEAR curves are of unit length. `w` is 0 for translation and scale.
    pub values: Vec<DVec4>,
    /// glTF's three.
    pub interpolation: Interpolation,
}

/// How a curve goes from key to key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interpolation {
    /// Holds each key until the next.
    Step,
    /// Straight; along the shorter arc for rotations.
    Linear,
    /// Cubic Hermite, tangents scaled by the interval.
    CubicSpline,
}
