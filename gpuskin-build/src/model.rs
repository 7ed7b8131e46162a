//! An imported and validated model, in `f64` and in the units of its file.

#[cfg(test)]
pub(crate) mod fixtures;
mod material;

use std::sync::Arc;

use glam::{DMat4, DQuat, DVec2, DVec3, DVec4};
pub use material::{Image, Material, Texture};

/// A model: one node hierarchy, one list of bones, the meshes that the bones move, and the clips
/// that animate the nodes.
///
/// All indices are in range, the hierarchy has no cycle, and all numbers are finite.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// Name in the manifest.
    pub name: String,
    /// Nodes of the glTF file, in file order.
    pub nodes: Vec<Node>,
    /// Indices of all nodes, parents before their children.
    pub order: Vec<usize>,
    /// Transform from the file's scene to the baked scene: the up axis and the scale of the
    /// manifest.
    pub root: DMat4,
    /// Bones that move at least one vertex, and sockets. Skins that share a joint with equal
    /// inverse bind matrices share the bone.
    pub bones: Vec<Bone>,
    /// Nodes that are sockets, ascending; each has a bone.
    pub sockets: Vec<usize>,
    /// Masks: sets of nodes that layers can act on.
    pub masks: Vec<Mask>,
    /// Names of the parts of the mesh.
    pub parts: Vec<String>,
    /// Names of the variants of the materials: [`BASE`](crate::manifest::BASE), then those of the manifest; empty if the
    /// manifest has none.
    pub variants: Vec<String>,
    /// Primitives to bake, sorted by node, then by index in the mesh.
    pub primitives: Vec<Primitive>,
    /// Morph targets whose weights bones have, in bone mode.
    pub morph_tracks: Vec<MorphTrack>,
    /// Number of these bones: the last of [`Self::bones`], each at one of the last [`Self::nodes`].
    pub morph_bones: usize,
    /// Materials that the primitives use.
    pub materials: Vec<Material>,
    /// Images that the materials use.
    pub images: Vec<Image>,
    /// Clips to bake, in the order of the manifest, or of the files if the manifest lists none.
    pub clips: Vec<Clip>,
    /// Names of the events of all clips, sorted.
    pub events: Vec<String>,
}

impl Model {
    /// Whether the translation of a node has weights of morph targets. Such a node has no place in the scene: no parent,
    /// and neither [`Self::root`] nor root motion moves it.
    pub(crate) fn has_weights(&self, node: usize) -> bool {
        node + self.morph_bones >= self.nodes.len()
    }

    /// Returns whether a material has textures with second texture coordinates.
    pub(crate) fn has_second_uv(&self) -> bool {
        self.materials.iter().any(Material::has_second_uv)
    }

    /// Removes images and texture references, for users that need only the geometry.
    pub(crate) fn drop_images(&mut self) {
        self.images.clear();
        self.materials.iter_mut().for_each(|m| {
            m.base_color_texture = None;
            m.variant_images.clear();
            m.tint_mask = None;
            m.metallic_roughness_texture = None;
            m.occlusion_texture = None;
            m.normal_texture = None;
            m.emissive_texture = None;
            m.specular_texture = None;
            m.specular_color_texture = None;
            m.clearcoat_texture = None;
            m.clearcoat_roughness_texture = None;
            m.clearcoat_normal_texture = None;
            m.sheen_color_texture = None;
            m.sheen_roughness_texture = None;
        });
    }
}

/// A morph target whose weight is one axis of the translation of a bone.
#[derive(Clone, Debug, PartialEq)]
pub struct MorphTrack {
    /// Name in the file, after the name of the node if several nodes have morph targets.
    pub name: String,
    /// Index of the node whose meshes have the target.
    pub node: usize,
    /// Index into [`Primitive::targets`] of these meshes.
    pub target: usize,
    /// Index of the bone.
    pub bone: usize,
    /// Axis of the translation.
    pub axis: usize,
    /// Translation at a weight of one, in metres: the distance by which the target moves a vertex at most, or more if it
    /// turns normals.
    pub scale: f64,
}

/// Set of nodes that a layer can act on.
#[derive(Clone, Debug)]
pub struct Mask {
    /// Name in the manifest.
    pub name: String,
    /// Whether the mask includes the node. `[node]`
    pub nodes: Vec<bool>,
}

/// A node of the hierarchy.
#[derive(Clone, Debug)]
pub struct Node {
    /// Name, or `node 7` if it has none.
    pub name: String,
    /// Index of the parent node.
    pub parent: Option<usize>,
    /// Node-to-parent transform of the rest pose.
    pub local: Local,
    /// Morph weights of the rest pose, one per target: those of the node, else those of its mesh,
    /// else zeros. Empty if the mesh has no targets.
    pub weights: Vec<f64>,
}

/// Node-to-parent transform.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Local {
    /// Scale, then rotation, then translation.
    Trs(Trs),
    /// A matrix. A clip that animates the node replaces the matrix, as reference implementations
    /// do; glTF forbids such clips.
    Matrix(DMat4),
}

/// Translation, rotation and scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trs {
    /// Translation, in metres.
    pub translation: DVec3,
    /// Rotation, a unit quaternion.
    pub rotation: DQuat,
    /// Scale per axis.
    pub scale: DVec3,
}

impl Trs {
    /// The identity transform.
    pub const IDENTITY: Self = Self { translation: DVec3::ZERO, rotation: DQuat::IDENTITY, scale: DVec3::ONE };

    /// Decomposes an affine matrix without shear. A singular matrix gives numbers that are not finite.
    pub(crate) fn from_matrix(m: &DMat4) -> Self {
        let (scale, rotation, translation) = m.to_scale_rotation_translation();
        Self { translation, rotation: rotation.normalize(), scale }
    }

    pub(crate) fn is_finite(&self) -> bool {
        self.translation.is_finite() && self.rotation.is_finite() && self.scale.is_finite()
    }
}

/// A joint of a skin, or a node with a rigid mesh.
#[derive(Clone, Debug)]
pub struct Bone {
    /// Name of the node.
    pub name: String,
    /// Index of the node.
    pub node: usize,
    /// Transform from the space of [`Primitive::positions`] to node space. For rigid meshes this is
    /// the identity, unless they share a bone with a skin, or, if no clip moves them, with each
    /// other. If the node's transform mirrors, the matrix does too.
    pub inverse_bind: DMat4,
}

impl Bone {
    /// Returns the bone's transform in bind space: the inverse of the inverse bind matrix, or the
    /// identity if the inverse exceeds the range of `f32`.
    pub fn bind(&self) -> DMat4 {
        let inverse = self.inverse_bind.inverse();
        let fits = inverse.to_cols_array().iter().all(|x| x.abs() <= f64::from(f32::MAX));
        if fits { inverse } else { DMat4::IDENTITY }
    }
}

/// A primitive of a mesh at one node of the scene, with vertices in the order of the accessors.
#[derive(Clone, Debug, Default)]
pub struct Primitive {
    /// Index of the node that has the mesh.
    pub node: usize,
    /// Index of the mesh in the file.
    pub mesh: usize,
    /// Index of the primitive in its mesh.
    pub index: usize,
    /// Index of the skin in the file, for skinned primitives.
    pub skin: Option<usize>,
    /// Positions in the space that inverse bind matrices transform from, in units of the file: file
    /// positions for skinned meshes; transformed for rigid meshes that share a bone.
    pub positions: Vec<DVec3>,
    /// Normals in the space of the positions, of any length; zero if zero in the file. `None` if
    /// the file has no normals: the mesh is then shaded flat.
    pub normals: Option<Vec<DVec3>>,
    /// Tangents in the space of the positions, of any length, with the sign of the bitangent in
    /// `w`.
    pub tangents: Option<Vec<DVec4>>,
    /// Texture coordinates for the base colour, with `KHR_texture_transform` applied; for the
    /// normal map if there is no base colour texture. Empty if the material needs none, or the file
    /// has none.
    pub uvs: Vec<DVec2>,
    /// Texture coordinates for the textures with [`Texture::second_uv`], as in [`Self::uvs`].
    pub second_uvs: Vec<DVec2>,
    /// Whether the normal map has the second texture coordinates.
    pub second_normal_map: bool,
    /// `COLOR_0` as linear RGBA in 0..1, multiplied with the base colour. `None` if white, or if
    /// already multiplied into the material.
    pub colors: Option<Vec<[f32; 4]>>,
    /// Bones and weights of each vertex: at least one, greatest weight first, none zero, summing to
    /// one.
    pub influences: Influences,
    /// Triangles with three different corners each, counter-clockwise from outside in the space of
    /// the positions. May be empty.
    pub triangles: Vec<[u32; 3]>,
    /// Index into [`Model::materials`].
    pub material: usize,
    /// Index into [`Model::parts`]; `None` if the primitive is always visible.
    pub part: Option<u8>,
    /// Morph targets, blended by the weights of [`Self::node`] before skinning. At most as many as
    /// the node has weights. Each node that has the mesh has its own copy, in the space of its
    /// positions.
    pub targets: Vec<MorphTarget>,
}

impl Primitive {
    /// Returns the position of a vertex before skinning, with the given morph weights.
    pub fn position(&self, vertex: usize, weights: &[f64]) -> DVec3 {
        blend(self.positions[vertex], &self.targets, weights, |target| Some(target.positions[vertex]))
    }

    /// Returns the texture coordinates of the normal map.
    pub(crate) fn tangent_uvs(&self) -> &[DVec2] {
        if self.second_normal_map { &self.second_uvs } else { &self.uvs }
    }

    /// Returns the normal of a vertex before skinning, of any length, with the given morph weights.
    pub fn normal(&self, vertex: usize, weights: &[f64]) -> Option<DVec3> {
        let normal = self.normals.as_ref()?[vertex];
        Some(blend(normal, &self.targets, weights, |target| Some(target.normals.as_ref()?[vertex])))
    }

    /// Returns the tangent of a vertex before skinning, of any length, with the given morph
    /// weights; `w` is not blended.
    pub fn tangent(&self, vertex: usize, weights: &[f64]) -> Option<DVec4> {
        let tangent = self.tangents.as_ref()?[vertex];
        let delta = |target: &MorphTarget| Some(target.tangents.as_ref()?[vertex]);
        Some(blend(tangent.truncate(), &self.targets, weights, delta).extend(tangent.w))
    }
}

/// Returns `base + sum weight * delta`.
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

/// Deltas of a morph target at weight one, in the space of the primitive's positions.
#[derive(Clone, Debug)]
pub struct MorphTarget {
    /// Deltas of positions; zeros if the file has none.
    pub positions: Vec<DVec3>,
    /// Deltas of [`Primitive::normals`], added before normalising. `None` if the target has none,
    /// or the primitive has no normals.
    pub normals: Option<Vec<DVec3>>,
    /// Deltas of [`Primitive::tangents`], added before normalising. `None` if the target has none,
    /// or the primitive has no tangents.
    pub tangents: Option<Vec<DVec3>>,
}

/// Bones and weights of vertices: one list per vertex.
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

    /// Returns the bones and weights of a vertex.
    pub fn of(&self, vertex: usize) -> &[(u16, f64)] {
        let start = if vertex == 0 { 0 } else { self.ends[vertex - 1] };
        &self.list[start as usize..self.ends[vertex] as usize]
    }

    /// Iterates over the entries of all vertices.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut (u16, f64)> {
        self.list.iter_mut()
    }

    /// Number of vertices.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no vertices.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
}

/// A clip: curves over time in seconds.
#[derive(Clone, Debug, Default)]
pub struct Clip {
    /// Name in Rust: the name in the manifest, or the name in the file as snake case.
    pub name: String,
    /// Name in the glTF file, or `animation 3` if it has none.
    pub source: String,
    /// Index of the animation in its file.
    pub index: usize,
    /// Path of the animation file as written in the manifest; `None` for the model's own file.
    pub file: Option<String>,
    /// Transform curves, at most one per node and property.
    pub channels: Vec<Channel>,
    /// Curves of morph weights, at most one per node.
    pub morphs: Vec<MorphChannel>,
    /// First key of all samplers, in seconds.
    pub start: f64,
    /// Last key of all samplers, in seconds. The clip lasts from 0 s to this time.
    pub end: f64,
    /// Events: time in seconds from 0 to the end, and index into [`Model::events`]. Ascending.
    pub events: Vec<(f64, u16)>,
    /// Source of root motion; `None` if root motion is not extracted.
    pub root: Option<RootMotionSource>,
    /// Index of the clip whose first frame is the reference pose of this additive clip; `None` if
    /// the clip is not additive.
    pub additive: Option<usize>,
    /// Motion that a retargeted clip was made from, for pictures of both.
    pub retargeted_from: Option<Arc<SourceMotion>>,
}

/// A clip of another skeleton.
#[derive(Clone, Debug)]
pub struct SourceMotion {
    /// Nodes of the skeleton.
    pub skeleton: Arc<Model>,
    /// Curves of these nodes.
    pub clip: Clip,
    /// Transform from the skeleton's scene to the scene of the model's file, in which both have legs of one length, look
    /// the same way, and have their hips at one place in their reference poses.
    pub placed: DMat4,
    /// Bones with the bone that each hangs on, as nodes.
    pub bones: Vec<[usize; 2]>,
}

/// Source of a clip's root motion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RootMotionSource {
    /// Index of the node whose motion is root motion.
    pub node: usize,
    /// Whether only translation in the ground plane and rotation about y are extracted; the rest
    /// stays in the poses.
    pub planar: bool,
}

impl Clip {
    /// Removes all curves.
    pub(crate) fn clear(&mut self) {
        self.channels.clear();
        self.morphs.clear();
    }

    /// Whether another clip has bit-identical motion: equal duration, curves, root motion and
    /// additive reference.
    pub fn moves_as(&self, other: &Self) -> bool {
        let same_role = self.root == other.root && self.additive == other.additive;
        same_role && self.end == other.end && self.channels == other.channels && self.morphs == other.morphs
    }
}

/// A curve that animates a property of a node.
#[derive(Clone, Debug, PartialEq)]
pub struct Channel {
    /// Index of the node.
    pub node: usize,
    /// Animated property.
    pub property: Property,
    /// Keys and interpolation.
    pub curve: Curve,
}

/// A curve that animates the morph weights of a node.
#[derive(Clone, Debug, PartialEq)]
pub struct MorphChannel {
    /// Index of the node.
    pub node: usize,
    /// Keys and interpolation.
    pub curve: WeightCurve,
}

/// Keys of all morph weights of a node.
#[derive(Clone, Debug, PartialEq)]
pub struct WeightCurve {
    /// Key times in seconds; strictly ascending, at least one.
    pub times: Vec<f64>,
    /// One row of [`Self::targets`] weights per key; three rows for [`Interpolation::CubicSpline`]
    /// (in-tangents, values, out-tangents).
    pub values: Vec<f64>,
    /// Number of weights of the node; at least one.
    pub targets: usize,
    /// Interpolation between keys.
    pub interpolation: Interpolation,
}

/// An animated property of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Property {
    /// Translation: three numbers per key.
    Translation,
    /// Rotation: four numbers per key, `x, y, z, w`.
    Rotation,
    /// Scale: three numbers per key.
    Scale,
}

/// Keys of a transform property.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Key times in seconds; strictly ascending, at least one.
    pub times: Vec<f64>,
    /// One value per key; three for [`Interpolation::CubicSpline`] (in-tangent, value,
    /// out-tangent). Rotations of STEP and LINEAR curves are of unit length. `w` is 0 for
    /// translation and scale.
    pub values: Vec<DVec4>,
    /// Interpolation between keys.
    pub interpolation: Interpolation,
}

/// Interpolation between keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interpolation {
    /// Holds each key until the next.
    Step,
    /// Linear; for rotations, spherical along the shorter arc.
    Linear,
    /// Cubic Hermite spline; tangents are scaled by the interval.
    CubicSpline,
}
