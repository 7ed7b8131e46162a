//! Conversion of names in asset files to Rust identifiers.

use unicode_ident::{is_xid_continue, is_xid_start};

/// Identifier of a name without letters and digits.
const UNNAMED: &str = "unnamed";

/// Converts a name to snake case: `HumanArmature|Run_swordRight` becomes
/// `human_armature_run_sword_right`, `1H_Melee` becomes `_1h_melee`.
///
/// Words end at characters that Rust does not allow in identifiers, and at camel case boundaries.
/// Letters of all scripts are kept. The result may be a keyword such as `move`; the result of
/// [`constant`] never is.
pub fn snake(name: &str) -> String {
    joined(&words(name), "_")
}

/// Converts a name to a constant: `Run_swordRight` becomes `RUN_SWORD_RIGHT`.
pub fn constant(name: &str) -> String {
    let upper: String = snake(name).chars().flat_map(char::to_uppercase).filter(|c| is_xid_continue(*c)).collect();
    upper
}

/// Converts a name to a type name: `red_soldier` becomes `RedSoldier`.
pub fn type_name(name: &str) -> String {
    let words: Vec<String> = words(name)
        .iter()
        .map(|word| {
            let mut chars = word.chars();
            let first = chars.next().into_iter().flat_map(char::to_uppercase).filter(|c| is_xid_continue(*c));
            first.chain(chars.as_str().chars()).collect()
        })
        .collect();
    let name = joined(&words, "");
    // `Self` is the only keyword in the form of a type name.
    if name == "Self" { "Self_".into() } else { name }
}

/// Returns the end of the constant of a clip or bone, after the name of the model: `1H_CHOP` for `1H_Chop`.
pub fn constant_end(name: &str) -> String {
    constant(name).trim_start_matches('_').to_owned()
}

/// Returns the constant of a clip or bone of a model: `soldier` and `1H_Chop` become
/// `SOLDIER_1H_CHOP`.
pub fn member(model: &str, name: &str) -> String {
    format!("{}_{}", constant(model), constant_end(name))
}

/// Returns the constant of a member in WGSL, which has one namespace for all kinds: `soldier`,
/// `mask` and `upper_body` become `SOLDIER_MASK_UPPER_BODY`.
pub fn wgsl_member(model: &str, kind: &str, name: &str) -> String {
    let kind = if kind.is_empty() { String::new() } else { format!("{}_", constant(kind)) };
    format!("{}_{kind}{}", constant(model), constant_end(name))
}

/// Whether a name has a character that can be part of an identifier.
pub fn has_words(name: &str) -> bool {
    words(name) != [UNNAMED] || name == UNNAMED
}

/// Joins words, and adds a prefix if the first character cannot start an identifier.
fn joined(words: &[String], separator: &str) -> String {
    let name = words.join(separator);
    match name.chars().next() {
        Some(first) if is_xid_start(first) => name,
        Some(_) => format!("_{name}"),
        None => UNNAMED.into(),
    }
}

/// Splits a name into lower-case words, none empty.
fn words(name: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    // Whether the last letter of the word is upper case; digits do not count.
    let mut upper = None;
    let mut chars = name.chars().peekable();
    while let Some(c) = chars.next() {
        let separates = c == '_' || !is_xid_continue(c);
        let starts = c.is_uppercase()
            && match upper {
                Some(false) => true,
                // The last capital of `HTTPServer` belongs to the next word.
                Some(true) => chars.peek().is_some_and(|next| next.is_lowercase()),
                None => false,
            };
        if (separates || starts) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
            upper = None;
        }
        if !separates {
            word.extend(c.to_lowercase().filter(|c| is_xid_continue(*c)));
            upper = if c.is_uppercase() {
                Some(true)
            } else if c.is_lowercase() {
                Some(false)
            } else {
                upper
            };
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    if words.is_empty() {
        words.push(UNNAMED.into());
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snake_case() {
        for (name, expected) in [
            ("Run", "run"),
            ("HumanArmature|Run_swordRight", "human_armature_run_sword_right"),
            ("1H_Melee_Attack_Chop", "_1h_melee_attack_chop"),
            ("T-Pose", "t_pose"),
            ("Walking_A", "walking_a"),
            ("HTTPServer", "http_server"),
            ("Run2Walk", "run2_walk"),
            ("mixamorig:Spine1", "mixamorig_spine1"),
            ("Hand.L", "hand_l"),
            ("  --  ", "unnamed"),
            ("", "unnamed"),
            ("_", "unnamed"),
            ("__a__b__", "a_b"),
            ("走る", "走る"),
            ("Élan vital", "élan_vital"),
            ("x²", "x"),
            ("²", "unnamed"),
            ("move", "move"),
        ] {
            assert_eq!(snake(name), expected, "{name}");
            assert_eq!(snake(expected), expected, "snake case of snake case is unchanged");
            assert_eq!(constant(name), constant(expected), "constants are equal with and without snake case");
        }
    }

    #[test]
    fn constants_and_types() {
        assert_eq!(constant("Run_swordRight"), "RUN_SWORD_RIGHT");
        assert_eq!(constant("straße"), "STRASSE");
        assert_eq!(constant(""), "UNNAMED");
        assert_eq!(type_name("red_soldier"), "RedSoldier");
        assert_eq!(type_name("1H"), "_1h");
        assert_eq!(type_name("self"), "Self_");
        assert_eq!(type_name(""), "Unnamed");
        assert_eq!(member("soldier", "1H_Chop"), "SOLDIER_1H_CHOP");
        assert!(has_words("unnamed") && has_words("x²") && !has_words("|-|") && !has_words(""));
    }

    #[test]
    fn unusual_names_become_identifiers() {
        let odd = ["a\u{301}", "\u{301}", "ŉ", "ΐ", "İ", "\u{200d}", "\u{b7}", "٣", "𝟘x", "a'b", "İstanbul", "ǅ"];
        for name in odd {
            for identifier in [snake(name), constant(name), type_name(name)] {
                let mut chars = identifier.chars();
                let first = chars.next().expect("never empty");
                assert!(first == '_' || is_xid_start(first), "{identifier}");
                assert!(chars.all(is_xid_continue), "{identifier}");
                assert_ne!(identifier, "_");
            }
        }
    }
}
