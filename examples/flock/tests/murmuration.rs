//! The flock stays together, moves, and keeps away from the ground.

use std::process::ExitCode;

use flock::{Flock, Gpu, Picture};
use gpuskin_test_harness::{Need, run, test};

const GPU: Need = Need {
    variable: "GPUSKIN_REQUIRE_GPU",
    missing: || Gpu::headless().err().map(|_| "no GPU or software renderer with compute shaders".to_owned()),
};
const SIZE: [u32; 2] = [640, 360];
const BIRDS: u32 = 4_000;

fn main() -> ExitCode {
    run([test!(starlings_fly_as_a_flock, GPU)])
}

/// Number of pixels that differ between two pictures.
fn differing(a: &Picture, b: &Picture) -> usize {
    let pixels = |picture: &Picture| picture.rgba.as_chunks::<4>().0.to_vec();
    let differs = |(a, b): &([u8; 4], [u8; 4])| a.iter().zip(b).any(|(a, b)| a.abs_diff(*b) > 8);
    pixels(a).into_iter().zip(pixels(b)).filter(differs).count()
}

fn starlings_fly_as_a_flock() {
    let gpu = Gpu::headless().expect("a device, which the test needs");
    let draw = |count: u32, time: f64| {
        let mut flock = Flock::new((&gpu.device, &gpu.queue), Picture::FORMAT, count).unwrap();
        flock.picture(&gpu, SIZE, time).unwrap()
    };
    // The camera is the same at the same time: what differs from an almost empty sky are birds.
    let [early, late] = [1.0, 4.0].map(|time| (draw(BIRDS, time), draw(1, time)));
    for (birds, sky) in [&early, &late] {
        let covered = differing(birds, sky);
        let all = (SIZE[0] * SIZE[1]) as usize;
        assert!((all / 500..all / 2).contains(&covered), "birds cover {covered} of {all} pixels");
    }
    let again = draw(BIRDS, 1.0);
    // Sums of integers do not depend on the order of the threads.
    assert!(early.0 == again, "equal times must give equal pictures");
    assert!(differing(&early.0, &late.0) > 200, "the flock must move");
}
