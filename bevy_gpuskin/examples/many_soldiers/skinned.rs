//! Soldiers as Bevy's own skinned meshes, which its `AnimationPlayer` animates.

use std::path::{Path, PathBuf};

use bevy::animation::{AnimatedBy, AnimationTargetId};
use bevy::asset::io::embedded::EmbeddedAssetRegistry;
use bevy::camera::primitives::Aabb;
use bevy::camera::visibility::{DynamicSkinnedMeshBounds, VisibilityClass};
use bevy::gltf::{GltfExtras, GltfMaterialExtras, GltfMaterialName, GltfMeshExtras, GltfMeshName, GltfSceneName};
use bevy::mesh::skinning::SkinnedMesh;
use bevy::prelude::*;
use bevy::transform::components::TransformTreeChanged;
use bevy::world_serialization::{WorldAsset, WorldAssetRoot, WorldInstanceReady};

use crate::Options;
use crate::stage::{Moves, Ready, phase, places};

const FILE: &str = "embedded://many_soldiers/soldier.glb";
/// Index of the clip `run` in the file.
const RUN: usize = 2;

/// Clip of all soldiers.
#[derive(Resource)]
struct Animation {
    clip: Handle<AnimationClip>,
    node: AnimationNodeIndex,
    graph: Handle<AnimationGraph>,
}

/// Index of a soldier.
#[derive(Component)]
struct Number(usize);

/// Adds the file of the model to the app.
pub(crate) fn embed(app: &mut App) {
    let bytes: &[u8] = include_bytes!("../../../assets/soldier.glb");
    let registry = app.world().resource::<EmbeddedAssetRegistry>();
    registry.insert_asset(PathBuf::new(), Path::new("many_soldiers/soldier.glb"), bytes);
}

/// Adds the soldiers to the app when it starts.
pub(crate) fn build(app: &mut App) {
    // Stands in for Bevy's feature `reflect_auto_register`: the components of a scene of glTF.
    app.register_type::<Transform>()
        .register_type::<GlobalTransform>()
        .register_type::<TransformTreeChanged>()
        .register_type::<Name>()
        .register_type::<ChildOf>()
        .register_type::<Children>()
        .register_type::<Visibility>()
        .register_type::<InheritedVisibility>()
        .register_type::<ViewVisibility>()
        .register_type::<VisibilityClass>()
        .register_type::<Aabb>()
        .register_type::<DynamicSkinnedMeshBounds>()
        .register_type::<Mesh3d>()
        .register_type::<MeshMaterial3d<StandardMaterial>>()
        .register_type::<SkinnedMesh>()
        .register_type::<AnimationPlayer>()
        .register_type::<AnimationTargetId>()
        .register_type::<AnimatedBy>()
        .register_type::<GltfSceneName>()
        .register_type::<GltfMeshName>()
        .register_type::<GltfMaterialName>()
        .register_type::<GltfExtras>()
        .register_type::<GltfMeshExtras>()
        .register_type::<GltfMaterialExtras>()
        .add_systems(Startup, spawn);
}

fn spawn(mut commands: Commands, server: Res<AssetServer>, options: Res<Options>) {
    let clip = server.load(GltfAssetLabel::Animation(RUN).from_asset(FILE));
    let for_graph = clip.clone();
    commands.queue(move |world: &mut World| {
        let (graph, node) = AnimationGraph::from_clip(for_graph);
        let graph = world.resource_mut::<Assets<AnimationGraph>>().add(graph);
        world.insert_resource(Animation { clip, node, graph });
    });
    let soldier: Handle<WorldAsset> = server.load(GltfAssetLabel::Scene(0).from_asset(FILE));
    for (i, place) in places(options.count).enumerate() {
        commands.spawn((WorldAssetRoot(soldier.clone()), place, Number(i), Moves)).observe(play);
    }
}

fn play(
    instance: On<WorldInstanceReady>,
    animation: Res<Animation>,
    clips: Res<Assets<AnimationClip>>,
    numbers: Query<&Number>,
    children: Query<&Children>,
    mut players: Query<&mut AnimationPlayer>,
    mut ready: ResMut<Ready>,
    mut commands: Commands,
) {
    let Ok(Number(number)) = numbers.get(instance.entity) else { return };
    let duration = clips.get(&animation.clip).map_or(1.0, AnimationClip::duration);
    for child in children.iter_descendants(instance.entity) {
        if let Ok(mut player) = players.get_mut(child) {
            player.play(animation.node).repeat().seek_to(phase(*number) * duration);
            commands.entity(child).insert(AnimationGraphHandle(animation.graph.clone()));
            ready.0 += 1;
        }
    }
}
