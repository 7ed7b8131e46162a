//! Contact sheets, drawn on the available adapter.

use std::path::Path;

use glam::Vec2;
use gpuskin_build::Manifest;
use gpuskin_build::internals::preview::{
    Orbit, Sequence, Sheet, SheetOptions, ViewOptions, compare, preview, retargeted, sequences, view,
};
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
        test!(camera_sees_the_side_that_is_asked_for, GPU),
        test!(every_cell_shows_another_pose, GPU),
        test!(hidden_parts_and_coarse_lods_change_the_picture, GPU),
        test!(many_clips_are_split_into_several_sheets, GPU),
        test!(preview_draws_one_or_two_encodings, GPU),
        test!(retargeted_clips_are_drawn_below_their_source, GPU),
        test!(sequences_draw_crossfades_and_layers, GPU),
        test!(unknown_model_is_an_error),
        test!(variants_change_the_picture, GPU),
        test!(view_draws_bones_masks_and_the_source, GPU),
        test!(view_of_a_gltf_file_needs_no_manifest, GPU),
    ])
}

fn manifest() -> Manifest {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../assets/gpuskin.toml");
    Manifest::load(&path).expect("the sample manifest")
}

/// Draws one sheet of a sample model.
fn sheet(model: &str, options: SheetOptions) -> Sheet {
    let mut sheets = preview(&manifest(), model, &options).expect("a sheet").sheets;
    assert_eq!(sheets.len(), 1);
    sheets.remove(0)
}

fn with_encoding(encoding: Encoding) -> SheetOptions {
    SheetOptions { encoding: Some(encoding), ..Default::default() }
}

fn compared(encodings: [Encoding; 2]) -> Sheet {
    compare(&manifest(), "hound", encodings, &SheetOptions::default()).expect("a sheet").sheets.remove(0)
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
    let sheet = sheet("hound", SheetOptions::default());
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
    let sheet = sequences(&manifest(), "soldier", &SheetOptions::default(), &rows).expect("a sheet").sheets.remove(0);
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
        let error = sequences(&manifest(), "soldier", &SheetOptions::default(), &[wrong])
            .expect_err("an unknown name")
            .to_string();
        assert!(error.contains(what), "{error}");
    }
    let error = sequences(&manifest(), "soldier", &with_encoding(Encoding::TrsPacked), &rows[1..2])
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
    let single = sheet("hound", with_encoding(Encoding::MatrixF32));
    let sheet = compared([Encoding::MatrixF32, Encoding::Fixed16]);
    assert_eq!(sheet.pixels().len() as u32, sheet.width() * sheet.height());
    assert!(sheet.width() < single.width(), "only a sheet of one encoding has cells for seams");
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
    let sheet = compared([Encoding::TrsPacked; 2]);
    for clip in 0..3 {
        assert!(strip(&sheet, clip, 0).iter().any(is_figure));
        assert!(strip(&sheet, clip, 2).iter().all(|p| *p == [0; 3]), "clip {clip}");
    }
}

/// Returns width and height of the figure in a cell, in pixels.
fn figure_size(sheet: &Sheet, clip: usize) -> [usize; 2] {
    let place = sheet.cells(clip, 0)[0];
    let pixels = cell(sheet, place);
    let lines: Vec<&[[u8; 3]]> = pixels.chunks(place[2] as usize).collect();
    let columns = (0..place[2] as usize).filter(|&x| lines.iter().any(|line| is_figure(&line[x])));
    [columns.count(), lines.iter().filter(|line| line.iter().any(is_figure)).count()]
}

fn camera_sees_the_side_that_is_asked_for() {
    use std::f32::consts::{FRAC_PI_2, PI};
    let seen = |yaw, pitch| {
        let clips = vec!["idle".to_owned()];
        sheet("hound", SheetOptions { camera: Orbit { yaw, pitch }, clips, ..Default::default() })
    };
    // The hound is longer than it is high, and higher than it is wide.
    let [front, left, back, top] =
        [seen(0.0, 0.0), seen(FRAC_PI_2, 0.0), seen(PI, 0.0), seen(0.0, FRAC_PI_2)].map(|sheet| figure_size(&sheet, 0));
    for [width, height] in [front, back] {
        assert!(width * 4 < height * 3, "front {front:?}, back {back:?}");
    }
    assert!(left[0] > left[1], "left {left:?}");
    assert!(top[1] > 2 * top[0], "top {top:?}");
}

fn hidden_parts_and_coarse_lods_change_the_picture() {
    let drawn = |options: SheetOptions| sheet("soldier", SheetOptions { clips: vec!["idle".to_owned()], ..options });
    let differ = |a: &Sheet, b: &Sheet| {
        let [a, b] = [a, b].map(|sheet| cell(sheet, sheet.cells(0, 0)[0]));
        a.iter().zip(&b).filter(|(a, b)| a != b).count()
    };
    let whole = drawn(SheetOptions::default());
    assert_eq!(differ(&whole, &drawn(SheetOptions::default())), 0);
    let bare = drawn(SheetOptions { hidden_parts: vec!["helmet".to_owned()], ..Default::default() });
    let without_helmet = differ(&whole, &bare);
    assert!((20..3000).contains(&without_helmet), "{without_helmet} pixels show the helmet");
    let [fine, coarse] = [1, 4].map(|lod| differ(&whole, &drawn(SheetOptions { lod, ..Default::default() })));
    assert!(0 < fine && fine < coarse && coarse < 6000, "{fine} pixels differ in level 1, {coarse} in level 4");
    for (options, message) in [
        (SheetOptions { lod: 99, ..Default::default() }, "there is no level of detail 99"),
        (SheetOptions { hidden_parts: vec!["helmt".to_owned()], ..Default::default() }, "did you mean `helmet`?"),
        (SheetOptions { clips: vec!["wlak".to_owned()], ..Default::default() }, "did you mean `walk`?"),
    ] {
        let error = preview(&manifest(), "soldier", &options).expect_err(message).to_string();
        assert!(error.contains(message), "{error}");
    }
}

fn variants_change_the_picture() {
    let folder = tempfile::tempdir().expect("a folder");
    let soldier = Path::new(env!("CARGO_MANIFEST_DIR")).join("../assets/soldier.glb");
    std::fs::copy(soldier, folder.path().join("soldier.glb")).expect("writable");
    let green = image::RgbImage::from_pixel(512, 512, image::Rgb([0, 200, 0]));
    green.save(folder.path().join("green.png")).expect("writable");
    let text = "[[model]]\nname = \"soldier\"\npath = \"soldier.glb\"\nclips = { idle = {} }\n\
                variants = { guard = { Uniform = \"green.png\" } }\n";
    let manifest = Manifest::parse(&folder.path().join("gpuskin.toml"), text).expect("a manifest");
    let drawn = |variant: Option<&str>| {
        let options = SheetOptions { variant: variant.map(str::to_owned), ..Default::default() };
        preview(&manifest, "soldier", &options).map(|preview| preview.sheets[0].pixels().to_vec())
    };
    let greens = |pixels: &[[u8; 3]]| pixels.iter().filter(|[r, g, b]| *g > 40 && g / 2 > *r.max(b)).count();
    let [own, base, guard] = [None, Some("base"), Some("guard")].map(|variant| drawn(variant).expect("a sheet"));
    assert!(own == base && greens(&own) < 100, "{}", greens(&own));
    assert!(greens(&guard) > 1000, "{}", greens(&guard));
    let error = drawn(Some("gaurd")).expect_err("an unknown variant").to_string();
    assert!(error.contains("did you mean `guard`?"), "{error}");
}

fn many_clips_are_split_into_several_sheets() {
    let clips = vec!["walk".to_owned(); 30];
    let options = SheetOptions { clips, ..Default::default() };
    let sheets = preview(&manifest(), "hound", &options).expect("sheets").sheets;
    let rows = |sheet: &Sheet| (0..40).filter(|&clip| !sheet.cells(clip, 0).is_empty()).count();
    assert_eq!(sheets.iter().map(rows).collect::<Vec<_>>(), [24, 6]);
    assert!(sheets.iter().all(|sheet| sheet.height() < 6000 && is_drawn(sheet)));
    let encodings = [Encoding::MatrixF32, Encoding::Fixed16];
    let sheets = compare(&manifest(), "hound", encodings, &options).expect("sheets").sheets;
    assert_eq!(sheets.iter().map(rows).collect::<Vec<_>>(), [8, 8, 8, 6]);
    assert!(sheets.iter().all(|sheet| sheet.height() < 6000 && is_drawn(sheet)));
}

/// Whether every cell of a sheet's first strip shows the model.
fn is_drawn(sheet: &Sheet) -> bool {
    let cells = (0..40).flat_map(|clip| sheet.cells(clip, 0));
    cells.into_iter().all(|place| cell(sheet, place).iter().any(is_figure))
}

fn unknown_model_is_an_error() {
    let diagnostics = preview(&manifest(), "cat", &SheetOptions::default()).expect_err("no such model");
    assert!(diagnostics.to_string().contains("cat"), "{diagnostics}");
    let encodings = [Encoding::MatrixF32, Encoding::MatrixF16];
    let diagnostics = compare(&manifest(), "cat", encodings, &SheetOptions::default()).expect_err("no such model");
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
    // Eight cells per row, and one of the seam unless encodings are compared. Each of the three clips has one row of cells and its lines of text, or
    // three rows and more text.
    assert_eq!(size(&[], "plain.png"), [1512, 770]);
    assert_eq!(size(&["--encoding", "fixed16"], "coarse.png"), [1512, 770]);
    assert_eq!(size(&["--encoding", "matrix-f32,fixed16"], "both.png"), [1348, 2030]);
    let [plain, coarse] = ["plain.png", "coarse.png"].map(|name| std::fs::read(folder.join(name)).unwrap());
    assert!(plain != coarse, "`--encoding` does not change the image");
}

/// Writes a picture of the soldier and returns it.
fn picture(options: &ViewOptions) -> image::RgbImage {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("view.png");
    view(&manifest(), "soldier", options, [400, 300], &path).expect("a picture");
    image::open(&path).expect("a PNG").into_rgb8()
}

fn view_draws_bones_masks_and_the_source() {
    let plain = picture(&ViewOptions::default());
    let differ = |options: ViewOptions| {
        let other = picture(&options);
        let pairs = plain.pixels().zip(other.pixels());
        pairs
            .enumerate()
            .filter(|(_, (a, b))| a != b)
            .map(|(i, (_, b))| ([i as u32 % 400, i as u32 / 400], b.0))
            .collect()
    };
    let skeleton: Vec<([u32; 2], [u8; 3])> = differ(ViewOptions { skeleton: true, ..Default::default() });
    let yellow = skeleton.iter().filter(|(_, [r, g, b])| *r > 180 && *g > 180 && *b < 120).count();
    assert!(yellow > 200, "{yellow} of {} pixels show bones", skeleton.len());
    let names = differ(ViewOptions { names: true, ..Default::default() });
    assert!(names.len() > 500, "{} pixels show names", names.len());
    let sockets = differ(ViewOptions { sockets: true, ..Default::default() });
    assert!((20..2000).contains(&sockets.len()), "{} pixels show the socket", sockets.len());

    // The mask colours the head, which is in the upper half of the picture, and no leg.
    let mask = differ(ViewOptions { mask: Some("head".to_owned()), ..Default::default() });
    let below_text = || mask.iter().filter(|([_, y], _)| *y > 70);
    let lowest = below_text().map(|([_, y], _)| *y).max().expect("pixels with the colour of the mask");
    assert!(below_text().count() > 50 && lowest < 150, "{} pixels down to row {lowest}", below_text().count());
    let error = ViewOptions { mask: Some("haed".to_owned()), ..Default::default() };
    let error = view(&manifest(), "soldier", &error, [64, 64], Path::new("unused.png")).expect_err("no such mask");
    assert!(error.to_string().contains("did you mean `head`?"), "{error}");

    // Baked on the left in red, source on the right in grey, both at the same height.
    let beside = picture(&ViewOptions { source: true, ..Default::default() });
    let figure = |columns: std::ops::Range<u32>, shows: fn(&[u8; 3]) -> bool| {
        let rows = (70..250).filter(|&y| columns.clone().any(|x| shows(&beside.get_pixel(x, y).0)));
        let rows: Vec<u32> = rows.collect();
        [rows[0], rows[rows.len() - 1]]
    };
    // The clay of the source is darker than the ground and its lines.
    let baked = figure(0..200, |[r, g, b]| u16::from(*r) > u16::from(*b) + 25 || r.max(g).max(b) < &60);
    let source = figure(200..400, |[r, _, b]| r > b && *r < 170);
    assert!(baked[0].abs_diff(source[0]) < 8 && baked[1].abs_diff(source[1]) < 8, "{baked:?} {source:?}");
}

fn view_of_a_gltf_file_needs_no_manifest() {
    let folder = tempfile::tempdir().expect("a folder");
    let assets = Path::new(env!("CARGO_MANIFEST_DIR")).join("../assets");
    std::fs::copy(assets.join("hound.glb"), folder.path().join("hound.glb")).expect("a copy");
    let run = |args: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_gpuskin"));
        command.env_remove("GPUSKIN_COMMAND").env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
        command.current_dir(folder.path()).arg("view").args(args).output().expect("runs")
    };
    let output = run(&["hound.glb", "--out", "hound.png", "--size", "320x240", "--clip", "walk", "--camera", "left"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "hound.png: 320 x 240 pixels\n");
    let image = image::open(folder.path().join("hound.png")).expect("a PNG").into_rgb8();
    let brown = image.pixels().filter(|pixel| is_figure(&pixel.0)).count();
    assert!((2000..40_000).contains(&brown), "{brown} pixels show the hound");
    let written: Vec<_> = std::fs::read_dir(folder.path()).expect("a folder").collect();
    assert_eq!(written.len(), 2, "{written:?}");
    if cfg!(target_os = "linux") {
        let output = run(&["hound.glb"]);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(1) && error.contains("no window can be opened"), "{error}");
        assert!(error.contains("--out"), "{error}");
    }
}

fn retargeted_clips_are_drawn_below_their_source() {
    let assets = Path::new(env!("CARGO_MANIFEST_DIR")).join("../assets");
    let text = "[[model]]\nname = \"soldier\"\npath = \"soldier.glb\"\n\
        animations = [{ path = \"other.glb\", retarget = \"humanoid\" }]\n\
        [model.clips.own]\nsource = \"soldier.glb#idle\"\n[model.clips.run]\nsource = \"other.glb#run\"\n\
        [model.clips.die]\nsource = \"other.glb#die\"\nroot_motion = \"full\"\n";
    let folder = tempfile::tempdir().unwrap();
    for name in ["soldier.glb", "other.glb"] {
        std::fs::copy(assets.join("soldier.glb"), folder.path().join(name)).unwrap();
    }
    let manifest = Manifest::parse(&folder.path().join("gpuskin.toml"), text).expect("a manifest");
    let options = SheetOptions { camera: Orbit { yaw: 0.0, pitch: 0.0 }, ..Default::default() };
    let sheet = retargeted(&manifest, "soldier", &options).expect("a sheet").sheets.remove(0);
    // Centre of the pixels, and their number.
    let place = |pixels: &[[u8; 3]], width: u32, shows: &dyn Fn(&[u8; 3]) -> bool| {
        let shown = pixels.iter().enumerate().filter(|(_, pixel)| shows(pixel));
        let at = shown.map(|(i, _)| Vec2::new((i as u32 % width) as f32, (i as u32 / width) as f32));
        let (sum, count) = at.fold((Vec2::ZERO, 0_u32), |(sum, count), at| (sum + at, count + 1));
        (sum / count.max(1) as f32, count)
    };
    let cells = |clip| sheet.cells(clip, 0).into_iter().zip(sheet.cells(clip, 1));
    for (skeleton, model) in cells(0).chain(cells(1)) {
        let width = skeleton[2];
        let [skeleton, model] = [skeleton, model].map(|place| cell(&sheet, place));
        let background = model[0];
        let differs = |pixel: &[u8; 3]| pixel.iter().zip(background).any(|(a, b)| a.abs_diff(b) > 40);
        let (of_skeleton, bones) = place(&skeleton, width, &|pixel| pixel[0] < 100);
        let (of_model, figure) = place(&model, width, &differs);
        assert!(bones > 300 && figure > 2 * bones, "{bones} pixels of bones, {figure} of the model");
        let apart = (of_skeleton - of_model).abs();
        assert!(apart.x < 20.0 && apart.y < 20.0, "both are at one place: {of_skeleton}, {of_model}");
    }
    assert_eq!(sheet.cells(2, 0).len(), 0, "two of three clips are retargeted");
    let none = SheetOptions { clips: vec!["own".into()], ..options };
    let error = retargeted(&manifest, "soldier", &none).expect_err("no such clip");
    assert!(error.to_string().contains("none of the clips is retargeted"), "{error}");
}
