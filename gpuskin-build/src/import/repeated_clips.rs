//! Clips that several files have, such as the reference pose in each file of a library.

use gltf::json::animation::Sampler;

use super::document::{Document, GltfAnimation};
use super::file::File;

/// Bytes of keys that are compared per model. Clips beyond count as different.
const MAX_BYTES: u64 = 256 << 20;

/// Comparison of clips of different files.
pub(super) struct ClipComparison {
    /// Bytes that may still be compared.
    left: u64,
}

impl ClipComparison {
    pub(super) fn new() -> Self {
        Self { left: MAX_BYTES }
    }

    /// Returns whether two animations have the same curves, stored in the same way, for nodes of the same names.
    pub(super) fn same(&mut self, (a, of_a): (&File<'_>, usize), (b, of_b): (&File<'_>, usize)) -> bool {
        let [of_a, of_b] = [(&a.document, of_a), (&b.document, of_b)].map(|(file, i)| (file, &file.animations[i]));
        let samplers = [of_a, of_b].map(|(_, animation)| &animation.samplers);
        let same = |(of_a, of_b): (&Sampler, &Sampler)| {
            let mut same = |of_a, of_b| a.has_same_bytes(of_a, (b, of_b), &mut self.left);
            of_a.interpolation == of_b.interpolation && same(of_a.input, of_b.input) && same(of_a.output, of_b.output)
        };
        move_the_same([of_a, of_b])
            && samplers[0].len() == samplers[1].len()
            && samplers[0].iter().zip(samplers[1]).all(same)
    }
}

/// Returns whether the channels of two animations have the same samplers, and targets of the same names.
fn move_the_same(animations: [(&Document, &GltfAnimation); 2]) -> bool {
    let [a, b] = animations.map(|(file, animation)| {
        animation.channels.iter().map(move |channel| {
            let (node, path) = channel.target.animated();
            let node = node.and_then(|node| file.nodes.get(node.value())?.name.as_deref());
            (channel.sampler.value(), node, path)
        })
    });
    a.len() == b.len() && a.zip(b).all(|(a, b)| a == b && a.1.is_some())
}
