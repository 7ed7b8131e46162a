//! Tables and numbers with units, and the clip tables shared by `bake` and `inspect`.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::frames::nominal_rate;
pub(super) use crate::units::bytes;
use crate::units::{digits, length, texel_format};
use gpuskin_rt::internals::{AnimationTexture, ClipInfo, Encoding, ErrorInfo, MeshInfo, Metadata};

/// A text table. Cells are padded to the width of their column.
pub(super) struct Table {
    right: Vec<bool>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// Creates a table from column names. A `>` before a name aligns the column to the right.
    pub(super) fn new<const N: usize>(columns: [&str; N]) -> Self {
        let right = columns.iter().map(|name| name.starts_with('>')).collect();
        let names = columns.iter().map(|name| name.trim_start_matches('>').to_owned()).collect();
        Self { right, rows: vec![names] }
    }

    pub(super) fn row<const N: usize>(&mut self, cells: [String; N]) {
        debug_assert_eq!(N, self.right.len());
        self.rows.push(cells.into());
    }

    /// Renders the table, indented by two spaces.
    pub(super) fn render(&self) -> String {
        let wide = |text: &String| text.chars().count();
        let widths: Vec<usize> = (0..self.right.len())
            .map(|column| self.rows.iter().map(|row| wide(&row[column])).max().unwrap_or_default())
            .collect();
        let mut text = String::new();
        for row in &self.rows {
            let mut line = String::new();
            for ((cell, width), right) in row.iter().zip(&widths).zip(&self.right) {
                let gap = " ".repeat(width - wide(cell));
                let _ = if *right { write!(line, "  {gap}{cell}") } else { write!(line, "  {cell}{gap}") };
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}

/// Formats a count with its noun: `1 bone`, `2 bones`.
pub(super) fn count(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// Makes text from a file safe to print: replaces control characters, and truncates to `most`
/// characters.
pub(super) fn printable(text: &str, most: usize) -> String {
    let mut cleaned: String = text.chars().take(most).map(|c| if c.is_control() { '?' } else { c }).collect();
    if text.chars().nth(most).is_some() {
        cleaned.pop();
        cleaned.push('~');
    }
    cleaned
}

/// Makes the names of a list safe to print, and shortens those of more than `most` characters in the
/// middle. Names that would become equal keep up to 200 characters.
pub(super) fn printable_names<'n>(names: impl IntoIterator<Item = &'n str>, most: usize) -> Vec<String> {
    let names: Vec<&str> = names.into_iter().collect();
    let shorten = |name: &str| {
        let length = name.chars().count();
        if length <= most {
            return printable(name, most);
        }
        let (start, end) = (most / 3, most - most / 3 - 1);
        let tail: String = name.chars().skip(length - end).collect();
        format!("{}~{}", printable(&name.chars().take(start).collect::<String>(), start), printable(&tail, end))
    };
    let short: Vec<String> = names.iter().map(|name| shorten(name)).collect();
    let mut counts = BTreeMap::new();
    short.iter().for_each(|name| *counts.entry(name.as_str()).or_insert(0) += 1);
    let choose = |(name, short): (&&str, &String)| {
        if counts[short.as_str()] == 1 { short.clone() } else { printable(name, 200) }
    };
    names.iter().zip(&short).map(choose).collect()
}

/// Returns a table with one row per level of detail; empty if the mesh has only LOD 0.
pub(super) fn level_table(mesh: &MeshInfo) -> String {
    if mesh.levels.is_empty() {
        return String::new();
    }
    let mut table = Table::new([">LOD", ">triangles", ">error"]);
    table.row(["0".to_owned(), mesh.triangles(0).to_string(), String::new()]);
    for (i, level) in (1..).zip(mesh.levels.iter()) {
        table.row([i.to_string(), mesh.triangles(i).to_string(), length(level.error)]);
    }
    table.render()
}

/// Returns one line about the error of four influences per vertex; empty if no vertex has more.
pub(super) fn influence_line(mesh: &MeshInfo) -> String {
    match mesh.influence_error {
        0.0 => String::new(),
        error => format!(
            "  influences      up to 8 per vertex; the greatest 4, used where that is not visible, are {} off\n\n",
            length(error)
        ),
    }
}

/// Returns one line about a baked model, without its name.
pub(super) fn model_line(meta: &Metadata) -> String {
    let vertices = meta.mesh.vertex_count as usize;
    texture_line(meta.encoding, &meta.texture, (meta.bones.len(), meta.morphs.len()), vertices, meta.clips.len())
}

/// Returns one line about a model: encoding, counts and texture size.
pub(super) fn texture_line(
    encoding: Encoding,
    texture: &AnimationTexture,
    (bones, morphs): (usize, usize),
    vertices: usize,
    clips: usize,
) -> String {
    let format = texel_format(encoding);
    let mut facts = vec![encoding.name().to_owned(), count(bones as u64, "bone", "bones")];
    facts.extend((morphs > 0).then(|| count(morphs as u64, "morph target", "morph targets")));
    facts.extend([
        count(vertices as u64, "vertex", "vertices"),
        count(clips as u64, "clip", "clips"),
        count(texture.frames.into(), "frame", "frames"),
        format!("{} x {} x {} {format}", texture.width, texture.height, texture.layers),
    ]);
    facts.join(", ")
}

/// Returns a table with one row per clip.
pub(super) fn clip_table(meta: &Metadata, ends: impl Fn(usize, &ClipInfo) -> String) -> String {
    let mut table = Table::new([
        "clip",
        ">frames",
        ">fps",
        ">seconds",
        "ends",
        ">encoding",
        ">p99.96",
        ">motion",
        ">p99.96",
        ">normals",
    ]);
    let names = printable_names(meta.clips.iter().map(|clip| &*clip.name), 24);
    for (index, (clip, name)) in meta.clips.iter().zip(names).enumerate() {
        let normals = clip.encoding_error.normal_degrees.max(clip.motion_error.normal_degrees);
        table.row([
            name,
            clip.stored.to_string(),
            short(nominal_rate(clip.frame_rate)),
            short(clip.duration),
            ends(index, clip),
            length(clip.encoding_error.max),
            length(clip.encoding_error.p9996),
            length(clip.motion_error.max),
            length(clip.motion_error.p9996),
            format!("{} deg", digits(normals.into())),
        ]);
    }
    table.render()
}

/// Returns the line about the clip with the largest error: `encoding error  0.41 mm (p99.96 0.2 mm)
/// in run at 0.53 s, bone Hand.R`.
pub(super) fn worst(meta: &Metadata, title: &str, error: impl Fn(&ClipInfo) -> ErrorInfo) -> String {
    let Some(clip) = meta.clips.iter().max_by(|a, b| error(a).max.total_cmp(&error(b).max)) else {
        return String::new();
    };
    let error = error(clip);
    let bone = match meta.bones.get(error.bone as usize) {
        Some(bone) => printable(&bone.name, 32),
        None => format!("number {}", error.bone),
    };
    format!(
        "  {title:<15} {} (p99.96 {}) in {} at {} s, bone {bone}\n",
        length(error.max),
        length(error.p9996),
        printable(&clip.name, 24),
        short(error.time.into()),
    )
}

/// Formats a number with at most three decimals and without trailing zeros; from 1e9 on in
/// exponential form.
fn short(number: f64) -> String {
    if number.abs() >= 1e9 {
        return format!("{number:.2e}");
    }
    let text = format!("{number:.3}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_short_units() {
        assert_eq!(
            (bytes(10_239), bytes(20_480), bytes(5 << 20)),
            ("10239 B".into(), "20.0 KiB".into(), "5.00 MiB".into())
        );
        assert_eq!(
            (short(30.0), short(59.94), short(0.1 + 0.2), short(1e300)),
            ("30".into(), "59.94".into(), "0.3".into(), "1.00e300".into())
        );
        assert_eq!(printable("a\u{1b}[31mb", 4), "a?[~");
        let names = ["walk", "sword_attack_diagonal_left", "sword_attack_diagonal_right"];
        assert_eq!(printable_names(names, 12), ["walk", "swor~al_left", "swor~l_right"]);
        let names = ["attack_left_of_the_knight", "attack_right_of_the_knight"];
        assert_eq!(printable_names(names, 12), names, "names that would become equal are not shortened");
    }
}
