use super::*;

const RANGE: VertexRange = VertexRange {
    position_min: [-1.0, 0.0, -0.5],
    position_extent: [2.0, 1.8, 1.0],
    uv_min: [0.0, -1.0],
    uv_extent: [1.0, 2.0],
};

fn sample() -> Vertex {
    Vertex {
        position: Vec3::new(0.25, 1.1, -0.3),
        normal: Vec3::new(-0.3, 0.2, -0.8).normalize(),
        tangent: Vec3::new(0.8, 0.1, -0.2).normalize().extend(-1.0),
        uv: Vec2::new(0.3, 0.9),
        second_uv: Vec2::new(-7.3, 1.0 / 3.0),
        joints: [3, 1000, 257, 12, 0, 0, 0, 0],
        weights: [0.1, 0.6, 0.25, 0.05, 0.0, 0.0, 0.0, 0.0],
        part: 16,
        color: Vec4::new(1.0, 0.2, 0.0, 0.6),
    }
}

#[test]
fn full_vertices_keep_every_bit() {
    let format = VertexFormat { packing: Packing::Full, tangent: true, second_uv: true, color: true };
    let words = pack(&sample(), format, &RANGE);
    assert_eq!(words.len(), format.words());
    let v = unpack(&words, format, &RANGE);
    assert_eq!(
        (v.position, v.normal, v.tangent, v.uv),
        (sample().position, sample().normal, sample().tangent, sample().uv)
    );
    assert_eq!((v.joints, v.part), ([1000, 257, 3, 12, 0, 0, 0, 0], 16));
    assert_eq!(v.weights, [0.6, 0.25, 0.1, 0.05, 0.0, 0.0, 0.0, 0.0]);
    assert_eq!(v.color, sample().color);

    let many = eight();
    for (tangent, color) in [(false, false), (true, false), (false, true), (true, true)] {
        let format = VertexFormat { packing: Packing::Full8, tangent, second_uv: false, color };
        let words = pack(&many, format, &RANGE);
        assert_eq!(words.len(), format.words());
        let v = unpack(&words, format, &RANGE);
        assert_eq!((v.position, v.normal, v.uv, v.part), (many.position, many.normal, many.uv, 16));
        assert_eq!((v.joints, v.weights), (many.joints, many.weights));
        assert_eq!(v.tangent, if tangent { many.tangent } else { Vec4::X });
        assert_eq!(v.color, if color { many.color } else { Vec4::ONE });
    }
}

/// Returns a vertex with eight influences, greatest first.
fn eight() -> Vertex {
    let joints = [1023, 257, 512, 3, 700, 1000, 1, 1021];
    Vertex { joints, weights: [0.23, 0.2, 0.15, 0.12, 0.1, 0.09, 0.06, 0.05], ..sample() }
}

#[test]
fn eight_packed_influences_keep_joints_and_weights() {
    let equal = Vertex { weights: [0.125; 8], ..eight() };
    let five = Vertex { weights: [0.2, 0.2, 0.2, 0.2, 0.2, 0.0, 0.0, 0.0], ..eight() };
    for vertex in [eight(), equal, five, sample()] {
        for (tangent, color) in [(false, false), (true, false), (false, true), (true, true)] {
            let format = VertexFormat { packing: Packing::Wide8, tangent, second_uv: false, color };
            let words = pack(&vertex, format, &RANGE);
            assert_eq!(words.len(), format.words());
            let v = unpack(&words, format, &RANGE);
            assert_eq!(v.weights.iter().sum::<f32>(), 1.0);
            for (bone, weight) in v.joints.into_iter().zip(v.weights).filter(|(_, weight)| *weight > 0.0) {
                let k = vertex.joints.iter().position(|joint| *joint == bone).expect("a joint of the source");
                assert!((vertex.weights[k] - weight).abs() <= 8.0 / 65_536.0, "{bone} {weight}");
            }
            assert!((v.position - vertex.position).abs().max_element() < 2.0 / 65_535.0);
            assert_eq!(v.part, 16);
            if tangent {
                assert!(v.tangent.truncate().distance(sample().tangent.truncate()) < 2e-4 && v.tangent.w == -1.0);
            }
            assert_eq!(v.color, if color { sample().color } else { Vec4::ONE });
        }
    }
}

#[test]
fn packed_vertex_error_is_within_one_step() {
    for (packing, step) in [(Packing::Narrow, 1.0 / 4096.0), (Packing::Wide, 1.0 / 65_536.0)] {
        for (tangent, color) in [(false, false), (true, false), (false, true), (true, true)] {
            let format = VertexFormat { packing, tangent, second_uv: false, color };
            let words = pack(&sample(), format, &RANGE);
            assert_eq!(words.len(), format.words());
            let v = unpack(&words, format, &RANGE);
            assert!((v.position - sample().position).abs().max_element() < 2.0 / 65_535.0);
            assert!(v.normal.distance(sample().normal) < 1e-4);
            assert!((v.uv - sample().uv).abs().max_element() < 2.0 / 65_535.0);
            assert_eq!((v.joints, v.part), ([1000, 257, 3, 12, 0, 0, 0, 0], 16));
            for (a, b) in v.weights.iter().zip([0.6, 0.25, 0.1, 0.05]) {
                assert!((a - b).abs() <= 2.0 * step, "{a} {b}");
            }
            assert_eq!(v.weights.iter().sum::<f32>(), 1.0);
            if tangent {
                assert!(v.tangent.truncate().distance(sample().tangent.truncate()) < 2e-4);
                assert_eq!(v.tangent.w, -1.0);
            }
            assert_eq!(v.color, if color { sample().color } else { Vec4::ONE });
        }
    }
}

#[test]
fn static_vertex_keeps_row_sign_texture_coordinates_and_colour() {
    for (tangent, sign, color) in [(false, 0.0, false), (true, -1.0, false), (true, -1.0, true)] {
        let format = VertexFormat { packing: Packing::Static, tangent, second_uv: false, color };
        let row = 0x254_3210;
        let words = pack(&Vertex { joints: [row, 0, 0, 0, 0, 0, 0, 0], ..sample() }, format, &RANGE);
        assert_eq!(words.len(), format.words());
        let v = unpack(&words, format, &RANGE);
        assert_eq!((v.joints[0], v.part, v.tangent.w), (row, 16, sign));
        assert_eq!(v.color, if color { sample().color } else { Vec4::ONE });
        assert!((v.uv - sample().uv).abs().max_element() < 2.0 / 65_535.0);
    }
}

#[test]
fn packed_weights_sum_to_one() {
    for four in [[1.0, 0.0, 0.0, 0.0], [0.5, 0.5, 0.0, 0.0], [0.25; 4], [1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0, 0.0]] {
        let mut weights = [0.0; 8];
        weights[..4].copy_from_slice(&four);
        for packing in [Packing::Narrow, Packing::Wide] {
            let format = VertexFormat { packing, tangent: false, second_uv: false, color: false };
            let v = unpack(&pack(&Vertex { weights, ..sample() }, format, &RANGE), format, &RANGE);
            assert_eq!(v.weights.iter().sum::<f32>(), 1.0);
            assert!(v.weights.iter().zip(weights).all(|(a, b)| (a - b).abs() < 6e-4), "{:?}", v.weights);
        }
    }
}

#[test]
fn second_texture_coordinates_are_exact_in_every_format_and_change_nothing_else() {
    let packings = [Packing::Full, Packing::Narrow, Packing::Wide, Packing::Static, Packing::Full8, Packing::Wide8];
    for (packing, tangent, color) in packings.into_iter().flat_map(|packing| {
        [(false, false), (true, false), (false, true), (true, true)].map(|(tangent, color)| (packing, tangent, color))
    }) {
        let of = |second_uv| {
            let format = VertexFormat { packing, tangent, second_uv, color };
            let words = pack(&eight(), format, &RANGE);
            assert_eq!(words.len(), format.words());
            // The shader has six attributes of at most four words.
            assert!(words.len() <= 24, "{format:?}");
            unpack(&words, format, &RANGE)
        };
        let (with, without) = (of(true), of(false));
        assert_eq!((with.second_uv, without.second_uv), (sample().second_uv, Vec2::ZERO));
        assert!(with.tangent.distance(without.tangent) < 2e-4, "{packing:?}");
        assert_eq!(with, Vertex { second_uv: with.second_uv, tangent: with.tangent, ..without });
    }
}

#[test]
fn octahedral_map_round_trips_on_every_face_and_axis() {
    for v in [
        Vec3::X,
        -Vec3::X,
        Vec3::Y,
        -Vec3::Y,
        Vec3::Z,
        -Vec3::Z,
        Vec3::new(-0.5, -0.6, -0.7),
        Vec3::new(0.1, -0.9, 0.2),
    ] {
        let v = v.normalize();
        assert!(from_octahedral(octahedral(v)).abs_diff_eq(v, 1e-6), "{v}");
    }
}
