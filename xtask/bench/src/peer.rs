//! Sampler that ours is compared with: a plain loop over the `gltf` crate's readers in `f32`, as a
//! program without a baker has it.
//!
//! The sampler reads nodes and curves from the file. The list of bones, their inverse bind matrices
//! and the root come from our import, so that both samplers make the same matrices.

use std::path::Path;

use glam::{Mat4, Quat, Vec3, Vec4};
use gltf::animation::util::ReadOutputs;
use gltf::animation::{Interpolation, Property};
use gltf::scene::Transform;
use gpuskin_build::internals::model::Model;

pub(crate) struct Peer {
    nodes: Vec<Node>,
    /// Node indices, parents before their children.
    order: Vec<usize>,
    root: Mat4,
    /// Node and inverse bind matrix of each bone.
    bones: Vec<(usize, Mat4)>,
    /// Curves of each animation of the file. `[animation][curve]`
    animations: Vec<Vec<Curve>>,
}

struct Node {
    parent: Option<usize>,
    rest: Trs,
    /// Transform of a node that is not given as translation, rotation and scale.
    matrix: Option<Mat4>,
}

#[derive(Clone, Copy)]
struct Trs {
    translation: Vec3,
    rotation: Quat,
    scale: Vec3,
}

struct Curve {
    node: usize,
    property: Property,
    interpolation: Interpolation,
    /// Times of the keys, in seconds.
    times: Vec<f32>,
    /// One value per key; for cubic splines in-tangent, value and out-tangent.
    values: Vec<Vec4>,
}

impl Peer {
    pub(crate) fn read(path: &Path, model: &Model) -> Result<Self, String> {
        let bytes = std::fs::read(path).map_err(|e| e.to_string())?;
        let gltf = gltf::Gltf::from_slice_without_validation(&bytes).map_err(|e| e.to_string())?;
        if gltf.extensions_used().any(|name| name == "EXT_meshopt_compression") {
            return Err("the gltf crate does not read EXT_meshopt_compression".to_owned());
        }
        let mut buffers = Vec::new();
        for buffer in gltf.buffers() {
            buffers.push(match buffer.source() {
                gltf::buffer::Source::Bin => gltf.blob.clone().unwrap_or_default(),
                gltf::buffer::Source::Uri(uri) => {
                    std::fs::read(path.with_file_name(uri)).map_err(|e| format!("{uri}: {e}"))?
                }
            });
        }
        let mut nodes: Vec<Node> = gltf.nodes().map(|node| Node::new(&node.transform())).collect();
        for node in gltf.nodes() {
            node.children().for_each(|child| nodes[child.index()].parent = Some(node.index()));
        }
        let mut order: Vec<usize> = (0..nodes.len()).filter(|i| nodes[*i].parent.is_none()).collect();
        let mut next = 0;
        while let Some(&node) = order.get(next) {
            order.extend((0..nodes.len()).filter(|i| nodes[*i].parent == Some(node)));
            next += 1;
        }
        let animations = gltf.animations().map(|animation| {
            animation.channels().filter_map(|channel| Curve::read(&channel, |i| buffers.get(i).map(Vec::as_slice)))
        });
        let animations = animations.map(Iterator::collect).collect();
        let bones = model.bones.iter().map(|bone| (bone.node, bone.inverse_bind.as_mat4())).collect();
        Ok(Self { nodes, order, root: model.root.as_mat4(), bones, animations })
    }

    /// `root * global(node) * inverse_bind` of every bone, at a time in seconds.
    pub(crate) fn skin_matrices(&self, animation: usize, time: f64) -> Vec<Mat4> {
        let mut locals: Vec<Trs> = self.nodes.iter().map(|node| node.rest).collect();
        let mut fixed: Vec<Option<Mat4>> = self.nodes.iter().map(|node| node.matrix).collect();
        for curve in &self.animations[animation] {
            let local = &mut locals[curve.node];
            let value = curve.at(time);
            match curve.property {
                Property::Translation => local.translation = value.truncate(),
                Property::Rotation => local.rotation = Quat::from_vec4(value),
                _ => local.scale = value.truncate(),
            }
            fixed[curve.node] = None;
        }
        let mut globals = vec![Mat4::IDENTITY; self.nodes.len()];
        for &node in &self.order {
            let Trs { translation, rotation, scale } = locals[node];
            let local =
                fixed[node].unwrap_or_else(|| Mat4::from_scale_rotation_translation(scale, rotation, translation));
            globals[node] = self.nodes[node].parent.map_or(self.root, |parent| globals[parent]) * local;
        }
        self.bones.iter().map(|(node, inverse_bind)| globals[*node] * *inverse_bind).collect()
    }
}

impl Node {
    fn new(transform: &Transform) -> Self {
        let (rest, matrix) = match transform {
            Transform::Matrix { matrix } => {
                let identity = Trs { translation: Vec3::ZERO, rotation: Quat::IDENTITY, scale: Vec3::ONE };
                (identity, Some(Mat4::from_cols_array_2d(matrix)))
            }
            Transform::Decomposed { translation, rotation, scale } => {
                let rotation = Quat::from_array(*rotation).normalize();
                (Trs { translation: (*translation).into(), rotation, scale: (*scale).into() }, None)
            }
        };
        Self { parent: None, rest, matrix }
    }
}

impl Curve {
    /// Reads a curve; `None` for morph weights.
    fn read<'b>(
        channel: &gltf::animation::Channel<'_>,
        buffer: impl Fn(usize) -> Option<&'b [u8]> + Clone,
    ) -> Option<Self> {
        let reader = channel.reader(|b| buffer(b.index()));
        let of3 = |v: [f32; 3]| Vec3::from(v).extend(0.0);
        let values = match reader.read_outputs()? {
            ReadOutputs::Translations(values) => values.map(of3).collect(),
            ReadOutputs::Scales(values) => values.map(of3).collect(),
            ReadOutputs::Rotations(values) => values.into_f32().map(Vec4::from).collect(),
            ReadOutputs::MorphTargetWeights(_) => return None,
        };
        let times = reader.read_inputs()?.collect();
        let (node, property) = (channel.target().node().index(), channel.target().property());
        Some(Self { node, property, interpolation: channel.sampler().interpolation(), times, values })
    }

    fn at(&self, time: f64) -> Vec4 {
        let rotates = self.property == Property::Rotation;
        let unit = |v: Vec4| if rotates { v.normalize_or(Vec4::W) } else { v };
        let spline = self.interpolation == Interpolation::CubicSpline;
        let value = |key: usize| self.values[if spline { 3 * key + 1 } else { key }];
        let after = self.times.partition_point(|&t| f64::from(t) <= time);
        if after == 0 || after == self.times.len() {
            return unit(value(after.saturating_sub(1)));
        }
        let key = after - 1;
        let interval = self.times[after] - self.times[key];
        let u = ((time - f64::from(self.times[key])) as f32) / interval;
        match self.interpolation {
            Interpolation::Step => unit(value(key)),
            Interpolation::Linear if rotates => {
                Quat::from_vec4(unit(value(key))).slerp(Quat::from_vec4(unit(value(after))), u).into()
            }
            Interpolation::Linear => value(key).lerp(value(after), u),
            Interpolation::CubicSpline => {
                let (u2, u3) = (u * u, u * u * u);
                let (out_tangent, in_tangent) = (self.values[3 * key + 2], self.values[3 * after]);
                unit(
                    value(key) * (2.0 * u3 - 3.0 * u2 + 1.0)
                        + out_tangent * (interval * (u3 - 2.0 * u2 + u))
                        + value(after) * (3.0 * u2 - 2.0 * u3)
                        + in_tangent * (interval * (u3 - u2)),
                )
            }
        }
    }
}
