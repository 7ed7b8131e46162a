//! Small picture of the demo, compared with a reviewed snapshot.
//!
//! Averages of 4 x 4 pixels are compared, because edges may fall slightly differently on another
//! device. After an intended change, run `GPUSKIN_BLESS=1 cargo test -p crowd` and review
//! `tests/picture.png`.

use std::fs::File;
use std::io::{BufReader, BufWriter};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crowd::frame::Stage;
use crowd::gpu::Gpu;
use crowd::headless;
use gpuskin_rt::{Camera, wgpu};
use gpuskin_test_harness::{Need, note, run, test};

const SIZE: [u32; 2] = [320, 180];
const COUNT: u32 = 300;
/// Width and height of the averaged blocks, in pixels.
const BLOCK: u32 = 4;
/// Greatest mean difference, out of 255: rounding and multisampling differ between devices by less
/// than 1.
const MAX_MEAN: f64 = 2.0;
/// Greatest difference of 99 % of the averages, out of 255: a figure that moved by half its width
/// exceeds it.
const MAX_DIFFERENCE: u8 = 20;

/// Need of a device on Vulkan: snapshots are compared on one backend.
const VULKAN: Need = Need {
    variable: "GPUSKIN_REQUIRE_GPU",
    missing: || vulkan().err().map(|_| "no GPU or software renderer on Vulkan".to_owned()),
};

fn main() -> ExitCode {
    run([test!(occluded_instances_are_revealed_again, VULKAN), test!(picture_matches_the_snapshot, VULKAN)])
}

fn vulkan() -> Result<Gpu, crowd::Error> {
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    descriptor.backends = wgpu::Backends::VULKAN;
    Gpu::open(&wgpu::Instance::new(descriptor), None)
}

/// Instances that were occluded in one frame are revealed in the next.
fn occluded_instances_are_revealed_again() {
    let gpu = vulkan().expect("a device, which the test needs");
    let mut stage = Stage::new(&gpu.device, &gpu.queue, headless::FORMAT, COUNT).expect("a stage");
    let first = headless::picture(&gpu.device, &gpu.queue, &mut stage, SIZE).expect("a picture");
    let other = gpu.device.create_texture(&wgpu::TextureDescriptor {
        label: None,
        size: wgpu::Extent3d { width: SIZE[0], height: SIZE[1], depth_or_array_layers: 1 },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: headless::FORMAT,
        usage: wgpu::TextureUsages::RENDER_ATTACHMENT,
        view_formats: &[],
    });
    // One camera looks away from all instances, the other at them from behind.
    let away = Camera::perspective_look_at([0.0, 3.0, 40.0], [0.0, 3.0, 90.0], 0.64, 1.6, 0.3, 1200.0);
    let behind = Camera::perspective_look_at([10.0, 3.0, -60.0], [0.0, 1.0, 0.0], 0.64, 1.6, 0.3, 1200.0);
    for camera in [away, behind] {
        for _ in 0..2 {
            stage.draw(&gpu.device, &gpu.queue, &other, &camera, headless::PICTURE_TIME).expect("a frame");
        }
        let again = headless::picture(&gpu.device, &gpu.queue, &mut stage, SIZE).expect("a picture");
        let off = again.rgba.iter().zip(&first.rgba).filter(|(a, b)| a.abs_diff(**b) > 1).count();
        // Surfaces at equal depth may be drawn in another order.
        assert!(off * 1000 < first.rgba.len(), "{off} bytes differ");
    }
}

fn picture_matches_the_snapshot() {
    let gpu = vulkan().expect("a device, which the test needs");
    let picture = headless::draw(&gpu.device, &gpu.queue, SIZE, COUNT).expect("a picture");
    let found = averages(&picture.rgba);
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/picture.png");
    if std::env::var_os("GPUSKIN_BLESS").is_some() {
        write(&golden, &found);
    }
    let expected = read(&golden);
    assert_eq!(expected.len(), found.len(), "the size of the picture has changed: run with GPUSKIN_BLESS=1");

    let mut differences: Vec<u8> = expected.iter().zip(&found).map(|(a, b)| a.abs_diff(*b)).collect();
    differences.sort_unstable();
    let mean = differences.iter().map(|&d| f64::from(d)).sum::<f64>() / differences.len() as f64;
    let most = differences[differences.len() * 99 / 100];
    note!("mean difference {mean:.2}, 99 % within {most}");
    if mean > MAX_MEAN || most > MAX_DIFFERENCE {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
        write(&folder.join("picture.png"), &found);
        panic!("mean difference {mean:.2}, 99 % within {most}: see {}", folder.join("picture.png").display());
    }
}

/// Average colours of blocks, RGB.
fn averages(rgba: &[u8]) -> Vec<u8> {
    let [width, height] = SIZE.map(|side| side / BLOCK);
    let average = |x: u32, y: u32, channel: u32| {
        let pixels = (0..BLOCK * BLOCK).map(|i| (x * BLOCK + i % BLOCK, y * BLOCK + i / BLOCK));
        let sum: u32 = pixels.map(|(x, y)| u32::from(rgba[((y * SIZE[0] + x) * 4 + channel) as usize])).sum();
        (sum / (BLOCK * BLOCK)) as u8
    };
    (0..width * height).flat_map(|i| [0, 1, 2].map(|channel| average(i % width, i / width, channel))).collect()
}

fn write(path: &Path, rgb: &[u8]) {
    let file = File::create(path).expect("a file to write");
    let mut encoder = png::Encoder::new(BufWriter::new(file), SIZE[0] / BLOCK, SIZE[1] / BLOCK);
    encoder.set_color(png::ColorType::Rgb);
    encoder.write_header().and_then(|mut w| w.write_image_data(rgb)).expect("a picture to write");
}

fn read(path: &Path) -> Vec<u8> {
    let file = File::open(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut reader = png::Decoder::new(BufReader::new(file)).read_info().expect("a PNG");
    let mut rgb = vec![0; reader.output_buffer_size().expect("a size")];
    reader.next_frame(&mut rgb).expect("a picture");
    rgb
}
