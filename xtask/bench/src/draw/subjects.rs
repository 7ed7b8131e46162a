//! Models to draw: the sample models, and tubes of any number of vertices.

use std::path::Path;

use gpuskin_build::Manifest;
use gpuskin_build::{BakeOptions, bake};
use gpuskin_rt::internals::vertex::{self, MAX_INFLUENCES, Vertex};
use gpuskin_rt::internals::{ByteRange, Data, Encoding, MeshInfo, Model};
use serde_json::Value;

use super::tube::{self, TubeKind};
use crate::Options;
use crate::context::{Context, text};
use crate::glb;

/// Vertices of the tube that is drawn beside the sample models.
const VERTICES: u32 = 3_000;

/// Model in two encodings.
pub(super) struct Subject {
    pub(super) model: Model,
    /// The model in `matrix-f16`, which is read without a palette; the published shader uses its
    /// matrices too.
    pub(super) direct: Model,
}

/// Tubes of the requested numbers of vertices, or else the sample models and one tube.
pub(super) fn subjects(context: &Context, options: &Options) -> Result<Vec<Subject>, String> {
    let mut all = Vec::new();
    if options.vertices.is_empty() {
        let manifest = Manifest::load(&options.manifest).map_err(|findings| text(&findings))?;
        let direct = baked(&manifest, Some(Encoding::MatrixF16))?;
        all.extend(context.models.iter().cloned().zip(direct).map(|(model, direct)| Subject { model, direct }));
    }
    let vertices = if options.vertices.is_empty() { &[VERTICES][..] } else { &options.vertices };
    let tubes: Vec<_> = vertices.iter().map(|&count| (count, TubeKind::Four)).collect();
    all.extend(tubes_of(&tubes)?);
    Ok(all)
}

/// Bakes tubes of the given numbers of vertices and kinds.
pub(super) fn tubes_of(tubes: &[(u32, TubeKind)]) -> Result<Vec<Subject>, String> {
    let folder = std::env::temp_dir().join(format!("gpuskin-bench-tubes-{}", std::process::id()));
    let failed = |e: std::io::Error| format!("{}: {e}", folder.display());
    std::fs::create_dir_all(&folder).map_err(failed)?;
    let baked = tubes.iter().map(|&(vertices, kind)| of_tube(&folder, vertices, kind)).collect();
    std::fs::remove_dir_all(&folder).map_err(failed)?;
    baked
}

/// Bakes a model of the manifest as a static one: its meshes as the file has them, without skins and clips. It gets the levels of
/// detail of `model`: its own, which need not suit any clip, would have other triangles at the same distance.
pub(super) fn still(options: &Options, model: &Model) -> Result<Model, String> {
    let name = &model.meta.name;
    let manifest = Manifest::load(&options.manifest).map_err(|findings| text(&findings))?;
    let entry = manifest.models.iter().find(|entry| entry.name.value == **name).ok_or("no such model")?;
    let path = options.manifest.parent().unwrap_or(Path::new(".")).join(&entry.path.value);
    let file = std::fs::read(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let (document, bin) = glb::parts(&file).ok_or_else(|| format!("{}: no GLB file", path.display()))?;
    let mut document: Value = serde_json::from_slice(document).map_err(|e| e.to_string())?;
    for key in ["skins", "animations"] {
        document.as_object_mut().map(|document| document.remove(key));
    }
    for node in document["nodes"].as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
        node.remove("skin");
    }
    let folder = std::env::temp_dir().join(format!("gpuskin-bench-still-{}", std::process::id()));
    let failed = |e: std::io::Error| format!("{}: {e}", folder.display());
    std::fs::create_dir_all(&folder).map_err(failed)?;
    std::fs::write(folder.join("still.glb"), glb::file(&document, bin.to_vec())).map_err(failed)?;
    let parts = entry.parts.iter().map(|part| {
        let nodes: Vec<&str> = part.nodes.iter().map(|node| &*node.value).collect();
        format!("{} = {nodes:?}\n", part.name.value)
    });
    let parts: String = parts.collect();
    let entry = format!("[[model]]\nname = \"still\"\npath = \"still.glb\"\n[model.parts]\n{parts}");
    let manifest = Manifest::parse(&folder.join("gpuskin.toml"), entry).map_err(|findings| text(&findings));
    let baked = manifest.and_then(|manifest| baked(&manifest, None));
    std::fs::remove_dir_all(&folder).map_err(failed)?;
    let mut still = baked?.pop().ok_or("the static model was not baked")?;
    share_levels(&mut still, model)?;
    Ok(still)
}

/// Replaces the levels of detail of a model by those of another one that has the same vertices and triangles in its finest level.
fn share_levels(still: &mut Model, model: &Model) -> Result<(), String> {
    let (Data::Bytes(own), Data::Bytes(other)) = (&still.mesh.data, &model.mesh.data) else {
        return Err("a mesh is not in memory".to_owned());
    };
    let indices = |bytes: &[u8], range: ByteRange| bytes[range.offset as usize..][..range.len as usize].to_vec();
    let (mine, theirs) = (indices(own, still.meta.mesh.indices), indices(other, model.meta.mesh.indices));
    let shape = |mesh: &MeshInfo| {
        let parts: Vec<_> = mesh.parts.iter().map(|part| (part.first_index, part.index_count)).collect();
        (mesh.wide_indices, parts)
    };
    let (mesh, source) = (&mut still.meta.mesh, &model.meta.mesh);
    let (few, all) = (mesh.vertex_count as usize, source.vertex_count as usize);
    if few > all || shape(mesh) != shape(source) || !mesh.levels.is_empty() || !theirs.starts_with(&mine) {
        return Err(format!("the mesh of {} without bones has other triangles", model.meta.name));
    }
    // Vertices that only coarser levels have come last.
    let of_vertices = |bytes: &[u8], range: ByteRange| -> Vec<u32> {
        indices(bytes, range).as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
    };
    let mut words = of_vertices(own, mesh.vertices);
    let coarse = of_vertices(other, source.vertices);
    for packed in coarse.chunks_exact(source.format.words()).skip(few) {
        let vertex = vertex::unpack(packed, source.format, &source.range);
        words.extend(vertex::pack(&Vertex { joints: [0; MAX_INFLUENCES], ..vertex }, mesh.format, &mesh.range));
    }
    let mut bytes = own.to_vec();
    let mut section = |added: Vec<u8>| {
        let offset = bytes.len() as u64;
        bytes.extend(&added);
        ByteRange { offset, len: added.len() as u64 }
    };
    mesh.vertices = section(words.into_iter().flat_map(u32::to_le_bytes).collect());
    mesh.indices = section(theirs);
    (mesh.vertex_count, mesh.levels) = (source.vertex_count, source.levels.clone());
    let size = bytes.len() as u64;
    still.mesh.size = size;
    still.mesh.levels = vec![ByteRange { offset: 0, len: size }].into();
    still.mesh.data = Data::Bytes(bytes.into());
    Ok(())
}

fn of_tube(folder: &Path, vertices: u32, kind: TubeKind) -> Result<Subject, String> {
    let file = folder.join("tube.glb");
    std::fs::write(&file, tube::glb(vertices, kind)).map_err(|e| format!("{}: {e}", file.display()))?;
    let manifest = "[[model]]\nname = \"tube\"\npath = \"tube.glb\"\nencoding = \"local-packed\"\n\
                    [model.masks]\nupper = { root = \"joint 32\" }\n";
    let manifest = Manifest::parse(&folder.join("gpuskin.toml"), manifest).map_err(|findings| text(&findings))?;
    let [model, direct] = [None, Some(Encoding::MatrixF16)]
        .map(|encoding| baked(&manifest, encoding)?.pop().ok_or_else(|| "the tube was not baked".to_owned()));
    Ok(Subject { model: model?, direct: direct? })
}

fn baked(manifest: &Manifest, encoding: Option<Encoding>) -> Result<Vec<Model>, String> {
    // The error of a forced encoding does not matter here.
    let options = BakeOptions { encoding, skip_errors: true, ..Default::default() };
    Ok(bake(manifest, &options).map_err(|failed| text(&failed.diagnostics))?.runtime_models())
}
