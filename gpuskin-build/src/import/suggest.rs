//! Names in messages: quoted, listed, and the one that was probably meant.

/// Longer names are cut in messages.
const SHOWN: usize = 80;
/// Longer lists are cut in messages.
const LISTED: usize = 20;
/// Characters of a name that are compared, and names: the time for a hostile file is bounded.
const COMPARED: (usize, usize) = (64, 1000);

/// The name between backticks, cut where it is very long, without control characters.
pub(crate) fn quoted(name: &str) -> String {
    let mut shown: String = name.chars().take(SHOWN).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if name.chars().nth(SHOWN).is_some() {
        shown.push('…');
    }
    format!("`{shown}`")
}

/// Names, quoted and joined by commas, with a count of those left out.
pub(crate) fn list<'a>(names: impl IntoIterator<Item = &'a str>, most: usize) -> String {
    let mut names = names.into_iter();
    let mut text = names.by_ref().take(most).map(quoted).collect::<Vec<_>>().join(", ");
    let left = names.count();
    if left > 0 {
        text.push_str(&format!(" and {left} more"));
    }
    text
}

/// What to write instead of a name that is not there: the one like it, then what there is.
pub(crate) fn instead<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.into_iter().collect();
    if names.is_empty() {
        return "there are none".into();
    }
    let all = list(names.iter().copied(), LISTED);
    match nearest(wanted, &names) {
        Some(name) => format!("did you mean {}? There are {all}", quoted(name)),
        None => format!("there are {all}"),
    }
}

fn nearest<'a>(wanted: &str, names: &[&'a str]) -> Option<&'a str> {
    let fold = |s: &str| s.chars().take(COMPARED.0).flat_map(char::to_lowercase).collect::<Vec<char>>();
    let wanted = fold(wanted);
    // Two swapped letters count twice. More than a third of a long name is another name.
    let limit = if wanted.len() < 3 { 1 } else { (wanted.len() / 3).max(2) };
    let near =
        names.iter().take(COMPARED.1).map(|name| (distance(&wanted, &fold(name)), *name)).min_by_key(|(d, _)| *d);
    near.filter(|(d, _)| *d <= limit).map(|(_, name)| name)
}

/// Levenshtein's.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let cost = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = cost.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggests_the_name_that_was_meant() {
        assert_eq!(nearest("run_sword", &["Walk", "Run_Sword", "Jump"]), Some("Run_Sword"));
        assert_eq!(nearest("Rnu", &["Walk", "Run", "Jump"]), Some("Run"));
        assert_eq!(nearest("Attack", &["Walk", "Jump"]), None);
        assert_eq!(distance(&['a', 'b'], &[]), 2);
    }

    #[test]
    fn lists_are_cut() {
        assert_eq!(list(["a", "b", "c"], 2), "`a`, `b` and 1 more");
        assert_eq!(quoted(&"x".repeat(100)).chars().count(), SHOWN + 3);
    }
}
