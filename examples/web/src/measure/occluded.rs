//! Occlusion culling.

use crowd::baked::clips;
use crowd::baked::models::Soldier;
use gpuskin_rt::{Camera, Crowd, CrowdRenderer, Error, Instance, InstanceId, Time, View};

use super::baked::models::Banner;
use super::scene::{Count, Scene, Stage};

/// Number of soldiers to the left, and as many to the right.
const SIDE: u32 = 9;
/// Scale of the banner whose sign is the wall: 5.6 m wide, 2.2 m high.
const WALL: f32 = 7.0;

/// Soldiers to the left and to the right, and a wall in front of those to the left; then in front of those to the right.
pub(super) struct Occluded {
    soldiers: Crowd<Soldier>,
    walls: Crowd<Banner>,
    wall: InstanceId,
}

impl Occluded {
    pub(super) fn new(stage: &mut Stage<'_>) -> Result<Self, Error> {
        let (soldiers, walls) = (stage.crowd(2 * SIDE)?, stage.crowd(1)?);
        for side in [-1.0, 1.0] {
            for i in 0..SIDE {
                let [column, row] = [i % 3, i / 3].map(|number| number as f32);
                let instance = Instance::at([side * (2.1 + 0.7 * column), 0.0, -2.0 - 1.5 * row]).facing(0.4 * column);
                let instance = instance.play(clips::SOLDIER_WALK).starting(Time::ZERO).phase(0.13 * i as f32);
                soldiers.spawn(instance);
            }
        }
        // The sign of the banner does not turn at this speed.
        let wall = walls.spawn(Instance::at(wall_at(-1.0)).scaled(WALL).speed(0.0).starting(Time::ZERO));
        Ok(Self { soldiers, walls, wall })
    }
}

/// Position of the banner whose sign hides a side.
fn wall_at(side: f32) -> [f32; 3] {
    [side * 3.0, -0.1 - 1.6 * WALL, 3.0]
}

impl Scene for Occluded {
    fn camera(&self) -> Camera {
        Camera::perspective_look_at([0.0, 1.0, 8.0], [0.0, 1.0, 0.0], 0.62, 4.0 / 3.0, 0.1, 60.0)
    }

    fn change(&self) -> Result<(), Error> {
        Ok(self.walls.move_to(self.wall, wall_at(1.0))?)
    }

    fn facts(&self, renderer: &CrowdRenderer) -> Vec<String> {
        vec![format!("occlusion culling: {}", self.soldiers.explain(renderer).occlusion)]
    }

    fn counts(&self, renderer: &CrowdRenderer) -> Vec<(&'static str, Count)> {
        let count = |view: View| Box::pin(self.soldiers.count_drawn_async(renderer, view));
        vec![("drawn first", count(View::MAIN)), ("revealed", count(View::REVEALED))]
    }
}
