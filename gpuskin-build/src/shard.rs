//! Shards: parts of a manifest with similar costs, baked by different machines at the same time.

use std::path::Path;

use crate::manifest::ModelEntry;

/// Cost of a model in addition to its files, in bytes.
const BASE_COST: u64 = 64 << 10;
/// Maximum number of shards.
const MAX_SHARDS: usize = 1 << 20;

/// One of several shards. `index` counts from 0 and is below `of`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shard {
    pub(crate) index: usize,
    pub(crate) count: usize,
}

impl Shard {
    /// Parses `0/4`, `1/4` and so on.
    #[cfg_attr(not(feature = "cli"), allow(dead_code, reason = "used only by the command line"))]
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (index, of) = text.split_once('/')?;
        let shard = Self { index: index.parse().ok()?, count: of.parse().ok()? };
        (shard.index < shard.count && shard.count <= MAX_SHARDS).then_some(shard)
    }

    /// Returns the models of this shard, in their order. Each model is in exactly one shard. The
    /// assignment depends only on the files: models are sorted by cost, largest first, and each
    /// goes to the shard with the smallest total so far.
    ///
    /// The cost of a model is the size of the files that the manifest names for it. Files that
    /// those refer to are not counted.
    pub(crate) fn select<'m>(self, folder: &Path, entries: Vec<&'m ModelEntry>) -> Vec<&'m ModelEntry> {
        let size = |path: &str| std::fs::metadata(folder.join(path)).map_or(0, |metadata| metadata.len());
        let cost = |entry: &ModelEntry| {
            let paths = std::iter::once(&entry.path).chain(entry.animations.iter().map(|animation| &animation.path));
            paths.map(|path| size(&path.value)).fold(BASE_COST, u64::saturating_add)
        };
        let costs: Vec<u64> = entries.iter().map(|entry| cost(entry)).collect();
        let parts = assign_shards(&costs, self.count);
        entries.into_iter().zip(parts).filter(|(_, part)| *part == self.index).map(|(entry, _)| entry).collect()
    }
}

/// Assigns each item to a part.
fn assign_shards(costs: &[u64], of: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..costs.len()).collect();
    order.sort_by_key(|&i| (std::cmp::Reverse(costs[i]), i));
    let mut parts = vec![0; costs.len()];
    // Loads in ascending order; equal loads are ordered by part.
    let mut loads: std::collections::BTreeSet<(u64, usize)> = (0..of).map(|part| (0, part)).collect();
    for i in order {
        let Some((load, part)) = loads.pop_first() else { break };
        parts[i] = part;
        loads.insert((load.saturating_add(costs[i]), part));
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_have_similar_costs() {
        // The load of a part exceeds the mean by at most the cost of the largest item.
        let costs: Vec<u64> = (0..500).map(|i| 1000 + (i * 7919) % 10_007).collect();
        for of in [1, 2, 7, 64, 499, 1000] {
            let mut loads = vec![0; of];
            assign_shards(&costs, of).into_iter().zip(&costs).for_each(|(part, cost)| loads[part] += cost);
            let (mean, most) = (costs.iter().sum::<u64>() / of as u64, loads.iter().max().unwrap());
            assert!(*most <= mean + costs.iter().max().unwrap(), "{of}: {most} and {mean}");
        }
        assert_eq!(assign_shards(&[5, 5, 9, 1], 2), [1, 1, 0, 0]);
    }

    #[test]
    fn parse_accepts_index_below_count() {
        assert_eq!(Shard::parse("0/1"), Some(Shard { index: 0, count: 1 }));
        assert_eq!(Shard::parse("6/7"), Some(Shard { index: 6, count: 7 }));
        for wrong in ["", "1", "7/7", "0/0", "-1/2", "a/b", "1/2/3", "0/99999999"] {
            assert_eq!(Shard::parse(wrong), None, "{wrong}");
        }
    }
}
