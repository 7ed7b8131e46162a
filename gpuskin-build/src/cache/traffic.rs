//! Counts over all bakes: entries that were found, computed, downloaded and uploaded.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Cache, EntryKind};

/// Maximum size of the counts, in bytes.
const MAX_BYTES: u64 = 1 << 20;
/// Maximum number of shared caches that are counted separately.
const MAX_SHARED: usize = 100;

/// Entry counts over all bakes with a cache. Bakes that had nothing to do are not counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Traffic {
    /// Entries that were found in the cache.
    pub here: u64,
    /// Entries that were computed.
    pub made: u64,
    /// Damaged entries.
    pub damaged: u64,
    /// Counts per shared cache, by URL.
    pub shared: BTreeMap<String, SharedTraffic>,
}

/// Transfers from and to a shared cache.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SharedTraffic {
    /// Number of downloaded entries.
    pub downloaded: u64,
    /// Bytes of these entries.
    pub downloaded_bytes: u64,
    /// Number of uploaded entries.
    pub uploaded: u64,
    /// Bytes of these entries.
    pub uploaded_bytes: u64,
    /// Number of damaged entries, which were not used.
    pub damaged: u64,
}

impl Cache {
    /// Returns the counts since the cache was last emptied.
    pub(crate) fn traffic(&self) -> Traffic {
        let kept = super::entry::read(
            &self.folder.join(super::name(EntryKind::Traffic, &key())),
            EntryKind::Traffic,
            &key(),
            MAX_BYTES,
        );
        kept.ok().and_then(|data| postcard::from_bytes(&data).ok()).unwrap_or_default()
    }

    /// Adds the counts of this bake.
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
            && (traffic.shared.len() < MAX_SHARED || traffic.shared.contains_key(url))
        {
            let shared = traffic.shared.entry(url.to_owned()).or_default();
            shared.downloaded += used.downloaded.0 as u64;
            shared.downloaded_bytes += used.downloaded.1;
            shared.uploaded += used.uploaded.0 as u64;
            shared.uploaded_bytes += used.uploaded.1;
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
