//! Shaders: the functions of `gpuskin_rt::pipeline::source` within a WESL module that imports bevy_pbr's.

use core::hash::{Hash, Hasher};
use core::marker::PhantomData;

use bevy::asset::uuid::Uuid;
use bevy::platform::collections::HashMap;
use bevy::prelude::*;
use bevy::render::render_resource::PipelineCache;
use bevy::shader::Shader;
use gpuskin_rt::pipeline::{self, Variant};

/// Pass for which a shader is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Pass {
    /// Main pass.
    Forward,
    /// Depth of blended surfaces in the main pass, before their colour.
    Cover,
    /// Prepass and shadow maps.
    Prepass,
}

/// Text of a shader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Text {
    /// Main pass.
    Forward,
    /// Prepass and shadow maps.
    Prepass,
    /// Vertices alone, of all passes: the extension of a material has the fragment shader.
    Extended,
}

/// Index of the model's bind group.
pub(super) const MODEL_GROUP: u32 = 2;
/// Index of the model's bind group in pipelines of extensions: `mesh_bindings` of bevy_pbr have the usual one.
pub(super) const EXTENDED_MODEL_GROUP: u32 = 4;

/// First of the ids of the shaders of this crate.
const FIRST_ID: Uuid = Uuid::from_u128(0x7be1_d8a2_5a3f_4c64_9d0e_3f21_0000_0000);

/// Modules of bevy_pbr that the shaders import. Bevy loads them in the background when the app starts.
const IMPORTED: [&str; 15] = [
    "light_probe/environment_map",
    "prepass/bindings",
    "prepass/io",
    "render/clustered_forward",
    "render/forward_io",
    "render/mesh_types",
    "render/mesh_view_bindings",
    "render/mesh_view_types",
    "render/pbr_fragment",
    "render/pbr_functions",
    "render/pbr_lighting",
    "render/pbr_types",
    "render/shadows",
    "render/view_transformations",
    "ssao/utils",
];

/// Whether the modules of bevy_pbr are there.
pub(super) fn imports_are_loaded(assets: &AssetServer) -> bool {
    IMPORTED.iter().all(|module| {
        let handle = assets.get_handle::<Shader>(format!("embedded://bevy_pbr/{module}.wesl"));
        handle.is_some_and(|handle| assets.is_loaded(&handle))
    })
}

/// WGSL of the game that changes surfaces: the text that a plugin was given. Other texts are other functions, even if they are
/// equal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SurfaceCode {
    pub(crate) text: &'static str,
    /// Whether the function cuts holes in opaque materials.
    pub(crate) cuts: bool,
}

impl PartialEq for SurfaceCode {
    fn eq(&self, other: &Self) -> bool {
        core::ptr::eq(self.text, other.text) && self.cuts == other.cuts
    }
}

impl Eq for SurfaceCode {}

impl Hash for SurfaceCode {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text.as_ptr().hash(state);
    }
}

/// Instances that a shader draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Drawn {
    pub(super) variant: Variant,
    /// Whether they are those of a field.
    pub(super) is_field: bool,
}

/// Shaders that were made, by text, instances and function of the game.
#[derive(Debug, Default)]
pub(super) struct Shaders {
    handles: HashMap<(Text, Drawn, Option<SurfaceCode>), Handle<Shader>>,
}

impl Shaders {
    /// Returns a shader.
    pub(super) fn get(
        &mut self,
        cache: &mut PipelineCache,
        text: Text,
        drawn: Drawn,
        surface: Option<SurfaceCode>,
    ) -> Handle<Shader> {
        let number = self.handles.len();
        let make = || {
            let handle = Handle::<Shader>::Uuid(Uuid::from_u128(FIRST_ID.as_u128() + number as u128), PhantomData);
            let path = format!("embedded://bevy_gpuskin/characters_{number}.wesl");
            cache.set_shader(handle.id(), Shader::from_wesl(source(text, drawn, surface), path));
            handle
        };
        self.handles.entry((text, drawn, surface)).or_insert_with(make).clone()
    }
}

/// Returns the source of a shader.
fn source(text: Text, Drawn { variant, is_field }: Drawn, surface: Option<SurfaceCode>) -> String {
    let skinning = |group| match is_field {
        true => pipeline::field_source(variant, group),
        false => pipeline::source(variant, group),
    };
    let pass = match text {
        Text::Forward => include_str!("forward.wesl"),
        Text::Prepass => include_str!("prepass.wesl"),
        Text::Extended => {
            let text = include_str!("extended.wesl");
            return text.replace("//GPUSKIN", &skinning(EXTENDED_MODEL_GROUP));
        }
    };
    let text = include_str!("characters.wesl").replace("//PASS", pass);
    let text = text.replace("//GPUSKIN", &skinning(MODEL_GROUP));
    text.replace("//SURFACE", surface.map_or("", |surface| surface.text))
}
