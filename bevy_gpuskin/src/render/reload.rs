//! Replaces the crowds and fields of a model by those of a later bake.

use std::collections::HashMap;

use bevy::prelude::*;
use gpuskin_rt::{BakedModel, Crowd, CrowdDescriptor, Error, FieldDescriptor, InstanceId, Model};

use super::crowds::{AnyCrowd, CharacterRenderer, DrawnCrowd, DrawnMesh, Gpu, Looks, MadeCrowd};
use super::inbox::{EntityCrowd, Inbox};

/// A crowd of a later bake, with its instances by those of the earlier crowd.
struct Successor<M> {
    made: MadeCrowd<M>,
    meshes: Vec<DrawnMesh>,
    ids: HashMap<InstanceId, InstanceId>,
}

impl<M: BakedModel> Inbox<M> {
    /// Replaces the model and those of its attachments by later bakes. `None`: the model stays. Characters play on by the names of
    /// their clips. After an error, all crowds are as before.
    pub(super) fn reload(
        &mut self,
        renderer: &mut CharacterRenderer,
        gpu: Gpu<'_>,
        model: Option<&'static Model>,
        later_props: Vec<(usize, &'static Model)>,
    ) -> Result<(), Error> {
        let mut props = self.looks.props.clone();
        for (attachment, later) in later_props {
            if let Some((prop, _)) = props.get_mut(attachment) {
                *prop = later;
            }
        }
        let looks = Looks { model: model.unwrap_or(self.looks.model), props, surface: self.looks.surface };
        let mut succeed =
            |made: &MadeCrowd<M>, descriptor: &CrowdDescriptor| renderer.succeed(gpu, &made.crowd, descriptor, &looks);
        let shared = self.crowds.iter().map(|(_, made)| made.as_ref().map(|made| succeed(made, &self.descriptor)));
        let shared = shared.map(Option::transpose).collect::<Result<Vec<_>, _>>()?;
        let of_entity =
            |(entity, crowd): (&Entity, &EntityCrowd<M>)| Ok((*entity, succeed(&crowd.made, &crowd.descriptor)?));
        let of_entities = self.entities.iter().map(of_entity).collect::<Result<Vec<_>, Error>>()?;
        // Without a crowd, the first character would be the first to fail.
        if of_entities.is_empty() && shared.iter().all(Option::is_none) {
            renderer.build(gpu, self.descriptor.clone(), &looks)?;
        }

        self.looks = looks;
        self.failed = false;
        for (group, id) in self.instances.iter_mut().flatten() {
            let successor = shared.get(usize::from(*group)).and_then(Option::as_ref);
            *id = successor.and_then(|successor| successor.ids.get(id)).copied().unwrap_or(*id);
        }
        for ((group, made), successor) in self.crowds.iter_mut().zip(shared) {
            let Some(Successor { made: new, meshes, .. }) = successor else { continue };
            let is_drawn = |drawn: &DrawnCrowd| drawn.owner.is_none() && drawn.group == *group;
            renderer.draw_instead(new.crowd.clone(), meshes, is_drawn);
            *made = Some(new);
        }
        for (entity, Successor { made: new, meshes, ids }) in of_entities {
            let Some(crowd) = self.entities.get_mut(&entity) else { continue };
            renderer.draw_instead(new.crowd.clone(), meshes, |drawn| drawn.owner == Some(entity));
            crowd.made = new;
            crowd.ids.iter_mut().for_each(|id| *id = ids.get(id).copied().unwrap_or(*id));
        }
        Ok(())
    }

    /// Replaces a field by one of the later bake. After an error, such as that the bake has no animation texture, the field is as
    /// before.
    pub(super) fn reload_field(
        &self,
        renderer: &mut CharacterRenderer,
        gpu: Gpu<'_>,
        entity: Entity,
        descriptor: FieldDescriptor<M>,
    ) -> Result<(), Error> {
        let (field, meshes) = renderer.build_field(gpu, descriptor, &self.looks)?;
        renderer.draw_instead(field, meshes, |drawn| drawn.owner == Some(entity));
        Ok(())
    }
}

impl CharacterRenderer {
    /// Makes a crowd of a later bake in which the instances of an earlier one play on.
    fn succeed<M: BakedModel>(
        &mut self,
        gpu: Gpu<'_>,
        earlier: &Crowd<M>,
        descriptor: &CrowdDescriptor,
        looks: &Looks<M>,
    ) -> Result<Successor<M>, Error> {
        let (made, meshes) = self.build(gpu, descriptor.clone(), looks)?;
        let new = made.crowd.restore(&earlier.snapshot())?;
        let old = (0..earlier.len() as u32).filter_map(|i| earlier.id_at(i));
        let ids: HashMap<_, _> = old.zip(new).collect();
        // A snapshot leaves out the weights of live bones.
        for (old, new) in &ids {
            if let Some(layers) = earlier.layers(*old) {
                made.crowd.set_layers(*new, &layers)?;
            }
        }
        Ok(Successor { made, meshes, ids })
    }

    /// Draws a crowd or a field in place of the one of the same type for which `is_drawn` holds.
    fn draw_instead<C: AnyCrowd + 'static>(
        &mut self,
        crowd: C,
        meshes: Vec<DrawnMesh>,
        is_drawn: impl Fn(&DrawnCrowd) -> bool,
    ) {
        let is_of_type = |drawn: &DrawnCrowd| drawn.crowd.as_any().is::<C>();
        if let Some(drawn) = self.crowds.iter_mut().find(|drawn| is_of_type(drawn) && is_drawn(drawn)) {
            drawn.crowd = Box::new(crowd);
            drawn.meshes = meshes;
        }
    }
}
