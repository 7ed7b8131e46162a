//! Instances that move at constant rates are where an f64 reference says, on devices with compute
//! and without.

use crate::common::model::{Random, plain};
use crate::common::squares::{map, renderer, square_recipe, squares};
use crate::common::{BACKENDS, Gpu, compute, gpu};
use glam::{DVec3, Vec3};
use gpuskin_rt::internals::*;

/// Reference of an instance, by another formula: position and heading.
#[derive(Clone, Copy, Debug)]
pub struct Walker {
    pub at: DVec3,
    pub heading: f64,
    pub motion: Motion,
}

impl Walker {
    pub fn after(self, seconds: f64) -> Self {
        let Motion { velocity, turn_rate, .. } = self.motion;
        let [side, up, ahead] = velocity.map(f64::from);
        let rate = f64::from(turn_rate);
        let heading = self.heading + rate * seconds;
        // Antiderivatives of the velocity's components: x = side cos h + ahead sin h, and so on.
        let x = |h: f64| (side * h.sin() - ahead * h.cos()) / rate;
        let z = |h: f64| (side * h.cos() + ahead * h.sin()) / rate;
        let moved = if rate == 0.0 {
            let (sin, cos) = heading.sin_cos();
            DVec3::new(side * cos + ahead * sin, up, ahead * cos - side * sin) * seconds
        } else {
            DVec3::new(x(heading) - x(self.heading), up * seconds, z(heading) - z(self.heading))
        };
        Self { at: self.at + moved, heading, ..self }
    }

    /// Distance of a found transform, and the angle between both headings.
    fn errors(&self, found: &Transform) -> [f64; 2] {
        let [x, y, z, w] = found.rotation.map(f64::from);
        let apart = self.heading - 2.0 * f64::atan2(y, w);
        [
            self.at.distance(Vec3::from(found.translation).as_dvec3()),
            (0.5 * apart).sin().abs() * 2.0 + x.abs() + z.abs(),
        ]
    }
}

pub fn prepare(gpu: &Gpu, renderer: &mut CrowdRenderer, time: f64) {
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    renderer.prepare(&gpu.queue, &mut encoder, &map(8.0), time).unwrap();
    gpu.queue.submit([encoder.finish()]);
}

/// A motion after which a walker is within two kilometres of the origin.
pub fn next(random: &mut Random, walker: &Walker, seconds: f64) -> Motion {
    for _ in 0..20 {
        let velocity = [random.within(-0.5, 0.5), 0.0, random.within(-1.0, 2.0)];
        let turn_rate = [0.0, 1e-6, 1e-3, 0.02, -0.3, 2.5][random.below(6) as usize] * random.within(0.5, 1.0);
        let motion = Motion { velocity, turn_rate, ..Motion::STILL };
        let there = Walker { motion, ..*walker }.after(seconds);
        if there.at.length() < 2000.0 {
            return motion;
        }
    }
    Motion::STILL
}

/// A week of commands at irregular times: no instance is ever a millimetre off.
pub fn a_week_of_commands_stays_within_a_millimetre() {
    let devices = BACKENDS.into_iter().filter_map(gpu).chain(BACKENDS.into_iter().filter_map(compute));
    for gpu in devices {
        let mut renderer = renderer(&gpu);
        let test = squares(square_recipe(Encoding::MatrixF16, plain([1.0; 4])));
        let crowd = Crowd::with_model(&mut renderer, &test.model, Default::default()).unwrap();
        let mut random = Random(5);
        let mut walkers: Vec<_> = (0..24)
            .map(|_| {
                let at =
                    Vec3::new(random.within(-1200.0, 1200.0), random.within(-5.0, 5.0), random.within(-1200.0, 1200.0));
                Walker { at: at.as_dvec3(), heading: 0.0, motion: Motion::STILL }
            })
            .collect();
        let ids: Vec<_> = walkers.iter().map(|walker| crowd.spawn(Instance::at(walker.at.as_vec3()))).collect();
        // The renderer has run for a while.
        let mut time = 40_000.0;
        prepare(&gpu, &mut renderer, time);
        let (mut worst, mut commands) = ([0.0_f64; 2], 0);
        while time < 40_000.0 + 7.0 * 86_400.0 {
            let seconds = f64::from(random.below(100_000) + 1) / 64.0;
            for (walker, id) in walkers.iter_mut().zip(&ids) {
                // Some keep their motion for a while.
                if walker.motion == Motion::STILL || random.below(3) > 0 || walker.after(seconds).at.length() > 2000.0 {
                    walker.motion = next(&mut random, walker, seconds);
                    crowd.set_motion(*id, walker.motion).unwrap();
                    commands += 1;
                }
                *walker = walker.after(seconds);
            }
            time += seconds;
            prepare(&gpu, &mut renderer, time);
            let drawn = crowd.drawn_transforms(&renderer).unwrap();
            for ((walker, id), drawn) in walkers.iter().zip(&ids).zip(&drawn) {
                for found in [*drawn, crowd.transform(*id).unwrap()] {
                    worst = [0, 1].map(|i| worst[i].max(walker.errors(&found)[i]));
                }
            }
        }
        assert!(commands > 5_000, "{commands}");
        assert!(worst[0] < 1e-3 && worst[1] < 1e-4, "{}: {} m, {} radians", gpu.name, worst[0], worst[1]);
    }
}

/// Commands on moving instances: to another place, stopped, despawned, restored.
pub fn commands_continue_or_stop_a_motion() {
    for gpu in BACKENDS.into_iter().filter_map(gpu).chain(BACKENDS.into_iter().filter_map(compute)) {
        let mut renderer = renderer(&gpu);
        let test = squares(square_recipe(Encoding::MatrixF16, plain([1.0; 4])));
        let crowd = Crowd::with_model(&mut renderer, &test.model, Default::default()).unwrap();
        let walk = Motion::forwards(2.0);
        let ids: Vec<_> =
            (0..5).map(|i| crowd.spawn(Instance::at([i as f32, 0.0, 0.0]).scaled(1.5).moving(walk))).collect();
        prepare(&gpu, &mut renderer, 1.0);
        crowd.move_to(ids[0], [10.0, 0.0, 0.0]).unwrap();
        crowd.set_motion(ids[1], Motion::STILL).unwrap();
        crowd.face(ids[2], core::f32::consts::FRAC_PI_2).unwrap();
        crowd.scale_to(ids[3], 3.0).unwrap();
        prepare(&gpu, &mut renderer, 2.5);
        crowd.despawn(ids[0]).unwrap();
        prepare(&gpu, &mut renderer, 3.0);
        let near = |found: &Transform, x: f32, z: f32, scale: f32| {
            let apart = Vec3::from(found.translation).distance(Vec3::new(x, 0.0, z));
            assert!(apart < 1e-5 && found.scale == scale, "{}: {found:?}, expected {x}, {z}", gpu.name);
        };
        let check = |crowd: &Crowd<Dynamic>, renderer: &CrowdRenderer| {
            // The last one has taken the place of the first.
            let drawn = crowd.drawn_transforms(renderer).unwrap();
            assert_eq!(drawn.len(), 4);
            for (i, found) in drawn.iter().enumerate() {
                let (x, z, scale) = [(4.0, 6.0, 1.5), (1.0, 2.0, 1.5), (6.0, 2.0, 1.5), (3.0, 6.0, 3.0)][i];
                near(found, x, z, scale);
                near(&crowd.transform(crowd.id_at(i as u32).unwrap()).unwrap(), x, z, scale);
            }
        };
        // Spawned before the first frame, at time zero.
        check(&crowd, &renderer);
        assert_eq!([1, 2].map(|i| crowd.motion(ids[i])), [Some(Motion::STILL), Some(walk)]);
        let saved = crowd.snapshot();
        prepare(&gpu, &mut renderer, 9.0);
        crowd.restore(&saved).unwrap();
        prepare(&gpu, &mut renderer, 9.0);
        check(&crowd, &renderer);
        let ids: Vec<_> = (0..4).map(|i| crowd.id_at(i).unwrap()).collect();
        let odd = Motion { velocity: [f32::NAN; 3], turn_rate: f32::INFINITY, ..Motion::STILL };
        crowd.set_motions(&ids, &[odd; 4]).unwrap();
        prepare(&gpu, &mut renderer, 20.0);
        check(&crowd, &renderer);
        assert!(crowd.set_motions(&ids, &[walk]).unwrap_err().to_string().contains("4 ids, but 1 motions"));
        // Grows beyond its capacity while it moves.
        crowd.set_motions(&ids, &[walk; 4]).unwrap();
        let more = crowd.spawn_many((0..500).map(|i| Instance::at([i as f32, 1.0, 0.0]).moving(walk)));
        prepare(&gpu, &mut renderer, 21.0);
        let drawn = crowd.drawn_transforms(&renderer).unwrap();
        near(&drawn[0], 4.0, 8.0, 1.5);
        assert_eq!(
            (drawn[503].translation, crowd.transform(more[499]).unwrap().translation),
            ([499.0, 1.0, 2.0], [499.0, 1.0, 2.0])
        );
    }
}
