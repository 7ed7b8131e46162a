//! Characters as entities: the component, and what it sends to the renderer.

use bevy::ecs::component::Component;
use bevy::ecs::lifecycle::HookContext;
use bevy::ecs::world::DeferredWorld;
use bevy::prelude::*;
use gpuskin_rt::{BakedModel, Clip, Instance, Part, Repeat, Transition};

use crate::outbox::{Command, Outbox, Slot};

/// A character of a baked model: one entity, drawn where its [`GlobalTransform`] is.
///
/// Make it from a clip, and command it through its methods. A clip of another model does not compile. Commands count from the
/// time of the frame, [`Time<Virtual>`](bevy::time::Virtual), in which they are given.
///
/// The transform must have a uniform scale; of another, the mean of its axes is taken. The entity is shown and hidden by its
/// [`Visibility`]. Replacing the component starts the character anew.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_gpuskin::{Character, Transition};
/// use bevy_gpuskin_sample_models::{clips, models::Soldier};
///
/// fn spawn(mut commands: Commands) {
///     commands.spawn((Character::playing(clips::SOLDIER_RUN).speed(1.1), Transform::from_xyz(4.0, 0.0, -2.0)));
/// }
///
/// fn attack(mut soldiers: Query<&mut Character<Soldier>>) {
///     for mut soldier in &mut soldiers {
///         soldier.play(clips::SOLDIER_ATTACK, Transition::crossfade(0.2));
///     }
/// }
/// ```
///
/// A hound's clip on a soldier does not compile:
///
/// ```compile_fail,E0308
/// use bevy_gpuskin::{Character, Transition};
/// use bevy_gpuskin_sample_models::{clips, models::Soldier};
///
/// fn attack(soldier: &mut Character<Soldier>) {
///     soldier.play(clips::HOUND_RUN, Transition::crossfade(0.2));
/// }
/// ```
#[derive(Component, Debug)]
#[component(on_add = Self::on_add, on_discard = Self::on_discard)]
#[require(Transform, Visibility)]
pub struct Character<M: BakedModel> {
    pub(crate) state: State<M>,
    pub(crate) commands: Vec<Command<M>>,
    clip: Clip<M>,
}

/// Whether the renderer knows of a character.
#[derive(Debug)]
pub(crate) enum State<M> {
    New(Box<Instance<M>>),
    Spawned(Slot),
}

/// Before the character is spawned. Afterwards, these have no effect: use the methods below.
impl<M: BakedModel> Character<M> {
    /// Makes a character that plays a clip from its start.
    pub fn playing(clip: Clip<M>) -> Self {
        let instance = Box::new(Instance::at([0.0; 3]).play(clip));
        Self { state: State::New(instance), commands: Vec::new(), clip }
    }

    /// Sets the speed as a factor of the clip's normal speed; 0 freezes the pose, negative plays backwards.
    pub fn speed(self, speed: f32) -> Self {
        self.with(|instance| instance.speed(speed))
    }

    /// Starts at a fraction of the clip's length; the integer part is ignored.
    pub fn phase(self, fraction: f32) -> Self {
        self.with(|instance| instance.phase(fraction))
    }

    /// Starts at a time in the clip, in seconds, clamped to its length.
    pub fn seek(self, seconds: f64) -> Self {
        self.with(|instance| instance.seek(seconds))
    }

    /// Sets the behaviour at the ends of the clip, which overrides the manifest.
    pub fn repeat(self, repeat: Repeat) -> Self {
        self.with(|instance| instance.repeat(repeat))
    }

    /// Sets the tint, which is multiplied with the base colour.
    pub fn tinted(self, tint: impl Into<Color>) -> Self {
        let tint = tint.into().to_linear().to_f32_array();
        self.with(|instance| instance.tinted(tint))
    }

    /// Sets two words for the game's own shaders.
    pub fn custom(self, words: [u32; 2]) -> Self {
        self.with(|instance| instance.custom(words))
    }

    /// Hides a part of the model.
    pub fn without(self, part: Part<M>) -> Self {
        self.with(|instance| instance.without(part))
    }

    fn with(mut self, change: impl FnOnce(Instance<M>) -> Instance<M>) -> Self {
        if let State::New(instance) = &mut self.state {
            **instance = change(**instance);
        }
        self
    }
}

/// Commands, in the order in which they are given.
impl<M: BakedModel> Character<M> {
    /// Plays a clip.
    pub fn play(&mut self, clip: Clip<M>, transition: Transition) -> &mut Self {
        self.clip = clip;
        self.command(Command::Play(clip, transition))
    }

    /// Returns the clip that was played last.
    pub fn clip(&self) -> Clip<M> {
        self.clip
    }

    /// Sets the speed as a factor of the clip's normal speed, without a jump.
    pub fn set_speed(&mut self, speed: f32) -> &mut Self {
        self.command(Command::Speed(speed))
    }

    /// Jumps to a time in the clip, in seconds.
    pub fn seek_to(&mut self, seconds: f64) -> &mut Self {
        self.command(Command::Seek(seconds))
    }

    /// Pauses, or plays on from the same pose.
    pub fn set_paused(&mut self, paused: bool) -> &mut Self {
        self.command(Command::Pause(paused))
    }

    /// Sets the tint, which is multiplied with the base colour.
    pub fn set_tint(&mut self, tint: impl Into<Color>) -> &mut Self {
        self.command(Command::Tint(tint.into().to_linear().to_f32_array()))
    }

    /// Sets two words for the game's own shaders.
    pub fn set_custom(&mut self, words: [u32; 2]) -> &mut Self {
        self.command(Command::Custom(words))
    }

    /// Shows or hides a part of the model.
    pub fn set_part_visible(&mut self, part: Part<M>, visible: bool) -> &mut Self {
        self.command(Command::Part(part, visible))
    }

    fn command(&mut self, command: Command<M>) -> &mut Self {
        self.commands.push(command);
        self
    }

    fn on_add(world: DeferredWorld, context: HookContext) {
        if world.get_resource::<Outbox<M>>().is_none() {
            let name = &M::MODEL.meta.name;
            error!(
                "{}: a character of the model {name} is not drawn; add CharacterPlugin of this model to the app",
                context.entity
            );
        }
    }

    fn on_discard(mut world: DeferredWorld, context: HookContext) {
        let Some(&Self { state: State::Spawned(slot), .. }) = world.get::<Self>(context.entity) else { return };
        if let Some(mut outbox) = world.get_resource_mut::<Outbox<M>>() {
            outbox.despawn(slot);
        }
    }
}
