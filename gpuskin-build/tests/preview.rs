//! Contact sheets, drawn on the available adapter.

use std::path::Path;

use gpuskin_build::Manifest;
use gpuskin_build::internals::preview::{Sequence, Sheet, compare, preview, sequences};
use gpuskin_rt::internals::Encoding;
use gpuskin_test_harness::{Need, run, test};

/// Need of an adapter.
const GPU: Need = Need {
    variable: "GPUSKIN_REQUIRE_GPU",
    missing: || gpuskin_build::internals::gpu::open().err().map(|diagnostic| diagnostic.message().to_owned()),
};

fn main() -> std::process::ExitCode {
    run([
        test!(compare_draws_both_encodings_and_their_difference, GPU),
        test!(compare_of_equal_encodings_has_no_difference, GPU),
        test!(every_cell_shows_another_pose, GPU),
        test!(preview_draws_one_or_two_encodings, GPU),
        test!(sequences_draw_crossfades_and_layers, GPU),
        test!(unknown_model_is_an_error),
    ])
}

fn manifest() -> Manifest {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../assets/gpuskin.toml");
    Manifest::load(&path).expect("the sample manifest")
}

fn cell(sheet: &Sheet, [left, top, width, height]: [u32; 4]) -> Vec<[u8; 3]> {
    let at = |x, y| sheet.pixels()[(y * sheet.width() + x) as usize];
    (top..top + height).flat_map(|y| (left..left + width).map(move |x| at(x, y))).collect()
}

/// Whether a pixel shows the model. The hound is brown and black; the background and the ground are
/// grey and blue.
fn is_figure([r, _, b]: &[u8; 3]) -> bool {
    r > b
}

fn every_cell_shows_another_pose() {
    let sheet = preview(&manifest(), "hound", None).expect("a sheet");
    assert_eq!(sheet.pixels().len() as u32, sheet.width() * sheet.height());
    for clip in 0..3 {
        let cells: Vec<_> = sheet.cells(clip, 0).into_iter().map(|place| cell(&sheet, place)).collect();
        assert_eq!(cells.len(), 8);
        for (i, pixels) in cells.iter().enumerate() {
            let share = pixels.iter().filter(|p| is_figure(p)).count() as f32 / pixels.len() as f32;
            assert!((0.08..0.6).contains(&share), "clip {clip}, cell {i}: {share} of the pixels show the model");
            let corner = pixels[0];
            assert!(!is_figure(&corner), "clip {clip}, cell {i}: the corner is {corner:?}, expected background");
        }
        for pair in cells.windows(2) {
            let moved = pair[0].iter().zip(&pair[1]).filter(|(a, b)| a != b).count();
            assert!(moved > 100, "clip {clip}: only {moved} pixels changed");
        }
    }
    assert!(sheet.cells(3, 0).is_empty() && sheet.cells(0, 1).is_empty());

    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("deeper/hound.png");
    sheet.write(&path).expect("writable");
    let read = image::open(&path).expect("a PNG").into_rgb8();
    assert_eq!((read.width(), read.height()), (sheet.width(), sheet.height()));
    assert!(read.as_raw() == sheet.pixels().as_flattened());
}

fn sequences_draw_crossfades_and_layers() {
    let name = |name: &str| name.to_owned();
    let fade = Sequence::Crossfade { from: name("walk"), to: name("attack") };
    let layer = |mask| Sequence::Layer { base: name("walk"), clip: name("attack"), mask };
    let rows = [fade, layer(Some(name("upper_body"))), layer(None)];
    let sheet = sequences(&manifest(), "soldier", None, &rows).expect("a sheet");
    let cells = |row| -> Vec<_> { sheet.cells(row, 0).into_iter().map(|place| cell(&sheet, place)).collect() };
    let apart = |a: &[[u8; 3]], b: &[[u8; 3]]| a.iter().zip(b).filter(|(a, b)| a != b).count();
    let [fade, upper, all] = [0, 1, 2].map(cells);
    assert!([&fade, &upper, &all].iter().all(|cells| cells.len() == 8));
    // All rows start with the same pose, and every cell shows another pose.
    assert!(apart(&fade[0], &upper[0]) < 50 && apart(&fade[0], &all[0]) < 50);
    for row in [&fade, &upper, &all] {
        assert!(row.windows(2).all(|pair| apart(&pair[0], &pair[1]) > 100));
    }
    // A layer on all bones ends with the same pose as a crossfade; a layer on some bones does not.
    assert!(apart(&fade[7], &all[7]) < 50 && apart(&fade[7], &upper[7]) > 300);
    for (wrong, what) in [
        (Sequence::Crossfade { from: name("walk"), to: name("atack") }, "did you mean `attack`?"),
        (layer(Some(name("uper_body"))), "did you mean `upper_body`?"),
    ] {
        let error = sequences(&manifest(), "soldier", None, &[wrong]).expect_err("an unknown name").to_string();
        assert!(error.contains(what), "{error}");
    }
    let error = sequences(&manifest(), "soldier", Some(Encoding::TrsPacked), &rows[1..2])
        .expect_err("trs-packed supports no layers");
    assert!(error.to_string().contains("local-packed"), "{error}");
}

/// Returns all pixels of a clip's cells in one strip.
fn strip(sheet: &Sheet, clip: usize, strip: usize) -> Vec<[u8; 3]> {
    let cells = sheet.cells(clip, strip);
    assert_eq!(cells.len(), 8, "clip {clip}, strip {strip}");
    cells.into_iter().flat_map(|place| cell(sheet, place)).collect()
}

fn compare_draws_both_encodings_and_their_difference() {
    let single = preview(&manifest(), "hound", Some(Encoding::MatrixF32)).expect("a sheet");
    let sheet = compare(&manifest(), "hound", [Encoding::MatrixF32, Encoding::Fixed16]).expect("a sheet");
    assert_eq!(sheet.pixels().len() as u32, sheet.width() * sheet.height());
    assert_eq!(sheet.width(), single.width());
    let mut factors = Vec::new();
    for clip in 0..3 {
        let [a, b, difference] = [0, 1, 2].map(|n| strip(&sheet, clip, n));
        for figure in [&a, &b] {
            let share = figure.iter().filter(|p| is_figure(p)).count() as f32 / figure.len() as f32;
            assert!((0.08..0.6).contains(&share), "clip {clip}: {share} of the pixels show the model");
        }
        let differ = a.iter().zip(&b).filter(|(a, b)| a != b).count();
        let lit = difference.iter().filter(|p| **p != [0; 3]).count();
        assert_eq!(lit, differ, "clip {clip}: number of pixels in the difference");
        let share = lit as f32 / difference.len() as f32;
        assert!((0.01..0.5).contains(&share), "clip {clip}: {share} of the pixels differ");
        let bright = difference.iter().filter(|p| p.iter().any(|c| *c >= 64)).count();
        assert!(bright * 4 > lit, "clip {clip}: only {bright} of {lit} differing pixels are bright");
        for ((a, b), d) in a.iter().zip(&b).zip(&difference) {
            for channel in 0..3 {
                let (apart, drawn) = (a[channel].abs_diff(b[channel]), d[channel]);
                if apart > 0 && drawn < 255 {
                    assert_eq!(drawn % apart, 0);
                    factors.push(drawn / apart);
                }
            }
        }
    }
    factors.dedup();
    assert!(matches!(factors[..], [factor] if factor > 1 && factor <= 64 && factor.is_power_of_two()), "{factors:?}");
    assert!(sheet.cells(0, 3).is_empty() && sheet.cells(3, 2).is_empty());
}

fn compare_of_equal_encodings_has_no_difference() {
    let sheet = compare(&manifest(), "hound", [Encoding::TrsPacked; 2]).expect("a sheet");
    for clip in 0..3 {
        assert!(strip(&sheet, clip, 0).iter().any(is_figure));
        assert!(strip(&sheet, clip, 2).iter().all(|p| *p == [0; 3]), "clip {clip}");
    }
}

fn unknown_model_is_an_error() {
    let diagnostics = preview(&manifest(), "cat", None).expect_err("no such model");
    assert!(diagnostics.to_string().contains("cat"), "{diagnostics}");
    let encodings = [Encoding::MatrixF32, Encoding::MatrixF16];
    let diagnostics = compare(&manifest(), "cat", encodings).expect_err("no such model");
    assert!(diagnostics.to_string().contains("cat"), "{diagnostics}");
}

/// The command line, in the folder of the sample models.
fn preview_draws_one_or_two_encodings() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("../assets/hound.glb");
    std::fs::copy(model, folder.join("hound.glb")).expect("a copy");
    let manifest = "[[model]]\nname = \"hound\"\npath = \"hound.glb\"\nencoding = \"trs-f16\"\n";
    std::fs::write(folder.join("gpuskin.toml"), manifest).expect("writable");
    let size = |args: &[&str], out: &str| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_gpuskin"));
        command.env("GPUSKIN_CACHE", folder.join("cache")).env_remove("GPUSKIN_COMMAND").current_dir(folder);
        let output = command.args(["preview", "--model", "hound", "--out", out]).args(args).output().expect("runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let report = String::from_utf8(output.stdout).expect("UTF-8");
        let image = image::open(folder.join(out)).unwrap();
        assert_eq!(report, format!("{out}: {} x {} pixels\n", image.width(), image.height()));
        [image.width(), image.height()]
    };
    // Eight cells per row. Each of the three clips has one row of cells and its lines of text, or
    // three rows and more text.
    assert_eq!(size(&[], "plain.png"), [1348, 770]);
    assert_eq!(size(&["--encoding", "fixed16"], "coarse.png"), [1348, 770]);
    assert_eq!(size(&["--encoding", "matrix-f32,fixed16"], "both.png"), [1348, 2030]);
    let [plain, coarse] = ["plain.png", "coarse.png"].map(|name| std::fs::read(folder.join(name)).unwrap());
    assert!(plain != coarse, "`--encoding` does not change the image");
}
