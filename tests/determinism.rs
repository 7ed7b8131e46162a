//! Equal input bakes to equal bytes, with any number of threads and in any folder.

use std::collections::BTreeMap;
use std::path::Path;

use gpuskin_build::{BakeOptions, Manifest, bake};
use gpuskin_tests::shared::{assets, entries, name};

fn files(folder: &Path, threads: usize) -> BTreeMap<String, Vec<u8>> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| {
        assert_eq!(rayon::current_num_threads(), threads);
        let manifest = Manifest::load(&folder.join("gpuskin.toml")).unwrap();
        bake(&manifest, &BakeOptions::default()).unwrap_or_else(|failed| panic!("{}", failed.diagnostics)).files
    })
}

#[track_caller]
fn assert_same(a: &BTreeMap<String, Vec<u8>>, b: &BTreeMap<String, Vec<u8>>) {
    assert!(a.keys().eq(b.keys()), "different files: {:?} and {:?}", a.keys(), b.keys());
    for (name, bytes) in a {
        assert!(*bytes == b[name], "{name} differs");
    }
}

#[test]
fn vertex_mode_bytes_do_not_depend_on_threads() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(assets().join("hound.glb"), folder.path().join("hound.glb")).unwrap();
    for encoding in ["auto", "vat-unorm16", "vat-f16"] {
        let text = format!(
            "[[model]]\nname = \"hound\"\npath = \"hound.glb\"\nmode = \"vertex\"\nencoding = \"{encoding}\"\n\
             fps = 10\nmotion_tolerance = \"1 m\"\ntextures = [\"rgba8\"]\n"
        );
        std::fs::write(folder.path().join("gpuskin.toml"), text).unwrap();
        let one = files(folder.path(), 1);
        assert!(one.keys().any(|name| name.contains("anim-vat-")), "{:?}", one.keys());
        for threads in [3, 8] {
            assert_same(&one, &files(folder.path(), threads));
        }
    }
}

#[test]
fn bytes_do_not_depend_on_threads_or_folder() {
    let here = files(&assets(), 1);
    assert_eq!(here.len(), 15, "{:?}", here.keys());
    assert_same(&here, &files(&assets(), 8));

    let folders = tempfile::tempdir().unwrap();
    for (place, threads) in [("a", 8), ("a longer way/to the/äpplication", 3)] {
        let copy = folders.path().join(place);
        std::fs::create_dir_all(&copy).unwrap();
        for file in entries(&assets()).iter().filter(|path| path.is_file()) {
            std::fs::copy(file, copy.join(name(file))).unwrap();
        }
        assert_same(&here, &files(&copy, threads));
    }
}

#[test]
fn build_script_bakes_the_same_bytes() {
    let files = files(&assets(), 2);
    let file = |model: &str, name: &str| {
        let is_it = |path: &str| path.starts_with(&format!("gpuskin/{model}/")) && path.ends_with(&format!("/{name}"));
        files.iter().find(|(path, _)| is_it(path)).map(|(_, bytes)| bytes)
    };
    for (model, folder) in gpuskin_tests::models::ALL.iter().zip(["soldier", "hound"]) {
        let other = &model.others[0];
        for (payload, name) in [(&other.animation, "anim-trs-packed.ktx2"), (&other.mesh, "mesh-trs-packed.bin")] {
            let bytes = gpuskin_rt::internals::files::load(payload, &other.meta.content_hash).unwrap();
            assert!(Some(&*bytes) == file(folder, name).map(Vec::as_slice), "{folder}/{name}");
        }
        let payloads = [(&model.animation, "anim-local-packed.ktx2"), (&model.mesh, "mesh.bin")];
        // The build script's encoder was compiled without optimisation, this test's encoder with
        // it.
        let colors = model.textures.iter().zip(["color-0-bc7.ktx2", "color-0-astc.ktx2", "color-0-rgba8.ktx2"]);
        for (payload, name) in payloads.into_iter().chain(colors).filter(|(payload, _)| !payload.is_left_out()) {
            let bytes = gpuskin_rt::internals::files::load(payload, &model.meta.content_hash).unwrap();
            assert!(Some(&*bytes) == file(folder, name).map(Vec::as_slice), "{folder}/{name}");
        }
    }
}
