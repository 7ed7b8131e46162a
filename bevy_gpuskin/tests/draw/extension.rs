//! Extensions of materials, against meshes with Bevy's `ExtendedMaterial` of the same extension.

use core::hash::Hash;

use bevy::asset::{RenderAssetUsages, uuid_handle};
use bevy::core_pipeline::prepass::{DepthPrepass, MotionVectorPrepass, NormalPrepass};
use bevy::pbr::{ExtendedMaterial, MaterialExtension};
use bevy::prelude::*;
use bevy::render::render_resource::{AsBindGroup, Extent3d, TextureDimension, TextureFormat};
use bevy::shader::ShaderRef;
use bevy_gpuskin::gpuskin_rt::{BakedModel, Clip, Instance};
use bevy_gpuskin::{Character, CharacterCrowd, CharacterExtension, CharacterExtensionPlugin, CharacterPlugin};
use bevy_gpuskin_sample_models::models::{GUARD, Ghost, Guard, Soldier};
use bevy_gpuskin_sample_models::{clips, variants};

use crate::common::{self, control};
use crate::{assert_equal, of, placed, scene_of, set_shadows};

const TOON_SHADER: Handle<Shader> = uuid_handle!("7f6d1c88-0b4a-4b0e-9a0e-4a8d1f5f2c01");
const HOLES_SHADER: Handle<Shader> = uuid_handle!("7f6d1c88-0b4a-4b0e-9a0e-4a8d1f5f2c02");
const HOLES_PREPASS_SHADER: Handle<Shader> = uuid_handle!("7f6d1c88-0b4a-4b0e-9a0e-4a8d1f5f2c03");

/// Shader like that of Bevy's example `extended_material`: surfaces are changed before Bevy lights them, and light after it.
const TOON: &str = "
import bevy_pbr::{
    render::pbr_fragment::pbr_input_from_standard_material,
    render::pbr_functions::{alpha_discard, apply_pbr_lighting, main_pass_post_lighting_processing},
    render::forward_io::{VertexOutput, FragmentOutput},
};

@group(constants::MATERIAL_BIND_GROUP) @binding(100) var<uniform> toon_color: vec4<f32>;
@group(constants::MATERIAL_BIND_GROUP) @binding(101) var toon_pattern: texture_2d<f32>;
@group(constants::MATERIAL_BIND_GROUP) @binding(102) var toon_sampler: sampler;

@fragment
fn fragment(in: VertexOutput, @builtin(front_facing) is_front: bool) -> FragmentOutput {
    var pbr = pbr_input_from_standard_material(in, is_front);
    let pattern = textureSample(toon_pattern, toon_sampler, in.uv).r;
    pbr.material.base_color = vec4<f32>(mix(pbr.material.base_color.rgb, toon_color.rgb, pattern), pbr.material.base_color.a);
    pbr.material.base_color = alpha_discard(pbr.material.flags, pbr.material.alpha_cutoff, pbr.material.base_color);
    var out: FragmentOutput;
    out.color = apply_pbr_lighting(pbr);
    out.color = vec4<f32>(out.color.rgb * toon_color.a, out.color.a);
    out.color = main_pass_post_lighting_processing(pbr, out.color);
    return out;
}
";

/// Holes in opaque materials, by the height above the ground.
const HOLES: &str = "
import bevy_pbr::{
    render::pbr_fragment::pbr_input_from_standard_material,
    render::pbr_functions::{apply_pbr_lighting, main_pass_post_lighting_processing},
    render::forward_io::{VertexOutput, FragmentOutput},
};

@group(constants::MATERIAL_BIND_GROUP) @binding(100) var<uniform> holes_period: vec4<f32>;

@fragment
fn fragment(in: VertexOutput, @builtin(front_facing) is_front: bool) -> FragmentOutput {
    if fract(in.world_position.y / holes_period.x) < 0.4 {
        discard;
    }
    let pbr = pbr_input_from_standard_material(in, is_front);
    var out: FragmentOutput;
    out.color = main_pass_post_lighting_processing(pbr, apply_pbr_lighting(pbr));
    return out;
}
";

const HOLES_PREPASS: &str = "
import bevy_pbr::prepass::io::{VertexOutput, FragmentOutput};
@if(MOTION_VECTOR_PREPASS)
import bevy_pbr::render::pbr_prepass_functions::calculate_motion_vector;

@group(constants::MATERIAL_BIND_GROUP) @binding(100) var<uniform> holes_period: vec4<f32>;

fn holes_cut(in: VertexOutput) {
    if fract(in.world_position.y / holes_period.x) < 0.4 {
        discard;
    }
}

@if(PREPASS_FRAGMENT)
@fragment
fn fragment(in: VertexOutput) -> FragmentOutput {
    holes_cut(in);
    var out: FragmentOutput;
@if(NORMAL_PREPASS)
    out.normal = vec4<f32>(normalize(in.world_normal) * 0.5 + 0.5, 1.0);
@if(MOTION_VECTOR_PREPASS)
    out.motion_vector = calculate_motion_vector(in.world_position, in.previous_world_position);
@if(UNCLIPPED_DEPTH_ORTHO_EMULATION)
    out.frag_depth = in.unclipped_depth;
    return out;
}

@if(!PREPASS_FRAGMENT)
@fragment
fn fragment(in: VertexOutput) {
    holes_cut(in);
}
";

#[derive(Asset, AsBindGroup, TypePath, Clone, Debug)]
struct Toon {
    /// The last number is a factor of the light.
    #[uniform(100)]
    color: Vec4,
    #[texture(101)]
    #[sampler(102)]
    pattern: Handle<Image>,
}

impl MaterialExtension for Toon {
    fn fragment_shader() -> ShaderRef {
        TOON_SHADER.into()
    }
}

#[derive(Asset, AsBindGroup, TypePath, Clone, Debug)]
struct Holes {
    /// Metres.
    #[uniform(100)]
    period: Vec4,
}

impl MaterialExtension for Holes {
    fn fragment_shader() -> ShaderRef {
        HOLES_SHADER.into()
    }

    fn prepass_fragment_shader() -> ShaderRef {
        HOLES_PREPASS_SHADER.into()
    }

    fn alpha_mode() -> Option<AlphaMode> {
        Some(AlphaMode::Mask(0.5))
    }
}

/// A scene in which characters and meshes can have an extension, and its picture without them.
struct Stage {
    app: App,
    image: Handle<Image>,
    empty: Vec<[u8; 4]>,
}

/// An instance that stands still, and its tint.
type Standing<M> = (Clip<M>, f32, Transform, Color);

impl Stage {
    fn new<E: MaterialExtension>() -> Self
    where
        E::Data: Copy + Eq + Hash,
    {
        let add_shaders = |app: &mut App| {
            let mut shaders = app.world_mut().resource_mut::<Assets<Shader>>();
            for (handle, text, name) in [
                (TOON_SHADER, TOON, "toon"),
                (HOLES_SHADER, HOLES, "holes"),
                (HOLES_PREPASS_SHADER, HOLES_PREPASS, "holes_prepass"),
            ] {
                shaders.insert(handle.id(), Shader::from_wesl(text, format!("embedded://test/{name}.wesl"))).unwrap();
            }
        };
        let (app, image) = scene_of((
            CharacterPlugin::<Ghost>::default(),
            CharacterPlugin::<Guard>::default(),
            CharacterExtensionPlugin::<E>::default(),
            MaterialPlugin::<ExtendedMaterial<StandardMaterial, E>>::default(),
            add_shaders,
        ));
        let mut stage = Self { app, image, empty: Vec::new() };
        stage.empty = stage.picture();
        stage
    }

    fn picture(&mut self) -> Vec<[u8; 4]> {
        common::settle(&mut self.app);
        common::read(&mut self.app, &self.image)
    }

    fn add<A: Asset>(&mut self, asset: A) -> Handle<A> {
        self.app.world_mut().resource_mut::<Assets<A>>().add(asset)
    }

    fn despawn(&mut self, entities: Vec<Entity>) {
        for entity in entities {
            self.app.world_mut().despawn(entity);
        }
    }

    fn character<M: BakedModel>(&mut self, (clip, phase, transform, tint): Standing<M>) -> Entity {
        let character = Character::playing(clip).phase(phase).tinted(tint).speed(0.0);
        self.app.world_mut().spawn((character, transform)).id()
    }

    /// Spawns an instance as meshes, with an extension if it has one.
    fn meshes<M: BakedModel, E: MaterialExtension>(
        &mut self,
        (clip, phase, transform, tint): Standing<M>,
        extension: Option<&E>,
    ) -> Vec<Entity> {
        let instance = Instance::at([0.0; 3]).with_transform(of(transform)).play(clip).phase(phase).speed(0.0);
        let record = instance.record(&M::MODEL.meta, 0.0.into());
        let entities = control::spawn::<M>(&mut self.app, &record, tint, 0.0);
        extension.into_iter().for_each(|extension| self.extend(&entities, extension));
        entities
    }

    /// Gives meshes an extension.
    fn extend<E: MaterialExtension>(&mut self, entities: &[Entity], extension: &E) {
        for entity in entities {
            let world = self.app.world_mut();
            let standard = world.entity_mut(*entity).take::<MeshMaterial3d<StandardMaterial>>().unwrap();
            let base = world.resource::<Assets<StandardMaterial>>().get(&standard.0).unwrap().clone();
            let extended = self.add(ExtendedMaterial { base, extension: extension.clone() });
            self.app.world_mut().entity_mut(*entity).insert(MeshMaterial3d(extended));
        }
    }

    /// Compares a picture of characters with the stage of the moment, and empties the stage.
    fn assert_equal_to_meshes(&mut self, name: &str, characters: &[[u8; 4]], meshes: Vec<Entity>) {
        let control = self.picture();
        common::save(&format!("{name}.png"), characters);
        common::save(&format!("{name}-control.png"), &control);
        assert_equal(characters, &control, &self.empty);
        self.despawn(meshes);
    }
}

/// A texture of stripes.
fn stripes() -> Image {
    let size = Extent3d { width: 8, height: 8, depth_or_array_layers: 1 };
    let texels = (0..64).flat_map(|i| [if i % 8 < 4 { 255 } else { 40 }; 4]).collect();
    Image::new(size, TextureDimension::D2, texels, TextureFormat::Rgba8Unorm, RenderAssetUsages::RENDER_WORLD)
}

fn soldiers() -> impl Iterator<Item = Standing<Soldier>> {
    placed().into_iter().take(8).map(|soldier| (soldier.clip, soldier.phase, soldier.transform, soldier.tint))
}

const RED: Vec4 = Vec4::new(0.9, 0.2, 0.1, 0.8);
const BLUE: Vec4 = Vec4::new(0.1, 0.3, 0.9, 1.3);
const GREEN: Vec4 = Vec4::new(0.1, 0.8, 0.2, 1.0);

#[test]
fn extensions_change_characters_as_they_change_meshes() {
    let mut stage = Stage::new::<Toon>();
    let pattern = stage.add(stripes());
    let toon = |color| Toon { color, pattern: pattern.clone() };
    let toons = [RED, BLUE].map(|color| stage.add(toon(color)));

    // Each third soldier has no extension.
    let characters: Vec<_> = soldiers().map(|soldier| stage.character(soldier)).collect();
    let insert = |stage: &mut Stage, toons: [Option<&Handle<Toon>>; 3]| {
        for (i, entity) in characters.iter().enumerate() {
            let mut entity = stage.app.world_mut().entity_mut(*entity);
            match toons[i % 3] {
                Some(toon) => entity.insert(CharacterExtension::new(toon.clone())),
                None => entity.remove::<CharacterExtension>(),
            };
            set_shadows(&mut stage.app, i, characters[i]);
        }
    };
    insert(&mut stage, [Some(&toons[0]), Some(&toons[1]), None]);
    let first = stage.picture();
    // Another value of an asset, other assets, and none.
    stage.app.world_mut().resource_mut::<Assets<Toon>>().get_mut(&toons[0]).unwrap().color = GREEN;
    insert(&mut stage, [Some(&toons[0]), None, Some(&toons[1])]);
    let later = stage.picture();
    stage.despawn(characters);
    for (name, picture, colors) in [
        ("extension", first, [Some(RED), Some(BLUE), None]),
        ("extension-later", later, [Some(GREEN), None, Some(BLUE)]),
    ] {
        let mut meshes = Vec::new();
        for (i, soldier) in soldiers().enumerate() {
            for mesh in stage.meshes(soldier, colors[i % 3].map(toon).as_ref()) {
                set_shadows(&mut stage.app, i, mesh);
                meshes.push(mesh);
            }
        }
        stage.assert_equal_to_meshes(name, &picture, meshes);
    }

    // A crowd of one entity, whose extension is exchanged.
    let instance = |(clip, phase, transform, tint): Standing<Soldier>| {
        let tint = tint.to_linear().to_f32_array();
        Instance::at([0.0; 3]).with_transform(of(transform)).play(clip).phase(phase).tinted(tint).speed(0.0)
    };
    let crowd = CharacterCrowd::new(soldiers().map(instance));
    let crowd = stage.app.world_mut().spawn((crowd, CharacterExtension::new(toons[0].clone()))).id();
    stage.app.update();
    stage.app.world_mut().entity_mut(crowd).insert(CharacterExtension::new(toons[1].clone()));
    let blue = stage.picture();
    stage.despawn(vec![crowd]);
    let meshes = soldiers().flat_map(|soldier| stage.meshes(soldier, Some(&toon(BLUE)))).collect();
    stage.assert_equal_to_meshes("extension-crowd", &blue, meshes);

    // Cut-out and blended materials.
    let place = |i: usize| Transform::from_xyz(i as f32 * 1.1 - 1.5, 0.0, 0.6);
    let ghosts = [0, 1, 2, 3].map(|i| (clips::GHOST_SWAY, 0.2 * i as f32, place(i), Color::WHITE));
    let characters = ghosts.map(|ghost| stage.character(ghost));
    for ghost in characters {
        stage.app.world_mut().entity_mut(ghost).insert(CharacterExtension::new(toons[0].clone()));
    }
    let picture = stage.picture();
    stage.despawn(characters.to_vec());
    let meshes = ghosts.into_iter().flat_map(|ghost| stage.meshes(ghost, Some(&toon(GREEN)))).collect();
    stage.assert_equal_to_meshes("extension-ghosts", &picture, meshes);
}

#[test]
fn extensions_cut_holes_in_shadows_and_in_the_prepass() {
    let mut stage = Stage::new::<Holes>();
    let holes = Holes { period: Vec4::splat(0.25) };
    let handle = stage.add(holes.clone());
    let world = stage.app.world_mut();
    let camera = world.query_filtered::<Entity, With<Camera3d>>().single(world).unwrap();
    world.entity_mut(camera).insert((Msaa::Off, DepthPrepass, NormalPrepass, MotionVectorPrepass));
    stage.empty = stage.picture();
    let characters: Vec<_> = soldiers().map(|soldier| stage.character(soldier)).collect();
    for soldier in &characters {
        stage.app.world_mut().entity_mut(*soldier).insert(CharacterExtension::new(handle.clone()));
    }
    let picture = stage.picture();
    stage.despawn(characters);
    let meshes = soldiers().flat_map(|soldier| stage.meshes(soldier, Some(&holes))).collect();
    stage.assert_equal_to_meshes("extension-holes", &picture, meshes);
}

#[test]
fn extensions_show_the_variants_of_characters() {
    let mut stage = Stage::new::<Toon>();
    let pattern = stage.add(stripes());
    let toon = Toon { color: RED, pattern };
    let handle = stage.add(toon.clone());
    let place = |i: usize| Transform::from_xyz(i as f32 * 1.1 - 1.6, 0.0, 1.0);
    let looks = [variants::GUARD_BASE, variants::GUARD_BLUE, variants::GUARD_BLUE, variants::GUARD_BASE];
    let mut guards = Vec::new();
    for (i, variant) in looks.into_iter().enumerate() {
        let spawned = if i < 2 { variant } else { looks[i - 2] };
        let guard = Character::playing(clips::GUARD_RUN).phase(0.2 * i as f32).speed(0.0).with_variant(spawned);
        let guard = (guard, place(i), CharacterExtension::new(handle.clone()));
        guards.push(stage.app.world_mut().spawn(guard).id());
    }
    let before = stage.picture();
    for (guard, variant) in guards.iter().zip(looks) {
        stage.app.world_mut().get_mut::<Character<Guard>>(*guard).unwrap().set_variant(variant);
    }
    let picture = stage.picture();
    stage.despawn(guards);
    let mut meshes = Vec::new();
    for (i, variant) in looks.into_iter().enumerate() {
        let instance = Instance::at([0.0; 3]).with_transform(of(place(i))).play(clips::GUARD_RUN);
        let record = instance.phase(0.2 * i as f32).speed(0.0).record(&GUARD.meta, 0.0.into());
        let own = control::spawn_variant(&mut stage.app, &record, (Color::WHITE, variant), 0.0);
        stage.extend(&own, &toon);
        meshes.extend(own);
    }
    let changed = common::different(&before, &picture);
    assert!(changed > 1000, "{changed} pixels show that variants differ");
    stage.assert_equal_to_meshes("extension-variants", &picture, meshes);
}
