//! Tuft of grass with two ears, for fields, with the clips `sway` and `gust`.

use crate::glb::{Material, Model};
use crate::math::{TAU, hash, lerp, noise, rot_x, rot_y, rot_z, sin_turn, smoothstep};
use crate::mesh::{Part, Rect, Ring, chain, loft};
use crate::paint::{Canvas, mix, rgb};
use crate::skeleton::{Clip, Pose, Skeleton};
use glam::DVec3;

const SIZE: f64 = 64.0;
const LEAF: Rect = Rect::new(0.0, 0.0, 32.0, 64.0);
const EAR: Rect = Rect::new(32.0, 0.0, 32.0, 64.0);
const BLADES: usize = 14;
const STALKS: usize = 2;

/// Blade or stalk at rest.
struct Blade {
    base: DVec3,
    /// Horizontal direction in which it bends, unit length.
    out: DVec3,
    /// Height of the tip; then its horizontal distance from the base. Metres.
    height: f64,
    bend: f64,
    stalk: bool,
}

impl Blade {
    fn all() -> Vec<Self> {
        let lot = |i: usize, k: i64| hash(i as i64, k, 7);
        (0..BLADES + STALKS)
            .map(|i| {
                let angle = i as f64 * 2.399_963 + 0.6 * lot(i, 0);
                let out = rot_y(angle) * DVec3::Z;
                let stalk = i >= BLADES;
                let height = if stalk { lerp(0.62, 0.74, lot(i, 1)) } else { lerp(0.28, 0.56, lot(i, 1)) };
                let bend = if stalk { lerp(0.05, 0.1, lot(i, 2)) } else { lerp(0.06, 0.30, lot(i, 2)) };
                Self { base: out * lerp(0.01, 0.08, lot(i, 3)), out, height, bend, stalk }
            })
            .collect()
    }

    /// Point at the fraction `t` of its length, 0..1.
    fn at(&self, t: f64) -> DVec3 {
        // A blade that bends far droops.
        let up = t - 0.55 * (self.bend / self.height) * t * t * t;
        self.base + self.out * self.bend * t * t + DVec3::Y * self.height * up
    }

    fn part(&self, bones: [usize; 2]) -> Vec<Part> {
        let side = DVec3::Y.cross(self.out);
        let ring = |t: f64, wide: f64, thick: f64| {
            let tangent = (self.at(t + 0.01) - self.at(t - 0.01)).normalize();
            let front = side.cross(tangent).normalize() * thick;
            Ring { center: self.at(t), side: side * wide, front, back: front, power: 2.0 }
        };
        let skinned = |part: Part| {
            let along = |p: DVec3| (p.y / self.at(1.0).y).clamp(0.0, 1.0);
            part.skinned(|p| chain(along(p), &[(bones[0], 0.0, 0.0), (bones[1], 0.45, 0.4)]))
        };
        if !self.stalk {
            // Both ends are points.
            let rings = [(0.0, 0.0), (0.2, 1.0), (0.5, 0.9), (0.8, 0.55), (1.0, 0.0)];
            let rings = rings.map(|(t, width)| ring(t, 0.011 * width, 0.003 * width));
            return vec![skinned(loft("Blade", &rings, 4, LEAF, SIZE))];
        }
        let stem = [(0.0, 0.0), (0.1, 0.0035), (0.5, 0.003), (0.85, 0.0)].map(|(t, r)| ring(t, r, r));
        let ear = [(0.80, 0.0), (0.86, 0.010), (0.95, 0.008), (1.04, 0.0)].map(|(t, r)| ring(t, r, r));
        vec![skinned(loft("Stem", &stem, 3, LEAF, SIZE)), skinned(loft("Ear", &ear, 5, EAR, SIZE))]
    }
}

/// Leans all blades towards +X by `lean` and sideways by `roll`, radians at the tips. `lean` gets
/// the blade and its random phase, and returns both.
fn pose(s: &Skeleton, lean: impl Fn(usize, f64) -> [f64; 2]) -> Pose {
    let mut pose = Pose::bind(s);
    for i in 0..BLADES + STALKS {
        let [lean, roll] = lean(i, hash(i as i64, 4, 7));
        let [lower, upper] = [0.4, 0.6].map(|share| rot_z(-lean * share) * rot_x(roll * share));
        pose.local[s.find(&format!("Lower{i}"))] = lower;
        pose.local[s.find(&format!("Upper{i}"))] = upper;
    }
    pose
}

pub(crate) fn model() -> Model {
    let blades = Blade::all();
    let mut skeleton = Skeleton::default();
    skeleton.add("Root", "", DVec3::ZERO);
    let mut parts = Vec::new();
    for (i, blade) in blades.iter().enumerate() {
        let lower = skeleton.add(&format!("Lower{i}"), "Root", blade.base);
        let upper = skeleton.add(&format!("Upper{i}"), &format!("Lower{i}"), blade.at(0.5));
        parts.extend(blade.part([lower, upper]));
    }
    let sway = Clip::sample("sway", 72, true, |t| {
        pose(&skeleton, |_, lot| {
            let slow = sin_turn(t + 0.22 * lot);
            [0.10 + 0.12 * slow + 0.03 * sin_turn(3.0 * t + lot), 0.06 * sin_turn(2.0 * t + lot)]
        })
    });
    let gust = Clip::sample("gust", 48, true, |t| {
        pose(&skeleton, |_, lot| {
            let flutter = sin_turn(3.0 * t + lot) + 0.5 * sin_turn(5.0 * t + 2.0 * lot);
            [0.62 + 0.12 * sin_turn(t + 0.15 * lot) + 0.05 * flutter, 0.08 * sin_turn(4.0 * t + lot)]
        })
    });
    let clips = vec![sway.splined(3), gust.splined(2)];
    let materials = vec![Material { name: "Grass", color: [1.0; 3], textured: true, metallic: 0.0, roughness: 0.8 }];
    Model { name: "Grass", skeleton, materials, texture: paint(), body: vec![(0, parts)], rigid: Vec::new(), clips }
}

/// Paints blades from dark at the ground over green to pale tips, and ripe ears.
fn paint() -> Vec<u8> {
    let mut canvas = Canvas::new(SIZE as usize, rgb(0x3D4F1C));
    canvas.fill(LEAF, |u, v| {
        let green = mix(rgb(0x2B3A14), rgb(0x6F8A2E), smoothstep(0.0, 0.55, v));
        let tip = mix(green, rgb(0xB9B85C), smoothstep(0.6, 1.0, v));
        tip * lerp(0.85, 1.12, noise(u * 14.0, v * 3.0, 3)) * (1.0 - 0.2 * libm::fabs(libm::sin(u * TAU)))
    });
    canvas.fill(EAR, |u, v| mix(rgb(0x9A7B3A), rgb(0xD8BE7E), noise(u * 8.0, v * 14.0, 4)));
    canvas.png()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gusts_bend_the_tuft_and_it_stays_on_the_ground() {
        let model = model();
        let tip = |clip: usize, frame: usize| {
            let (s, pose) = (&model.skeleton, &model.clips[clip].frames[frame]);
            (0..BLADES)
                .map(|i| pose.carry(s, s.find(&format!("Upper{i}")), Blade::all()[i].at(1.0)))
                .collect::<Vec<_>>()
        };
        let mean = |points: Vec<DVec3>| points.iter().sum::<DVec3>() / BLADES as f64;
        assert!(mean(tip(1, 0)).x > mean(tip(0, 0)).x + 0.08);
        assert!((0..48).flat_map(|frame| tip(1, frame)).all(|p| p.y > 0.02));
        let root = model.clips[0].frames[5].carry(&model.skeleton, 1, Blade::all()[0].base);
        assert!((root - Blade::all()[0].base).length() < 1e-9);
    }
}
