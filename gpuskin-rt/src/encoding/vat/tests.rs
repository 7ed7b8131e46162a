use super::*;
use crate::AnimationTexture;

const ALL: [Encoding; 7] = [
    Encoding::VatF32,
    Encoding::VatPackedFine,
    Encoding::VatUnorm24,
    Encoding::VatUnorm16,
    Encoding::VatPacked,
    Encoding::VatF16,
    Encoding::VatUnorm8,
];

/// Directions all over the sphere, including its axes, edges and corners.
fn directions() -> Vec<DVec3> {
    let turn = |i: u32| f64::from(i) * 2.399_963_229_728_653;
    let spiral = (0..4000_u32).map(|i| {
        let z = 1.0 - (2.0 * f64::from(i) + 1.0) / 4000.0;
        let r = (1.0 - z * z).sqrt();
        DVec3::new(r * turn(i).cos(), r * turn(i).sin(), z)
    });
    let corners = (0..27).map(|i| DVec3::new(f64::from(i % 3), f64::from(i / 3 % 3), f64::from(i / 9)) - 1.0);
    spiral.chain(corners.filter(|v| *v != DVec3::ZERO).map(|v| v.normalize())).collect()
}

fn degrees(a: DVec3, b: Vec3) -> f64 {
    let b = b.as_dvec3();
    a.cross(b).length().atan2(a.dot(b)).to_degrees()
}

/// Writes one frame of vertices and reads it back.
fn round_trip(encoding: Encoding, samples: &[VertexSample]) -> Vec<BakedVertex> {
    let range = range_of(samples.iter().map(|s| s.position));
    let rows = encoding.range_rows() + samples.len() as u32;
    let height = (rows * encoding.texels()).div_ceil(64);
    let texture = AnimationTexture { width: 64, height, layers: 1, frames_per_layer: 1, frames: 1, rows, range };
    let mut bytes = range_bytes(encoding, &range);
    assert_eq!(bytes.len(), encoding.range_rows() as usize * encoding.bytes());
    for sample in samples {
        let vertex = vertex_bytes(encoding, sample, &range);
        assert_eq!(vertex.len(), encoding.bytes(), "{encoding:?}");
        bytes.extend(vertex);
    }
    bytes.resize(texture.byte_len(encoding) as usize, 0);
    let texels = Texels::new(encoding, texture, &bytes).unwrap();
    (encoding.range_rows()..rows).map(|row| texels.stored_vertex(0, row)).collect()
}

fn samples() -> Vec<VertexSample> {
    let sample = |(i, n): (usize, DVec3)| VertexSample {
        position: DVec3::new(
            -0.7 + (i % 100) as f64 * 0.0143,
            1.9 * (i as f64 / 4026.0),
            -0.3 + (i % 17) as f64 * 0.03,
        ),
        normal: n,
        tangent: n.any_orthonormal_vector() * 0.6 + n.cross(n.any_orthonormal_vector()) * (i as f64 * 0.1).sin(),
    };
    directions().into_iter().enumerate().map(sample).collect()
}

#[test]
fn every_encoding_round_trips_within_its_tolerance() {
    let samples = samples();
    for encoding in ALL {
        // Tolerances: metres, for a box of 1.4 by 1.9 by 0.5; degrees.
        let (position, normal, tangent) = match encoding {
            Encoding::VatF32 => (1e-6, 1e-4, 1e-3),
            Encoding::VatPackedFine => (3e-7, 0.003, 0.01),
            Encoding::VatUnorm24 => (3e-7, 0.003, 0.01),
            Encoding::VatUnorm16 => (2e-5, 0.003, 0.01),
            Encoding::VatPacked => (2e-5, 0.65, f64::INFINITY),
            Encoding::VatF16 => (1e-3, 0.06, 0.2),
            _ => (5e-3, 0.003, 1.0),
        };
        let mut worst = (0.0_f64, 0.0_f64, 0.0_f64);
        for (sample, read) in samples.iter().zip(round_trip(encoding, &samples)) {
            worst.0 = worst.0.max(sample.position.distance(read.position.as_dvec3()));
            worst.1 = worst.1.max(degrees(sample.normal, read.normal));
            worst.2 = worst.2.max(degrees(sample.tangent, read.tangent));
        }
        println!("{}: {worst:?}", encoding.name());
        assert!(worst.0 < position && worst.1 < normal, "{encoding:?}: {worst:?}");
        assert!(worst.2 < tangent || !encoding.holds_tangents(), "{encoding:?}: {worst:?}");
    }
}

#[test]
fn axis_aligned_directions_are_exact() {
    for axis in [DVec3::X, DVec3::Y, DVec3::Z] {
        for normal in [axis, -axis] {
            let tangent = normal.any_orthonormal_vector();
            for encoding in ALL {
                let sample = VertexSample { position: DVec3::ONE, normal, tangent };
                let read = round_trip(encoding, &[sample])[0];
                assert_eq!((read.normal.as_dvec3(), read.position), (normal, Vec3::ONE), "{encoding:?}");
            }
        }
    }
}

#[test]
fn split_bytes_are_truncated_not_rounded() {
    // 0x0180ff in 24 bits: rounding the upper bytes separately would move it by 1/256 of the range.
    let range = ValueRange { min: [0.0; 4], extent: [16_777_215.0; 4] };
    let sample = VertexSample { position: DVec3::splat(f64::from(0x01_80ff)), normal: DVec3::Z, tangent: DVec3::X };
    let bytes = vertex_bytes(Encoding::VatUnorm24, &sample, &range);
    assert_eq!([bytes[0], bytes[4], bytes[8]], [0x01, 0x80, 0xff]);
}

#[test]
fn degenerate_directions_and_ranges_stay_finite() {
    let odd = [
        VertexSample { position: DVec3::ZERO, normal: DVec3::Z, tangent: DVec3::Z },
        VertexSample { position: DVec3::ZERO, normal: DVec3::NEG_X, tangent: DVec3::ZERO },
        VertexSample { position: DVec3::ZERO, normal: DVec3::NEG_Z, tangent: DVec3::splat(f64::NAN) },
    ];
    for encoding in ALL {
        for (sample, read) in odd.iter().zip(round_trip(encoding, &odd)) {
            assert_eq!(read.position, Vec3::ZERO);
            assert!(degrees(sample.normal, read.normal) < 1e-3);
            assert!((read.tangent.length() - 1.0).abs() < 1e-3, "{encoding:?}: {read:?}");
        }
    }
    assert_eq!(range_of(std::iter::empty()).min[..3], [0.0; 3]);
    assert_eq!(range_of(std::iter::empty()).extent[..3], [0.0; 3]);
}
