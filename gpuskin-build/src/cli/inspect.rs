//! `inspect`: prints the content of a glTF model, or the header and the metadata of a KTX2 file.

mod gltf;

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use gpuskin_rt::internals::{MaterialTexture, Metadata};
use ktx2::dfd::{Basic, Block, ChannelTypeQualifiers};
use ktx2::{ColorModel, Header, Reader};

use super::args::{Args, Command, switch};
use super::outcome::{CommandOutput, Failure};
use super::text::{
    Table, bytes, clip_table, count, influence_line, level_table, model_line, printable, printable_names, worst,
};
use crate::diagnostic::{Diagnostic, DiagnosticCode};
use crate::import::other_format;
use crate::manifest::{EXPORT, is_other_model};

pub(super) const COMMAND: Command = Command {
    name: "inspect",
    summary: "Prints what a glTF model or a baked model contains.",
    operand: Some("MODEL.glb|FILE.ktx2|FOLDER"),
    flags: &[
        switch("all", "of a model: print all nodes and clips of large files"),
        switch("json", "of a model: print one JSON object"),
    ],
    notes: "Of a model (.glb, .gltf): nodes, skins, clips, sizes, materials, extensions, likely mistakes of the export,\n\
            and a draft of a manifest to copy. Of a KTX2 file: header and metadata.\n\
            Of the folder of a baked model, such as baked/gpuskin/soldier: its animation files.",
};

/// KTX2 key of the model's metadata.
const METADATA_KEY: &str = "gpuskin";

pub(super) fn run(args: &Args) -> Result<CommandOutput, Failure> {
    let path = args.operand();
    if path.is_dir() {
        let reports: Result<Vec<String>, Diagnostic> =
            animations(&path)?.iter().map(|file| report(file, &read(file)?)).collect();
        return Ok(reports?.join("\n").into());
    }
    let data = read(&path)?;
    if gltf::is_gltf(&path, &data) {
        return gltf::run(args, &path);
    }
    Ok(report(&path, &data)?.into())
}

fn read(path: &Path) -> Result<Vec<u8>, Diagnostic> {
    std::fs::read(path).map_err(|error| {
        Diagnostic::error(DiagnosticCode::FileUnreadable, format!("{} cannot be read: {error}", path.display()))
    })
}

/// Returns the animation files of a baked model, given the folder of the model or of its files.
fn animations(folder: &Path) -> Result<Vec<PathBuf>, Diagnostic> {
    let below = |folder: &Path| {
        let read = std::fs::read_dir(folder).into_iter().flatten().flatten();
        read.map(|entry| entry.path()).collect::<BTreeSet<PathBuf>>()
    };
    let is_animation = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.starts_with("anim-") && name.ends_with(".ktx2")
    };
    let entries = below(folder);
    let files = entries.iter().flat_map(|entry| below(entry)).chain(entries.iter().cloned());
    let animations: Vec<PathBuf> = files.filter(is_animation).collect();
    if animations.is_empty() {
        let message = format!("{} is not the folder of a baked model", folder.display());
        return Err(Diagnostic::error(DiagnosticCode::InspectFile, message));
    }
    Ok(animations)
}

/// Returns the report about a KTX2 file and its size.
fn report(path: &Path, data: &[u8]) -> Result<String, Diagnostic> {
    let shown = path.display();
    let text = inspect(data).map_err(|why| {
        let error = Diagnostic::error(DiagnosticCode::InspectFile, format!("{shown} {why}"));
        match help_for_other(path, data) {
            Some(help) => error.help(help),
            None => error,
        }
    })?;
    Ok(format!("{shown}  {}\n{text}", bytes(data.len() as u64)))
}

/// Returns advice for a file that is no KTX2 file but of a known kind.
fn help_for_other(path: &Path, data: &[u8]) -> Option<&'static str> {
    let by_name = || is_other_model(path).then_some(EXPORT);
    other_format(data).map(|(_, help)| help).or_else(by_name)
}

/// Returns the report about the KTX2 file `data`, or the reason why there is none.
pub(super) fn inspect(data: &[u8]) -> Result<String, String> {
    if !data.starts_with(&ktx2::MAGIC) {
        return Err("is neither a glTF model nor a KTX2 file".to_owned());
    }
    check_descriptor(data)?;
    let reader = Reader::new(data).map_err(|error| format!("is damaged: {error}"))?;
    let mut text = header(&reader.header());
    for block in reader.dfd_blocks() {
        match block {
            Block::Basic(basic) => text.push_str(&descriptor(basic)),
            Block::Unknown { header, data } => {
                let _ = writeln!(
                    text,
                    "  descriptor   of vendor {}, type {}, {}",
                    header.vendor_id,
                    header.descriptor_type,
                    bytes(data.len() as u64)
                );
            }
        }
    }
    text.push_str(&levels(&reader));
    let mut metadata = None;
    for (key, value) in reader.key_value_data() {
        let shown = match std::str::from_utf8(value) {
            Ok(text) if key != METADATA_KEY && value.ends_with(&[0]) => {
                format!("\"{}\"", printable(text.trim_end_matches('\0'), 60))
            }
            _ => bytes(value.len() as u64),
        };
        let _ = writeln!(text, "  key          {}: {shown}", printable(key, 40));
        if key == METADATA_KEY {
            metadata = Some(value);
        }
    }
    // Colour textures store only the content hash of their model.
    if let Some(Ok(hash)) = metadata.map(<[u8; 16]>::try_from) {
        let _ = writeln!(text, "  content hash {}", hex(&hash));
        return Ok(text);
    }
    match metadata.map(Metadata::from_postcard) {
        Some(Ok(meta)) => text.push_str(&model(&meta, &reader.header())),
        Some(Err(error)) => {
            let _ = writeln!(text, "\n{error}");
        }
        None => {}
    }
    Ok(text)
}

/// Rejects data that makes the reader panic: a block dimension byte of 255 (the format stores each
/// dimension minus one).
fn check_descriptor(data: &[u8]) -> Result<(), String> {
    let cut_short = || "is truncated".to_owned();
    let word = |at: usize| -> Option<usize> {
        Some(u32::from_le_bytes(data.get(at..at.checked_add(4)?)?.try_into().ok()?) as usize)
    };
    let (start, length) = word(48).zip(word(52)).ok_or_else(cut_short)?;
    let end = start.checked_add(length).filter(|&end| end <= data.len()).ok_or_else(cut_short)?;
    let mut at = start.saturating_add(4);
    while at < end {
        // Bytes 6 and 7 of a block are its size, bytes 12 to 15 its dimensions.
        let size = word(at + 4).ok_or_else(cut_short)? >> 16;
        if size == 0 {
            return Err("has an empty descriptor block".to_owned());
        }
        if data.get(at + 12..at + 16).is_some_and(|dimensions| dimensions.contains(&255)) {
            return Err("has a texel block 256 texels wide".to_owned());
        }
        at += size;
    }
    Ok(())
}

fn header(header: &Header) -> String {
    let format = header.format.map_or("undefined".to_owned(), |format| format!("{format:?}"));
    let mut text = format!("  format       {format}\n  size         {}", header.pixel_width);
    for side in [header.pixel_height, header.pixel_depth] {
        if side > 0 {
            let _ = write!(text, " x {side}");
        }
    }
    if header.layer_count > 0 {
        let _ = write!(text, ", array of {}", count(header.layer_count.into(), "layer", "layers"));
    }
    if header.face_count > 1 {
        let _ = write!(text, ", {} faces", header.face_count);
    }
    let levels = if header.level_count == 0 {
        "mip levels to be generated".to_owned()
    } else {
        count(header.level_count.into(), "mip level", "mip levels")
    };
    let _ = writeln!(text, ", {levels}");
    if let Some(scheme) = header.supercompression_scheme {
        let _ = writeln!(text, "  compression  {scheme:?}");
    }
    text
}

fn descriptor(basic: &Basic) -> String {
    let model = basic.color_model.map_or("no colour model".to_owned(), |model| format!("{model:?}"));
    let primaries = basic.color_primaries.map_or("no primaries".to_owned(), |primaries| format!("{primaries:?}"));
    let transfer = basic.transfer_function.map_or("no transfer".to_owned(), |transfer| format!("{transfer:?}"));
    let samples: Vec<String> = basic
        .sample_information
        .iter()
        .map(|sample| {
            let channel = match sample.channel_type {
                // Block-compressed formats store all channels in one sample.
                0 if basic.color_model != Some(ColorModel::RGBSDA) => "RGB".to_owned(),
                2 if basic.color_model == Some(ColorModel::ETC2) => "RGB".to_owned(),
                3 if basic.color_model == Some(ColorModel::UASTC) => "RGBA".to_owned(),
                0 => "R".to_owned(),
                1 => "G".to_owned(),
                2 => "B".to_owned(),
                15 => "A".to_owned(),
                other => format!("channel {other}"),
            };
            let has = |qualifier| sample.channel_type_qualifiers.contains(qualifier);
            let kind = match (has(ChannelTypeQualifiers::FLOAT), has(ChannelTypeQualifiers::SIGNED)) {
                (true, _) => "float",
                (false, true) => "signed",
                (false, false) => "unsigned",
            };
            let linear = if has(ChannelTypeQualifiers::LINEAR) { " linear" } else { "" };
            format!("{channel}{} {kind}{linear}", sample.bit_length)
        })
        .take(16)
        .collect();
    format!(
        "  descriptor   {model}, {primaries}, {transfer}, {} bytes per texel block\n  samples      {}\n",
        basic.bytes_planes[0],
        samples.join(", ")
    )
}

fn levels(reader: &Reader<&[u8]>) -> String {
    let mut text = String::new();
    let header = reader.header();
    let start = reader.data().as_ptr() as usize;
    for (index, level) in reader.levels().enumerate() {
        if index == 32 {
            let _ = writeln!(text, "  further mip levels are ignored: no texture has more than 32");
            break;
        }
        let side = |side: u32| (side >> index).max(1);
        let at = level.data.as_ptr() as usize - start;
        let _ = write!(
            text,
            "  level {index:<7}{} x {}: {} bytes at {at}",
            side(header.pixel_width),
            side(header.pixel_height),
            level.data.len()
        );
        if header.supercompression_scheme.is_some() {
            let _ = write!(text, ", {} unpacked", bytes(level.uncompressed_byte_length));
        }
        text.push('\n');
    }
    text
}

fn hex(hash: &[u8; 16]) -> String {
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the metadata, with a note if the texture size differs from the file header.
fn model(meta: &Metadata, header: &Header) -> String {
    let mut text = format!("\n{}  {}\n", printable(&meta.name, 64), model_line(meta));
    let sides = (header.pixel_width, header.pixel_height, header.layer_count.max(1));
    if (meta.texture.width, meta.texture.height, meta.texture.layers) != sides {
        text.push_str("  The texture size in the metadata differs from the size in the file header.\n");
    }
    let _ = writeln!(text, "  content hash    {}", hex(&meta.content_hash));
    let (min, max) = (meta.bounds.min, meta.bounds.max);
    let _ = writeln!(text, "  bounds          {min:.3?} to {max:.3?} m");
    let mesh = &meta.mesh;
    let _ = writeln!(
        text,
        "  mesh            {} vertices{}{}{}, {}-bit indices, {}",
        format!("{:?}", mesh.format.packing).to_lowercase(),
        if mesh.format.tangent { " with tangents" } else { "" },
        if mesh.format.second_uv { " with second texture coordinates" } else { "" },
        if mesh.format.color { " with colours" } else { "" },
        if mesh.wide_indices { 32 } else { 16 },
        count(mesh.parts.len() as u64, "part", "parts"),
    );
    if let Some(rest) = &mesh.rest {
        let clip = rest.clip.map(|clip| meta.clips.get(usize::from(clip)));
        let pose = match clip {
            Some(Some(clip)) => format!("clip {} at {:.3} s", printable(&clip.name, 24), rest.seconds),
            Some(None) => "a clip that does not exist".to_owned(),
            None => "node transforms of the file".to_owned(),
        };
        let _ = writeln!(text, "  mesh at rest    {pose}");
    }
    text.push_str(&worst(meta, "encoding error", |clip| clip.encoding_error));
    text.push_str(&worst(meta, "motion error", |clip| clip.motion_error));

    let _ = writeln!(text, "\n{}", clip_table(meta, |_, clip| (if clip.looped { "loop" } else { "once" }).to_owned()));
    if !mesh.levels.is_empty() {
        let _ = writeln!(text, "{}", level_table(mesh));
    }
    text.push_str(&influence_line(mesh));
    let mut names = Table::new(["clip", "in the glTF file", ">first frame", ">intervals"]);
    let short = printable_names(meta.clips.iter().map(|clip| &*clip.name), 24);
    let sources = printable_names(meta.clips.iter().map(|clip| &*clip.source), 48);
    for (clip, (name, source)) in meta.clips.iter().zip(short.into_iter().zip(sources)) {
        names.row([name, source, clip.first_frame.to_string(), clip.intervals.to_string()]);
    }
    let _ = writeln!(text, "{}", names.render());
    text.push_str(&animator(meta));
    let mut bones = Table::new([">bone", "name", "parent"]);
    for (index, bone) in meta.bones.iter().enumerate() {
        let parent = bone.parent.and_then(|parent| meta.bones.get(parent as usize));
        let parent = parent.map(|parent| printable(&parent.name, 40)).unwrap_or_default();
        bones.row([index.to_string(), printable(&bone.name, 40), parent]);
    }
    text.push_str(&bones.render());
    if !meta.materials.is_empty() {
        let mut materials =
            Table::new(["material", "base colour", "texture", "orm", "normal", "emissive", "sides", "alpha", "lit"]);
        for material in meta.materials.iter() {
            let texture =
                |texture: &Option<MaterialTexture>| texture.map(|t| format!("color-{}", t.texture)).unwrap_or_default();
            materials.row([
                printable(&material.name, 32),
                format!("{:.3?}", material.base_color),
                texture(&material.base_color_texture),
                texture(&material.orm_texture),
                texture(&material.normal_texture),
                texture(&material.emissive_texture),
                if material.double_sided { "both" } else { "front" }.to_owned(),
                match material.alpha_cutoff {
                    _ if material.alpha_blend => "blended".to_owned(),
                    Some(alpha) => format!("cut out below {alpha:.2}"),
                    None => String::new(),
                },
                if material.unlit { "no" } else { "yes" }.to_owned(),
            ]);
        }
        let _ = write!(text, "\n{}", materials.render());
    }
    if !meta.textures.is_empty() {
        let mut textures = Table::new(["texture", ">size", ">mip levels", "colour space", "formats"]);
        for (index, texture) in meta.textures.iter().enumerate() {
            textures.row([
                format!("color-{index}"),
                match texture.layers {
                    1 => format!("{} x {}", texture.width, texture.height),
                    layers => format!("{} x {} x {layers}", texture.width, texture.height),
                },
                texture.levels.to_string(),
                if texture.srgb { "sRGB" } else { "linear" }.to_owned(),
                texture.formats.iter().map(|format| format.name()).collect::<Vec<_>>().join(", "),
            ]);
        }
        let _ = write!(text, "\n{}", textures.render());
    }
    text
}

/// Returns the lines about events, root motion, additive clips, masks and parts.
fn animator(meta: &Metadata) -> String {
    let mut text = String::new();
    let mut line = |what: String| _ = writeln!(text, "  {what}");
    for clip in meta.clips.iter() {
        let name = printable(&clip.name, 24);
        for event in clip.events.iter() {
            let seconds = clip.duration * f64::from(event.phase) / 4_294_967_296.0;
            let event = meta.events.get(usize::from(event.event)).map_or_else(|| "?".to_owned(), |e| printable(e, 40));
            line(format!("{name}: {event} at {seconds:.3} s"));
        }
        if let Some(motion) = &clip.root_motion {
            let way = motion.keys.last().map_or([0.0; 3], |key| key.translation);
            let kind = if motion.planar { "planar" } else { "full" };
            line(format!("{name}: {kind} root motion, {way:.3?} m from first to last key"));
        }
        if let Some(reference) = clip.additive {
            let reference =
                meta.clips.get(usize::from(reference)).map_or_else(|| "?".to_owned(), |c| printable(&c.name, 24));
            line(format!("{name}: additive, relative to the first frame of {reference}"));
        }
    }
    for mask in meta.masks.iter() {
        let bones = mask.bones.iter().map(|word| u64::from(word.count_ones())).sum();
        line(format!("mask {}: {}", printable(&mask.name, 40), count(bones, "bone", "bones")));
    }
    for (index, part) in meta.parts.iter().enumerate() {
        let meshes = meta.mesh.parts.iter().filter(|mesh| mesh.part.is_some_and(|p| usize::from(p) == index));
        let triangles = meshes.map(|mesh| u64::from(mesh.index_count / 3)).sum();
        line(format!("part {}: {}", printable(part, 40), count(triangles, "triangle", "triangles")));
    }
    if !text.is_empty() {
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests;
