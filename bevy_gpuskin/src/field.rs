//! Fields as one entity each.

use bevy::ecs::entity_disabling::Disabled;
use bevy::ecs::lifecycle::HookContext;
use bevy::ecs::world::DeferredWorld;
use bevy::prelude::*;
use gpuskin_rt::{BakedModel, FieldDescriptor};

use crate::outbox::{FieldChange, Group, GroupComponents, Outbox};

/// A field of a baked model as one entity: grass, corn, or a crowd in the stands. A formula derives its instances, which cost neither memory
/// nor processor time.
///
/// The field is at [`FieldDescriptor::origin`] in world space, metres: the entity has no transform. [`Visibility`], `RenderLayers`, `NotShadowCaster`,
/// `NotShadowReceiver` and [`CharacterExtension`](crate::CharacterExtension) of the entity are those of the whole field. A view draws all of a
/// field, in the finest level of detail, or nothing of it: use several that continue each other.
///
/// The model needs an animation texture: bake it for `devices = ["webgl2"]`, too, or in any encoding but `local-packed`. Of another
/// model, an error is logged. A hot reload to such a bake keeps the field of the earlier one.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_gpuskin::gpuskin_rt::{FieldDescriptor, Wind};
/// use bevy_gpuskin::CharacterField;
/// use bevy_gpuskin_sample_models::{clips, models::Ghost};
///
/// fn spawn(mut commands: Commands) {
///     commands.spawn(CharacterField::<Ghost>::new(FieldDescriptor {
///         origin: [-50.0, 0.0, -50.0],
///         size: [100, 100],
///         clips: vec![clips::GHOST_SWAY],
///         wind: Some(Wind { velocity: [4.0, 1.5], ..Wind::default() }),
///         ..FieldDescriptor::default()
///     }));
/// }
///
/// fn turn(mut fields: Query<&mut CharacterField<Ghost>>) {
///     for mut field in &mut fields {
///         if let Some(wind) = &mut field.descriptor.wind {
///             wind.velocity = [0.0, 6.0];
///         }
///     }
/// }
/// ```
#[derive(Component)]
#[component(on_add = Self::on_add, on_discard = Self::on_discard)]
#[require(Visibility)]
pub struct CharacterField<M: BakedModel> {
    /// Layout, appearance and animation. A change costs one small upload.
    pub descriptor: FieldDescriptor<M>,
    /// Group and visibility as of the last frame.
    drawn_as: Option<(Group, bool)>,
}

impl<M: BakedModel> CharacterField<M> {
    /// Makes a field.
    pub const fn new(descriptor: FieldDescriptor<M>) -> Self {
        Self { descriptor, drawn_as: None }
    }

    fn on_add(world: DeferredWorld, context: HookContext) {
        if world.get_resource::<Outbox<M>>().is_none() {
            let name = &M::MODEL.meta.name;
            error_once!(
                "{}: a field of the model {name} is not drawn; add CharacterPlugin of this model to the app",
                context.entity
            );
        }
    }

    fn on_discard(mut world: DeferredWorld, context: HookContext) {
        if let Some(mut outbox) = world.get_resource_mut::<Outbox<M>>() {
            outbox.current.fields.push((context.entity, FieldChange::Removed));
        }
    }
}

/// Collects what has changed in a frame.
pub(crate) fn collect_fields<M: BakedModel>(
    mut outbox: ResMut<Outbox<M>>,
    mut fields: Query<(Entity, &mut CharacterField<M>, &InheritedVisibility, GroupComponents, Has<Disabled>)>,
) {
    let outbox = outbox.bypass_change_detection();
    // A later bake replaces all fields, and may draw some that the earlier one could not.
    let is_reloaded = outbox.current.model.is_some();
    for (entity, mut field, visibility, components, is_disabled) in &mut fields {
        let is_changed = field.is_changed();
        let field = field.bypass_change_detection();
        let drawn_as = (Group::of(components, 0), visibility.get() && !is_disabled);
        if !is_changed && !is_reloaded && field.drawn_as.as_ref() == Some(&drawn_as) {
            continue;
        }
        let (group, visible) = drawn_as.clone();
        field.drawn_as = Some(drawn_as);
        let descriptor = Box::new(field.descriptor.clone());
        outbox.current.fields.push((entity, FieldChange::Changed { group, visible, descriptor }));
    }
}
