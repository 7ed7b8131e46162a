//! Bakes whole files, and checks that the result has only finite numbers.

use gpuskin_build::internals::pose::{PosePath, PoseRequest, PoseTimes, pose};
use gpuskin_build::{BakeOptions, Baked, Diagnostics, Manifest, bake};
use gpuskin_rt::internals::Encoding;

use super::build::Gltf;
use super::import_file;

/// Encodings that can store any pose.
const ANY_POSE: [Encoding; 3] = [Encoding::MatrixF32, Encoding::MatrixF16, Encoding::TrsF16];

/// Bakes a file in several encodings. Returns its warnings or its errors. Panics if the result has
/// a number that is not finite.
pub fn try_bake(g: &Gltf) -> Result<Vec<String>, Vec<String>> {
    bake_glb(&g.glb(), &ANY_POSE, f64::INFINITY)
}

/// Bakes the bytes of a GLB file like [`try_bake`]. If its clips last longer than `longest` seconds
/// in total, the file is only imported.
pub fn bake_glb(glb: &[u8], encodings: &[Encoding], longest: f64) -> Result<Vec<String>, Vec<String>> {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("model.glb"), glb).expect("writable");
    let imported = import_file(folder.path(), "model.glb");
    let Some(model) = &imported.model else { return Err(imported.errors()) };
    if model.clips.iter().map(|clip| clip.end).sum::<f64>() > longest {
        return Ok(imported.warnings());
    }
    let text = "[[model]]\nname = \"model\"\npath = \"model.glb\"\n";
    let manifest = Manifest::parse(&folder.path().join("gpuskin.toml"), text).expect("a manifest");
    let messages = |diagnostics: &Diagnostics, errors: bool| -> Vec<String> {
        diagnostics.iter().filter(|f| f.is_error() == errors).map(|f| f.message().to_owned()).collect()
    };
    let mut warnings = vec![];
    for encoding in encodings.iter().copied() {
        let options = BakeOptions { encoding: Some(encoding), ..Default::default() };
        let baked = bake(&manifest, &options).map_err(|failed| messages(&failed.diagnostics, true))?;
        warnings = messages(&baked.warnings, false);
        check(&baked, encoding);
        for clip in 0..baked.models[0].meta.clips.len() {
            let (times, path) = (PoseTimes::AllFrames, PosePath::Cpu);
            let clip = clip.to_string();
            let request = PoseRequest { model: "model".into(), clip, times, path, encoding: Some(encoding) };
            let poses = pose(&manifest, &request).expect("the model can be baked");
            assert!(poses.frames.iter().flatten().all(|(p, n)| p.is_finite() && n.is_finite()), "{encoding:?}");
        }
    }
    Ok(warnings)
}

/// Checks the texels and the metadata.
fn check(baked: &Baked, encoding: Encoding) {
    // But for the name of a member that begins as infinity does.
    let meta = format!("{:?}", baked.models[0].meta).replace("influence", "");
    assert!(!meta.contains("NaN") && !meta.contains("inf"), "{meta}");
    let name = format!("/anim-{}.ktx2", encoding.name());
    let (_, bytes) = baked.files.iter().find(|(path, _)| path.ends_with(&name)).expect("the animation");
    let file = ktx2::Reader::new(bytes).expect("KTX2");
    let level = file.levels().next().expect("one level");
    // Integers are always finite.
    let finite = match file.header().format {
        Some(ktx2::Format::R32G32B32A32_SFLOAT) => bytes_of::<4>(level.data).all(|b| f32::from_le_bytes(b).is_finite()),
        Some(ktx2::Format::R16G16B16A16_SFLOAT) => {
            bytes_of::<2>(level.data).all(|b| half::f16::from_le_bytes(b).is_finite())
        }
        _ => true,
    };
    assert!(finite, "{encoding:?}");
}

fn bytes_of<const N: usize>(bytes: &[u8]) -> impl Iterator<Item = [u8; N]> + '_ {
    bytes.as_chunks::<N>().0.iter().copied()
}
