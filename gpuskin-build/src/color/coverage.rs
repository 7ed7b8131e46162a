//! Mip levels of alpha masks: each shows the same share of its texels.
//!
//! Averages of alpha are below the cutoff where a mask is sparse, and above it where it is dense: leaves and hair would vanish
//! with distance, and fences close (I. Castaño 2010, "Computing Alpha Mipmaps").

use gpuskin_rt::internals::Material;

/// Least alpha that BC7 stores for an opaque texel: its modes with alpha share bits between channels.
const LEAST_OPAQUE_ALPHA: u8 = 250;

/// Returns the cutoff for a material with a base colour texture: at most what opaque texels reach in any format. Cutoffs above
/// 1 show nothing, and stay.
pub(super) fn cutoff_of_texture(cutoff: f32) -> f32 {
    if cutoff <= 1.0 { cutoff.min(f32::from(LEAST_OPAQUE_ALPHA) / 255.0) } else { cutoff }
}

/// Returns the least alpha of a drawn texel per texture, if its alpha is only read as a mask, with one cutoff.
pub(super) fn least_alphas(materials: &[Material], textures: usize) -> impl Iterator<Item = Option<u8>> {
    let mut cutoffs = vec![Vec::new(); textures];
    for material in materials {
        let Some(texture) = &material.base_color_texture else { continue };
        if material.alpha_blend || material.alpha_cutoff.is_some() {
            cutoffs[texture.texture as usize].push(material.alpha_cutoff.and_then(|c| least_alpha(c, material)));
        }
    }
    cutoffs.into_iter().map(|mut cutoffs: Vec<Option<u8>>| {
        cutoffs.dedup();
        if let [cutoff] = cutoffs[..] { cutoff } else { None }
    })
}

/// Returns the least alpha of a texel that is drawn; `None` if all are, or none is.
fn least_alpha(cutoff: f32, material: &Material) -> Option<u8> {
    let least = (cutoff / material.base_color[3] * 255.0).ceil();
    (1.0..=255.0).contains(&least).then_some(least as u8)
}

/// Scales the alpha of all RGBA8 levels but the first, so that the share of texels with at least `least` alpha is that of the
/// first level, as far as whole texels allow it.
pub(super) fn keep_coverage(first: &[u8], others: &mut [Vec<u8>], least: u8) {
    let alphas = |level: &[u8]| level.as_chunks::<4>().0.iter().map(|texel| texel[3]).collect::<Vec<_>>();
    let drawn = alphas(first).iter().filter(|alpha| **alpha >= least).count() as u64;
    let all = (first.len() / 4) as u64;
    for level in others {
        let mut sorted = alphas(level);
        sorted.sort_unstable_by(|a, b| b.cmp(a));
        // Number of drawn texels nearest to the share. Texels of one alpha stay together, and those without any cannot be made
        // visible by a factor.
        let len = sorted.len();
        let apart = |count: &usize| *count == 0 || sorted[count - 1] > sorted.get(*count).copied().unwrap_or(0);
        let off = |count: &usize| (*count as u64 * all).abs_diff(drawn * len as u64);
        // The greater of two that are equally near.
        let count = (0..=len).rev().filter(apart).min_by_key(off).unwrap_or(0);
        let (least, weakest) = match count.checked_sub(1) {
            Some(last) => (u32::from(least), u32::from(sorted[last])),
            None => (u32::from(least) - 1, u32::from(sorted[0]).max(u32::from(least) - 1).max(1)),
        };
        for texel in level.as_chunks_mut::<4>().0 {
            // Rounded down: those below the weakest stay below the least.
            texel[3] = (u32::from(texel[3]) * least / weakest).min(255) as u8;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(alphas: &[u8]) -> Vec<u8> {
        alphas.iter().flat_map(|alpha| [1, 2, 3, *alpha]).collect()
    }

    fn drawn(level: &[u8], least: u8) -> usize {
        level.as_chunks::<4>().0.iter().filter(|texel| texel[3] >= least).count()
    }

    #[test]
    fn levels_show_the_share_of_the_first() {
        // A quarter, three quarters, all and none of 16 texels are drawn.
        for (shown, least) in [(4, 128), (12, 128), (4, 255), (12, 3), (16, 200), (0, 128)] {
            let first: Vec<u8> = (0..16).map(|i| if i < shown { 255 } else { 0 }).collect();
            let thin: Vec<u8> = (0..8).map(|i| 20 + 10 * i).collect();
            let thick: Vec<u8> = (0..8).map(|i| 255 - 10 * i).collect();
            let mut others = [level(&thin), level(&thick)];
            keep_coverage(&level(&first), &mut others, least);
            assert_eq!([0, 1].map(|i| drawn(&others[i], least)), [shown / 2; 2], "{shown} {least}");
            assert!(others[0].as_chunks::<4>().0.iter().all(|texel| texel[..3] == [1, 2, 3]), "colours stay");
        }
    }

    #[test]
    fn texels_of_one_alpha_stay_together() {
        // 6 of 16 are drawn. Of 4, that are 1 or 2; with the third, the fourth would be drawn as well.
        let first: Vec<u8> = (0..16).map(|i| if i < 6 { 255 } else { 0 }).collect();
        let mut others = [level(&[200, 90, 60, 60]), level(&[60; 4])];
        keep_coverage(&level(&first), &mut others, 128);
        assert_eq!([0, 1].map(|i| drawn(&others[i], 128)), [2, 0]);
    }

    #[test]
    fn alpha_of_nothing_stays() {
        let mut others = [level(&[0])];
        keep_coverage(&level(&[255, 255, 255, 255]), &mut others, 128);
        assert_eq!(others[0], level(&[0]));
    }
}
