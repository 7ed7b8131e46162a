//! Matches nodes of animation files with nodes of the model, by name.

use std::collections::BTreeMap;

use super::file::File;
use super::hierarchy::Hierarchy;
use crate::fbx_names::unescaped;
use crate::manifest::Rename;
use crate::suggest::closest;

/// Prefixes of bone names that tools add, without separators and in lower case. Digits may follow.
const PREFIXES: [&str; 4] = ["mixamorig", "ccbase", "valvebiped", "bip0"];

/// Nodes of a model by name.
pub(super) struct NodeNames<'a> {
    exact: BTreeMap<&'a str, Vec<usize>>,
    /// Nodes by [`plain`] name.
    plain: BTreeMap<String, Vec<usize>>,
    rename: &'a [Rename],
}

/// Node of a model that has a name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum NodeMatch {
    None,
    /// The node has the name, if need be after `rename`.
    Same(usize),
    /// The name of the node differs in a prefix or in separators.
    Alike(usize),
    /// Several nodes have the name.
    Ambiguous([usize; 2]),
}

impl<'a> NodeNames<'a> {
    /// Returns a list without nodes, for clips of the model's own file.
    pub(super) fn none() -> Self {
        Self { exact: BTreeMap::new(), plain: BTreeMap::new(), rename: &[] }
    }

    pub(super) fn new(model: &'a File<'_>, hierarchy: &Hierarchy, rename: &'a [Rename]) -> Self {
        let mut names = Self { rename, ..Self::none() };
        for (i, node) in model.document.nodes.iter().enumerate() {
            if let Some(name) = &node.name {
                names.exact.entry(name).or_default().push(i);
                names.plain.entry(plain(name)).or_default().push(i);
            }
        }
        // Among nodes of the same name, those in the scene take precedence.
        let lists = names.exact.values_mut().chain(names.plain.values_mut());
        for nodes in lists.filter(|nodes| nodes.len() > 1) {
            if nodes.iter().any(|i| hierarchy.in_scene[*i]) {
                nodes.retain(|i| hierarchy.in_scene[*i]);
            }
        }
        names
    }

    pub(super) fn find(&self, name: &str) -> NodeMatch {
        let renamed = self.rename.iter().find_map(|rename| rename.apply(name));
        let name = renamed.as_deref().unwrap_or(name);
        match self.exact.get(name).map(Vec::as_slice) {
            Some([node]) => return NodeMatch::Same(*node),
            Some([a, b, ..]) => return NodeMatch::Ambiguous([*a, *b]),
            None | Some([]) => {}
        }
        match self.plain.get(&plain(name)).map(Vec::as_slice) {
            Some([node]) => NodeMatch::Alike(*node),
            _ => NodeMatch::None,
        }
    }

    /// Returns the name of the model that is most similar to a name, if it is likely to be meant.
    pub(super) fn closest(&self, name: &str) -> Option<&'a str> {
        closest(name, self.exact.keys().copied())
    }
}

/// Returns a name without namespace, known prefix and separators, also those that an FBX exporter has replaced, in lower case:
/// `hips` for `mixamorig1:Hips`.
fn plain(name: &str) -> String {
    let name = unescaped(name);
    let own = name.rsplit([':', '|']).next().unwrap_or(&name);
    let letters: String = own.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    let cut = PREFIXES.iter().find_map(|prefix| letters.strip_prefix(prefix));
    match cut.map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit())) {
        Some(rest) if !rest.is_empty() => rest.to_owned(),
        _ => letters,
    }
}

/// Returns the `rename` that turns each first name into the second one: `"mixamorig:*" = "*"`. `None` if
/// the names differ in other ways than one prefix.
pub(super) fn common_rename<'n>(pairs: impl IntoIterator<Item = (&'n str, &'n str)>) -> Option<String> {
    let mut prefixes = None;
    for (from, to) in pairs {
        let tail = from.chars().rev().zip(to.chars().rev()).take_while(|(a, b)| a == b).count();
        let head = |name: &'n str| name.char_indices().rev().nth(tail.checked_sub(1)?).map(|(at, _)| &name[..at]);
        let found = (head(from)?, head(to)?);
        if *prefixes.get_or_insert(found) != found {
            return None;
        }
    }
    prefixes.map(|(from, to)| format!("{:?} = {:?}", format!("{from}*"), format!("{to}*")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_and_separators_do_not_count() {
        for name in ["Left_Hand", "mixamorig:LeftHand", "mixamorig1:LeftHand", "mixamorigLeftHand", "Rig|left.hand"] {
            assert_eq!(plain(name), "lefthand", "{name}");
        }
        assert_eq!(plain("Bip001 Head"), "head");
        assert_eq!(plain("mixamorigFBXASC058LeftHand"), "lefthand");
        assert_eq!((plain("mixamorig"), plain("LeftHand1")), ("mixamorig".into(), "lefthand1".into()));
        assert_ne!(plain("LeftHand"), plain("RightHand"));
    }

    #[test]
    fn one_prefix_is_found() {
        let pairs = [("mixamorig:Hips", "Hips"), ("mixamorig:Spine", "Spine")];
        assert_eq!(common_rename(pairs).as_deref(), Some("\"mixamorig:*\" = \"*\""));
        assert_eq!(common_rename([("a:Hips", "b:Hips")]).as_deref(), Some("\"a*\" = \"b*\""));
        assert_eq!(common_rename([("a:Hips", "Hips"), ("b:Spine", "Spine")]), None);
        assert_eq!(common_rename([("Left_Hand", "LeftHand"), ("Head_", "Head")]), None);
    }
}
