//! Extensions of materials: the game's own shaders and bindings on top of Bevy's `StandardMaterial`.

use core::any::TypeId;

use bevy::asset::UntypedAssetId;
use bevy::ecs::lifecycle::HookContext;
use bevy::ecs::world::DeferredWorld;
use bevy::pbr::MaterialExtension;
use bevy::platform::collections::HashSet;
use bevy::prelude::*;

/// Extension of the materials of a [`Character`](crate::Character), or of a whole [`CharacterCrowd`](crate::CharacterCrowd): a value of
/// the type that Bevy's [`ExtendedMaterial`](bevy::pbr::ExtendedMaterial) takes as its second parameter.
///
/// The model's materials become the [`StandardMaterial`] that the extension extends. Its shaders and bindings are those of meshes, unchanged.
/// [`CharacterExtensionPlugin`](crate::CharacterExtensionPlugin) draws them. A change of the asset shows in the next frame.
///
/// Characters with different assets or variants are different crowds on the GPU: use few of both, and write what differs between
/// characters to [`Character::tinted`](crate::Character::tinted).
///
/// ```no_run
/// use bevy::pbr::MaterialExtension;
/// use bevy::prelude::*;
/// use bevy::render::render_resource::AsBindGroup;
/// use bevy::shader::ShaderRef;
/// use bevy_gpuskin::{Character, CharacterExtension, CharacterExtensionPlugin, CharacterPlugin};
/// use bevy_gpuskin_sample_models::{clips, models::Soldier};
///
/// /// As for meshes with `MeshMaterial3d<ExtendedMaterial<StandardMaterial, Toon>>`.
/// #[derive(Asset, AsBindGroup, TypePath, Clone)]
/// struct Toon {
///     #[uniform(100)]
///     steps: Vec4,
/// }
///
/// impl MaterialExtension for Toon {
///     fn fragment_shader() -> ShaderRef {
///         "shaders/toon.wesl".into()
///     }
/// }
///
/// fn main() {
///     App::new()
///         .add_plugins((DefaultPlugins, CharacterPlugin::<Soldier>::default(), CharacterExtensionPlugin::<Toon>::default()))
///         .add_systems(Startup, spawn)
///         .run();
/// }
///
/// fn spawn(mut commands: Commands, mut toons: ResMut<Assets<Toon>>) {
///     let toon = toons.add(Toon { steps: Vec4::splat(4.0) });
///     commands.spawn((Character::playing(clips::SOLDIER_RUN), CharacterExtension::new(toon)));
/// }
/// ```
#[derive(Component, Clone, Debug)]
#[component(immutable, on_insert = Self::on_insert)]
pub struct CharacterExtension {
    /// Keeps the asset.
    _handle: UntypedHandle,
    id: ExtensionId,
    name: &'static str,
}

impl CharacterExtension {
    /// Makes the component of an extension.
    pub fn new<E: MaterialExtension>(handle: Handle<E>) -> Self {
        let id = ExtensionId {
            asset: handle.id().untyped(),
            cuts: matches!(E::alpha_mode(), Some(AlphaMode::Mask(_))),
            prepass: E::enable_prepass(),
            shadows: E::enable_shadows(),
        };
        Self { _handle: handle.untyped(), id, name: core::any::type_name::<E>() }
    }

    pub(crate) const fn id(&self) -> ExtensionId {
        self.id
    }

    fn on_insert(world: DeferredWorld, context: HookContext) {
        let Some(extension) = world.get::<Self>(context.entity) else { return };
        let plugins = world.get_resource::<ExtensionPlugins>();
        if !plugins.is_some_and(|plugins| plugins.0.contains(&extension.id.asset.type_id())) {
            error!(
                "{}: characters with the extension {} are not drawn; add CharacterExtensionPlugin of this type to the app",
                context.entity, extension.name
            );
        }
    }
}

/// Asset of an extension, and what its type decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ExtensionId {
    pub(crate) asset: UntypedAssetId,
    /// Whether the extension cuts holes in opaque materials.
    pub(crate) cuts: bool,
    /// Whether the prepass of cameras draws the characters.
    pub(crate) prepass: bool,
    /// Whether shadow maps draw the characters.
    pub(crate) shadows: bool,
}

/// Types that have a plugin.
#[derive(Resource, Debug, Default)]
pub(crate) struct ExtensionPlugins(pub(crate) HashSet<TypeId>);
