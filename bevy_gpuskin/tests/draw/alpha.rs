//! Cut-out and blended materials, against meshes with such materials.

use bevy::asset::RenderAssetUsages;
use bevy::core_pipeline::prepass::{DepthPrepass, MotionVectorPrepass};
use bevy::image::ImageSampler;
use bevy::prelude::*;
use bevy::render::render_resource::{Extent3d, TextureDimension, TextureFormat};
use bevy_gpuskin::gpuskin_rt::{BakedModel, Clip, Instance};
use bevy_gpuskin::{Character, CharacterPlugin, ModelVariant};
use bevy_gpuskin_sample_models::models::{GHOST, Ghost, Guard};
use bevy_gpuskin_sample_models::{clips, variants};

use crate::common::{self, control};
use crate::{assert_equal, of, scene_of};

const VARIANTS: [ModelVariant<Ghost>; 4] =
    [variants::GHOST_BASE, variants::GHOST_MOTHS, variants::GHOST_MOTHS, variants::GHOST_BASE];

/// Tint whose alpha widens the holes and thins the aura.
const TINT: Color = Color::linear_rgba(1.0, 0.8, 0.6, 0.6);

fn place(i: usize) -> Transform {
    Transform::from_xyz(i as f32 * 1.1 - 1.5, 0.0, 0.6).with_rotation(Quat::from_rotation_y(0.7 * i as f32))
}

/// Gives the camera a prepass without normals: Bevy lights blended meshes by the normals of what is behind them.
fn add_prepass(app: &mut App) {
    let camera = app.world_mut().query_filtered::<Entity, With<Camera3d>>().single(app.world()).unwrap();
    app.world_mut().entity_mut(camera).insert((Msaa::Off, DepthPrepass, MotionVectorPrepass));
}

/// Spawns a pane of glass before the ghosts, and one behind them.
fn spawn_panes(app: &mut App) {
    let world = app.world_mut();
    let pane = world.resource_mut::<Assets<Mesh>>().add(Rectangle::new(1.6, 1.2));
    for (color, at) in
        [(Color::srgba(0.9, 0.2, 0.1, 0.5), [-0.6, 1.2, 1.8]), (Color::srgba(0.1, 0.8, 0.2, 0.5), [0.3, 1.2, -0.6])]
    {
        let glass = world.resource_mut::<Assets<StandardMaterial>>().add(color);
        world.spawn((Mesh3d(pane.clone()), MeshMaterial3d(glass), Transform::from_translation(at.into())));
    }
}

/// Draws ghosts or their control between panes of glass. Also returns the picture without ghosts.
fn ghosts(is_control: bool, prepass: bool) -> [Vec<[u8; 4]>; 2] {
    let (mut app, image) = scene_of(CharacterPlugin::<Ghost>::default());
    if prepass {
        add_prepass(&mut app);
    }
    spawn_panes(&mut app);
    common::settle(&mut app);
    let empty = common::read(&mut app, &image);
    for (i, variant) in VARIANTS.into_iter().enumerate() {
        let (phase, tint) = (0.2 * i as f32, if i == 2 { TINT } else { Color::WHITE });
        if is_control {
            let instance = Instance::at([0.0; 3]).with_transform(of(place(i))).play(clips::GHOST_SWAY);
            let record = instance.phase(phase).speed(0.0).record(&GHOST.meta, 0.0.into());
            control::spawn_variant(&mut app, &record, (tint, variant), 0.0);
        } else {
            let ghost = Character::playing(clips::GHOST_SWAY).phase(phase).speed(0.0);
            app.world_mut().spawn((ghost.tinted(tint).with_variant(variant), place(i)));
        }
    }
    common::settle(&mut app);
    [common::read(&mut app, &image), empty]
}

#[test]
fn cut_out_and_blended_materials_are_as_those_of_standard_meshes() {
    let ([ghosts, empty], [control, _]) = (ghosts(false, false), ghosts(true, false));
    common::save("ghosts.png", &ghosts);
    common::save("ghosts-control.png", &control);
    assert_equal(&ghosts, &control, &empty);
}

#[test]
fn cut_out_and_blended_materials_are_as_those_of_standard_meshes_after_a_prepass() {
    let ([ghosts, empty], [control, _]) = (ghosts(false, true), ghosts(true, true));
    common::save("ghosts-prepass.png", &ghosts);
    common::save("ghosts-prepass-control.png", &control);
    assert_equal(&ghosts, &control, &empty);
}

/// A blended surface hides those behind it, in whatever order they are drawn.
#[test]
fn order_of_blended_characters_does_not_matter() {
    let draw = |order: [usize; 2]| {
        let (mut app, image) = scene_of(CharacterPlugin::<Ghost>::default());
        for i in order {
            let place = Transform::from_xyz(0.2 * i as f32, 0.0, 1.5 - 0.7 * i as f32);
            app.world_mut().spawn((Character::playing(clips::GHOST_SWAY).speed(0.0), place));
        }
        common::settle(&mut app);
        common::read(&mut app, &image)
    };
    let [near_first, far_first] = [[0, 1], [1, 0]].map(draw);
    common::save("ghosts-order.png", &near_first);
    assert_eq!(common::different(&near_first, &far_first), 0);
}

/// Cuts what is below a height: by alpha, or by `discard`. Bits of the second word: whether it discards, and whether alpha is replaced.
const CUT: &str = "
    fn surface(point: SurfacePoint, uv: vec2<f32>) -> SurfacePoint {
        var cut = point;
        cut.base_color = vec3<f32>(0.5, 0.4, 0.1);
        if (point.custom.y & 2u) != 0u {
            cut.alpha = 1.0;
        }
        // The time is read, but does not change the picture.
        if point.position.y < f32(point.custom.x) * 0.125 + min(globals.time, 0.0) {
            if (point.custom.y & 1u) != 0u {
                discard;
            }
            cut.alpha = 0.0;
        }
        return cut;
    }
";

fn custom(i: usize, whole: bool) -> [u32; 2] {
    [3 + 2 * i as u32, i as u32 % 2 + if whole { 2 } else { 0 }]
}

/// A texture whose alpha is 0 up to a height of 0.125 m * `height`, in eight texels per metre.
fn step(height: u32) -> Image {
    let size = Extent3d { width: 1, height: 16, depth_or_array_layers: 1 };
    let texel = |y: u32| [255, 255, 255, if y < height { 0 } else { 255 }];
    let (data, format) = ((0..16).flat_map(texel).collect(), TextureFormat::Rgba8UnormSrgb);
    let mut image = Image::new(size, TextureDimension::D2, data, format, RenderAssetUsages::RENDER_WORLD);
    image.sampler = ImageSampler::nearest();
    image
}

/// Makes a mesh of the control what [`CUT`] makes of a surface.
fn cut(app: &mut App, entity: Entity, i: usize) {
    let texture = app.world_mut().resource_mut::<Assets<Image>>().add(step(custom(i, false)[0]));
    let handle = app.world().get::<MeshMaterial3d<StandardMaterial>>(entity).unwrap().0.clone();
    let mut materials = app.world_mut().resource_mut::<Assets<StandardMaterial>>();
    let mut material = materials.get_mut(&handle).unwrap();
    material.base_color_texture = Some(texture);
    material.base_color = LinearRgba::rgb(0.5, 0.4, 0.1).into();
    if material.alpha_mode == AlphaMode::Opaque {
        material.alpha_mode = AlphaMode::Mask(0.5);
    }
    drop(material);
    let handle = app.world().get::<Mesh3d>(entity).unwrap().0.clone();
    let mut meshes = app.world_mut().resource_mut::<Assets<Mesh>>();
    let mut mesh = meshes.get_mut(&handle).unwrap();
    let positions = mesh.attribute(Mesh::ATTRIBUTE_POSITION).unwrap().as_float3().unwrap();
    let uvs: Vec<_> = positions.iter().map(|position| [0.5, position[1] / 2.0]).collect();
    mesh.insert_attribute(Mesh::ATTRIBUTE_UV_0, uvs);
}

/// Draws characters that a function of the game cuts, and their control.
fn assert_cut<M: BakedModel>(plugin: impl Fn() -> CharacterPlugin<M>, clip: Clip<M>, name: &str) {
    let has_holes = M::MODEL.meta.materials()[0].alpha_cutoff.is_some();
    let draw = |is_control: bool| {
        let (mut app, image) = scene_of(plugin());
        add_prepass(&mut app);
        common::settle(&mut app);
        let empty = common::read(&mut app, &image);
        for i in 0..4 {
            let phase = 0.2 * i as f32;
            if is_control {
                let instance = Instance::at([0.0; 3]).with_transform(of(place(i))).play(clip).phase(phase);
                let record = instance.speed(0.0).record(&M::MODEL.meta, 0.0.into());
                for entity in control::spawn::<M>(&mut app, &record, Color::WHITE, 0.0) {
                    cut(&mut app, entity, i);
                }
            } else {
                let character = Character::playing(clip)
                    .phase(phase)
                    .speed(0.0)
                    .custom(custom(i, has_holes))
                    .tinted(Color::linear_rgba(1.0, 1.0, 1.0, 0.2));
                app.world_mut().spawn((character, place(i)));
            }
        }
        common::settle(&mut app);
        [common::read(&mut app, &image), empty]
    };
    let [[characters, empty], [control, _]] = [false, true].map(draw);
    common::save(&format!("{name}.png"), &characters);
    common::save(&format!("{name}-control.png"), &control);
    assert_equal(&characters, &control, &empty);
}

#[test]
fn functions_cut_opaque_materials_also_in_prepass_and_shadows() {
    assert_cut(|| CharacterPlugin::<Guard>::default().with_cutting_surface(CUT), clips::GUARD_RUN, "cut-opaque");
}

#[test]
fn functions_cut_materials_with_alpha_also_in_prepass_and_shadows() {
    assert_cut(|| CharacterPlugin::<Ghost>::default().with_surface(CUT), clips::GHOST_SWAY, "cut-alpha");
}
