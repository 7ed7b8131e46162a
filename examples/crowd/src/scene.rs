//! Positions and clips of all instances. The same count gives the same scene on every machine.

use glam::{Quat, Vec3};
use gpuskin_rt::{Camera, Clip, Crowd, CrowdDescriptor, CrowdRenderer, Error, Instance, InstanceId, Time};

use crate::baked::{clips, models};
use crate::hero::Hero;
use crate::land;
use crate::reload::Models;

/// Instances per hound.
const HOUNDS: u32 = 8;
/// Soldiers per rank and ranks per cohort, and the distance between soldiers across and away, in
/// metres.
const FILES: u32 = 8;
const RANKS: u32 = 10;
const SPACING: [f32; 2] = [1.3, 1.65];
/// Columns of cohorts, and the distance between cohorts across and away, in metres. The lanes
/// between the columns are for the hounds.
const COLUMNS: u32 = 13;
const PITCH: [f32; 2] = [14.5, 20.0];
/// Hounds per pack.
const PACK: u32 = 5;
/// Distance in front of the first rank at which moving instances leave the field, in metres; they
/// enter it again at its far end.
const FRONT: f32 = 16.0;

/// Crowds of the scene, which are drawn until the scene is dropped.
#[derive(Debug)]
pub struct Scene {
    soldiers: Crowd<models::Soldier>,
    hounds: Crowd<models::Hound>,
    moving_soldiers: Vec<Moving>,
    moving_hounds: Vec<Moving>,
    hero: Option<Hero>,
    /// Distance from the first cohort to the last, in metres.
    depth: f32,
}

/// Moving instance: its clip walks on the spot, and the game moves it at the speed of its feet.
#[derive(Clone, Copy, Debug)]
struct Moving {
    id: InstanceId,
    x: f32,
    z: f32,
    /// Speed along +z, in metres per second.
    pace: f32,
}

/// Behaviour of a column of cohorts.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Order {
    March,
    Charge,
    /// The first cohort fights, the others wait.
    Fight,
}

/// Models of a scene.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cast {
    /// Soldiers, and a hound for every seven of them.
    #[default]
    Both,
    /// Soldiers alone.
    Soldiers,
    /// Hounds alone.
    Hounds,
}

impl Scene {
    /// Creates `count` instances of both models, which play all of their clips.
    ///
    /// # Errors
    /// Returns an error if a model cannot be loaded.
    pub fn new(renderer: &mut CrowdRenderer, count: u32) -> Result<Self, Error> {
        Self::with_cast(renderer, count, Cast::Both)
    }

    /// Creates `count` instances of some of the models.
    ///
    /// # Errors
    /// Returns an error if a model cannot be loaded.
    pub fn with_cast(renderer: &mut CrowdRenderer, count: u32, cast: Cast) -> Result<Self, Error> {
        let [soldiers, hounds] = capacities(count, cast);
        let counts = [soldiers.capacity, hounds.capacity];
        let (soldiers, hounds) = (Crowd::new(renderer, soldiers)?, Crowd::new(renderer, hounds)?);
        Ok(Self::of(soldiers, hounds, counts))
    }

    /// Creates the scene with models that were loaded at run time.
    ///
    /// # Errors
    /// Returns an error if a model cannot be drawn, or lacks clips that the program was built for.
    pub fn with_models(renderer: &mut CrowdRenderer, models: &Models, count: u32) -> Result<Self, Error> {
        let [soldiers, hounds] = capacities(count, Cast::Both);
        let counts = [soldiers.capacity, hounds.capacity];
        let soldiers = Crowd::reloaded(renderer, &models.soldier, soldiers)?;
        let hounds = Crowd::reloaded(renderer, &models.hound, hounds)?;
        Ok(Self::of(soldiers, hounds, counts))
    }

    fn of(soldier_crowd: Crowd<models::Soldier>, hound_crowd: Crowd<models::Hound>, counts: [u32; 2]) -> Self {
        let [soldiers, hounds] = counts;
        // Hounds alone take about twice the area of as many soldiers.
        let rows = soldiers.max(2 * hounds).div_ceil(COLUMNS * FILES * RANKS).max(1);
        let mut scene = Self {
            soldiers: soldier_crowd,
            hounds: hound_crowd,
            moving_soldiers: Vec::new(),
            moving_hounds: Vec::new(),
            hero: None,
            depth: rows as f32 * PITCH[1],
        };
        for i in 0..soldiers {
            scene.add_soldier(i);
        }
        for i in 0..hounds {
            scene.add_hound(i);
        }
        scene
    }

    /// Adds a soldier in front of the ranks that looks at the camera and waves.
    ///
    /// # Errors
    /// Returns an error if the device does not play soldiers in `local-packed`.
    pub fn add_hero(&mut self) -> Result<(), crate::Error> {
        let [x, z] = [-9.6, 1.2];
        let soldier = upright(x, z).facing(0.2).play(clips::SOLDIER_IDLE);
        let eye = Vec3::from(EYE) - Vec3::new(x, land::height(x, z), z);
        self.hero = Some(Hero::new(&self.soldiers, soldier, Quat::from_rotation_y(-0.2) * eye)?);
        Ok(())
    }

    /// Crowd of the soldiers.
    pub fn soldiers(&self) -> &Crowd<models::Soldier> {
        &self.soldiers
    }

    /// Crowd of the hounds.
    pub fn hounds(&self) -> &Crowd<models::Hound> {
        &self.hounds
    }

    /// Number of instances.
    pub fn len(&self) -> usize {
        self.soldiers.len() + self.hounds.len()
    }

    /// Whether the scene has no instances.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Moves the instances that march, charge and hunt. All other instances cost nothing.
    pub fn advance(&self, time: f64) {
        let position = |moving: &Moving| {
            let way = (f64::from(moving.z) + f64::from(moving.pace) * time) as f32;
            let z = FRONT - (FRONT - way).rem_euclid(self.depth);
            [moving.x, land::height(moving.x, z), z]
        };
        for moving in &self.moving_soldiers {
            self.soldiers.move_to(moving.id, position(moving)).unwrap();
        }
        for moving in &self.moving_hounds {
            self.hounds.move_to(moving.id, position(moving)).unwrap();
        }
        if let Some(hero) = &self.hero {
            hero.advance(&self.soldiers, time);
        }
    }

    fn add_soldier(&mut self, i: u32) {
        let (cohort, place) = (i / (FILES * RANKS), i % (FILES * RANKS));
        let (column, row) = (cohort % COLUMNS, cohort / COLUMNS);
        let order = order(column);
        if order == Order::Fight && row == 0 {
            return self.add_fighter(i, column, place);
        }
        let dice = |n: u32| random(i, n);
        let loose = if order == Order::Charge { 0.45 } else { 0.1 };
        let file = (place % FILES) as f32 - 0.5 * (FILES - 1) as f32;
        let rank = (place / FILES) as f32;
        let x = column_x(column) + file * SPACING[0] + loose * (2.0 * dice(0) - 1.0);
        let z = -(row as f32) * PITCH[1] - rank * SPACING[1] + loose * (2.0 * dice(1) - 1.0);
        let scale = 0.94 + 0.12 * dice(2);
        let soldier = upright(x, z).scaled(scale).facing(0.8 * loose * (dice(3) - 0.5));
        let (clip, pace, phases) = match order {
            Order::March => (clips::SOLDIER_WALK, 1.35, 0.15),
            Order::Charge => (clips::SOLDIER_RUN, 3.1, 1.0),
            Order::Fight => {
                let idle = soldier.play(clips::SOLDIER_IDLE).phase(dice(4)).speed(0.8 + 0.4 * dice(5));
                self.soldiers.spawn(idle);
                return;
            }
        };
        // All move at the same speed: taller soldiers take slower steps.
        let id = self.soldiers.spawn(soldier.play(clip).phase(phases * dice(4)).speed(1.0 / scale));
        self.moving_soldiers.push(Moving { id, x, z, pace });
    }

    /// Adds one soldier of a fighting pair. The pairs are scattered over the area of a cohort; some
    /// soldiers have fallen.
    fn add_fighter(&self, i: u32, column: u32, place: u32) {
        let (pair, second) = (place / 2, place % 2 == 1);
        let dice = |n: u32| random(column * 64 + pair, 300 + n);
        let across = (pair % 5) as f32 - 2.0 + 0.3 * (dice(0) - 0.5);
        let away = (pair / 5) as f32 + 0.6 * (dice(1) - 0.5);
        // The first soldier looks across the field; the second stands in front of it and looks
        // back.
        let yaw = 0.9 * (dice(2) - 0.5) + if dice(3) < 0.5 { 1.2 } else { -1.2 };
        let reach = if second { 0.72 } else { -0.72 };
        let x = column_x(column) + 2.35 * across + reach * yaw.sin();
        let z = -2.2 * away + reach * yaw.cos();
        let facing = if second { yaw + std::f32::consts::PI } else { yaw };
        let soldier = upright(x, z).facing(facing).scaled(0.94 + 0.12 * random(i, 2));
        let soldier = if second && dice(4) < 0.4 {
            // The soldier fell long ago, or has just been hit.
            let ago = 1.8 * f64::from(dice(5)) * clips::SOLDIER_DIE.info().duration;
            soldier.play(clips::SOLDIER_DIE).seek(ago)
        } else {
            soldier.play(clips::SOLDIER_ATTACK).phase(random(i, 4)).speed(0.85 + 0.3 * random(i, 5))
        };
        self.soldiers.spawn(soldier);
    }

    /// Adds a hound of a pack in the lanes between the columns.
    fn add_hound(&mut self, i: u32) {
        let (pack, place) = (i / PACK, i % PACK);
        let (lane, row) = (pack % COLUMNS, pack / COLUMNS);
        let dice = |n: u32| random(i, 100 + n);
        let of_pack = |n: u32| random(pack, 200 + n);
        let x = column_x(lane) + 0.5 * PITCH[0] + (place % 2) as f32 * 1.3 - 0.65 + 0.5 * (dice(0) - 0.5);
        let rows = self.depth / PITCH[1] * 2.4;
        let z = -(row as f32 % rows) * PITCH[1] / 2.4 - 3.0 * of_pack(1) - place as f32 * 1.1 - 0.5 * dice(1);
        let scale = 0.9 + 0.2 * dice(2);
        let hound = upright(x, z).scaled(scale).phase(dice(4)).speed(1.0 / scale);
        let mut run = |clip: Clip<_>, pace| {
            let id = self.hounds.spawn(hound.play(clip));
            self.moving_hounds.push(Moving { id, x, z, pace });
        };
        match lane % 4 {
            0 | 1 => run(clips::HOUND_RUN, 5.0),
            2 => run(clips::HOUND_WALK, 0.85),
            _ => drop(self.hounds.spawn(hound.play(clips::HOUND_IDLE).facing(1.5 * (dice(3) - 0.5)))),
        }
    }
}

/// Descriptors of the crowds of soldiers and hounds, with their shares of `count` instances.
fn capacities(count: u32, cast: Cast) -> [CrowdDescriptor; 2] {
    let hounds = match cast {
        Cast::Both => count / HOUNDS,
        Cast::Soldiers => 0,
        Cast::Hounds => count,
    };
    [count - hounds, hounds].map(|capacity| CrowdDescriptor { capacity, ..Default::default() })
}

/// Position of the camera, world space, metres.
const EYE: [f32; 3] = [-13.5, 2.6, 7.7];

/// Camera of the picture: low, in front of the first ranks.
pub fn camera(aspect: f32) -> Camera {
    Camera::perspective_look_at(EYE, [-3.5, 0.45, -12.0], 0.64, aspect, 0.3, 1200.0)
}

/// Instance on the ground that has played since time zero.
fn upright<M>(x: f32, z: f32) -> Instance<M> {
    Instance::at([x, land::height(x, z), z]).starting(Time::ZERO)
}

/// x of a column in metres. Columns go from the middle outwards, so that small scenes look complete
/// too.
fn column_x(column: u32) -> f32 {
    let side = if column.is_multiple_of(2) { PITCH[0] } else { -PITCH[0] };
    column.div_ceil(2) as f32 * side
}

fn order(column: u32) -> Order {
    [Order::March, Order::Fight, Order::Charge][column as usize % 3]
}

/// Pseudo-random number from 0 to 1, which depends only on `a` and `b`.
fn random(a: u32, b: u32) -> f32 {
    let mut h = a.wrapping_mul(0x9e37_79b9) ^ b.wrapping_mul(0x85eb_ca6b);
    for _ in 0..2 {
        h = (h ^ (h >> 16)).wrapping_mul(0x045d_9f3b);
    }
    ((h ^ (h >> 16)) >> 8) as f32 / 16_777_216.0
}
