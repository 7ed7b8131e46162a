//! Instances that move on a terrain are where an f64 reference says, on devices with compute and without.

use crate::common::Gpu;
use crate::common::model::{Random, plain};
use crate::common::squares::{renderer, square_recipe, squares};
use crate::following::{devices, sliders};
use crate::moving::{Walker, next, prepare};
use glam::{DQuat, DVec2, DVec3, Vec3};
use gpuskin_rt::internals::*;

/// Heights of hills on a grid, by another formula than that of the terrain.
struct Hills {
    corner: DVec2,
    spacing: f64,
    size: [usize; 2],
}

impl Hills {
    const WIDE: Self = Self { corner: DVec2::new(-2100.0, -2050.0), spacing: 20.0, size: [211, 207] };

    fn sample(&self, x: usize, z: usize) -> f64 {
        let [x, z] = [x, z].map(|i| i as f64 * self.spacing);
        f64::from((60.0 * (0.011 * x).sin() + 45.0 * (0.013 * z).cos() + 0.02 * x) as f32)
    }

    fn terrain(&self) -> Terrain {
        let [width, rows] = self.size;
        let heights = (0..width * rows).map(|i| self.sample(i % width, i / width) as f32).collect();
        Terrain::new(self.corner.as_vec2(), self.spacing as f32, width, heights).unwrap()
    }

    fn height(&self, at: DVec2) -> f64 {
        let last = self.size.map(|samples| (samples - 1) as f64);
        let at = ((at - self.corner) / self.spacing).clamp(DVec2::ZERO, DVec2::from(last));
        let weight = |at: f64, i: usize| (1.0 - (at - i as f64).abs()).max(0.0);
        let around = |at: f64| [at.floor() as usize, at.ceil() as usize + usize::from(at == at.ceil())];
        let of_row = |z| -> f64 {
            let samples = around(at.x).into_iter().filter(|x| *x < self.size[0]);
            samples.map(|x| self.sample(x, z) * weight(at.x, x)).sum()
        };
        around(at.y).into_iter().filter(|z| *z < self.size[1]).map(|z| of_row(z) * weight(at.y, z)).sum()
    }

    /// Position and rotation in the world.
    fn place(&self, at: DVec3, heading: f64, tilt: f64) -> (DVec3, DQuat) {
        let height = |x: f64, z: f64| self.height(DVec2::new(at.x + x * self.spacing, at.z + z * self.spacing));
        let [x, z] = [height(1.0, 0.0) - height(-1.0, 0.0), height(0.0, 1.0) - height(0.0, -1.0)];
        let lean = DVec2::new(x, z) * tilt / (2.0 * self.spacing);
        // About the horizontal axis that is at a right angle to the slope.
        let axis = DVec3::new(lean.y, 0.0, -lean.x);
        let turn = DQuat::from_axis_angle(axis.try_normalize().unwrap_or(DVec3::X), -lean.length().atan());
        (at + DVec3::Y * height(0.0, 0.0), turn * DQuat::from_rotation_y(heading))
    }
}

#[track_caller]
fn near(gpu: &Gpu, found: &Transform, (position, rotation): (DVec3, DQuat), what: &str) {
    let apart = position.distance(Vec3::from(found.translation).as_dvec3());
    let turned = DQuat::from_array(found.rotation.map(f64::from)).normalize().angle_between(rotation);
    assert!(apart < 1e-3 && turned < 2e-4, "{}, {what}: {apart} m, {turned} radians; {found:?}, {position}", gpu.name);
}

/// A week of commands: upright, leaning a little, and along the normal of the ground.
pub fn a_week_of_commands_stays_on_the_ground() {
    for (gpu, tilt) in devices().zip([0.0, 1.0, 0.6, 1.0]) {
        let mut renderer = renderer(&gpu);
        let test = squares(square_recipe(Encoding::MatrixF16, plain([1.0; 4])));
        let crowd = Crowd::with_model(&mut renderer, &test.model, Default::default()).unwrap();
        let hills = Hills::WIDE;
        crowd.set_terrain(Some(&hills.terrain().tilted(tilt)));
        let tilt = f64::from(tilt);
        let mut random = Random(5);
        let mut walkers: Vec<_> = (0..24)
            .map(|i| {
                let [x, z] = [random.within(-1200.0, 1200.0), random.within(-1200.0, 1200.0)];
                let above = f64::from(i % 3) * 0.5;
                Walker { at: DVec3::new(x.into(), above, z.into()), heading: 0.0, motion: Motion::forwards(0.1) }
            })
            .collect();
        let mut time = 40_000.0;
        prepare(&gpu, &mut renderer, time);
        let spawn = |walker: &Walker| {
            crowd.spawn(Instance::at(hills.place(walker.at, 0.0, tilt).0.as_vec3()).moving(walker.motion))
        };
        let ids: Vec<_> = walkers.iter().map(spawn).collect();
        let (mut commands, mut stops) = (0, 0);
        while time < 40_000.0 + 7.0 * 86_400.0 {
            let seconds = f64::from(random.below(100_000) + 1) / 64.0;
            for (walker, id) in walkers.iter_mut().zip(&ids) {
                if walker.motion == Motion::STILL || random.below(3) > 0 || walker.after(seconds).at.length() > 2000.0 {
                    if walker.motion == Motion::STILL {
                        // Instances that stand are stored in fewer bits.
                        let found = crowd.transform(*id).unwrap();
                        let [x, y, z] = found.translation.map(f64::from);
                        let ground = hills.place(DVec3::new(x, 0.0, z), 0.0, tilt).0;
                        let leaning = DQuat::from_array(found.rotation.map(f64::from)).normalize();
                        let upright = DQuat::from_rotation_arc(leaning * DVec3::Y, DVec3::Y) * leaning;
                        *walker = Walker {
                            at: DVec3::new(x, y - ground.y, z),
                            heading: 2.0 * upright.y.atan2(upright.w),
                            ..*walker
                        };
                    }
                    walker.motion = match next(&mut random, walker, seconds) {
                        // Stops on a slope, and goes on from there.
                        _ if random.below(9) == 0 => Motion::STILL,
                        motion => motion,
                    };
                    stops += usize::from(walker.motion == Motion::STILL);
                    crowd.set_motion(*id, walker.motion).unwrap();
                    commands += 1;
                }
                *walker = walker.after(seconds);
            }
            time += seconds;
            prepare(&gpu, &mut renderer, time);
            let drawn = crowd.drawn_transforms(&renderer).unwrap();
            for ((walker, id), drawn) in walkers.iter().zip(&ids).zip(&drawn) {
                let expected = hills.place(walker.at, walker.heading, tilt);
                near(&gpu, drawn, expected, "device");
                near(&gpu, &crowd.transform(*id).unwrap(), expected, "CPU");
            }
        }
        assert!(commands > 5_000 && stops > 300, "{commands} {stops}");
    }
}

/// Instances that follow their root motion, beyond the edges as well; and one that stands in the air.
pub fn root_motion_goes_along_the_ground() {
    for gpu in devices() {
        let mut renderer = renderer(&gpu);
        let test = sliders(Encoding::MatrixF16);
        let crowd = Crowd::with_model(&mut renderer, &test.model, Default::default()).unwrap();
        let hills = Hills { corner: DVec2::new(-12.0, 3.0), spacing: 1.5, size: [20, 17] };
        crowd.set_terrain(Some(&hills.terrain().tilted(1.0)));
        let start = |k: u16| DVec3::new(f64::from(k) * 0.7 - 20.0, 0.25, f64::from(k) - 2.0);
        let spawn = |k: u16| {
            let instance = Instance::at(hills.place(start(k), 0.0, 1.0).0.as_vec3()).play(Clip::new(1));
            crowd.spawn(if k == 7 { instance } else { instance.moving(Motion::following_root()) })
        };
        let ids: Vec<_> = (0..40).map(spawn).collect();
        for time in [1.0, 3.5, 3.625, 20.5] {
            prepare(&gpu, &mut renderer, time);
            let drawn = crowd.drawn_transforms(&renderer).unwrap();
            for (k, (id, drawn)) in (0_u16..).zip(ids.iter().zip(&drawn)) {
                let way = if k == 7 { 0.0 } else { time };
                let (position, rotation) = hills.place(start(k) + DVec3::X * way, 0.0, 1.0);
                let expected = (position, if k == 7 { DQuat::IDENTITY } else { rotation });
                near(&gpu, drawn, expected, &format!("{k} at {time}, device"));
                near(&gpu, &crowd.transform(*id).unwrap(), expected, &format!("{k} at {time}, CPU"));
            }
        }
    }
}

/// Commands are in world space, a terrain that comes or goes moves nothing, and snapshots keep places.
pub fn commands_and_snapshots_are_in_world_space() {
    let strip = Hills { corner: DVec2::new(-1.0, -20.0), spacing: 0.5, size: [2, 9_000] };
    for gpu in devices() {
        let mut renderer = renderer(&gpu);
        let test = squares(square_recipe(Encoding::MatrixF16, plain([1.0; 4])));
        let crowd = Crowd::with_model(&mut renderer, &test.model, Default::default()).unwrap();
        let id = crowd.spawn(Instance::at([3.0, 7.0, 1.0]).facing(0.5).moving(Motion::STILL));
        let check = |renderer: &CrowdRenderer, expected: (DVec3, DQuat), what: &str| {
            near(&gpu, &crowd.drawn_transforms(renderer).unwrap()[0], expected, &format!("{what}, device"));
            near(&gpu, &crowd.transform(crowd.id_at(0).unwrap()).unwrap(), expected, &format!("{what}, CPU"));
        };
        let heading = |yaw| DQuat::from_rotation_y(yaw);
        prepare(&gpu, &mut renderer, 1.0);
        crowd.set_terrain(Some(&Hills::WIDE.terrain()));
        prepare(&gpu, &mut renderer, 2.0);
        check(&renderer, (DVec3::new(3.0, 7.0, 1.0), heading(0.5)), "it stands");
        crowd.set_motion(id, Motion { velocity: [0.0, 0.5, 0.0], ..Motion::STILL }).unwrap();
        prepare(&gpu, &mut renderer, 4.0);
        check(&renderer, (DVec3::new(3.0, 8.0, 1.0), heading(0.5)), "it rises");

        // Walks along x from a place in the air.
        crowd.set_motion(id, Motion { velocity: [0.0, 0.0, 2.0], ..Motion::STILL }).unwrap();
        crowd.set_transform(id, Transform::at([100.0, 50.0, 30.0]).facing(core::f32::consts::FRAC_PI_2)).unwrap();
        let along = |x: f64| DVec3::new(x, 0.0, 30.0);
        let height = |hills: &Hills, x: f64| hills.height(DVec2::new(x, 30.0));
        let wide = |x: f64| height(&Hills::WIDE, x) - height(&Hills::WIDE, 100.0);
        let east = heading(core::f64::consts::FRAC_PI_2);
        prepare(&gpu, &mut renderer, 5.0);
        check(&renderer, (along(102.0) + DVec3::Y * (50.0 + wide(102.0)), east), "it walks");
        // This terrain is larger than textures are: the CPU moves instances.
        let above = 50.0 + wide(102.0);
        crowd.set_terrain(Some(&strip.terrain().tilted(1.0)));
        prepare(&gpu, &mut renderer, 5.0);
        let (position, rotation) = strip.place(along(102.0), core::f64::consts::FRAC_PI_2, 1.0);
        check(&renderer, (position.with_y(above), rotation), "another ground");
        crowd.set_terrain(Some(&Hills::WIDE.terrain()));
        prepare(&gpu, &mut renderer, 15.0);
        let walked = (along(122.0) + DVec3::Y * (50.0 + wide(122.0)), east);
        check(&renderer, walked, "the first ground again");

        let saved = crowd.snapshot();
        // Later, and earlier than the motion began.
        for time in [500.0, 3.0] {
            prepare(&gpu, &mut renderer, time);
            crowd.restore(&saved).unwrap();
            prepare(&gpu, &mut renderer, time);
            check(&renderer, walked, "restored");
            prepare(&gpu, &mut renderer, time + 4.0);
            check(&renderer, (along(130.0) + DVec3::Y * (50.0 + wide(130.0)), east), "restored, and walked on");
        }
        crowd.set_terrain(None);
        prepare(&gpu, &mut renderer, 9.0);
        check(&renderer, (along(134.0) + DVec3::Y * (50.0 + wide(130.0)), east), "no ground");
    }
}
