//! Characters as entities: the component, and what it sends to the renderer.

use bevy::ecs::component::Component;
use bevy::ecs::lifecycle::HookContext;
use bevy::ecs::world::DeferredWorld;
use bevy::prelude::*;
use gpuskin_rt::{
    BakedModel, Clip, Instance, InstanceRecord, Mask, Metadata, ModelVariant, Part, Repeat, Time, Transition,
};

use crate::outbox::{Command, GroupIndex, LayerStart, Outbox, Slot};
use crate::playing::Playing;

/// A character of a baked model: one entity, drawn where its [`GlobalTransform`] is.
///
/// Make it from a clip, and command it through its methods. A clip of another model does not compile. Commands count from the
/// time of the frame, [`Time<Virtual>`](bevy::time::Virtual), in which they are given.
///
/// The transform must have a uniform scale; of another, the mean of its axes is taken. The entity is shown and hidden by its
/// [`Visibility`], and hidden while it is [`Disabled`](bevy::ecs::entity_disabling::Disabled). Replacing the component starts the
/// character anew.
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
    /// Whether the renderer shows it.
    pub(crate) is_shown: bool,
    commands: Vec<Command<M>>,
    /// Number of commands that `playing` has already.
    applied: usize,
    /// `None` until the first frame.
    playing: Option<Playing>,
    /// Whether `playing` differs from what the event queues have.
    has_changed: bool,
    clip: Clip<M>,
    variant: ModelVariant<M>,
    /// Group whose instance of the character has live bones.
    pub(crate) live: Option<GroupIndex>,
    /// Bone-to-model transforms of live bones that fade out, rows. Empty without.
    released: Box<[[[f32; 4]; 3]]>,
}

/// Whether the renderer knows of a character.
#[derive(Debug)]
pub(crate) enum State<M> {
    New(Box<Instance<M>>),
    Spawned(Slot, GroupIndex),
}

/// Before the character is spawned. Afterwards, these have no effect: use the methods below.
impl<M: BakedModel> Character<M> {
    /// Makes a character that plays a clip from its start.
    pub fn playing(clip: Clip<M>) -> Self {
        let instance = Box::new(Instance::at([0.0; 3]).play(clip));
        Self {
            state: State::New(instance),
            is_shown: false,
            commands: Vec::new(),
            applied: 0,
            playing: None,
            has_changed: false,
            clip,
            variant: ModelVariant::BASE,
            live: None,
            released: Box::default(),
        }
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

    /// Sets the variant of the model's materials: `variants::GUARD_BLUE`. Others have the model's own look.
    ///
    /// ```
    /// use bevy_gpuskin::{Character, ModelVariant};
    /// use bevy_gpuskin_sample_models::{clips, variants};
    ///
    /// let blue = Character::playing(clips::GUARD_RUN).with_variant(variants::GUARD_BLUE);
    /// let any = Character::playing(clips::GUARD_RUN).with_variant(ModelVariant::random(7));
    /// ```
    pub fn with_variant(mut self, variant: ModelVariant<M>) -> Self {
        self.variant = variant;
        self.with(|instance| instance.variant(variant))
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

    /// Plays a clip on a layer above the current clip, on the bones of a mask, or on all bones without one.
    ///
    /// There are two layers, 0 and 1; layer 1 is blended over layer 0. The weight of the layer fades to `weight`, 0..1, over the
    /// transition. The layer stays until [`Self::stop_layer`]: aiming, carrying, leaning. Layers need the encoding `local-packed`.
    ///
    /// ```
    /// use bevy_gpuskin::{Character, Transition};
    /// use bevy_gpuskin_sample_models::{clips, masks, models::Soldier};
    ///
    /// fn attack_while_running(soldier: &mut Character<Soldier>) {
    ///     let upper_body = Some(masks::SOLDIER_UPPER_BODY);
    ///     soldier.play_layer_once(0, clips::SOLDIER_ATTACK, upper_body, Transition::crossfade(0.15), 1.0);
    /// }
    /// ```
    pub fn play_layer(
        &mut self,
        layer: usize,
        clip: Clip<M>,
        mask: Option<Mask<M>>,
        transition: Transition,
        weight: f32,
    ) -> &mut Self {
        self.command(Command::Layer(LayerStart { layer, clip, mask, transition, weight, once: false }))
    }

    /// Plays a clip once on a layer, which then removes itself: attacks, reactions, gestures.
    ///
    /// Like [`Self::play_layer`], but the weight fades back to 0 at the end of the clip, for as long as the fade of the transition.
    pub fn play_layer_once(
        &mut self,
        layer: usize,
        clip: Clip<M>,
        mask: Option<Mask<M>>,
        transition: Transition,
        weight: f32,
    ) -> &mut Self {
        self.command(Command::Layer(LayerStart { layer, clip, mask, transition, weight, once: true }))
    }

    /// Fades the weight of a layer to `weight`, 0..1, over `seconds`. Has no effect on a character without layers.
    pub fn set_layer_weight(&mut self, layer: usize, weight: f32, seconds: f32) -> &mut Self {
        self.command(Command::LayerWeight(layer, weight, seconds))
    }

    /// Fades out a layer over `seconds`. Has no effect on a character without layers.
    pub fn stop_layer(&mut self, layer: usize, seconds: f32) -> &mut Self {
        self.set_layer_weight(layer, 0.0, seconds)
    }

    /// Sets the tint, which is multiplied with the base colour.
    pub fn set_tint(&mut self, tint: impl Into<Color>) -> &mut Self {
        self.command(Command::Tint(tint.into().to_linear().to_f32_array()))
    }

    /// Sets the variant of the model's materials. The clip plays on.
    pub fn set_variant(&mut self, variant: ModelVariant<M>) -> &mut Self {
        self.variant = variant;
        self.command(Command::Variant(variant))
    }

    /// Returns the variant of the model's materials.
    pub fn variant(&self) -> ModelVariant<M> {
        self.variant
    }

    /// Sets two words for the game's own shaders.
    pub fn set_custom(&mut self, words: [u32; 2]) -> &mut Self {
        self.command(Command::Custom(words))
    }

    /// Shows or hides a part of the model.
    pub fn set_part_visible(&mut self, part: Part<M>, visible: bool) -> &mut Self {
        self.command(Command::Part(part, visible))
    }

    /// Shows or hides an attachment: the one that the plugin got as number `index`, from 0, by
    /// [`CharacterPlugin::attach`](crate::CharacterPlugin::attach).
    pub fn set_attachment_visible(&mut self, index: usize, visible: bool) -> &mut Self {
        self.command(Command::Attachment(index, visible))
    }

    fn command(&mut self, command: Command<M>) -> &mut Self {
        self.commands.push(command);
        self
    }

    /// Fades live bones in over `seconds`, in the main world.
    pub(crate) fn start_live_bones(&mut self, seconds: f32, meta: &Metadata, time: Time) {
        self.released = Box::default();
        self.play_until(meta, time);
        if let Some(playing) = &mut self.playing {
            playing.start_live_bones(seconds, time);
        }
    }

    /// Fades from live bones, which have a pose, back to the clip over `seconds`.
    pub(crate) fn release_live_bones(&mut self, pose: Box<[[[f32; 4]; 3]]>, seconds: f32) {
        self.live = None;
        self.released = pose;
        self.command(Command::ReleaseLive(seconds));
    }

    /// Returns what the character played in the last frame, at `time`, and the pose of live bones that faded out then, which is
    /// empty without; `None` before the first frame.
    #[cfg(feature = "picking")]
    pub(crate) fn last_frame(&self, time: Time) -> Option<(&Playing, &[[[f32; 4]; 3]])> {
        let (_, playing) = self.spawned()?;
        let fades = playing.layers.as_ref().is_some_and(|layers| layers.has_live_bones(time));
        Some((playing, if fades { &self.released } else { &[] }))
    }

    /// Returns the slot, and what the character played in the last frame; `None` before the first.
    pub(crate) fn spawned(&self) -> Option<(Slot, &Playing)> {
        let State::Spawned(slot, _) = self.state else { return None };
        Some((slot, self.playing.as_ref()?))
    }

    /// Whether live bones may fade out.
    #[cfg(feature = "picking")]
    pub(crate) fn has_released_pose(&self) -> bool {
        !self.released.is_empty()
    }

    /// Returns the pose of live bones that fade out; empty without.
    pub(crate) fn released_pose(&mut self, time: Time) -> &[[[f32; 4]; 3]] {
        let layers = self.playing.as_ref().and_then(|playing| playing.layers.as_ref());
        if !layers.is_some_and(|layers| layers.has_live_bones(time)) {
            self.released = Box::default();
        }
        &self.released
    }

    /// Tells events, and the instance's live bones, of a later bake.
    #[cfg(feature = "assets")]
    pub(crate) fn take_bake(&mut self) {
        self.has_changed = true;
        self.live = self.live.map(|_| GroupIndex::MAX);
    }

    /// Returns what the character plays after its commands so far.
    pub(crate) fn play_until(&mut self, meta: &Metadata, time: Time) -> &Playing {
        let playing = self.playing.get_or_insert_with(|| {
            self.has_changed = true;
            let (record, hidden) = match &self.state {
                State::New(instance) => (instance.record(meta, time), instance.appearance().hidden),
                State::Spawned(..) => (InstanceRecord::default(), 0),
            };
            Playing { record, layers: None, hidden }
        });
        for command in &self.commands[self.applied..] {
            self.has_changed |= playing.apply(command, meta, time);
        }
        self.applied = self.commands.len();
        playing
    }

    /// Whether commands have changed what the character plays since the last call.
    pub(crate) fn take_change(&mut self) -> bool {
        std::mem::take(&mut self.has_changed)
    }

    /// Takes the commands of the frame.
    pub(crate) fn take_commands(&mut self) -> std::vec::Drain<'_, Command<M>> {
        self.applied = 0;
        self.commands.drain(..)
    }

    fn on_add(world: DeferredWorld, context: HookContext) {
        if world.get_resource::<Outbox<M>>().is_none() {
            let name = &M::MODEL.meta.name;
            error_once!(
                "{}: a character of the model {name} is not drawn; add CharacterPlugin of this model to the app",
                context.entity
            );
        }
    }

    fn on_discard(mut world: DeferredWorld, context: HookContext) {
        let Some(&Self { state: State::Spawned(slot, _), .. }) = world.get::<Self>(context.entity) else { return };
        if let Some(mut outbox) = world.get_resource_mut::<Outbox<M>>() {
            outbox.despawn(slot);
        }
    }
}
