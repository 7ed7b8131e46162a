//! Where bakes had their entries from, counted over all of them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Cache, EntryKind};

/// The largest such count.
const MOST: u64 = 1 << 20;
/// Shared caches that are told apart.
const MOST_SHARED: usize = 100;

/// Where the entries of all bakes with a cache came from. Bakes that had nothing to do are not counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Traffic {
    /// Entries that were in the cache.
    pub here: u64,
    /// Entries that were made.
    pub made: u64,
    /// Entries that were damaged.
    pub damaged: u64,
    /// By shared cache, under its URL.
    pub shared: BTreeMap<String, SharedTraffic>,
}

/// What came from a shared cache and went there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SharedTraffic {
    /// Entries that were taken from it.
    pub taken: u64,
    /// Their bytes.
    pub taken_bytes: u64,
    /// Entries that were put there.
    pub put: u64,
    /// Their bytes.
    pub put_bytes: u64,
    /// Entries that were not what they should be, and not used.
    pub damaged: u64,
}

impl Cache {
    /// Where entries came from since the cache was last emptied.
    pub fn traffic(&self) -> Traffic {
        let kept =
            super::entry::read(&self.folder.join(super::name(EntryKind::Traffic, &key())), EntryKind::Traffic, &key(), MOST);
        kept.ok().and_then(|data| postcard::from_bytes(&data).ok()).unwrap_or_default()
    }

    /// Adds what this bake did.
    pub(crate) fn remember_traffic(&self) {
        let _alone = self.lock(&key(), || ());
        let mut traffic = self.traffic();
        {
            let state = self.state();
            traffic.here += state.hits as u64;
            traffic.made += state.made as u64;
            traffic.damaged += state.damaged as u64;
        }
        if let Some((url, used)) = self.shared_use()
            && (traffic.shared.len() < MOST_SHARED || traffic.shared.contains_key(url))
        {
            let shared = traffic.shared.entry(url.to_owned()).or_default();
            shared.taken += used.taken.0 as u64;
            shared.taken_bytes += used.taken.1;
            shared.put += used.put.0 as u64;
            shared.put_bytes += used.put.1;
            shared.damaged += used.damaged as u64;
        }
        if let Ok(bytes) = postcard::to_stdvec(&traffic) {
            self.put(EntryKind::Traffic, &key(), &bytes);
        }
    }
}

fn key() -> blake3::Hash {
    blake3::hash(b"traffic")
}
