//! "Did you mean" suggestions: the valid word that is most similar to an invalid one.

mod names;

pub(crate) use names::{instead, list, quoted};

/// Returns the candidate most similar to `word`, if it is likely to be meant: at most a third of
/// its letters are wrong, missing, extra or swapped with a neighbour. Ignores case, `-` and `_`.
pub(crate) fn closest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // The algorithm takes quadratic time, so longer words are not compared.
    const LONGEST: usize = 64;
    let word = plain(word);
    if word.is_empty() || word.len() > LONGEST {
        return None;
    }
    candidates
        .into_iter()
        .filter_map(|candidate| {
            let letters = plain(candidate);
            let distance = distance(&word, &letters);
            (letters.len() <= LONGEST && distance <= letters.len().max(word.len()).div_ceil(3))
                .then_some((distance, candidate))
        })
        .min_by_key(|&(distance, _)| distance)
        .filter(|&(distance, candidate)| distance < candidate.chars().count())
        .map(|(_, candidate)| candidate)
}

fn plain(word: &str) -> Vec<char> {
    word.chars().filter(|c| !matches!(c, '-' | '_')).flat_map(char::to_lowercase).take(65).collect()
}

/// Returns the Damerau-Levenshtein distance (optimal string alignment).
fn distance(a: &[char], b: &[char]) -> usize {
    let width = b.len() + 1;
    let mut table = vec![0; (a.len() + 1) * width];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            let at = |i: usize, j: usize| table[i * width + j];
            table[i * width + j] = if i == 0 || j == 0 {
                i + j
            } else {
                let change = usize::from(a[i - 1] != b[j - 1]);
                let mut least = (at(i - 1, j) + 1).min(at(i, j - 1) + 1).min(at(i - 1, j - 1) + change);
                if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    least = least.min(at(i - 2, j - 2) + 1);
                }
                least
            };
        }
    }
    table[a.len() * width + b.len()]
}

#[cfg(test)]
mod tests {
    use super::closest;

    #[test]
    fn typing_mistakes_are_matched() {
        let keys = ["name", "path", "encoding", "fps", "matrix-f16", "trs-f16"];
        assert_eq!(closest("encodign", keys), Some("encoding"));
        assert_eq!(closest("ecoding", keys), Some("encoding"));
        assert_eq!(closest("Matrix_F16", keys), Some("matrix-f16"));
        assert_eq!(closest("paht", keys), Some("path"));
        assert_eq!(closest("FPS", keys), Some("fps"));
        assert_eq!(closest("shadows", keys), None);
        assert_eq!(closest("", keys), None);
        assert_eq!(closest("x", ["y", "z"]), None);
        assert_eq!(closest(&"encoding".repeat(100_000), keys), None);
    }
}
