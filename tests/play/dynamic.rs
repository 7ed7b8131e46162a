//! Models that are loaded at run time equal the baked-in ones, and broken files are refused.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use gpuskin_rt::internals::render::Capture;
use gpuskin_rt::internals::{Clip, Dynamic, Instance, LoadError, Model, Payload, Sockets, Time};
use gpuskin_test_harness::note;
use gpuskin_tests::gpu::{BACKENDS, open_compute};
use gpuskin_tests::models;
use gpuskin_tests::shared::content_folder;

/// Folder in which build.rs baked the sample models.
const BAKED: &str = concat!(env!("OUT_DIR"), "/gpuskin");

fn golden() -> PathBuf {
    content_folder(&Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/gpuskin/pole"))
}

/// Folder with the files of a sample model.
fn baked(model: &str) -> PathBuf {
    content_folder(&Path::new(BAKED).join(model))
}

fn bytes(payload: &Payload, hash: &[u8; 16]) -> Vec<u8> {
    gpuskin_rt::internals::files::load(payload, hash).unwrap().into_owned()
}

/// Asserts that two models are equal except for the location of their bytes.
fn same(read: &Model, baked: &Model) {
    assert_eq!(read.meta, baked.meta);
    let hash = &baked.meta.content_hash;
    let payloads = |model: &Model| -> Vec<Payload> {
        [&model.animation, &model.mesh].into_iter().chain(model.textures.iter()).cloned().collect()
    };
    let (read_files, baked_files) = (payloads(read), payloads(baked));
    assert_eq!(read_files.len(), baked_files.len());
    // A program contains the texture formats of its target alone.
    for (a, b) in read_files.iter().zip(&baked_files).filter(|(_, b)| !b.is_left_out()) {
        assert_eq!((a.size, a.hash_at, &a.levels), (b.size, b.hash_at, &b.levels));
        assert!(bytes(a, hash) == bytes(b, hash));
    }
    assert_eq!(read.others.len(), baked.others.len());
    read.others.iter().zip(baked.others.iter()).for_each(|(a, b)| same(a, b));
}

pub fn loaded_model_equals_the_baked_one() {
    for baked in models::ALL {
        same(&Model::load(Path::new(BAKED).join(&*baked.meta.name)).unwrap(), baked);
    }
    // The pole has a second encoding.
    let pole = Model::load(golden()).unwrap();
    assert_eq!(pole.others.len(), 1);
}

pub fn loaded_model_is_drawn_like_the_baked_one() {
    let gpu = BACKENDS.into_iter().find_map(open_compute).expect("a device, which the test needs");
    for baked in models::ALL {
        let read = Model::load(Path::new(BAKED).join(&*baked.meta.name)).unwrap();
        let instance = |clip| Instance::<Dynamic>::at([1.0, 0.0, 0.0]).play(Clip::new(clip)).phase(0.3);
        let frames: Vec<_> = (0..read.meta.clips.len() as u16)
            .map(|clip| (instance(clip).record(&read.meta, Time::ZERO), Time::from_secs(3.7)))
            .collect();
        let drawn = |model| Capture::new(&gpu.device, &gpu.queue, model).unwrap().frames(&frames).unwrap();
        assert!(drawn(&read) == drawn(baked), "{}", baked.meta.name);
    }
}

pub fn animation_file_alone_gives_sockets() {
    let animation = fs::read(golden().join("anim-trs-packed.ktx2")).unwrap();
    let model = Model::from_ktx2(animation).unwrap();
    let sockets = Sockets::with_model(&model).unwrap();
    assert!(sockets.find("Top.2").is_some() && sockets.find("Bottom").is_none());
    let missing = gpuskin_rt::internals::files::load(&model.mesh, &model.meta.content_hash).unwrap_err().to_string();
    assert!(missing.contains("Model::load"), "{missing}");
    let mesh = fs::read(golden().join("mesh-trs-packed.bin")).unwrap();
    assert!(model.clone().with_mesh(mesh).unwrap().with_textures(|_| unreachable!()).is_ok());
    let other = model.with_mesh(fs::read(golden().join("mesh.bin")).unwrap()).unwrap_err();
    assert!(other.to_string().contains("another bake"), "{other}");
}

/// Loads a copy of `folder` after `change` has altered one of its files.
fn changed(folder: &Path, change: impl FnOnce(&Path)) -> Result<Model, LoadError> {
    let copy = tempfile::tempdir().unwrap();
    for (name, bytes) in files(folder) {
        fs::write(copy.path().join(name), bytes).unwrap();
    }
    change(copy.path());
    Model::load(copy.path())
}

fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    entries.map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap())).collect()
}

/// A web page fetches only the texture formats that its device reads.
pub fn model_is_read_from_the_bytes_of_its_files() {
    // With its second encoding.
    same(&Model::from_files(files(&golden())).unwrap(), &Model::load(golden()).unwrap());
    let hound = Model::load(baked("hound")).unwrap();
    let without = |left_out: fn(&str) -> bool| {
        Model::from_files(files(&baked("hound")).into_iter().filter(|(name, _)| !left_out(name)))
    };
    let read = without(|name| name.starts_with("color-") && !name.ends_with("-rgba8.ktx2")).unwrap();
    same(&hound, &read);
    let present = read.textures.iter().filter(|file| !file.is_left_out()).count();
    assert_eq!((present, read.textures.len()), (read.meta.textures.len(), hound.textures.len()));
    assert!(present > 0 && present < hound.textures.len());
    for (left_out, words) in [
        ((|name| name.starts_with("color-")) as fn(&str) -> bool, ["color-0-", "no format"]),
        (|name| name == "mesh.bin", ["mesh.bin", "not among the files"]),
        (|name| name.starts_with("anim-local"), ["mesh.bin", "of the same bake"]),
    ] {
        let error = without(left_out).map(drop).unwrap_err().to_string();
        assert!(words.iter().all(|word| error.contains(word)), "{error}");
    }
}

pub fn missing_and_mismatched_files_are_named() {
    let hound = baked("hound");
    let refused = |change: fn(&Path)| changed(&hound, change).unwrap_err().to_string();
    assert!(changed(&hound, |_| ()).is_ok());
    for (change, words) in [
        ((|f| fs::remove_file(f.join("mesh.bin")).unwrap()) as fn(&Path), ["mesh.bin", "no baked model"]),
        (|f| fs::remove_file(f.join("color-0-bc7.ktx2")).unwrap(), ["color-0-bc7.ktx2", "No such file"]),
        (|f| fs::write(f.join("mesh.bin"), [0; 400]).unwrap(), ["mesh.bin", "of the same bake"]),
        (|f| fs::write(f.join("color-0-bc7.ktx2"), []).unwrap(), ["color-0-bc7.ktx2", "truncated"]),
        (|f| drop(fs::copy(f.join("color-0-bc7.ktx2"), f.join("color-0-astc.ktx2"))), ["color-0-astc.ktx2", "format"]),
        (
            |f| {
                fs::remove_file(f.join("mesh.bin")).unwrap();
                fs::create_dir(f.join("mesh.bin")).unwrap();
            },
            ["mesh.bin", "not a regular file"],
        ),
    ] {
        let error = refused(change);
        assert!(words.iter().all(|word| error.contains(word)), "{error}");
    }
    let nowhere = Model::load(hound.join("nowhere")).unwrap_err().to_string();
    assert!(nowhere.contains("nowhere"), "{nowhere}");
}

/// An interrupted bake leaves the folder of the earlier bake, and part of the new one.
pub fn newest_complete_bake_is_loaded() {
    let place = tempfile::tempdir().unwrap();
    let put = |bake: &str, without: &str| {
        fs::create_dir(place.path().join(bake)).unwrap();
        for (name, bytes) in files(&golden()).into_iter().filter(|(name, _)| name != without) {
            fs::write(place.path().join(bake).join(name), bytes).unwrap();
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    };
    let refused = Model::load(place.path()).unwrap_err().to_string();
    assert!(refused.contains("no baked model in this folder"), "{refused}");
    put("00000003", "");
    let whole = Model::load(place.path()).unwrap();
    put("00000001", "anim-local-packed.ktx2");
    put("00000002", "mesh.bin");
    same(&Model::load(place.path()).unwrap(), &whole);
    fs::remove_file(place.path().join("00000003/anim-local-packed.ktx2")).unwrap();
    let refused = Model::load(place.path()).unwrap_err().to_string();
    assert!(refused.contains("00000001") && refused.contains("of the same bake"), "{refused}");
}

/// Pseudo-random numbers from a seed (SplitMix64).
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) as usize % end.max(1)
    }
}

fn mutate(bytes: &mut Vec<u8>, random: &mut Random) {
    // Most fields that can be wrong are at the start: header, level index, metadata.
    let start = bytes.len().min(6000);
    for _ in 0..1 + random.below(3) {
        let end = if random.below(4) > 0 { start } else { bytes.len() };
        let at = random.below(end);
        match random.below(8) {
            0 => bytes.truncate(at),
            1 if at + 4 <= bytes.len() => {
                let odd = [0, 1, 2, 0xff, 0x7fff_ffff, 0x8000_0000, u32::MAX, u32::MAX - 15, 0x7fc0_0000];
                bytes[at..at + 4].copy_from_slice(&odd[random.below(odd.len())].to_le_bytes());
            }
            2 if at + 1 < bytes.len() => drop(bytes.remove(at)),
            3 if at < bytes.len() => bytes.insert(at, random.below(256) as u8),
            4 | 5 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            _ if at < bytes.len() => bytes[at] = random.below(256) as u8,
            _ => {}
        }
    }
}

/// Queries all sockets and bounds of a model.
fn play(model: &Model) {
    let Ok(sockets) = Sockets::with_model(model) else { panic!("a loaded model has no sockets") };
    for clip in 0..model.meta.clips.len() as u16 {
        let instance = Instance::<Dynamic>::at([0.0; 3]).play(Clip::new(clip)).record(&model.meta, Time::ZERO);
        for now in [0.0, 0.1, 0.77, 1e9] {
            for bone in 0..model.meta.bones.len() as u16 + 2 {
                let place = sockets.in_world(gpuskin_rt::internals::Bone::new(bone), &instance, now);
                assert_eq!(place.is_some(), usize::from(bone) < model.meta.bones.len());
            }
            model.meta.world_bounds(&instance, now);
        }
    }
}

pub fn broken_files_are_refused_or_played() {
    let mut random = Random(1);
    let files = files(&golden());
    let sets = [("anim-local-packed.ktx2", "mesh.bin"), ("anim-trs-packed.ktx2", "mesh-trs-packed.bin")];
    let (mut read, mut refused) = (0, 0);
    for (animation, mesh) in sets {
        for i in 0..6000 {
            let (mut animation, mut mesh) = (files[animation].clone(), files[mesh].clone());
            mutate(if i % 4 > 0 { &mut animation } else { &mut mesh }, &mut random);
            let model = Model::from_ktx2(animation).and_then(|model| model.with_mesh(mesh));
            match model {
                Ok(model) => {
                    play(&model);
                    read += 1;
                }
                Err(error) => {
                    assert!(!error.to_string().is_empty());
                    refused += 1;
                }
            }
        }
    }
    note!("{read} loaded, {refused} refused");
    assert!(read > 500 && refused > 3000, "{read} loaded, {refused} refused");
}

pub fn broken_textures_are_refused_or_read() {
    let hound = Model::load(baked("hound")).unwrap();
    let file = |name: &str| fs::read(baked("hound").join(name)).unwrap();
    let mut random = Random(2);
    let (mut read, mut refused) = (0, 0);
    for _ in 0..400 {
        let mut left = random.below(3);
        let model = hound.clone().with_textures(|name| {
            let mut bytes = file(name);
            if left == 0 {
                let at = random.below(600.min(bytes.len()));
                bytes[at] ^= 1 << random.below(8);
            }
            left = left.wrapping_sub(1);
            Ok(bytes)
        });
        if model.is_ok() { read += 1 } else { refused += 1 }
    }
    assert!(read > 40 && refused > 40, "{read} loaded, {refused} refused");
    for len in [0, 11, 79, 80, 200, 400] {
        assert!(hound.clone().with_textures(|name| Ok(file(name)[..len].to_vec())).is_err());
    }
}
