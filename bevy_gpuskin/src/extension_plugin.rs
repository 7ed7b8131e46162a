//! Plugin that draws characters with extensions of materials.

use core::any::TypeId;
use core::hash::Hash;
use core::marker::PhantomData;

use bevy::asset::Asset;
use bevy::pbr::MaterialExtension;
use bevy::prelude::*;
use bevy::shader::ShaderRef;

use crate::extension::ExtensionPlugins;
use crate::render;

/// Draws characters and crowds that have a [`CharacterExtension`](crate::CharacterExtension) of a type.
///
/// | member of [`MaterialExtension`] | on characters |
/// |---|---|
/// | `fragment_shader`, bindings | as on meshes; never bindless |
/// | `prepass_fragment_shader` | as on meshes. Without it, the prepass and shadow maps draw the materials of the model |
/// | `enable_prepass`, `enable_shadows`, `specialize` | as on meshes |
/// | `alpha_mode` | `Mask` cuts opaque materials, too; of other modes, the model has its own |
/// | `vertex_shader`, `prepass_vertex_shader`, deferred shaders | without effect: gpuskin poses the vertices |
///
/// The vertices have a position, a normal, one set of texture coordinates, a tangent if the model has them, and a colour: that of the model,
/// multiplied with the tint. `mesh[in.instance_index]` has flags alone, and no transform.
///
/// The material is what `StandardMaterial` can express: strengths of occlusion and of normal maps are 1, materials with a tint mask have no
/// tint, and flat parts have smooth normals. Variants of a [`Character`](crate::Character) have their base colours; crowds and fields
/// show the model's own. `CharacterPlugin::with_surface` has no effect on characters with an extension.
///
/// The device needs 5 bind groups: native devices have them, WebGPU of browsers has not. On a device with fewer, characters with extensions are
/// not drawn, and an error is logged.
#[derive(Debug)]
pub struct CharacterExtensionPlugin<E>(PhantomData<fn() -> E>);

// Not derived: a derive would require the same trait of `E`.
impl<E> Default for CharacterExtensionPlugin<E> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<E: MaterialExtension> Plugin for CharacterExtensionPlugin<E>
where
    E::Data: Copy + Eq + Hash,
{
    fn build(&self, app: &mut App) {
        let name = core::any::type_name::<E>();
        if !matches!(E::alpha_mode(), None | Some(AlphaMode::Mask(_))) {
            warn!("{name}: the alpha mode has no effect on characters; set it in the materials of the model");
        }
        if [E::vertex_shader(), E::prepass_vertex_shader()].iter().any(|shader| !matches!(shader, ShaderRef::Default)) {
            warn!("{name}: vertex shaders have no effect on characters");
        }
        init_asset::<E>(app);
        app.init_resource::<ExtensionPlugins>();
        app.world_mut().resource_mut::<ExtensionPlugins>().0.insert(TypeId::of::<E>());
        render::build_extension::<E>(app);
    }
}

/// Makes a type an asset, if the game has not done it.
fn init_asset<A: Asset>(app: &mut App) {
    if !app.world().contains_resource::<Assets<A>>() {
        app.init_asset::<A>();
    }
}
