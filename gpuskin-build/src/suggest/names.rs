//! Names in messages: quoting, lists, and suggestions.

use super::closest;

/// Maximum number of characters of a name in a message.
const SHOWN: usize = 80;
/// Maximum number of names in a list of a message.
const LISTED: usize = 20;
/// Maximum number of names to compare, which bounds the time for a hostile file.
const COMPARED: usize = 1000;

/// Puts a name between backticks, shortened if it is very long, without control characters.
pub(crate) fn quoted(name: &str) -> String {
    let mut shown: String = name.chars().take(SHOWN).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if name.chars().nth(SHOWN).is_some() {
        shown.push('…');
    }
    format!("`{shown}`")
}

/// Joins quoted names by commas, with a count of those omitted.
pub(crate) fn list<'a>(names: impl IntoIterator<Item = &'a str>, most: usize) -> String {
    let mut names = names.into_iter();
    let mut text = names.by_ref().take(most).map(quoted).collect::<Vec<_>>().join(", ");
    let left = names.count();
    if left > 0 {
        text.push_str(&format!(" and {left} more"));
    }
    text
}

/// Returns help for a name that was not found: the most similar name, and a list of all names.
pub(crate) fn instead<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.into_iter().collect();
    if names.is_empty() {
        return "there are no names to choose from".into();
    }
    let all = list(names.iter().copied(), LISTED);
    match closest(wanted, names.iter().copied().take(COMPARED)) {
        Some(name) => format!("did you mean {}? Available: {all}", quoted(name)),
        None => format!("available: {all}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similar_names_are_suggested() {
        let meant = |wanted, names: [&'static str; 3]| instead(wanted, names).starts_with("did you mean");
        assert!(instead("run_sword", ["Walk", "Run_Sword", "Jump"]).starts_with("did you mean `Run_Sword`?"));
        assert!(meant("Rnu", ["Walk", "Run", "Jump"]));
        assert!(!meant("Attack", ["Walk", "Slide", "Jump"]));
    }

    #[test]
    fn long_lists_are_shortened() {
        assert_eq!(list(["a", "b", "c"], 2), "`a`, `b` and 1 more");
        assert_eq!(quoted(&"x".repeat(100)).chars().count(), SHOWN + 3);
    }
}
