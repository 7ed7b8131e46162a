//! Normals of vertex-animation textures in blocks of BC7 and ASTC: their error, and the bytes that
//! blocks would save.
//!
//! UASTC is a subset of ASTC, so a device with ASTC shows the texels that UASTC decodes to. BC7 is
//! made from UASTC, and is no better.

use basis_universal::encoding::ColorSpace;
use basis_universal::transcoding::TranscoderTextureFormat;
use glam::{DVec2, DVec3};
use gpuskin_build::Manifest;
use gpuskin_build::internals::pose::{PosePath, PoseRequest, PoseTimes, pose};
use gpuskin_rt::internals::vertex::{from_octahedral, octahedral};

use crate::Options;
use crate::context::text;
use crate::report::{heading, line};
use crate::textures::{compress, transcode};

/// Frames per second.
const RATE: f64 = 30.0;

/// Encoding of a unit vector in three bytes.
#[derive(Clone, Copy)]
enum Way {
    /// Octahedral map in two components.
    Octahedral,
    /// x, y and z in three components.
    Cartesian,
}

pub(crate) fn measure(options: &Options) -> Result<(), String> {
    heading("normals of vertex mode in blocks of 4 x 4 (frames down, vertices across): 1 byte per normal instead of 2");
    let manifest = Manifest::load(&options.manifest).map_err(|findings| text(&findings))?;
    for (model, clip, seconds) in [("soldier", "run", 0.7), ("hound", "run", 0.467)] {
        let frames = frames(&manifest, model, clip, seconds)?;
        for (name, way) in [("octahedral", Way::Octahedral), ("x, y, z", Way::Cartesian)] {
            let [plain, blocks] = errors(&frames, way);
            for (kind, angles) in [("8 bits per component", plain), ("in blocks", blocks)] {
                let at = |share: f64| angles[((angles.len() - 1) as f64 * share) as usize];
                line(
                    &format!("{model}, {clip}, {name}, {kind}"),
                    format!("median {:6.2}, 99 % {:6.2}, worst {:6.2} degrees", at(0.5), at(0.99), at(1.0)),
                );
            }
        }
    }
    Ok(())
}

/// Normals of all vertices. `[frame][vertex]`, unit length.
fn frames(manifest: &Manifest, model: &str, clip: &str, seconds: f64) -> Result<Vec<Vec<DVec3>>, String> {
    let times = (0..(seconds * RATE) as usize).map(|i| i as f64 / RATE).collect();
    let request = PoseRequest {
        model: model.into(),
        clip: clip.into(),
        times: PoseTimes::Seconds(times),
        path: PosePath::Source,
        encoding: None,
    };
    let posed = pose(manifest, &request).map_err(|findings| text(&findings))?;
    Ok(posed.frames.into_iter().map(|frame| frame.into_iter().map(|(_, normal)| normal).collect()).collect())
}

/// Angles between encoded and source normals in degrees, ascending: with components rounded to 8
/// bits, and in blocks.
fn errors(frames: &[Vec<DVec3>], way: Way) -> [Vec<f64>; 2] {
    let (width, height) = (frames[0].len().next_multiple_of(4), frames.len().next_multiple_of(4));
    // Normals at the edges are repeated to fill the last blocks.
    let normal = |x: usize, y: usize| frames[y.min(frames.len() - 1)][x.min(frames[0].len() - 1)];
    let texels: Vec<u8> = (0..width * height).flat_map(|i| bytes(normal(i % width, i / width), way)).collect();
    let file = compress(&texels, [width as u32, height as u32], ColorSpace::Linear, 1);
    let decoded = transcode(&file, TranscoderTextureFormat::RGBA32).swap_remove(0);
    assert_eq!(decoded.len(), texels.len());
    [texels, decoded].map(|texels| {
        let off = |i: usize| {
            let (x, y) = (i % width, i / width);
            let found = direction(&texels[i * 4..][..3], way);
            (x < frames[0].len() && y < frames.len()).then(|| found.angle_between(normal(x, y)).to_degrees())
        };
        let mut angles: Vec<f64> = (0..width * height).filter_map(off).collect();
        angles.sort_by(f64::total_cmp);
        angles
    })
}

fn bytes(normal: DVec3, way: Way) -> [u8; 4] {
    let byte = |v: f64| ((v * 0.5 + 0.5) * 255.0).round() as u8;
    match way {
        Way::Octahedral => {
            let e = octahedral(normal.as_vec3());
            [byte(e.x.into()), byte(e.y.into()), 0, 255]
        }
        Way::Cartesian => [byte(normal.x), byte(normal.y), byte(normal.z), 255],
    }
}

fn direction(texel: &[u8], way: Way) -> DVec3 {
    let value = |i: usize| f64::from(texel[i]) / 255.0 * 2.0 - 1.0;
    match way {
        Way::Octahedral => from_octahedral(DVec2::new(value(0), value(1)).as_vec2()).as_dvec3(),
        Way::Cartesian => DVec3::new(value(0), value(1), value(2)).normalize_or(DVec3::Y),
    }
}
