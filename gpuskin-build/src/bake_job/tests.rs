//! Incremental bakes, shards, and bakes that are interrupted.

mod failures;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::*;
use crate::fs::Op;
use crate::fs::fault::{self, Fault};

const POLE: &str = include_str!("../../tests/data/pole.gltf");

/// A folder with models, a cache and an output folder.
struct TestFolder {
    folder: tempfile::TempDir,
}

impl TestFolder {
    fn new(models: usize) -> Self {
        let place = Self { folder: tempfile::tempdir().unwrap() };
        fs::create_dir(place.path("art")).unwrap();
        place.manifest(models, "");
        (0..models).for_each(|n| place.model(n, 0));
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn manifest(&self, models: usize, first: &str) {
        let model = |n| format!("[[model]]\nname = \"pole{n}\"\npath = \"art/pole{n}.gltf\"\n");
        let models: String = (0..models).map(model).collect();
        fs::write(self.path("gpuskin.toml"), format!("{first}{models}")).unwrap();
    }

    /// Writes a model. Versions differ in the file and in the generated constants.
    fn model(&self, n: usize, version: usize) {
        let text = POLE.replace("\"wood\"", &format!("\"wood {n}.{version}\""));
        assert_ne!(text, POLE);
        fs::write(self.path(&format!("art/pole{n}.gltf")), text).unwrap();
    }

    fn cache(&self) -> Cache {
        Cache::new(self.path("cache"))
    }

    fn run(&self) -> Result<BakeSummary, BakeFailure> {
        self.run_with(&self.cache())
    }

    fn run_with(&self, cache: &Cache) -> Result<BakeSummary, BakeFailure> {
        self.with_job(Some(cache), |job| job.run(true))
    }

    fn with_job<R>(&self, cache: Option<&Cache>, then: impl FnOnce(&BakeJob<'_>) -> R) -> R {
        self.with_share(BakeScope::Whole, "baked", cache, then)
    }

    fn with_share<R>(
        &self,
        scope: BakeScope,
        out: &str,
        cache: Option<&Cache>,
        then: impl FnOnce(&BakeJob<'_>) -> R,
    ) -> R {
        then(&BakeJob {
            manifest: &self.path("gpuskin.toml"),
            out: &self.path(out),
            model: None,
            explain: false,
            scope,
            cache,
            progress: None,
            describe: &|model| format!("{}\n", model.meta.name),
            may_write: &|| Ok(()),
            waiting: &|| (),
        })
    }

    #[track_caller]
    fn baked(&self) -> usize {
        let done = self.run().unwrap_or_else(|failed| panic!("{}", failed.diagnostics));
        assert_eq!(done.text.lines().count(), done.count);
        done.baked
    }

    /// Returns the only folder with files of a model.
    fn content_folder(&self, model: &str) -> PathBuf {
        let folders = crate::fs::entries(&self.path("baked/gpuskin").join(model)).unwrap();
        let [content] = &folders[..] else { panic!("{folders:?}") };
        content.clone()
    }

    /// Returns all files in the output folder.
    fn out(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        tree(&self.path("baked"))
    }
}

fn tree(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for path in crate::fs::entries(folder).unwrap() {
        if path.is_dir() {
            files.extend(tree(&path));
        } else {
            files.insert(path.clone(), fs::read(path).unwrap());
        }
    }
    files
}

/// A panorama of one colour in PFM.
fn panorama(color: f32) -> Vec<u8> {
    let texels: Vec<u8> = std::iter::repeat_n(color.to_le_bytes(), 4 * 2 * 3).flatten().collect();
    [&b"PF\n4 2\n-1\n"[..], &texels].concat()
}

#[test]
fn changed_environments_are_baked_again() {
    let place = TestFolder::new(1);
    let text = fs::read_to_string(place.path("gpuskin.toml")).unwrap();
    let environment = "[[environment]]\nname = \"dusk\"\npath = \"art/dusk.pfm\"\nsize = 64\n";
    fs::write(place.path("gpuskin.toml"), format!("{text}{environment}")).unwrap();
    fs::write(place.path("art/dusk.pfm"), panorama(1.0)).unwrap();
    let run = || place.run().unwrap_or_else(|failed| panic!("{}", failed.diagnostics));
    let done = run();
    assert!(done.text.contains("dusk  environment, 64 x 64 texels per face, 4 mip levels"), "{}", done.text);
    assert!(done.inputs.contains(&place.path("art/dusk.pfm")), "{:?}", done.inputs);
    let first = place.out();
    let content = place.content_folder("dusk");
    assert!(first.contains_key(&content.join("environment.ktx2")), "{first:?}");
    assert_eq!((run().text, place.out()), (done.text, first.clone()), "nothing to do");

    // Another panorama replaces the file; the model stays as it is.
    fs::write(place.path("art/dusk.pfm"), panorama(0.5)).unwrap();
    assert_eq!(run().baked, 0);
    assert!(place.content_folder("dusk") != content && place.out() != first);
    fs::write(place.path("art/dusk.pfm"), panorama(1.0)).unwrap();
    run();
    assert_eq!(place.out(), first);
    let (_, differences) = place.with_job(Some(&place.cache()), |job| job.check()).unwrap();
    assert_eq!(differences, []);

    // A bad one is an error beside those of the model, and changes no file.
    fs::write(place.path("art/dusk.pfm"), panorama(f32::NAN)).unwrap();
    fs::write(place.path("art/pole0.gltf"), "{").unwrap();
    let failed = place.run().unwrap_err().diagnostics.to_string();
    assert!(failed.contains("environment `dusk`: art/dusk.pfm: a texel") && failed.contains("pole0"), "{failed}");
    assert_eq!(place.out(), first);

    // Without the table, the file is stale.
    place.model(0, 0);
    fs::write(place.path("gpuskin.toml"), text).unwrap();
    run();
    assert!(!content.exists(), "{:?}", place.out());
}

#[test]
fn run_bakes_changed_models_only() {
    let place = TestFolder::new(3);
    assert_eq!(place.baked(), 3);
    let first = place.out();
    assert_eq!(place.baked(), 0);
    place.model(1, 1);
    assert_eq!(place.baked(), 1);
    assert_ne!(place.out(), first);
    place.model(1, 0);
    assert_eq!((place.baked(), place.out()), (0, first.clone()), "the earlier version is still in the cache");

    // A comment and a new model move the other models in the manifest, and change nothing else.
    place.model(3, 0);
    place.manifest(4, "# comment\n");
    assert_eq!(place.baked(), 1);
    place.manifest(3, "");
    assert_eq!((place.baked(), place.out()), (0, first.clone()), "files of the removed model are left");

    place.manifest(3, "[bake]\nfps = 12\n");
    assert_eq!(place.baked(), 3);
    place.manifest(3, "");
    fs::remove_dir_all(place.path("baked")).unwrap();
    assert_eq!((place.baked(), place.out()), (0, first.clone()), "some files do not come from the cache");
    // The result equals that of a bake from scratch.
    let clean = TestFolder::new(3);
    assert_eq!(clean.baked(), 3);
    assert!(clean.out().into_values().eq(first.into_values()));
}

#[test]
fn run_without_changes_opens_no_source() {
    let place = TestFolder::new(3);
    place.baked();
    let opened = fault::plan(&place.path("art"), Op::Open, 0, Fault::Error(5));
    assert_eq!(place.baked(), 0);
    // Sources are not opened either if an output file is missing: the constants of the models come
    // from the cache.
    fs::remove_file(place.content_folder("pole0").join("mesh.bin")).unwrap();
    assert_eq!(place.baked(), 0);
    assert!(!opened.triggered());
    place.with_job(Some(&place.cache()), |job| drop(job.check()));
    assert!(opened.triggered(), "`check` must read the sources");
}

#[test]
fn unsettled_fingerprint_is_read_again() {
    let place = TestFolder::new(1);
    place.baked();
    let source = place.path("art/pole0.gltf");
    // The fingerprint is as old as the change of the file, so a later change could have the same
    // modification time.
    let stat = FileStat::at(&source).unwrap();
    let text = fs::read_to_string(&source).unwrap();
    let fingerprint = |at| FileFingerprint { stat, at, digest: *blake3::hash(b"something else").as_bytes() };
    let before = |fingerprint| BTreeMap::from([(PathBuf::from("art/pole0.gltf"), fingerprint)]);
    let young = before(fingerprint(stat.settles_at() - 1));
    let seen = FingerprintIndex::new(&young, place.folder.path()).fingerprint(&source).unwrap();
    assert_eq!(seen.digest, *blake3::hash(text.as_bytes()).as_bytes());
    let old = before(fingerprint(stat.settles_at()));
    let seen = FingerprintIndex::new(&old, place.folder.path()).fingerprint(&source).unwrap();
    assert_eq!(seen.digest, *blake3::hash(b"something else").as_bytes());
}

#[test]
fn check_detects_changes_with_the_same_size_and_time() {
    let place = TestFolder::new(2);
    place.baked();
    let before = place.out();
    let source = place.path("art/pole0.gltf");
    let modified = fs::metadata(&source).unwrap().modified().unwrap();
    let text = fs::read_to_string(&source).unwrap().replace("wood 0.0", "wood 0.1");
    fs::write(&source, text).unwrap();
    fs::File::open(&source).unwrap().set_modified(modified).unwrap();
    let cache = place.cache();
    let (_, differences) = place.with_job(Some(&cache), |job| job.check()).unwrap();
    assert!(differences.iter().any(|d| d.path().ends_with("gpuskin.rs")), "{differences:?}");
    // On systems with a change time, the metadata shows the change as well.
    place.baked();
    assert_eq!(place.out() != before, cfg!(unix));
}

#[test]
fn run_restores_changed_outputs() {
    let place = TestFolder::new(2);
    place.baked();
    let good = place.out();
    let mesh = place.content_folder("pole1").join("mesh.bin");
    for bytes in [&b""[..], &fs::read(&mesh).unwrap().iter().map(|b| !b).collect::<Vec<_>>()] {
        fs::write(&mesh, bytes).unwrap();
        assert_eq!((place.baked(), place.out()), (0, good.clone()));
    }
    fs::write(place.path("baked/gpuskin/pole1/.gpuskin-left"), "of a killed bake").unwrap();
    fs::write(mesh.with_file_name(".gpuskin-left"), "of a killed bake").unwrap();
    fs::create_dir(place.path("baked/gpuskin/pole1/00000000")).unwrap();
    fs::write(place.path("baked/.gpuskin-left"), "of a killed bake").unwrap();
    assert_eq!((place.baked(), place.out()), (0, good));
    assert!(!place.path("baked/gpuskin/pole1/00000000").exists(), "an empty folder of a killed bake is left");
}

#[test]
fn cached_warnings_move_with_the_manifest() {
    let place = TestFolder::new(1);
    let looped = "[model.clips.fall]\nsource = \"Rig|FallOver\"\nloop = true\n";
    let manifest = fs::read_to_string(place.path("gpuskin.toml")).unwrap() + looped;
    fs::write(place.path("gpuskin.toml"), &manifest).unwrap();
    let rendered = || {
        let done = place.run().unwrap_or_else(|failed| panic!("{}", failed.diagnostics));
        (done.baked, done.warnings.to_string())
    };
    let (baked, first) = rendered();
    assert!(baked == 1 && first.contains("loops, but its last pose") && first.contains("gpuskin.toml:6:"), "{first}");
    assert_eq!(rendered(), (0, first.clone()), "warnings of the build stamp");
    fs::write(place.path("gpuskin.toml"), format!("\n{manifest}")).unwrap();
    let moved = first.replace("gpuskin.toml:6:", "gpuskin.toml:7:").replace("\n 6 │", "\n 7 │");
    assert_eq!(rendered(), (0, moved), "warnings of the cached model");
}

#[test]
fn run_without_a_cache_bakes_all_models() {
    let place = TestFolder::new(1);
    let run = || place.with_job(None, |job| job.run(true)).unwrap().baked;
    assert_eq!((run(), run()), (1, 1));
    assert_eq!(place.out().len(), 3, "{:?}", place.out().keys());
}

/// Returns the files of a bake with paths relative to its folder.
fn under(place: &TestFolder, folder: &str) -> BTreeMap<PathBuf, Vec<u8>> {
    let folder = place.path(folder);
    tree(&folder).into_iter().map(|(path, bytes)| (path.strip_prefix(&folder).unwrap().to_owned(), bytes)).collect()
}

fn shards(models: usize, counts: &[usize]) {
    let place = TestFolder::new(models);
    place.baked();
    let whole = under(&place, "baked");
    for &of in counts {
        fs::remove_dir_all(place.path("cache")).unwrap();
        let run = |index, out: &str| {
            let scope = BakeScope::Shard(Shard { index, count: of });
            let done = place.with_share(scope, out, Some(&place.cache()), |job| job.run(true));
            done.unwrap_or_else(|failed| panic!("{}", failed.diagnostics)).baked
        };
        let merge = |out: &str| place.with_share(BakeScope::Merge, out, Some(&place.cache()), |job| job.run(true));
        // Each shard has its own output folder. One shard runs twice; one is lost and runs later.
        let lost = of / 2;
        let mut baked: usize =
            (0..of).filter(|&index| index != lost || of == 1).map(|n| run(n, &format!("of{of}/{n}"))).sum();
        assert_eq!(run(0, &format!("of{of}/0")), 0);
        if of > 1 {
            let failed = merge("merged").unwrap_err();
            let missing = models - baked;
            assert_eq!(failed.diagnostics.len(), missing, "{of}: {}", failed.diagnostics);
            baked += run(lost, &format!("of{of}/{lost}"));
        }
        assert_eq!(baked, models, "each model must be baked by one shard");
        let mut union = BTreeMap::new();
        (0..of).for_each(|n| union.extend(under(&place, &format!("of{of}/{n}"))));
        assert_eq!(union.len() + 1, whole.len());
        assert!(union.iter().all(|(path, bytes)| whole[path] == *bytes));
        assert_eq!(merge("merged").unwrap_or_else(|failed| panic!("{}", failed.diagnostics)).baked, 0);
        assert!(under(&place, "merged") == whole, "the merge of {of} shards differs from a single bake");
        println!(
            "torture: {of} shards of {models} models, one run twice, one lost and run again: equal to a single bake"
        );
        fs::remove_dir_all(place.path("merged")).unwrap();
    }
}

#[test]
fn merged_shards_equal_a_single_bake() {
    shards(6, &[1, 2, 7]);
}

#[test]
#[ignore = "takes minutes; run by `cargo xtask torture`"]
fn shards_make_the_whole_of_200_models() {
    shards(200, &[1, 2, 7, 64]);
}
