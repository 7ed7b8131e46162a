//! Likely mistakes of the export: unit, axes, names, scales.

use glam::DVec3;

use super::rig::Role;
use super::summary::{Analysis, Hint};
use crate::suggest::{list, quoted};
use crate::units::digits;

/// Number of names that a hint lists.
const LISTED: usize = 5;
/// Factors between metres and the units that programs export by mistake: centimetres, millimetres,
/// decimetres (a file in centimetres below a node with a scale of 0.1), inches, feet, and the reverse of
/// the first three.
const UNITS: [(f64, &str); 8] = [
    (0.1, "decimetres"),
    (10.0, "tens of metres"),
    (0.01, "centimetres"),
    (0.001, "millimetres"),
    (0.0254, "inches"),
    (0.3048, "feet"),
    (100.0, "hundreds of metres"),
    (1000.0, "kilometres"),
];

impl Analysis {
    /// Looks for likely mistakes, and sets the corrections of the draft.
    pub(super) fn add_hints(&mut self) {
        let up = self.up_axis();
        self.unit(up);
        self.forward(up);
        self.armature_scale();
        self.names();
        self.animations();
    }

    fn hint(&mut self, message: impl Into<String>, help: impl Into<String>) {
        self.hints.push(Hint { message: message.into(), help: help.into() });
    }

    /// Returns the up axis, and hints at one that is not y.
    fn up_axis(&mut self) -> DVec3 {
        let Some(up) = self.rig.up().filter(|up| *up != DVec3::Y) else { return DVec3::Y };
        let message = format!("the model stands along {}: its feet are on the other side of its hips", axis_name(up));
        if up == DVec3::Z {
            self.z_up = true;
            self.hint(message, "write `up = \"z\"`, as in the draft, or export with y up (Blender: Transform > +Y Up)");
        } else {
            self.hint(message, "turn the model in the modelling tool, apply the rotation, and export it again");
        }
        up
    }

    /// Hints at a size that no model of its kind has.
    fn unit(&mut self, up: DVec3) {
        let Some(geometry) = self.geometry else { return };
        let size = DVec3::from(geometry.size().map(f64::from));
        if !size.is_finite() || size.max_element() <= 0.0 {
            return;
        }
        let skinned = self.model.as_ref().is_some_and(|m| m.primitives.iter().any(|p| p.skin.is_some()));
        let biped = self.rig.is_biped(up);
        let (length, what, plausible, target) = match (biped, skinned) {
            (true, _) => (size.dot(up.abs()), "tall", 0.3..=3.0, 1.7),
            (false, true) => (size.max_element(), "long", 0.05..=30.0, 1.5),
            (false, false) => (size.max_element(), "long", 0.005..=300.0, 1.5),
        };
        if plausible.contains(&length) || length <= 0.0 {
            return;
        }
        let off = |scale: f64| (length * scale / target).ln().abs();
        let (scale, unit) = UNITS.into_iter().min_by(|a, b| off(a.0).total_cmp(&off(b.0))).expect("several units");
        let kind = if biped { "the figure" } else { "the model" };
        let message = format!("{kind} is {} m {what}", digits(length));
        if !plausible.contains(&(length * scale)) {
            return self.hint(message, "set `scale` to metres per unit of the file");
        }
        self.scale = Some(scale);
        let scaled = digits(length * scale);
        self.hint(
            message,
            format!("if the file is in {unit}, write `scale = {scale}`, as in the draft: {scaled} m {what}"),
        );
    }

    /// Hints at a model that does not look along +z.
    fn forward(&mut self, up: DVec3) {
        // Directions as the draft bakes them.
        let baked = |v: DVec3| if self.z_up { DVec3::new(v.x, v.z, -v.y) } else { v };
        if !self.z_up && up != DVec3::Y {
            return;
        }
        let (toes, sides) = (self.rig.toes(up).map(baked), self.rig.facing_by_sides(up).map(baked));
        if let (Some(toes), Some(sides)) = (toes, sides)
            && toes.dot(sides) < -0.5
        {
            let message = "the toes point backwards, seen from the bones named left and right";
            return self.hint(message, "check that bones named left are on the model's own left");
        }
        let (Some(forward), by) = (match toes {
            Some(toes) => (Some(toes), "the toes point"),
            None => (sides, "by its left and right bones the model looks"),
        }) else {
            return;
        };
        if forward.z > 0.7 {
            return;
        }
        // Axes of the baked model, and of the file.
        let (axis, of_file, walks) = match forward {
            f if f.z < -0.7 => ("-z", if self.z_up { "y" } else { "-z" }, "backwards"),
            f if f.x > 0.0 => ("+x", "x", "sideways"),
            _ => ("-x", "-x", "sideways"),
        };
        self.forward = Some(of_file);
        let message = format!("{by} along {axis}, and forward is +z: an instance that moves forward walks {walks}");
        self.hint(
            message,
            format!("write `forward = \"{of_file}\"`, as in the draft, or turn the model in the modelling tool"),
        );
    }

    /// Hints at scales above joints, which attachments inherit.
    fn armature_scale(&mut self) {
        let nodes = &self.outline.nodes;
        let mut above = vec![false; nodes.len()];
        for i in (0..nodes.len()).filter(|&i| nodes[i].joint) {
            let mut next = nodes[i].parent;
            while let Some(node) = next.filter(|&node| !std::mem::replace(&mut above[node], true)) {
                next = nodes[node].parent;
            }
        }
        let scaled = |i: &usize| above[*i] && nodes[*i].scale.iter().any(|s| (s.abs() - 1.0).abs() > 1e-3);
        let scaled: Vec<usize> = (0..nodes.len()).filter(scaled).collect();
        let Some(&first) = scaled.first() else { return };
        let [x, y, z] = nodes[first].scale;
        let scale = if (x - y).abs() < 1e-6 * x.abs() && (x - z).abs() < 1e-6 * x.abs() {
            format!("{} ", digits(x))
        } else {
            format!("{} x {} x {} ", digits(x), digits(y), digits(z))
        };
        let name = nodes[first].name.clone().unwrap_or_else(|| format!("node {first}"));
        let more = match scaled.len() {
            1 => String::new(),
            count => format!("; {} other nodes above joints are scaled, too", count - 1),
        };
        let message = format!("the node {} above the joints has the scale {}{more}", quoted(&name), scale.trim_end());
        self.hint(message, "attachments inherit it: apply the scale in the modelling tool (Blender: Ctrl+A > Scale)");
    }

    /// Hints at nodes that a manifest cannot name.
    fn names(&mut self) {
        let nodes = &self.outline.nodes;
        let unnamed = nodes.iter().filter(|n| n.in_scene && n.name.is_none()).count();
        let total = nodes.iter().filter(|n| n.in_scene).count();
        let repeated: Vec<&str> =
            self.name_counts.iter().filter(|(_, count)| **count > 1).map(|(name, _)| name.as_str()).collect();
        let duplicates = (!repeated.is_empty()).then(|| {
            let names = list(repeated.iter().copied(), LISTED);
            match repeated.len() {
                1 => format!("several nodes have the name {names}"),
                count => format!("{count} names belong to several nodes: {names}"),
            }
        });
        if unnamed > 0 {
            let message = format!("{unnamed} of {total} nodes have no name");
            self.hint(message, "masks, sockets and parts need names: name the nodes in the modelling tool");
        }
        if let Some(message) = duplicates {
            self.hint(
                message,
                "masks, sockets and parts use all nodes of a name: give those that you need unique names",
            );
        }
    }

    /// Hints at a skin that nothing moves.
    fn animations(&mut self) {
        if !self.outline.skins.is_empty() && self.outline.animations.is_empty() {
            let message = "the file has a skin, but no animation: its only clip, `still`, is the pose of the file";
            let help = "export its animations, too, or name files that have them: `animations = [\"run.glb\"]`";
            self.hint(message, help);
        }
    }

    /// Whether the model is an upright figure with arms and legs.
    pub(super) fn is_biped(&self) -> bool {
        let up = self.rig.up().unwrap_or(DVec3::Y);
        self.rig.is_biped(up) && !self.rig.with_role(Role::Spine, None).is_empty()
    }
}

fn axis_name(axis: DVec3) -> &'static str {
    let names = [(DVec3::X, "+x"), (DVec3::NEG_X, "-x"), (DVec3::NEG_Y, "-y"), (DVec3::Z, "+z"), (DVec3::NEG_Z, "-z")];
    names.into_iter().find(|(other, _)| *other == axis).map_or("+y", |(_, name)| name)
}
