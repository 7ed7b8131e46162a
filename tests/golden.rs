//! Snapshot of a generated module and its files, checked in under `golden/` and included as a game
//! includes a bake that was made in advance. `GPUSKIN_BLESS=1` overwrites the snapshot with the
//! baker's current output; review the difference before committing it.

use std::path::PathBuf;

use gpuskin_build::Manifest;
use gpuskin_build::{BakeOptions, bake};
use gpuskin_build::{compare_folder, write_folder};
use gpuskin_rt::internals::{BakedModel, Data, Encoding, Metadata};

gpuskin_rt::include_baked!("golden");

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("golden")
}

#[test]
fn bake_matches_the_snapshot() {
    let manifest = Manifest::load(&folder().join("gpuskin.toml")).unwrap();
    let baked = bake(&manifest, &BakeOptions::default()).unwrap_or_else(|failed| panic!("{}", failed.diagnostics));
    assert!(baked.warnings.is_empty(), "{}", baked.warnings);
    let bless = std::env::var_os("GPUSKIN_BLESS").is_some_and(|v| v == "1");
    if bless {
        let written = write_folder(&baked.files, &folder()).unwrap();
        println!("written: {written:?}");
    }
    let text = String::from_utf8(baked.files["gpuskin.rs"].clone()).unwrap();
    let golden = std::fs::read_to_string(folder().join("gpuskin.rs")).unwrap_or_default();
    for (n, (line, golden)) in text.lines().zip(golden.lines()).enumerate() {
        assert_eq!(line, golden, "line {} of golden/gpuskin.rs differs; GPUSKIN_BLESS=1 updates the snapshot", n + 1);
    }
    let differences = compare_folder(&baked.files, &folder()).unwrap();
    assert_eq!(differences, [], "files of golden/ differ; GPUSKIN_BLESS=1 updates the snapshot");
}

#[test]
fn constants_equal_the_file_metadata() {
    let model = models::Pole::MODEL;
    assert_eq!(models::ALL, [model]);
    let file = gpuskin_rt::internals::files::load(&model.animation, &model.meta.content_hash).unwrap();
    let reader = ktx2::Reader::new(&*file).unwrap();
    let (_, value) = reader.key_value_data().find(|(key, _)| *key == "gpuskin").unwrap();
    assert_eq!(Metadata::from_postcard(value).unwrap(), model.meta);
}

#[test]
fn constants_have_the_expected_values() {
    let meta = &models::POLE.meta;
    assert_eq!((&*meta.name, meta.encoding, meta.mesh.vertex_count), ("pole", Encoding::LocalPacked, 6));
    assert_eq!((clips::POLE_SWAY.index(), clips::POLE_FALL_OVER.index()), (0, 1));
    let [sway, fall] = [clips::POLE_SWAY.info(), clips::POLE_FALL_OVER.info()];
    assert_eq!((&*sway.name, &*sway.source, sway.looped), ("sway", "Rig|Sway", true));
    assert_eq!((&*fall.name, &*fall.source, fall.looped), ("fall-over", "Rig|FallOver", false));
    // Keys are 0.25 s apart. Slow keys get five frames between two of them. The loop's last pose is
    // its first.
    assert_eq!((sway.duration, sway.frame_rate, sway.intervals, sway.stored), (0.5, 24.0, 12, 12));
    assert_eq!((fall.duration, fall.frame_rate, fall.intervals, fall.stored), (0.25, 24.0, 6, 7));
    assert_eq!((bones::POLE_BASE.index(), bones::POLE_TOP_2.index()), (0, 1));
    assert_eq!((&*meta.bones[1].name, meta.bones[1].parent), ("Top.2", Some(0)));
    let material = &meta.materials[0];
    assert_eq!((&*material.name, material.base_color), ("wood", [0.5, 0.25, 0.125, 1.0]));
    assert!(material.double_sided && material.base_color_texture.is_none() && meta.textures.is_empty());
    let [other] = &models::POLE.others[..] else { panic!("expected one other variant, for devices without compute") };
    assert_eq!((other.meta.encoding, other.meta.clips.len(), other.textures.len()), (Encoding::TrsPacked, 3, 0));
    let Data::File { name, baked } = &models::POLE.animation.data else {
        panic!("expected a file, because storage = \"file\"")
    };
    // A release build knows no folder of the machine that built it.
    let baked_in = if cfg!(debug_assertions) { folder() } else { "golden".into() };
    assert_eq!(&**baked, baked_in.to_str().unwrap());
    // The folder in the middle is named by the content of its files.
    let parts: Vec<Vec<&str>> = models::POLE.side_files().map(|name| name.split('/').collect()).collect();
    assert_eq!(parts[0].join("/"), **name);
    assert!(parts.iter().all(|parts| parts.len() == 3 && parts[0] == "pole"), "{parts:?}");
    assert!(parts[0][1].len() == 8 && parts[0][1].chars().all(|c| c.is_ascii_hexdigit()), "{parts:?}");
    let names: Vec<&str> = parts.iter().map(|parts| parts[2]).collect();
    assert_eq!(names, ["anim-local-packed.ktx2", "mesh.bin", "anim-trs-packed.ktx2", "mesh-trs-packed.bin"]);
}
