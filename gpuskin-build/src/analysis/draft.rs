//! Draft of a manifest for one model.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

use gpuskin_rt::internals::{MAX_CLIPS, MAX_PARTS};

use super::clips::ClipSummary;
use super::manifest_text::{key, model_name, string, without_locations};
use super::rig::{Role, Side};
use super::summary::Analysis;
use crate::bake::{BakeOptions, bake};
use crate::diagnostic::Diagnostics;
use crate::identifier_case::{has_words, snake};
use crate::loop_guess::LoopKind;
use crate::manifest::Manifest;
use crate::units::digits;

/// Number of clips up to which the draft lists them.
const MAX_LISTED: usize = 200;

/// Length of a line up to which it gets a comment, in characters.
const MAX_COLUMNS: usize = 100;
/// Number of nodes with the same role that are compared with those of another role.
const MAX_COMPARED: usize = 64;

/// Words in the names of nodes whose meshes a game shows and hides.
const ACCESSORIES: [&str; 32] = [
    "helmet", "hat", "cap", "hood", "mask", "glasses", "crown", "hair", "beard", "cape", "cloak", "backpack", "bag",
    "quiver", "belt", "armor", "armour", "sword", "shield", "axe", "bow", "crossbow", "staff", "wand", "spear",
    "dagger", "knife", "gun", "rifle", "pistol", "weapon", "saddle",
];

/// Draft of a manifest with one model.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    /// Text of the manifest.
    pub text: String,
    /// Name of the model.
    pub name: String,
    /// Parts that hands hold besides their first one: alternatives to it.
    pub spare_parts: Vec<String>,
}

/// A node whose meshes a game shows and hides.
struct Accessory<'a> {
    /// Name of the part.
    part: String,
    /// Name of the node, which no other node has.
    name: &'a str,
    node: usize,
}

/// Words in the names of meshes that are the body itself.
const BODY: [&str; 18] = [
    "body", "head", "face", "torso", "chest", "hips", "neck", "shoulder", "arm", "forearm", "hand", "leg", "foot",
    "eye", "eyes", "teeth", "tongue", "tail",
];

impl Analysis {
    /// Drafts a manifest. `path` is the path of the model's file from the folder of the manifest.
    pub(crate) fn draft(&self, path: &str) -> Draft {
        self.draft_from(path, &self.masks())
    }

    /// Drafts a manifest that bakes, which takes as long as a bake. Masks are left out if no
    /// encoding with layers meets the default tolerances.
    ///
    /// # Errors
    /// Returns the errors of the bake without masks.
    pub(crate) fn baked_draft(&self, path: &str) -> Result<Draft, Diagnostics> {
        let bakes = |masks: &str| {
            let text = self.draft_from(&self.path, masks).text;
            let manifest = Manifest::parse(Path::new("gpuskin.toml"), text).map_err(without_locations)?;
            bake(&manifest, &BakeOptions::default()).map_err(|failure| without_locations(failure.diagnostics))
        };
        let masks = self.masks();
        let masks = if masks.is_empty() || bakes(&masks).is_ok() { masks.as_str() } else { "" };
        if masks.is_empty() {
            bakes("")?;
        }
        Ok(self.draft_from(path, masks))
    }

    fn draft_from(&self, path: &str, masks: &str) -> Draft {
        let name = model_name(Path::new(&self.path));
        let rest = format!("{}{masks}{}", self.settings(), self.clip_tables());
        let manifest = |path: &str, rest: &str| format!("[[model]]\nname = {name:?}\npath = {}\n{rest}", string(path));
        // The suggestions come from names of the file. If they do not make a valid manifest, the
        // minimal one is better than none. The file exists at its own path.
        let valid = Manifest::parse(Path::new("gpuskin.toml"), manifest(&self.path, &rest)).is_ok();
        let spare_parts = if valid { self.spare_parts() } else { Vec::new() };
        Draft { text: manifest(path, if valid { &rest } else { "" }), name, spare_parts }
    }

    /// Returns the keys of `[[model]]` after name and path.
    fn settings(&self) -> String {
        let mut text = String::new();
        if let (Some(scale), Some(geometry)) = (self.scale, self.geometry) {
            let before = digits(geometry.size().into_iter().fold(0.0, f32::max).into());
            let after = digits(self.baked_size().unwrap_or_default().into_iter().fold(0.0, f32::max).into());
            let _ = writeln!(text, "scale = {scale:?}  # {before} m without it, {after} m with it");
        }
        if self.z_up {
            text.push_str("up = \"z\"\n");
        }
        if let Some(forward) = self.forward {
            let _ = writeln!(text, "forward = {forward:?}");
        }
        let sockets = self.sockets();
        if !sockets.is_empty() {
            text.push_str("# Bones that props are attached to: bones::...\n");
            let _ = writeln!(text, "sockets = [{}]", sockets.iter().map(|s| string(s)).collect::<Vec<_>>().join(", "));
        }
        let parts = self.parts();
        if !parts.is_empty() {
            text.push_str("\n# Meshes that an instance can hide: parts::...\n[model.parts]\n");
        }
        for Accessory { part, name, .. } in parts {
            let _ = writeln!(text, "{} = [{}]", key(&part), string(name));
        }
        text
    }

    /// Returns `[model.masks]`, with a mask for the upper body of a figure.
    fn masks(&self) -> String {
        match self.spine() {
            Some(spine) => format!(
                "\n# Bones that a layer moves: masks::...\n[model.masks]\nupper_body = {{ root = {} }}\n",
                string(spine)
            ),
            None => String::new(),
        }
    }

    fn clip_tables(&self) -> String {
        if self.outline.animations.is_empty() || self.clips.len() > MAX_LISTED.min(MAX_CLIPS) {
            return String::new();
        }
        let mut text = "\n# Clips to bake. Without this table all clips are baked.\n[model.clips]\n".to_owned();
        let width = self.clips.iter().map(|clip| self.clip_entry(clip).chars().count()).max().unwrap_or(0).min(60);
        for clip in &self.clips {
            let entry = self.clip_entry(clip);
            let ends = match clip.kind {
                LoopKind::Loop | LoopKind::LoopWithoutLastKey => "loops",
                LoopKind::Once => "plays once",
            };
            let line = format!("{entry:<width$}  # {} s, {ends}", digits(clip.seconds));
            let fits = line.chars().count() <= MAX_COLUMNS;
            text.push_str(if fits { &line } else { &entry });
            text.push('\n');
        }
        text
    }

    /// Returns `run = { source = "Armature|Run", loop = true }`, with the keys that are needed.
    fn clip_entry(&self, clip: &ClipSummary) -> String {
        let mut keys = Vec::new();
        // Without `source`, the importer looks for the name among titles and identifiers.
        let finds = |other: &&ClipSummary| {
            other.source == clip.name || other.name == clip.name || snake(&other.source) == clip.name
        };
        let exact = self.clips.iter().any(|other| other.source == clip.name && other.source != clip.source);
        // A name with a number is that of one clip, also if the clip shares its title with others.
        if exact || self.clips.iter().filter(finds).count() != 1 {
            keys.push(format!("source = {}", string(&clip.source)));
        }
        match keys.is_empty() {
            true => format!("{} = {{}}", key(&clip.name)),
            false => format!("{} = {{ {} }}", key(&clip.name), keys.join(", ")),
        }
    }

    /// Returns nodes for props: hands and head.
    fn sockets(&self) -> Vec<&str> {
        if self.model.is_none() || self.outline.skins.is_empty() {
            return Vec::new();
        }
        let first = |role, side| self.rig.with_role(role, side).into_iter().find_map(|node| self.unique_name(node));
        let hand = |side| first(Role::HandSlot, Some(side)).or_else(|| first(Role::Hand, Some(side)));
        // The wrists of four-legged animals hold nothing.
        let hands = self.is_biped() || self.rig.with_role(Role::Foot, None).is_empty();
        let sides = [Side::Left, Side::Right].into_iter().filter(|_| hands);
        let mut sockets: Vec<&str> = sides.filter_map(hand).collect();
        sockets.extend(first(Role::Head, None));
        sockets.dedup();
        sockets
    }

    /// Returns the lowest node of the spine that has no leg below it, in an upright figure.
    fn spine(&self) -> Option<&str> {
        if !self.is_biped() {
            return None;
        }
        let nodes = |role: &Role| self.rig.with_role(*role, None).into_iter().take(MAX_COMPARED);
        let legs: Vec<usize> = [Role::Leg, Role::Foot].iter().flat_map(nodes).collect();
        let arms: Vec<usize> = [Role::Arm, Role::Hand].iter().flat_map(nodes).collect();
        let spine = nodes(&Role::Spine).find(|&node| {
            let holds = |nodes: &[usize]| nodes.iter().any(|&other| self.rig.is_under(other, node));
            self.rig.has_bones[node] && holds(&arms) && !holds(&legs)
        })?;
        self.unique_name(spine)
    }

    /// Returns the accessories.
    fn parts(&self) -> Vec<Accessory<'_>> {
        let Some(model) = &self.model else { return Vec::new() };
        let carriers: BTreeSet<usize> = model.primitives.iter().map(|primitive| primitive.node).collect();
        let rigid: BTreeSet<usize> = model.primitives.iter().filter(|p| p.skin.is_none()).map(|p| p.node).collect();
        if carriers.len() < 2 {
            return Vec::new();
        }
        // A part has all meshes below its node: nodes above other meshes are left out.
        let mut above_mesh = vec![false; model.nodes.len()];
        for &carrier in &carriers {
            let mut next = model.nodes[carrier].parent;
            while let Some(node) = next.filter(|&node| !std::mem::replace(&mut above_mesh[node], true)) {
                next = model.nodes[node].parent;
            }
        }
        let mut parts: Vec<Accessory<'_>> = Vec::new();
        for &node in &carriers {
            let Some(name) = self.unique_name(node) else { continue };
            let part = snake(name);
            let mut ancestors = std::iter::successors(model.nodes[node].parent, |&n| model.nodes[n].parent);
            let rigid_on_joint = rigid.contains(&node) && ancestors.any(|n| self.outline.nodes[n].joint);
            let has = |list: &[&str]| part.split('_').any(|word| list.contains(&word));
            let accessory = has(&ACCESSORIES) || (rigid_on_joint && !has(&BODY));
            let new = parts.iter().all(|other| other.part != part);
            if accessory && !above_mesh[node] && has_words(name) && new {
                parts.push(Accessory { part, name, node });
            }
            if parts.len() > MAX_PARTS {
                return Vec::new();
            }
        }
        // Something must remain when all parts are hidden.
        if parts.len() == carriers.len() { Vec::new() } else { parts }
    }

    /// Returns the parts that hands hold besides their first one.
    fn spare_parts(&self) -> Vec<String> {
        let nodes = &self.outline.nodes;
        // Up to the closest joint, so that a ring on a finger is not in the hand.
        let hand = |node: usize| {
            let mut above = std::iter::successors(nodes[node].parent, |&n| nodes[n].parent);
            let closest = above.find(|&n| nodes[n].joint || self.roles[n].is_some())?;
            matches!(self.roles[closest], Some((Role::Hand | Role::HandSlot, _))).then_some(closest)
        };
        let mut full = BTreeSet::new();
        let mut is_spare = |node: usize| hand(node).is_some_and(|hand| !full.insert(hand));
        self.parts().into_iter().filter(|accessory| is_spare(accessory.node)).map(|accessory| accessory.part).collect()
    }

    /// Returns the name of a node, if no other node of the scene has it.
    fn unique_name(&self, node: usize) -> Option<&str> {
        let name = self.outline.nodes[node].name.as_deref()?;
        (self.name_counts.get(name) == Some(&1)).then_some(name)
    }
}
