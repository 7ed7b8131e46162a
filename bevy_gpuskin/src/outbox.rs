//! Batches by which the characters of the main world change the crowds of the renderer: one per frame.

use bevy::camera::visibility::RenderLayers;
use bevy::light::{NotShadowCaster, NotShadowReceiver};
use bevy::prelude::*;
use gpuskin_rt::{
    Clip, Crowd, CrowdDescriptor, Error, FieldDescriptor, Instance, InstanceId, Mask, Model, ModelVariant, Part,
    Transition,
};

use crate::extension::{CharacterExtension, ExtensionId};

/// Number of a character within its model, by which the renderer finds its instance.
pub(crate) type Slot = u32;

/// Index of a group in the order in which the outbox has made them.
pub(crate) type GroupIndex = u16;

/// Views that draw a character, and how it is drawn there. The characters of a model that have these in common are a group, and
/// each group is a crowd of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Group {
    pub(crate) layers: RenderLayers,
    pub(crate) casts_shadows: bool,
    pub(crate) receives_shadows: bool,
    pub(crate) extension: Option<ExtensionId>,
    /// Index of the variant that all of them have, if they have an extension; else 0.
    pub(crate) variant: u8,
}

/// Components of an entity that decide its group.
pub(crate) type GroupComponents =
    (Option<&'static RenderLayers>, Has<NotShadowCaster>, Has<NotShadowReceiver>, Option<&'static CharacterExtension>);

/// Values of [`GroupComponents`] of one entity.
pub(crate) type GroupItem<'w> = (Option<&'w RenderLayers>, bool, bool, Option<&'w CharacterExtension>);

impl Group {
    /// `variant`: index of the variant of a character.
    pub(crate) fn of((layers, no_caster, no_receiver, extension): GroupItem<'_>, variant: u8) -> Self {
        Self {
            layers: layers.cloned().unwrap_or_default(),
            casts_shadows: !no_caster,
            receives_shadows: !no_receiver,
            extension: extension.map(CharacterExtension::id),
            variant: if extension.is_some() { variant } else { 0 },
        }
    }

    /// Whether shadow maps draw the characters.
    pub(crate) fn casts_shadows(&self) -> bool {
        self.casts_shadows && self.extension.is_none_or(|extension| extension.shadows)
    }

    /// Whether the prepass of cameras draws the characters.
    pub(crate) fn has_prepass(&self) -> bool {
        self.extension.is_none_or(|extension| extension.prepass)
    }

    fn is_of(&self, (layers, no_caster, no_receiver, extension): GroupItem<'_>, variant: u8) -> bool {
        let default = const { &RenderLayers::layer(0) };
        (self.casts_shadows, self.receives_shadows) == (!no_caster, !no_receiver)
            && self.extension == extension.map(CharacterExtension::id)
            && (extension.is_none() || self.variant == variant)
            && self.layers == *layers.unwrap_or(default)
    }
}

/// A change of a spawned character.
#[derive(Debug)]
pub(crate) enum Command<M> {
    Play(Clip<M>, Transition),
    Speed(f32),
    Seek(f64),
    Pause(bool),
    Layer(LayerStart<M>),
    /// Layer, weight, seconds.
    LayerWeight(usize, f32, f32),
    Tint([f32; 4]),
    Custom([u32; 2]),
    Variant(ModelVariant<M>),
    Part(Part<M>, bool),
    /// Index of the attachment in the plugin.
    Attachment(usize, bool),
    /// Fades from live bones back to the clip. Seconds.
    ReleaseLive(f32),
}

/// Start of a clip on a layer.
#[derive(Debug)]
pub(crate) struct LayerStart<M> {
    pub(crate) layer: usize,
    pub(crate) clip: Clip<M>,
    pub(crate) mask: Option<Mask<M>>,
    pub(crate) transition: Transition,
    pub(crate) weight: f32,
    /// Whether the layer removes itself at the end of the clip.
    pub(crate) once: bool,
}

/// A command to a crowd that is an entity, with its instances in the order of their spawns.
pub(crate) type CrowdCommand<M> = Box<dyn FnOnce(&Crowd<M>, &mut Vec<InstanceId>) -> Result<(), Error> + Send + Sync>;

/// A change of a crowd that is an entity.
pub(crate) enum CrowdChange<M> {
    Changed { group: Group, visible: bool, descriptor: CrowdDescriptor, commands: Vec<CrowdCommand<M>> },
    Removed,
}

/// A change of a field, which is an entity.
pub(crate) enum FieldChange<M> {
    Changed { group: Group, visible: bool, descriptor: Box<FieldDescriptor<M>> },
    Removed,
}

/// Changes of all characters of a model in one frame.
pub(crate) struct Batch<M> {
    /// Time of the frame, seconds.
    pub(crate) time: f64,
    /// Later bake that replaces the model.
    pub(crate) model: Option<&'static Model>,
    /// Later bakes that replace the models of attachments, by the number of the attachment in the plugin.
    pub(crate) props: Vec<(usize, &'static Model)>,
    /// New groups.
    pub(crate) groups: Vec<Group>,
    /// Before the spawns, which may use the slots again.
    pub(crate) despawned: Vec<Slot>,
    pub(crate) spawned: Vec<(Slot, GroupIndex, Instance<M>)>,
    pub(crate) regrouped: Vec<(Slot, GroupIndex)>,
    pub(crate) moved: Vec<Slot>,
    /// Transform of each slot in `moved`.
    pub(crate) transforms: Vec<gpuskin_rt::Transform>,
    pub(crate) shown: Vec<(Slot, bool)>,
    pub(crate) commands: Vec<(Slot, Command<M>)>,
    /// Characters whose live bones have moved. If they start: seconds of the fade.
    pub(crate) live: Vec<(Slot, Option<f32>)>,
    /// Bone-to-model transforms of each character in `live`, one character after the other: rows.
    pub(crate) live_poses: Vec<[[f32; 4]; 3]>,
    /// Crowds that are entities, in the order of their changes.
    pub(crate) crowds: Vec<(Entity, CrowdChange<M>)>,
    /// Fields, in the order of their changes.
    pub(crate) fields: Vec<(Entity, FieldChange<M>)>,
}

// Not derived: a derive would require the same trait of `M`.
impl<M> Default for Batch<M> {
    fn default() -> Self {
        Self {
            time: 0.0,
            model: None,
            props: Vec::new(),
            groups: Vec::new(),
            despawned: Vec::new(),
            spawned: Vec::new(),
            regrouped: Vec::new(),
            moved: Vec::new(),
            transforms: Vec::new(),
            shown: Vec::new(),
            commands: Vec::new(),
            live: Vec::new(),
            live_poses: Vec::new(),
            crowds: Vec::new(),
            fields: Vec::new(),
        }
    }
}

impl<M> Batch<M> {
    /// Whether a later bake replaces the crowds.
    pub(crate) fn reloads(&self) -> bool {
        self.model.is_some() || !self.props.is_empty()
    }

    fn is_empty(&self) -> bool {
        let Self { time: _, groups: _, despawned, spawned, regrouped, moved, transforms: _, shown, commands, .. } =
            self;
        let Self { model: _, props: _, live, live_poses: _, crowds, fields, .. } = self;
        !self.reloads()
            && despawned.is_empty()
            && spawned.is_empty()
            && regrouped.is_empty()
            && moved.is_empty()
            && shown.is_empty()
            && commands.is_empty()
            && live.is_empty()
            && crowds.is_empty()
            && fields.is_empty()
    }
}

/// Answer of the renderer to a later bake that it cannot draw.
#[cfg(feature = "assets")]
#[derive(Debug)]
pub(crate) struct Refusal {
    /// The later bake of the model, if there was one.
    pub(crate) model: Option<&'static Model>,
    /// Bakes that are still drawn: of the model, and of each attachment.
    pub(crate) drawn: &'static Model,
    pub(crate) drawn_props: Vec<&'static Model>,
}

/// Batches of a model that the renderer has not read.
#[derive(Resource)]
pub(crate) struct Outbox<M: 'static> {
    pub(crate) current: Batch<M>,
    /// The last bake that the renderer has refused, until the main world has read it.
    #[cfg(feature = "assets")]
    pub(crate) refusal: Option<Refusal>,
    /// Whether a renderer reads the batches.
    is_read: bool,
    ready: Vec<Batch<M>>,
    free: Vec<Slot>,
    slots: Slot,
    groups: Vec<Group>,
}

// Not derived: a derive would require the same trait of `M`.
#[cfg(test)]
impl<M> Default for Outbox<M> {
    fn default() -> Self {
        Self::new(true)
    }
}

impl<M> Outbox<M> {
    /// Makes an outbox. `is_read`: whether a renderer reads the batches, which are dropped otherwise.
    pub(crate) fn new(is_read: bool) -> Self {
        Self {
            current: Batch::default(),
            #[cfg(feature = "assets")]
            refusal: None,
            is_read,
            ready: Vec::new(),
            free: Vec::new(),
            slots: 0,
            groups: Vec::new(),
        }
    }

    /// Takes the batches of the frames so far.
    pub(crate) fn take(&mut self) -> Vec<Batch<M>> {
        std::mem::take(&mut self.ready)
    }

    pub(crate) fn despawn(&mut self, slot: Slot) {
        self.current.despawned.push(slot);
        self.free.push(slot);
    }

    pub(crate) fn spawn(&mut self, group: GroupIndex, instance: Instance<M>) -> Slot {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots += 1;
            self.slots - 1
        });
        self.current.spawned.push((slot, group, instance));
        slot
    }

    /// Returns the index of a group, which is made if it is new. Games have few of them.
    /// `variant`: index of the variant of the character.
    pub(crate) fn group(&mut self, item: GroupItem<'_>, variant: u8) -> GroupIndex {
        if let Some(index) = self.groups.iter().position(|group| group.is_of(item, variant)) {
            return index as GroupIndex;
        }
        if self.groups.len() > usize::from(GroupIndex::MAX) {
            error_once!(
                "{} sets of render layers, extensions and variants are too many: further characters are in the first",
                self.groups.len()
            );
            return 0;
        }
        let group = Group::of(item, variant);
        self.current.groups.push(group.clone());
        self.groups.push(group);
        (self.groups.len() - 1) as GroupIndex
    }

    pub(crate) fn finish(&mut self, time: f64) {
        self.current.time = time;
        if !self.is_read {
            self.current = Batch::default();
        } else if !self.current.is_empty() {
            self.ready.push(std::mem::take(&mut self.current));
        }
    }
}
