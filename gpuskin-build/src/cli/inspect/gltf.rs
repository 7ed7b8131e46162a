//! `inspect` of a glTF file: the report as text and as JSON.

use std::fmt::Write;
use std::path::Path;

use serde_json::json;

use crate::analysis::{Analysis, GeometrySummary, INFLUENCE_BINS, Role};
use crate::diagnostic::{Diagnostic, DiagnosticCode};
use crate::loop_guess::LoopKind;
use crate::model::{Model, Texture};
use crate::units::{digits, length};

use super::super::args::Args;
use super::super::outcome::{CommandOutput, Failure};
use super::super::text::{Table, bytes, count, printable, printable_names};

/// Number of lines up to which a section is printed completely, without `--all`.
const MAX_LINES: usize = 120;
/// Number of characters of a name that a table shows.
const NAME: usize = 40;

/// Whether the file is a glTF file: by its first bytes, or by its extension.
pub(super) fn is_gltf(path: &Path, data: &[u8]) -> bool {
    let extension = path.extension().unwrap_or_default();
    data.starts_with(b"glTF") || extension.eq_ignore_ascii_case("glb") || extension.eq_ignore_ascii_case("gltf")
}

pub(super) fn run(args: &Args, path: &Path) -> Result<CommandOutput, Failure> {
    let analysis = Analysis::new(path)?;
    if args.has("json") {
        let text = serde_json::to_string_pretty(&to_json(&analysis)).map_err(|error| {
            Diagnostic::error(DiagnosticCode::InspectFile, format!("{} cannot be printed: {error}", analysis.path))
        })?;
        return Ok((text + "\n").into());
    }
    let most = if args.has("all") { usize::MAX } else { MAX_LINES };
    let text = report(&analysis, most);
    Ok(CommandOutput { text, warnings: analysis.diagnostics })
}

/// Returns the report. Each section has at most `most` lines.
fn report(analysis: &Analysis, most: usize) -> String {
    let outline = &analysis.outline;
    let generator = outline.generator.as_deref().map(|g| format!(", written by {}", printable(g, 48)));
    let shown = printable(&analysis.path, 60);
    let mut text = format!("{shown}  {}{}\n", bytes(analysis.bytes), generator.unwrap_or_default());
    let mut section = |title: &str, body: String| {
        if !body.is_empty() {
            let _ = write!(text, "\n{title}\n{}", limited(&body, most));
        }
    };
    section(&format!("Nodes ({})", outline.nodes.len()), node_tree(analysis));
    section("Skins", skins(analysis));
    section("Clips", clips(analysis));
    section("Mesh", analysis.geometry.map(|g| mesh(&g, analysis.model.as_ref())).unwrap_or_default());
    section("Materials", analysis.model.as_ref().map(materials).unwrap_or_default());
    section("Extensions", extensions(analysis));
    section("Likely mistakes", hints(analysis));
    let draft = analysis.draft(&analysis.path);
    let errors = analysis.diagnostics.iter().filter(|d| d.is_error()).count() as u64;
    let note = match errors {
        0 => String::new(),
        _ => format!("# The baker refuses the file: {}, printed above.\n", count(errors, "error", "errors")),
    };
    let _ = write!(text, "\nDraft of gpuskin.toml\n\n{note}{}", draft.text);
    text
}

/// Cuts a text after a number of lines, and says how many lines are left out.
fn limited(text: &str, most: usize) -> String {
    let lines = text.lines().count();
    if lines <= most {
        return text.to_owned();
    }
    let mut cut: String = text.lines().take(most).flat_map(|line| [line, "\n"]).collect();
    let _ = writeln!(cut, "  ({} lines left out; --all prints them)", lines - most);
    cut
}

/// Returns the tree of nodes, one per line, indented by depth.
fn node_tree(analysis: &Analysis) -> String {
    /// Depth up to which lines are indented.
    const INDENTED: usize = 20;
    let nodes = &analysis.outline.nodes;
    let mut children = vec![Vec::new(); nodes.len()];
    let mut stack = Vec::new();
    for (i, node) in nodes.iter().enumerate().rev() {
        match node.parent {
            Some(parent) => children[parent].push(i),
            None => stack.push((i, 0_usize)),
        }
    }
    let mut text = String::new();
    while let Some((i, depth)) = stack.pop() {
        stack.extend(children[i].iter().map(|&child| (child, depth + 1)));
        let node = &nodes[i];
        let name = node.name.as_deref().map_or_else(|| format!("(node {i}, unnamed)"), |name| printable(name, NAME));
        let indent = "  ".repeat(1 + depth.min(INDENTED));
        let deep = if depth > INDENTED { format!("[depth {depth}] ") } else { String::new() };
        let mut notes = Vec::new();
        if !node.in_scene {
            notes.push("not in the scene".to_owned());
        }
        if node.joint {
            notes.push("joint".to_owned());
        }
        if node.mesh {
            let triangles = analysis.model.as_ref().map(|model| {
                model.primitives.iter().filter(|p| p.node == i).map(|p| p.triangles.len() as u64).sum::<u64>()
            });
            let triangles = triangles.map(|n| format!(", {}", count(n, "triangle", "triangles")));
            let kind = if node.skinned { "skinned mesh" } else { "mesh" };
            notes.push(format!("{kind}{}", triangles.unwrap_or_default()));
        }
        if let Some((role, _)) = analysis.roles.get(i).copied().flatten() {
            let socket = matches!(role, Role::Hand | Role::HandSlot | Role::Head);
            notes.push(format!("{}{}", role.name(), if socket { " (socket?)" } else { "" }));
        }
        if node.scale.iter().any(|s| (s - 1.0).abs() > 1e-3) {
            let [x, y, z] = node.scale.map(digits);
            notes.push(if x == y && y == z { format!("scale {x}") } else { format!("scale {x} x {y} x {z}") });
        }
        let line = format!("{indent}{deep}{name}");
        let _ = match notes.is_empty() {
            true => writeln!(text, "{line}"),
            false => writeln!(text, "{line:<48}  {}", notes.join(", ")),
        };
    }
    text
}

fn skins(analysis: &Analysis) -> String {
    let mut text = String::new();
    for (i, skin) in analysis.outline.skins.iter().enumerate() {
        let name = skin.name.as_deref().map_or_else(|| format!("skin {i}"), |name| printable(name, NAME));
        let _ = writeln!(text, "  {name}: {}", count(skin.joints as u64, "joint", "joints"));
    }
    if let (Some(model), false) = (&analysis.model, text.is_empty()) {
        let bones = model.bones.len() - model.morph_bones;
        let _ = writeln!(text, "  {} that move vertices are baked", count(bones as u64, "bone", "bones"));
    }
    text
}

fn clips(analysis: &Analysis) -> String {
    if analysis.model.is_none() {
        return analysis.outline.animations.iter().enumerate().fold(String::new(), |mut text, (i, name)| {
            let name = name.as_deref().map_or_else(|| format!("animation {i}"), |name| printable(name, 72));
            let _ = writeln!(text, "  {name}");
            text
        });
    }
    if analysis.clips.is_empty() {
        return "  none\n".to_owned();
    }
    let mut table = Table::new(["clip", "in the file", ">seconds", ">keys/s", "baked as", ">loop seam"]);
    let names = printable_names(analysis.clips.iter().map(|clip| clip.name.as_str()), 24);
    let sources = printable_names(analysis.clips.iter().map(|clip| clip.source.as_str()), 60);
    for (clip, (name, source)) in analysis.clips.iter().zip(names.into_iter().zip(sources)) {
        let baked = match clip.kind {
            LoopKind::Loop => "loop",
            LoopKind::LoopWithoutLastKey => "loop, one frame added",
            LoopKind::Once => "once",
        };
        table.row([name, source, digits(clip.seconds), digits(clip.rate), baked.to_owned(), length(clip.seam as f32)]);
    }
    table.render()
}

fn mesh(geometry: &GeometrySummary, model: Option<&Model>) -> String {
    let number = |x: f32| digits(x.into());
    let [x, y, z] = geometry.size().map(number);
    let corner = |p: [f32; 3]| format!("({})", p.map(|c| format!("{c:.3}")).join(", "));
    let mut text = format!("  size        x {x} m, y {y} m, z {z} m, if a unit of the file is a metre\n");
    let _ = writeln!(text, "  corners     {} to {}", corner(geometry.min), corner(geometry.max));
    let triangles = count(geometry.triangles as u64, "triangle", "triangles");
    let vertices = count(geometry.vertices as u64, "vertex", "vertices");
    let targets = model.map_or(0, |model| model.primitives.iter().map(|p| p.targets.len()).max().unwrap_or(0));
    let targets = match targets {
        0 => String::new(),
        n => format!(", up to {}", count(n as u64, "morph target", "morph targets")),
    };
    let _ = writeln!(text, "  mesh        {triangles}, {vertices}{targets}");
    let share = |n: usize| 100.0 * n as f64 / geometry.vertices.max(1) as f64;
    let bins: Vec<String> = (1..)
        .zip(geometry.influences)
        .filter(|(_, vertices)| *vertices > 0)
        .map(|(influences, n)| {
            let more = if influences == INFLUENCE_BINS { " or more" } else { "" };
            format!("{influences}{more}: {:.1} %", share(n))
        })
        .collect();
    let _ = writeln!(text, "  influences  vertices by bones per vertex: {}", bins.join(", "));
    text
}

fn materials(model: &Model) -> String {
    let mut table = Table::new(["material", "base colour", "textures"]);
    for (i, material) in model.materials.iter().enumerate() {
        let name = if material.name.is_empty() { format!("material {i}") } else { printable(&material.name, 24) };
        table.row([name, material.base_color.map(|c| format!("{c:.2}")).join(" "), textures(model, i).join(", ")]);
    }
    if model.materials.is_empty() { String::new() } else { table.render() }
}

/// Returns the textures of a material with their sizes: `base colour 1024 x 1024`.
fn textures(model: &Model, material: usize) -> Vec<String> {
    let material = &model.materials[material];
    let texture = |kind: &str, texture: Option<Texture>| {
        let image = model.images.get(texture?.image)?;
        Some(format!("{kind} {} x {}", image.width, image.height))
    };
    let all = [
        texture("base", material.base_color_texture),
        texture("normal", material.normal_texture),
        texture("metal-rough", material.metallic_roughness_texture),
        texture("occlusion", material.occlusion_texture),
        texture("emissive", material.emissive_texture),
    ];
    all.into_iter().flatten().collect()
}

fn extensions(analysis: &Analysis) -> String {
    analysis.outline.extensions.iter().fold(String::new(), |mut text, extension| {
        let declared = if extension.required { "required" } else { "used" };
        let known = if extension.known { "read, or without effect on poses" } else { "not read" };
        let _ = writeln!(text, "  {:<44}  {declared}, {known}", printable(&extension.name, 44));
        text
    })
}

fn hints(analysis: &Analysis) -> String {
    analysis.hints.iter().fold(String::new(), |mut text, hint| {
        text.push_str(&wrapped("  - ", &printable(&hint.message, 400)));
        text.push_str(&wrapped("    help: ", &printable(&hint.help, 400)));
        text
    })
}

/// Wraps a text at 98 columns. Lines after the first are indented like the prefix.
fn wrapped(prefix: &str, text: &str) -> String {
    let mut result = String::new();
    let mut line = prefix.to_owned();
    for word in text.split(' ') {
        if line.chars().count() + 1 + word.chars().count() > 98 && line.trim() != prefix.trim() {
            result.push_str(line.trim_end());
            result.push('\n');
            line = " ".repeat(prefix.chars().count());
        }
        line.push_str(word);
        line.push(' ');
    }
    result.push_str(line.trim_end());
    result.push('\n');
    result
}

/// Returns the whole analysis, without limits on its size.
fn to_json(analysis: &Analysis) -> serde_json::Value {
    let outline = &analysis.outline;
    let nodes: Vec<_> = outline
        .nodes
        .iter()
        .enumerate()
        .map(|(i, node)| {
            let role = analysis.roles.get(i).copied().flatten();
            json!({
                "name": node.name, "parent": node.parent, "inScene": node.in_scene, "joint": node.joint,
                "mesh": node.mesh, "scale": node.scale, "role": role.map(|(role, _)| role.name()),
            })
        })
        .collect();
    let clips: Vec<_> = analysis
        .clips
        .iter()
        .map(|clip| {
            json!({
                "name": clip.name, "source": clip.source, "seconds": clip.seconds, "keysPerSecond": clip.rate,
                "loops": clip.loops(), "seam": clip.seam,
            })
        })
        .collect();
    let mesh = analysis.geometry.map(|g| {
        json!({
            "min": g.min, "max": g.max, "triangles": g.triangles, "vertices": g.vertices,
            "verticesByInfluences": g.influences,
        })
    });
    let materials: Vec<_> = analysis
        .model
        .iter()
        .flat_map(|model| (0..model.materials.len()).map(move |i| (model, i)))
        .map(|(model, i)| {
            let material = &model.materials[i];
            json!({ "name": material.name, "baseColor": material.base_color, "textures": textures(model, i) })
        })
        .collect();
    let diagnostics: Vec<serde_json::Value> =
        analysis.diagnostics.to_json_lines().lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    json!({
        "file": analysis.path,
        "bytes": analysis.bytes,
        "generator": outline.generator,
        "nodes": nodes,
        "skins": outline.skins.iter().map(|s| json!({ "name": s.name, "joints": s.joints })).collect::<Vec<_>>(),
        "animations": outline.animations,
        "clips": clips,
        "mesh": mesh,
        "materials": materials,
        "extensions": outline.extensions.iter()
            .map(|e| json!({ "name": e.name, "required": e.required, "read": e.known })).collect::<Vec<_>>(),
        "likelyMistakes": analysis.hints.iter()
            .map(|h| json!({ "message": h.message, "help": h.help })).collect::<Vec<_>>(),
        "diagnostics": diagnostics,
        "bakeable": analysis.is_bakeable(),
        "draft": analysis.draft(&analysis.path).text,
    })
}
