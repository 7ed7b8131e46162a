//! Bakes that Bevy's asset server loads, and replaces while characters play.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use bevy::asset::UntypedAssetLoadFailedEvent;
use bevy::asset::io::memory::{Dir, MemoryAssetReader};
use bevy::asset::io::{AssetSourceBuilder, AssetSourceId};
use bevy::prelude::*;
use bevy::render::RenderApp;
use bevy::time::TimeUpdateStrategy;
use bevy_gpuskin::gpuskin_rt::{FieldDescriptor, Instance, Model};
use bevy_gpuskin::{
    Attachment, Character, CharacterCrowd, CharacterField, CharacterModel, CharacterPlugin, CharacterRenderer,
    EventFired, GpuskinPlugin, LiveBones, Socket, Transition,
};
use bevy_gpuskin_sample_models::models::{GUARD, HOUND, Soldier};
use bevy_gpuskin_sample_models::{BAKED, bones, clips, events, masks};

use crate::common::{self, FRAME};

/// Folder of assets in memory, with the bake of the program's soldier, and of the hound that it carries.
struct Baked {
    dir: Dir,
    module: String,
    /// Number of bakes.
    count: u32,
}

impl Baked {
    fn new() -> Self {
        let module = std::fs::read_to_string(Path::new(BAKED).with_file_name("gpuskin.rs")).unwrap();
        // The lines that name other models are left out, to load less.
        let is_used = |line: &&str| line.contains("soldier/") || line.contains("hound/");
        let module = module.split_inclusive('\n').filter(is_used).collect();
        let baked = Self { dir: Dir::default(), module, count: 0 };
        for model in ["soldier", "hound"] {
            let folder = Self::folder(model);
            baked.copy(&folder, &Path::new("gpuskin").join(model).join(folder.file_name().unwrap()));
        }
        baked.write_module();
        baked
    }

    /// Folder of the files of a model, on disk.
    fn folder(model: &str) -> PathBuf {
        let mut folders = std::fs::read_dir(Path::new(BAKED).join(model)).unwrap();
        folders.next().unwrap().unwrap().path()
    }

    fn copy(&self, from: &Path, to: &Path) {
        for file in std::fs::read_dir(from).unwrap().map(|file| file.unwrap()) {
            self.dir
                .insert_asset(&Path::new("baked").join(to).join(file.file_name()), std::fs::read(file.path()).unwrap());
        }
    }

    fn write_module(&self) {
        self.dir.insert_asset_text(Path::new("baked/gpuskin.rs"), &self.module);
    }

    /// Writes the files of the soldier whose names start with `kind` into the folder of a bake, after a change.
    fn break_files(&self, folder: &Path, kind: &str, change: impl Fn(&mut Vec<u8>)) {
        let files = std::fs::read_dir(Self::folder("soldier")).unwrap().map(|file| file.unwrap());
        for file in files.filter(|file| file.file_name().to_string_lossy().starts_with(kind)) {
            let mut bytes = std::fs::read(file.path()).unwrap();
            change(&mut bytes);
            self.dir.insert_asset(&folder.join(file.file_name()), bytes);
        }
    }

    /// Writes another bake of a model of the program: the files of `model` in a folder of their own, then the module that names them.
    /// Returns the folder.
    fn bake(&mut self, name: &str, model: &str) -> PathBuf {
        let start = self.module.find(&format!("{name}/")).unwrap() + name.len() + 1;
        let (old, _) = self.module[start..].split_once('/').unwrap();
        self.count += 1;
        let [old, new] = [old, &format!("{:08x}", self.count)].map(|hash| format!("{name}/{hash}/"));
        self.copy(&Self::folder(model), &Path::new("gpuskin").join(&new));
        self.module = self.module.replace(&old, &new);
        self.write_module();
        Path::new("baked/gpuskin").join(new)
    }

    /// Leaves an encoding of the soldier out of later bakes.
    fn leave_out(&mut self, encoding: &str) {
        let is_kept = |line: &&str| !(line.contains("soldier/") && line.contains(encoding));
        self.module = self.module.split_inclusive('\n').filter(is_kept).collect();
    }

    /// Writes a bake of the soldier that has the encoding `trs-packed` alone.
    fn bake_without_local_transforms(&mut self) {
        self.leave_out("local-packed");
        let folder = self.bake("soldier", "soldier");
        let mesh = |name| std::fs::read(Self::folder("soldier").join(name)).unwrap();
        let [local, packed] = ["mesh.bin", "mesh-trs-packed.bin"].map(mesh);
        self.break_files(&folder, "mesh.bin", |bytes| bytes.clone_from(&packed));
        // The files of a bake start with its hash, or contain it.
        let [local, packed] = [local, packed].map(|mesh| mesh[..16].to_vec());
        self.break_files(&folder, "color", |bytes| {
            let at = bytes.windows(16).position(|bytes| bytes == local).expect("a texture has the hash of its bake");
            bytes[at..at + 16].copy_from_slice(&packed);
        });
    }
}

/// Runs frames that last no time for the game, until `is_done`, for half a minute at most.
fn wait(app: &mut App, is_done: impl Fn(&App) -> bool) -> bool {
    app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::ZERO));
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(30) && !is_done(app) {
        app.update();
        std::thread::sleep(Duration::from_millis(5));
    }
    is_done(app)
}

/// Whether the soldier of the asset is the recruit.
fn is_recruit(app: &App) -> bool {
    name_of(app, "soldier") == Some("recruit")
}

/// Name of the model that the asset of a model of the program has.
fn name_of<'a>(app: &'a App, model: &str) -> Option<&'a str> {
    let path = format!("baked/gpuskin.rs#{model}");
    let handle = app.world().resource::<AssetServer>().get_handle::<CharacterModel>(path)?;
    Some(app.world().resource::<Assets<CharacterModel>>().get(&handle)?.model().meta.name())
}

/// Runs a frame that lasts some seconds.
fn step(app: &mut App, seconds: f64) {
    app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_secs_f64(seconds)));
    app.update();
}

#[derive(Resource, Default)]
struct Steps(usize);

/// Number of assets that could not be loaded.
#[derive(Resource, Default)]
struct Failures(usize);

struct Scene {
    app: App,
    image: Handle<Image>,
    baked: Baked,
    socket: Entity,
    field: Entity,
}

/// Makes a scene whose soldiers come from an asset. `model`: another bake of the soldier that it has from the start. `prop`: what the
/// soldiers carry.
fn scene(model: Option<&str>, prop: &'static Model) -> Scene {
    let mut baked = Baked::new();
    if let Some(model) = model {
        baked.bake("soldier", model);
    }
    let mut app = App::new();
    let root = baked.dir.clone();
    let source = AssetSourceBuilder::new(move || Box::new(MemoryAssetReader { root: root.clone() }));
    app.register_asset_source(AssetSourceId::Default, source);
    app.add_plugins(common::plugins(None).set(AssetPlugin { watch_for_changes_override: Some(true), ..default() }));
    let soldiers = CharacterPlugin::<Soldier>::default().with_events().with_asset("baked/gpuskin.rs");
    let on_shoulder = |bone| Attachment::to(bone).at([0.0, 0.05, 0.0]).scaled(0.25);
    app.add_plugins((
        GpuskinPlugin { lod_error: 0.0, ..default() },
        soldiers
            .attach(prop, on_shoulder(bones::SOLDIER_SHOULDER_L))
            .attach(prop, on_shoulder(bones::SOLDIER_SHOULDER_R)),
    ));
    app.init_resource::<Failures>();
    app.add_systems(Update, |mut failed: MessageReader<UntypedAssetLoadFailedEvent>, mut count: ResMut<Failures>| {
        count.0 += failed.read().count();
    });
    app.init_resource::<Steps>().add_observer(|fired: On<EventFired<Soldier>>, mut steps: ResMut<Steps>| {
        steps.0 += usize::from(fired.event == events::SOLDIER_FOOTSTEP);
    });
    common::start(&mut app);
    let image = common::target(&mut app);
    let camera = common::camera(&image, Vec3::new(0.0, 1.6, 4.4), Vec3::new(0.0, 0.9, 0.0));
    app.world_mut().spawn((camera, Msaa::Off));
    app.world_mut().spawn((DirectionalLight::default(), Transform::default().looking_to(Vec3::NEG_ONE, Vec3::Y)));
    let is_loaded = |app: &App| name_of(app, "soldier").is_some() && name_of(app, "hound").is_some();
    assert!(wait(&mut app, is_loaded), "the bake is not loaded");
    common::settle(&mut app);

    let place =
        |i: usize| Transform::from_xyz(i as f32 * 0.9 - 1.4, 0.0, 1.0).with_rotation(Quat::from_rotation_y(0.3));
    let walking = |i: usize| (Character::playing(clips::SOLDIER_WALK).phase(0.2 * i as f32), place(i));
    let [fading, layered, live] = [0, 1, 2].map(|i| app.world_mut().spawn(walking(i)).id());
    let socket = app.world_mut().spawn((Socket::to(bones::SOLDIER_HAND_R), ChildOf(fading))).id();
    let in_crowd = Instance::at([1.3, 0.0, 1.0]).play(clips::SOLDIER_RUN);
    app.world_mut().spawn(CharacterCrowd::<Soldier>::new([in_crowd]));
    let field = app.world_mut().spawn(CharacterField::<Soldier>::new(FieldDescriptor {
        origin: [-2.4, 0.0, -1.6],
        size: [5, 1],
        clips: vec![clips::SOLDIER_IDLE],
        ..default()
    }));
    let field = field.id();
    let body = Transform::from_xyz(0.3, 1.7, 1.2).with_rotation(Quat::from_rotation_x(1.0));
    let body = app.world_mut().spawn(body).id();
    step(&mut app, FRAME);
    let bones = LiveBones::<Soldier>::bodies([(bones::SOLDIER_CHEST, body)]).fading(0.3);
    app.world_mut().entity_mut(live).insert(bones);
    let mut soldiers = app.world_mut().query::<&mut Character<Soldier>>();
    soldiers.get_mut(app.world_mut(), fading).unwrap().play(clips::SOLDIER_IDLE, Transition::crossfade(0.6));
    let (upper_body, mut layered) =
        (Some(masks::SOLDIER_UPPER_BODY), soldiers.get_mut(app.world_mut(), layered).unwrap());
    layered.play_layer(0, clips::SOLDIER_ATTACK, upper_body, Transition::crossfade(0.1), 1.0);
    layered.set_attachment_visible(1, false);
    step(&mut app, 0.2);
    Scene { app, image, baked, socket, field }
}

impl Scene {
    /// Picture, place of the socket, and number of footsteps.
    fn look(&mut self) -> (Vec<[u8; 4]>, Vec3, usize) {
        common::stop_time(&mut self.app);
        let picture = common::read(&mut self.app, &self.image);
        let place = self.app.world().get::<GlobalTransform>(self.socket).unwrap().translation();
        (picture, place, std::mem::take(&mut self.app.world_mut().resource_mut::<Steps>().0))
    }

    /// Draws some frames that last no time, and asserts that they show a picture.
    fn assert_draws(&mut self, picture: &[[u8; 4]]) {
        // The main world learns in a later frame what the renderer refuses.
        for _ in 0..3 {
            self.app.update();
        }
        assert_eq!(common::different(&self.look().0, picture), 0, "a bake that cannot be drawn is drawn");
    }
}

fn assert_looks_like(scene: &mut Scene, control: &mut Scene, name: &str) -> (Vec<[u8; 4]>, Vec3, usize) {
    let ((drawn, socket, steps), (expected, at, expected_steps)) = (scene.look(), control.look());
    common::save(name, &drawn);
    assert!(common::different(&drawn, &expected) <= 10, "{name}: not as the control");
    assert!(socket.distance(at) < 1e-4 && steps == expected_steps, "{name}: {socket} {at} {steps} {expected_steps}");
    (drawn, socket, steps)
}

#[test]
fn later_bake_is_drawn_in_place_of_the_first_and_broken_ones_are_not() {
    // A control that has the later bake from the start.
    let mut control = scene(Some("recruit"), &HOUND);
    let mut scene = scene(None, &HOUND);
    let (first, socket, _) = scene.look();
    common::save("reload-before.png", &first);
    scene.baked.bake("soldier", "recruit");
    assert!(wait(&mut scene.app, is_recruit), "the asset is not reloaded");
    common::settle(&mut scene.app);
    control.look();
    let (later, moved, _) = assert_looks_like(&mut scene, &mut control, "reload-after.png");
    assert!(common::different(&first, &later) > 3000, "the picture has not changed");
    assert!(socket.distance(moved) > 0.05);
    step(&mut scene.app, 0.2);
    step(&mut control.app, 0.2);
    let (before, _, steps) = assert_looks_like(&mut scene, &mut control, "reload-later.png");
    assert_eq!(steps, 2, "the events are not those of the later bake");

    // Half a mesh is not loaded, and a model without the clips of the program does not fit its constants.
    let folder = scene.baked.bake("soldier", "soldier");
    scene.baked.break_files(&folder, "mesh", |bytes| bytes.truncate(bytes.len() / 2));
    let has_failed = |app: &App| app.world().resource::<Failures>().0 > 0;
    assert!(wait(&mut scene.app, has_failed) && is_recruit(&scene.app), "half a mesh is not noticed");
    scene.assert_draws(&before);
    scene.baked.bake("soldier", "guard");
    assert!(wait(&mut scene.app, |app| name_of(app, "soldier") == Some("guard")), "the guard is not read");
    scene.assert_draws(&before);
    // The renderer refuses a bake without local transforms, which layers and live bones need. Sockets and events then follow the
    // bake that is drawn.
    scene.baked.bake_without_local_transforms();
    assert!(
        wait(&mut scene.app, |app| name_of(app, "soldier") == Some("soldier")),
        "the bake without local transforms is not read"
    );
    scene.assert_draws(&before);
    step(&mut scene.app, 0.2);
    step(&mut control.app, 0.2);
    assert_looks_like(&mut scene, &mut control, "reload-last.png");
}

#[test]
fn bake_that_fails_to_load_is_logged_once() {
    let mut scene = scene(None, &HOUND);
    let (before, ..) = scene.look();
    // Without and with a watcher of Bevy, which reloads at once.
    for (number, has_watcher) in [(0xfa11, false), (0xfa12, true)] {
        scene.baked.count = number - 1;
        let folder = scene.baked.bake("soldier", "soldier");
        scene.baked.break_files(&folder, "mesh", |bytes| bytes.truncate(bytes.len() / 2));
        if has_watcher {
            scene.app.world().resource::<AssetServer>().reload("baked/gpuskin.rs");
        }
        let folder = format!("soldier/{number:08x}");
        assert!(wait(&mut scene.app, |_| !common::logged(&folder).is_empty()), "{folder} is not noticed");
        // For two further checks of the module.
        let start = Instant::now();
        wait(&mut scene.app, |_| start.elapsed() > Duration::from_millis(2500));
        let lines = common::logged(&folder);
        println!("{}", lines.join("\n"));
        assert_eq!(lines.len(), 1, "{lines:#?}");
        let names = ["ERROR", "mesh.bin", "bake the model again"];
        assert!(names.iter().all(|name| lines[0].contains(name)), "{}", lines[0]);
        scene.assert_draws(&before);
    }
    // A bake after it is drawn.
    scene.baked.bake("soldier", "recruit");
    assert!(wait(&mut scene.app, is_recruit), "the asset is not reloaded");
}

#[test]
fn later_bake_of_an_attachment_is_drawn_in_place_of_the_first() {
    // The bake that the control loads has no guard.
    let mut control = scene(None, &GUARD);
    let mut scene = scene(None, &HOUND);
    let (first, ..) = scene.look();
    scene.baked.bake("hound", "guard");
    assert!(wait(&mut scene.app, |app| name_of(app, "hound") == Some("guard")), "the asset is not reloaded");
    common::settle(&mut scene.app);
    control.look();
    let (later, ..) = assert_looks_like(&mut scene, &mut control, "reload-attachment.png");
    assert!(common::different(&first, &later) > 500, "the picture has not changed");
    step(&mut scene.app, 0.2);
    step(&mut control.app, 0.2);
    assert_looks_like(&mut scene, &mut control, "reload-attachment-later.png");
}

/// Fields need an animation texture.
#[test]
fn later_bake_without_an_animation_texture_keeps_the_field() {
    let mut scene = scene(None, &HOUND);
    // Heights of the models of characters and of the field.
    let heights = |scene: &Scene| {
        let renderer = scene.app.sub_app(RenderApp).world().resource::<CharacterRenderer>();
        let of_characters = renderer.crowd::<Soldier>().unwrap().meta().bounds;
        [of_characters, renderer.field_of::<Soldier>(scene.field).unwrap().bounds().unwrap()]
            .map(|bounds| bounds.max[1] - bounds.min[1])
    };
    let [characters, field] = heights(&scene);
    scene.baked.leave_out("trs-packed");
    scene.baked.bake("soldier", "recruit");
    assert!(wait(&mut scene.app, is_recruit), "the asset is not reloaded");
    common::settle(&mut scene.app);
    let [later_characters, later_field] = heights(&scene);
    assert!(later_characters < 0.85 * characters, "{later_characters} {characters}");
    assert_eq!(later_field, field);
}
