use core::f64::consts::PI;

use super::*;
use crate::diagnostic::DiagnosticCode;

/// A panorama in PFM.
fn pfm(width: u32, height: u32, texel: impl Fn(u32, u32) -> [f32; 3]) -> Vec<u8> {
    let mut bytes = format!("PF\n{width} {height}\n-1.0\n").into_bytes();
    for y in (0..height).rev() {
        (0..width).flat_map(|x| texel(x, y)).for_each(|c| bytes.extend(c.to_le_bytes()));
    }
    bytes
}

/// A panorama of a function of the direction.
fn panorama_of(width: u32, radiance: impl Fn([f64; 3]) -> [f64; 3]) -> Vec<u8> {
    let height = width / 2;
    pfm(width, height, |x, y| {
        let around = 2.0 * PI * ((f64::from(x) + 0.5) / f64::from(width) - 0.5);
        let down = PI * (f64::from(y) + 0.5) / f64::from(height);
        radiance([down.sin() * around.sin(), down.cos(), -down.sin() * around.cos()]).map(|c| c as f32)
    })
}

fn bake(bytes: &[u8], size: u32) -> EnvironmentLight {
    EnvironmentLight::bake(bytes, &Limits::default(), size, 1.0).unwrap()
}

fn decode(texel: u32) -> [f64; 3] {
    let step = 2.0_f64.powi((texel >> 27) as i32 - 24);
    [0, 9, 18].map(|shift| f64::from(texel >> shift & 511) * step)
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn unit(v: [f64; 3]) -> [f64; 3] {
    v.map(|c| c / dot(v, v).sqrt())
}

/// A sky with a gradient, a dark ground and a sun of six degrees.
fn sky(d: [f64; 3]) -> [f64; 3] {
    let sun = unit([0.6, 0.5, -0.4]);
    let glow = ((dot(d, sun) - 0.9945) * 2000.0).clamp(0.0, 1.0) * 60.0;
    let ground = 1.0 / (1.0 + (12.0 * d[1]).exp());
    [0.5 + 0.3 * d[1] + glow, 0.6 + 0.2 * d[2] + 0.9 * glow, 0.9 - 0.4 * d[0] + 0.7 * glow]
        .map(|c| c * (1.0 - 0.8 * ground))
}

/// Mean radiance in the lobe of GGX around a normal, by quadrature in the space of the lobe.
fn reference(normal: [f64; 3], alpha: f64, radiance: impl Fn([f64; 3]) -> [f64; 3]) -> [f64; 3] {
    const STEPS: u32 = 800;
    let other = if normal[1].abs() < 0.9 { [0.0, 1.0, 0.0] } else { [1.0, 0.0, 0.0] };
    let cross =
        |a: [f64; 3], b: [f64; 3]| [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
    let right = unit(cross(other, normal));
    let up = cross(normal, right);
    let (mut sums, mut total) = ([0.0; 3], 0.0);
    for i in 0..STEPS * STEPS {
        let [u, turn] = [i / STEPS, i % STEPS].map(|i| (f64::from(i) + 0.5) / f64::from(STEPS));
        // Half vectors of equal probability.
        let cos_h = ((1.0 - u) / (1.0 + (alpha * alpha - 1.0) * u)).sqrt();
        let n_dot_l = 2.0 * cos_h * cos_h - 1.0;
        if n_dot_l <= 0.0 {
            continue;
        }
        let (sin, cos) = (2.0 * PI * turn).sin_cos();
        let across = (1.0 - n_dot_l * n_dot_l).max(0.0).sqrt();
        let l = [0, 1, 2].map(|c| n_dot_l * normal[c] + across * (cos * right[c] + sin * up[c]));
        let color = radiance(l);
        (0..3).for_each(|c| sums[c] += n_dot_l * color[c]);
        total += n_dot_l;
    }
    sums.map(|sum| sum / total)
}

#[test]
fn levels_are_the_integral_of_ggx() {
    let light = bake(&panorama_of(1024, sky), 64);
    let mut greatest = [0.0_f64; 4];
    for level in 1..4_u32 {
        let side = 64 >> level;
        let alpha = prefilter::roughness(f64::from(level) / 3.0).powi(2);
        let texels = light.levels[level as usize].as_chunks::<4>().0;
        let directions: Vec<[f64; 3]> = rayon::iter::ParallelIterator::collect(cube::directions(side));
        // Every 17th texel of the finest level, and about as many of the others.
        for at in (0..texels.len()).step_by(texels.len() / 90 + 1) {
            let seen = decode(u32::from_le_bytes(texels[at]));
            let exact = reference(directions[at], alpha, sky);
            for c in 0..3 {
                let error = (seen[c] - exact[c]).abs() / exact[c];
                greatest[level as usize] = greatest[level as usize].max(error);
            }
        }
    }
    println!("greatest relative errors: {greatest:?}");
    assert!(greatest.iter().all(|error| *error < 0.03), "{greatest:?}");
}

#[test]
fn uniform_light_stays_uniform() {
    let light = bake(&panorama_of(64, |_| [1.0, 0.5, 0.25]), 64);
    assert_eq!(light.levels.len(), 4);
    for texel in light.levels.iter().flat_map(|level| level.as_chunks::<4>().0) {
        assert_eq!(decode(u32::from_le_bytes(*texel)), [1.0, 0.5, 0.25]);
    }
    let root = 2.0 * PI.sqrt();
    for (coefficient, c) in light.radiance[0].iter().zip([1.0, 0.5, 0.25]) {
        assert!((f64::from(*coefficient) - root * c).abs() < 1e-5);
    }
    assert!(light.radiance[1..].as_flattened().iter().all(|c| c.abs() < 1e-5), "{:?}", light.radiance);
}

#[test]
fn harmonics_are_the_integral_of_the_radiance() {
    let light = bake(&panorama_of(512, sky), 64);
    const ROWS: u32 = 2000;
    let mut sums = [[0.0; 3]; 9];
    for i in 0..2 * ROWS * ROWS {
        let (row, column) = (i / (2 * ROWS), i % (2 * ROWS));
        let y = 1.0 - (2.0 * f64::from(row) + 1.0) / f64::from(ROWS);
        let (sin, cos) = (PI * (f64::from(column) + 0.5) / f64::from(ROWS)).sin_cos();
        let across = (1.0 - y * y).sqrt();
        let d = [across * sin, y, across * cos];
        let [x, y, z] = d;
        let constants = [0.282_095, 0.488_603, 1.092_548, 0.315_392, 0.546_274];
        let basis = [1.0, y, z, x, x * y, y * z, 3.0 * z * z - 1.0, z * x, x * x - y * y];
        let color = sky(d);
        for (k, value) in basis.iter().enumerate() {
            let constant = constants[[0, 1, 1, 1, 2, 2, 3, 2, 4][k]];
            let share = 4.0 * PI / f64::from(2 * ROWS * ROWS);
            (0..3).for_each(|c| sums[k][c] += constant * value * color[c] * share);
        }
    }
    for (seen, exact) in light.radiance.as_flattened().iter().zip(sums.as_flattened()) {
        assert!((f64::from(*seen) - exact).abs() < 0.01, "{:?}, expected {sums:?}", light.radiance);
    }
}

/// Faces are +x, -x, +y, -y, +z, -z. The centre of the panorama is -z, its right half +x.
#[test]
fn faces_show_their_directions() {
    let bytes = pfm(64, 32, |x, y| match (x, y) {
        (_, 0..8) => [0.0, 1.0, 0.0],
        (_, 24..) => [0.0, 0.0, 1.0],
        (24..40, _) => [1.0, 0.0, 0.0],
        (40..56, _) => [2.0, 0.0, 0.0],
        (8..24, _) => [4.0, 0.0, 0.0],
        _ => [8.0, 0.0, 0.0],
    });
    let light = bake(&bytes, 64);
    let center = |face: usize| {
        let texel = (face * 64 + 32) * 64 + 32;
        decode(u32::from_le_bytes(light.levels[0].as_chunks::<4>().0[texel]))
    };
    let red = |c: f64| [c, 0.0, 0.0];
    let expected = [red(2.0), red(4.0), [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], red(8.0), red(1.0)];
    assert_eq!([0, 1, 2, 3, 4, 5].map(center), expected);
    // The face of -z is seen from inside: its left half is at -x, where the panorama continues to the left.
    let shaded = bake(&panorama_of(64, |d| [d[0] + 1.0, d[1] + 1.0, d[2] + 1.0]), 64);
    let texels = shaded.levels[0].as_chunks::<4>().0;
    let directions: Vec<[f64; 3]> = rayon::iter::ParallelIterator::collect(cube::directions(64));
    for (texel, direction) in texels.iter().zip(directions) {
        let seen = decode(u32::from_le_bytes(*texel));
        assert!((0..3).all(|c| (seen[c] - direction[c] - 1.0).abs() < 0.02), "{seen:?} {direction:?}");
    }
}

#[test]
fn texels_keep_nine_bits() {
    for exponent in -14..16 {
        for step in 0..1000 {
            let greatest = 2.0_f32.powi(exponent) * (1.0 + step as f32 / 1000.0);
            let color = [greatest, 0.37 * greatest, 0.01 * greatest].map(|c| c.min(rgb9e5::MAX));
            let seen = decode(rgb9e5::encode(color));
            for (seen, exact) in seen.iter().zip(color) {
                let error = (seen - f64::from(exact)).abs() / f64::from(greatest);
                assert!(error <= 1.0 / 511.0, "{color:?} {seen}");
            }
        }
    }
    assert_eq!(decode(rgb9e5::encode([0.0; 3])), [0.0; 3]);
    assert_eq!(decode(rgb9e5::encode([1e30, 65_408.0, 0.0])), [65_408.0, 65_408.0, 0.0]);
}

#[test]
fn any_number_of_threads_makes_the_same_bytes() {
    let bytes = panorama_of(256, sky);
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| bake(&bytes, 64))
    };
    let light = with(1);
    assert_eq!(with(3), light);
    assert_eq!(EnvironmentLight::from_cache(&light.to_cache().unwrap(), 64).as_ref(), Some(&light));
    assert_eq!(EnvironmentLight::from_cache(&light.to_cache().unwrap(), 128), None);
    assert_eq!(EnvironmentLight::from_cache(b"nonsense", 64), None);
}

#[test]
fn intensity_is_a_factor() {
    let bytes = panorama_of(64, |_| [1.0, 0.5, 0.25]);
    let light = |intensity| EnvironmentLight::bake(&bytes, &Limits::default(), 64, intensity).unwrap();
    let texel = |light: &EnvironmentLight| decode(u32::from_le_bytes(*light.levels[1].first_chunk().unwrap()));
    assert_eq!(texel(&light(2.0)), [2.0, 1.0, 0.5]);
    // Brighter than a texel can be, in the sum as in the map.
    let bright = light(1e9);
    assert_eq!(texel(&bright), [65_408.0; 3]);
    assert!(bright.radiance.as_flattened().iter().all(|c| c.is_finite()));
}

fn png(width: u32, height: u32, texel: [u8; 3]) -> Vec<u8> {
    let mut bytes = std::io::Cursor::new(Vec::new());
    image::RgbImage::from_pixel(width, height, image::Rgb(texel))
        .write_to(&mut bytes, image::ImageFormat::Png)
        .unwrap();
    bytes.into_inner()
}

fn hdr(width: u32, height: u32, texel: [f32; 3]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let texels = vec![image::Rgb(texel); (width * height) as usize];
    image::codecs::hdr::HdrEncoder::new(&mut bytes).encode(&texels, width as usize, height as usize).unwrap();
    bytes
}

#[test]
fn formats_agree() {
    // sRGB 188 is 0.5 in linear light.
    for bytes in [png(64, 32, [188; 3]), hdr(64, 32, [0.5; 3]), pfm(64, 32, |_, _| [0.5; 3])] {
        let light = bake(&bytes, 64);
        let texel = decode(u32::from_le_bytes(*light.levels[0].first_chunk().unwrap()));
        assert!(texel.iter().all(|c| (c - 0.5).abs() < 0.004), "{texel:?}");
    }
}

#[test]
fn bad_panoramas_are_refused() {
    let texel = |bad: f32| pfm(8, 4, move |x, y| if (x, y) == (3, 1) { [1.0, bad, 1.0] } else { [1.0; 3] });
    let huge = b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 8192 +X 16384\n".to_vec();
    let whole_hdr = hdr(64, 32, [0.5; 3]);
    let cases: Vec<(&str, Vec<u8>, DiagnosticCode, &str)> = vec![
        ("NaN", texel(f32::NAN), DiagnosticCode::EnvironmentTexels, "NaN: 1 NaN 1 in column 3 and row 1"),
        ("infinite", texel(f32::INFINITY), DiagnosticCode::EnvironmentTexels, "1 inf 1"),
        ("several", pfm(8, 4, |x, _| [x as f32 - 1.0; 3]), DiagnosticCode::EnvironmentTexels, "0, and so are 3 others"),
        ("negative", texel(-0.5), DiagnosticCode::EnvironmentTexels, "-0.5"),
        ("square", png(64, 64, [9; 3]), DiagnosticCode::EnvironmentShape, "64 x 64"),
        ("one texel", png(1, 1, [9; 3]), DiagnosticCode::EnvironmentShape, "1 x 1"),
        ("no texel", b"PF\n0 0\n-1\n".to_vec(), DiagnosticCode::EnvironmentShape, "0 x 0"),
        ("16384 wide", huge, DiagnosticCode::LimitImage, "16384 x 8192"),
        ("16384 wide PFM", b"PF\n16384 8192\n-1\n".to_vec(), DiagnosticCode::LimitImage, "16384 x 8192"),
        ("empty", Vec::new(), DiagnosticCode::ImageInvalid, "empty"),
        ("text", b"a panorama".to_vec(), DiagnosticCode::ImageInvalid, "is not Radiance HDR"),
        ("GIF", b"GIF89a".to_vec(), DiagnosticCode::ImageInvalid, "Gif"),
        ("one channel", b"Pf\n2 1\n-1\n12345678".to_vec(), DiagnosticCode::ImageInvalid, "is not Radiance HDR"),
        ("scale 0", b"PF\n2 1\n0\n".to_vec(), DiagnosticCode::ImageInvalid, "header"),
        ("cut off header", b"PF\n2".to_vec(), DiagnosticCode::ImageInvalid, "header"),
        ("cut off PFM", pfm(8, 4, |_, _| [1.0; 3])[..100].to_vec(), DiagnosticCode::ImageInvalid, "384 were expected"),
        ("cut off HDR", whole_hdr[..whole_hdr.len() / 2].to_vec(), DiagnosticCode::ImageInvalid, "its file ends early"),
        ("cut off PNG", png(64, 32, [7; 3])[..60].to_vec(), DiagnosticCode::ImageInvalid, "decoded"),
    ];
    for (what, bytes, code, part) in cases {
        let error = EnvironmentLight::bake(&bytes, &Limits::default(), 64, 1.0).unwrap_err();
        assert_eq!(error.code(), code, "{what}: {error}");
        assert!(error.to_string().contains(part), "{what}: {error}");
    }
    // Every damaged byte gives a result or an error.
    for at in 0..whole_hdr.len().min(300) {
        for bits in [0xff, 0x20, 0x01] {
            let mut bytes = whole_hdr.clone();
            bytes[at] ^= bits;
            let _ = Panorama::decode(&bytes, &Limits::default());
        }
    }
}

#[test]
fn smallest_panoramas_are_baked() {
    let light = bake(&pfm(2, 1, |x, _| [x as f32; 3]), 64);
    assert!(
        light
            .levels
            .iter()
            .flat_map(|level| level.as_chunks::<4>().0)
            .all(|texel| { decode(u32::from_le_bytes(*texel)).iter().all(|c| (0.0..=1.0).contains(c)) })
    );
}
