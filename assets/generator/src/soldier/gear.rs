//! Helmet, sword and shield: rigid meshes attached to head and hands. Metres.

use super::limbs::grip;
use super::rig::{ARM, ARM_OUT, SIDES, side, sided};
use super::texture as tex;
use crate::glb::Rigid;
use crate::math::{aim, lerp, smoothstep};
use crate::mesh::{Part, Ring, grid, loft, plate};
use crate::skeleton::Skeleton;
use glam::{DQuat, DVec3, dvec3};

const CLOTH: usize = 0;
const METAL: usize = 1;

pub(crate) fn all(s: &Skeleton) -> Vec<Rigid> {
    let at = |bone: usize, p: DVec3| p - s.bones[bone].at;
    let head = s.find("Head");
    let (left, right) = (sided(s, "Hand", SIDES[0].1), sided(s, "Hand", SIDES[1].1));
    vec![
        Rigid {
            name: "Helmet",
            bone: head,
            translation: dvec3(0.0, 0.0, 0.0),
            rotation: DQuat::IDENTITY,
            primitives: helmet(s.bones[head].at),
        },
        Rigid {
            name: "Sword",
            bone: right,
            translation: at(right, side(grip(), -1.0)),
            // The blade (+Y) leaves the fist on the side of the thumb, one edge towards the
            // knuckles.
            rotation: aim(DVec3::Y, DVec3::X, DVec3::Z, side(ARM, -1.0)),
            primitives: sword(),
        },
        Rigid {
            name: "Shield",
            bone: left,
            translation: at(left, grip()),
            // Held by a level grip behind the boss, the back of the hand up.
            rotation: aim(DVec3::Z, DVec3::Y, ARM, ARM_OUT),
            primitives: shield(),
        },
    ]
}

/// Axes of the sword in the right hand and of the shield in the left, in bind pose: (direction that
/// the clips aim, second direction).
pub(crate) fn held(sign: f64) -> (DVec3, DVec3) {
    if sign > 0.0 { (ARM, ARM_OUT) } else { (DVec3::Z, side(ARM, -1.0)) }
}

/// Point on the shell of the skull. `turn`: radians from the front over the left; `y`: metres above
/// the ground.
fn shell(turn: f64, y: f64, extra: f64) -> DVec3 {
    let t = ((y - 1.705) / 0.135).clamp(0.0, 1.0);
    let r = libm::sqrt(1.0 - libm::pow(t, 2.3)) + 0.0001;
    let front = libm::cos(turn);
    let depth = if front > 0.0 { 0.114 } else { 0.126 };
    dvec3(libm::sin(turn) * (0.097 * r + extra), y, -0.006 + front * (depth * r + extra))
}

fn helmet(head: DVec3) -> Vec<(usize, Vec<Part>)> {
    let (metal, cloth) = (tex::STEEL, tex::BRASS);
    let tau = crate::math::TAU;
    let rows = [1.703, 1.708, 1.742, 1.776, 1.806, 1.829, 1.8385];
    let bowl = grid("bowl", rows.len(), 20, metal, tex::SIZE, |row, i| {
        let turn = (i % 20) as f64 / 20.0 * tau;
        // Higher over the face than at the back.
        let y = rows[row] + 0.024 * smoothstep(-0.2, 0.9, libm::cos(turn)) * (1.0 - row as f64 / 6.0);
        (shell(turn, y, if row == 0 { -0.012 } else { 0.0 }), i as f64 / 20.0, row as f64 / 6.0)
    });
    let visor = plate("visor", 2, 9, cloth, tex::SIZE, |v, u| {
        let turn = lerp(-1.45, 1.45, u);
        let reach = libm::cos(turn) * 0.034 * v + 0.006;
        let p = shell(turn, 1.737, reach) - DVec3::Y * (0.010 * v);
        (p + DVec3::Y * 0.005, p - DVec3::Y * 0.005)
    });
    let band = plate("band", 2, 19, cloth, tex::SIZE, |v, u| {
        let turn = lerp(-3.1, 3.1, u);
        let y = 1.706 + 0.024 * smoothstep(-0.2, 0.9, libm::cos(turn)) + 0.022 * v;
        (shell(turn, y, 0.005), shell(turn, y, -0.004))
    });
    let neck = plate("neck guard", 4, 9, metal, tex::SIZE, |v, u| {
        let turn = core::f64::consts::PI + lerp(-1.75, 1.75, u);
        let flare = 0.055 * smoothstep(0.55, 1.0, v) * smoothstep(1.8, 0.6, libm::fabs(turn - core::f64::consts::PI));
        let p = |extra: f64| shell(turn, 1.706, extra + flare) - DVec3::Y * (0.10 * libm::pow(v, 0.85));
        (p(0.002), p(-0.007) - DVec3::Y * (0.006 * smoothstep(0.5, 1.0, v)))
    });
    let mut steel = vec![bowl, neck];
    for sign in [1.0, -1.0] {
        let cheek = plate("cheek guard", 5, 4, metal, tex::SIZE, |v, u| {
            // Broad at the temple, curving forward to the jaw.
            let y = lerp(1.722, 1.585, v);
            let back = lerp(1.72, 1.30, v);
            let front = lerp(1.02, 0.62, smoothstep(0.35, 1.0, v)) - 0.10 * smoothstep(0.5, 0.0, v);
            let turn = lerp(front, back, u);
            let narrow = lerp(1.0, 0.80, smoothstep(0.2, 1.0, v));
            let p = |extra: f64| {
                let q = shell(turn, 1.70, extra);
                dvec3(q.x * narrow, y, q.z * lerp(1.0, 0.98, v))
            };
            (p(0.0), p(-0.010))
        });
        steel.push(cheek.map(|p| side(p, sign)));
    }
    let arc = |t: f64| {
        // Arc over the skull from forehead to neck, in the plane x = 0.
        let angle = lerp(0.30, 2.85, t);
        let front = libm::cos(angle);
        dvec3(0.0, 1.712 + 0.128 * libm::sin(angle), -0.006 + front * if front > 0.0 { 0.112 } else { 0.124 })
    };
    let out = |t: f64| dvec3(0.0, libm::sin(lerp(0.30, 2.85, t)), libm::cos(lerp(0.30, 2.85, t)));
    let ridge = plate("crest holder", 9, 2, cloth, tex::SIZE, |v, u| {
        let p = arc(v) + DVec3::X * lerp(-0.017, 0.017, u);
        (p + out(v) * 0.010, p - out(v) * 0.008)
    });
    let crest = grid("crest", 11, 10, tex::PLUME, tex::SIZE, |row, i| {
        let t = row as f64 / 10.0;
        let height = 0.088 * smoothstep(-0.25, 0.30, t) * lerp(1.0, 0.80, smoothstep(0.55, 1.0, t));
        // Around from the left foot of the crest over its top to the right one.
        let k = (i % 10) as f64;
        let (x, h) = if k < 5.0 { (1.0, k / 4.0) } else { (-1.0, (9.0 - k) / 4.0) };
        let width = 0.013 + 0.009 * libm::sin(h * 2.6);
        let p = arc(t) + out(t) * (0.006 + height * h) + DVec3::X * x * width * if h > 0.95 { 0.45 } else { 1.0 };
        (p, t, h)
    });
    let place = |part: Part| part.map(|p| p - head);
    vec![
        (CLOTH, vec![visor, band, ridge, crest].into_iter().map(place).collect()),
        (METAL, steel.into_iter().map(place).collect()),
    ]
}

/// Short sword: blade along +Y, edges along X, middle of the grip at the origin.
fn sword() -> Vec<(usize, Vec<Part>)> {
    let ring = |y: f64, w: f64, d: f64, power: f64| Ring {
        center: DVec3::Y * y,
        side: DVec3::X * w,
        front: DVec3::Z * d,
        back: DVec3::Z * d,
        power,
    };
    // Two bevels: a superellipse of power 1 is a diamond.
    let blade = loft(
        "blade",
        &[
            ring(0.062, 0.027, 0.0058, 1.0),
            ring(0.20, 0.0245, 0.0055, 1.0),
            ring(0.36, 0.0275, 0.0053, 1.0),
            ring(0.48, 0.0265, 0.0050, 1.0),
            ring(0.545, 0.016, 0.0042, 1.0),
            ring(0.600, 0.0012, 0.0010, 1.0),
        ],
        4,
        tex::STEEL,
        tex::SIZE,
    )
    .faceted();
    let guard = loft(
        "guard",
        &[
            ring(0.044, 0.030, 0.016, 3.0),
            ring(0.048, 0.040, 0.020, 3.0),
            ring(0.062, 0.040, 0.020, 3.0),
            ring(0.067, 0.030, 0.014, 3.0),
        ],
        8,
        tex::BRASS,
        tex::SIZE,
    );
    let grip = loft(
        "grip",
        &[-0.062, -0.022, 0.0, 0.022, 0.046]
            .map(|y| ring(y, 0.0125 + 0.002 * libm::cos(y * 143.0), 0.0115 + 0.002 * libm::cos(y * 143.0), 2.0)),
        6,
        tex::WOOD,
        tex::SIZE,
    );
    let pommel = loft(
        "pommel",
        &[(-0.100, 0.006), (-0.096, 0.017), (-0.082, 0.024), (-0.068, 0.017), (-0.062, 0.010)]
            .map(|(y, r)| ring(y, r, r * 0.9, 2.0)),
        8,
        tex::BRASS,
        tex::SIZE,
    );
    vec![(CLOTH, vec![guard, grip, pommel]), (METAL, vec![blade])]
}

/// Curved shield: face along +Z, middle of the grip at the origin.
fn shield() -> Vec<(usize, Vec<Part>)> {
    const HALF_WIDTH: f64 = 0.29;
    const HALF_HEIGHT: f64 = 0.42;
    const BEND: f64 = 0.36; // radius of curvature, metres
    let at = |u: f64, v: f64, r: f64| {
        let angle = (u - 0.5) * 2.0 * HALF_WIDTH / BEND;
        dvec3(libm::sin(angle) * r, (0.5 - v) * 2.0 * HALF_HEIGHT, 0.062 - BEND + libm::cos(angle) * r)
    };
    let (columns, rows) = (9, 5);
    // Face and back of the board are separate parts, because its edge is hard and their textures
    // differ.
    let face = |name: &str, outer: f64, inner: f64, rect| {
        plate(name, rows, columns, rect, tex::SIZE, |v, u| (at(u, v, outer), at(u, v, inner)))
    };
    let front = face("face", BEND, BEND - 0.006, tex::SHIELD);
    let back = face("back", BEND - 0.0065, BEND - 0.014, tex::SHIELD_BACK);
    let bar = loft(
        "bar",
        &[-0.15, -0.14, -0.05, 0.05, 0.14, 0.15].map(|x: f64| {
            let r = if libm::fabs(x) > 0.145 { 0.004 } else { 0.0115 };
            let z = if libm::fabs(x) > 0.1 { 0.012 } else { 0.0 };
            Ring { center: dvec3(x, 0.0, z), side: DVec3::Y * r, front: DVec3::Z * r, back: DVec3::Z * r, power: 2.0 }
        }),
        6,
        tex::WOOD,
        tex::SIZE,
    );
    let boss = grid("boss", 6, 14, tex::STEEL, tex::SIZE, |row, i| {
        let (r, z) =
            [(0.098, 0.052), (0.100, 0.064), (0.074, 0.068), (0.062, 0.092), (0.036, 0.116), (0.008, 0.124)][row];
        let turn = (i % 14) as f64 / 14.0 * crate::math::TAU;
        let (x, y) = (r * libm::cos(turn), r * libm::sin(turn));
        // The rim follows the board's bend.
        let z = z - if row < 3 { BEND - libm::sqrt(BEND * BEND - x * x) } else { 0.0 };
        (dvec3(x, y, z), i as f64 / 14.0, row as f64 / 5.0)
    });
    vec![(CLOTH, vec![front, back, bar]), (METAL, vec![boss])]
}
