//! Names in messages: quoted, listed, and the one that was probably meant.

use super::closest;

/// Longer names are cut in messages.
const SHOWN: usize = 80;
/// Longer lists are cut in messages.
const LISTED: usize = 20;
/// Names that are compared: the time for a hostile file is bounded.
const COMPARED: usize = 1000;

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
    match closest(wanted, names.iter().copied().take(COMPARED)) {
        Some(name) => format!("did you mean {}? There are {all}", quoted(name)),
        None => format!("there are {all}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggests_the_name_that_was_meant() {
        let meant = |wanted, names: [&'static str; 3]| instead(wanted, names).starts_with("did you mean");
        assert!(instead("run_sword", ["Walk", "Run_Sword", "Jump"]).starts_with("did you mean `Run_Sword`?"));
        assert!(meant("Rnu", ["Walk", "Run", "Jump"]));
        assert!(!meant("Attack", ["Walk", "Slide", "Jump"]));
    }

    #[test]
    fn lists_are_cut() {
        assert_eq!(list(["a", "b", "c"], 2), "`a`, `b` and 1 more");
        assert_eq!(quoted(&"x".repeat(100)).chars().count(), SHOWN + 3);
    }
}
