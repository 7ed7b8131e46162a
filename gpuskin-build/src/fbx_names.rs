//! Names that went through the FBX format: many exporters write other characters than letters, digits and `_` as `FBXASC`
//! and their three-digit number, so that `thigh.L` becomes `thighFBXASC046L`.

use std::borrow::Cow;

const MARK: &str = "FBXASC";

/// Returns a name with the characters that FBX exporters have replaced.
pub(crate) fn unescaped(name: &str) -> Cow<'_, str> {
    let mut result = String::new();
    let mut rest = name;
    while let Some(at) = rest.find(MARK) {
        let after = &rest[at + MARK.len()..];
        let digits = after.get(..3).filter(|digits| digits.bytes().all(|b| b.is_ascii_digit()));
        match digits.and_then(|digits| digits.parse::<u8>().ok()).filter(u8::is_ascii) {
            Some(letter) => {
                result += &rest[..at];
                result.push(char::from(letter));
                rest = &after[3..];
            }
            None => {
                result += &rest[..at + MARK.len()];
                rest = after;
            }
        }
    }
    if result.is_empty() { Cow::Borrowed(rest) } else { Cow::Owned(result + rest) }
}

#[cfg(test)]
mod tests {
    use super::unescaped;

    #[test]
    fn replaced_characters_return() {
        for (name, expected) in [
            ("thighFBXASC046L", "thigh.L"),
            ("mixamorigFBXASC058Hips", "mixamorig:Hips"),
            ("f_indexFBXASC04601FBXASC046L", "f_index.01.L"),
            ("FBXASC045", "-"),
            ("Hips", "Hips"),
            ("", ""),
            ("FBXASC", "FBXASC"),
            ("aFBXASC04", "aFBXASC04"),
            ("FBXASC999x", "FBXASC999x"),
            ("FBXASCFBXASC046", "FBXASC."),
            ("FBXASCé046", "FBXASCé046"),
        ] {
            assert_eq!(unescaped(name), expected, "{name}");
        }
    }
}
