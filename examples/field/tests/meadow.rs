//! The meadow is green and golden, and moves.

use std::process::ExitCode;

use field::{Gpu, Meadow, Picture};
use gpuskin_test_harness::{Need, run, test};

const GPU: Need = Need {
    variable: "GPUSKIN_REQUIRE_GPU",
    missing: || Gpu::open().err().map(|_| "no GPU or software renderer".to_owned()),
};

fn main() -> ExitCode {
    run([test!(grass_grows_and_sways, GPU)])
}

fn draw(meadow: &mut Meadow, gpu: &Gpu, time: f64) -> Picture {
    meadow.picture(gpu, [128, 72], time).unwrap()
}

/// Number of pixels below the horizon, and of those that are more green than blue.
fn grass(picture: &Picture) -> (usize, usize) {
    let below = &picture.rgba.as_chunks::<4>().0[128 * 36..];
    (below.len(), below.iter().filter(|[_, g, b, _]| g > b).count())
}

fn grass_grows_and_sways() {
    let gpu = Gpu::open().expect("a device, which the test needs");
    let mut meadow = Meadow::with_strips(&gpu, 1).unwrap();
    assert_eq!(meadow.len(), 200 * 50);
    let [now, same, later] = [2.0, 2.0, 2.5].map(|time| draw(&mut meadow, &gpu, time));
    let (below, green) = grass(&now);
    assert!(green * 10 > below * 9, "{green} of {below} pixels are green");
    assert!(now == same, "equal times must give equal pictures");
    let moved = now.rgba.iter().zip(&later.rgba).filter(|(a, b)| a.abs_diff(**b) > 12).count();
    assert!(moved > now.rgba.len() / 20, "{moved} of {} bytes differ", now.rgba.len());
}
