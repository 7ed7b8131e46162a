//! The meadow is green and golden, and moves.

use field::{Gpu, Meadow, Picture};

fn draw(meadow: &mut Meadow, gpu: &Gpu, time: f64) -> Picture {
    meadow.picture(gpu, [128, 72], time).unwrap()
}

/// Pixels below the horizon, and how many of them are more green than blue.
fn grass(picture: &Picture) -> (usize, usize) {
    let below = &picture.rgba.as_chunks::<4>().0[128 * 36..];
    (below.len(), below.iter().filter(|[_, g, b, _]| g > b).count())
}

#[test]
fn grass_grows_and_sways() {
    let Ok(gpu) = Gpu::open() else {
        let required = std::env::var_os("GPUSKIN_REQUIRE_GPU").is_some_and(|v| v == "1");
        assert!(!required, "GPUSKIN_REQUIRE_GPU=1, and there is no device");
        println!("SKIPPED: no device; GPUSKIN_REQUIRE_GPU=1 makes this a failure");
        return;
    };
    let mut meadow = Meadow::with_strips(&gpu, 1).unwrap();
    assert_eq!(meadow.len(), 200 * 50);
    let [now, same, later] = [2.0, 2.0, 2.5].map(|time| draw(&mut meadow, &gpu, time));
    let (below, green) = grass(&now);
    assert!(green * 10 > below * 9, "{green} of {below} pixels are green");
    assert!(now == same, "the same moment is the same picture");
    let moved = now.rgba.iter().zip(&later.rgba).filter(|(a, b)| a.abs_diff(**b) > 12).count();
    assert!(moved > now.rgba.len() / 20, "{moved} of {} bytes differ", now.rgba.len());
}
