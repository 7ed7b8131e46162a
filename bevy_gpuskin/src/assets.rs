//! Bakes as assets of Bevy: later bakes of a model replace that of the program while it runs.

use core::any::type_name;
use core::hash::Hasher;
use std::collections::BTreeMap;
use std::collections::hash_map::DefaultHasher;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bevy::asset::io::Reader;
use bevy::asset::{AssetLoader, AssetPath, LoadContext};
use bevy::platform::collections::{HashMap, HashSet};
use bevy::platform::time::Instant;
use bevy::prelude::*;
use bevy::tasks::{IoTaskPool, Task, block_on, poll_once};
use gpuskin_rt::{Attachment, BakedModel, Model};

use crate::bake::Bake;
use crate::character::Character;
use crate::outbox::{Outbox, Refusal};
use crate::systems::CharacterSystems;

/// A model of a bake that [`AssetServer`] has loaded.
///
/// The path is that of the generated module `gpuskin.rs` with the name of the model as label: `"baked/gpuskin.rs#soldier"`. The
/// files of the model are in the folder `gpuskin/` beside the module, as `gpuskin bake --out assets/baked` writes them.
/// [`CharacterPlugin::with_asset`](crate::CharacterPlugin::with_asset) draws it.
#[derive(Asset, TypePath, Clone, Debug)]
pub struct CharacterModel {
    model: Arc<Model>,
}

impl CharacterModel {
    /// Returns the model.
    pub fn model(&self) -> &Model {
        &self.model
    }
}

/// All models of a bake. Their paths are labels of its path.
#[derive(Asset, TypePath, Clone, Debug)]
pub struct CharacterBake {
    models: Vec<Handle<CharacterModel>>,
}

impl CharacterBake {
    /// Returns the models, by ascending name.
    pub fn models(&self) -> &[Handle<CharacterModel>] {
        &self.models
    }
}

/// Reason why a bake could not be loaded.
#[derive(Debug)]
struct BakeError(String);

impl core::fmt::Display for BakeError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for BakeError {}

/// Hash of each module as it was when it was loaded last, or failed to load.
#[derive(Resource, Clone, Default)]
struct Loaded(Arc<Mutex<HashMap<AssetPath<'static>, u64>>>);

impl Loaded {
    fn stamps(&self) -> MutexGuard<'_, HashMap<AssetPath<'static>, u64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Label of the [`CharacterBake`] that plugins hold. Of assets that are held by the path without a label, Bevy logs twice that they cannot be
/// reloaded: once for the handle, and once for the labels. No model has this name.
const ALL: &str = "*";

/// Loads a bake from its generated module, which is written after the files that it names.
#[derive(TypePath)]
struct BakeLoader(Loaded);

impl AssetLoader for BakeLoader {
    type Asset = CharacterBake;
    type Settings = ();
    type Error = BakeError;

    async fn load(
        &self,
        reader: &mut dyn Reader,
        (): &(),
        context: &mut LoadContext<'_>,
    ) -> Result<CharacterBake, BakeError> {
        let path = context.path().clone();
        let mut module = Vec::new();
        reader.read_to_end(&mut module).await.map_err(|error| BakeError(format!("{path}: {error}")))?;
        self.0.stamps().insert(path.without_label().into_owned(), stamp(&module));
        let module = String::from_utf8_lossy(&module);
        let mut models = Vec::new();
        for (folder, names) in model_folders(&module) {
            let mut files = BTreeMap::new();
            for name in names {
                let file = path
                    .resolve_embed_str(&format!("gpuskin/{folder}/{name}"))
                    .map_err(|error| BakeError(format!("{path}: {error}")))?;
                let bytes = context.read_asset_bytes(file).await;
                files.insert(name, bytes.map_err(|error| BakeError(format!("{error}; bake the model again")))?);
            }
            let model = Model::from_files(files).map_err(|error| BakeError(format!("gpuskin/{folder}/{error}")))?;
            let name = folder.split('/').next().unwrap_or(folder);
            models.push(context.add_labeled_asset(name.to_owned(), CharacterModel { model: Arc::new(model) }));
        }
        if models.is_empty() {
            return Err(BakeError(format!("{path} names no baked model; use the file gpuskin.rs of `gpuskin bake`")));
        }
        let bake = CharacterBake { models };
        context.add_labeled_asset(ALL.to_owned(), bake.clone());
        Ok(bake)
    }

    fn extensions(&self) -> &[&str] {
        &["rs"]
    }
}

/// Returns the files that a generated module names, by their folder below `gpuskin/`: `soldier/1f0a55c3`. Folders without a
/// mesh, such as those of environments, are left out.
fn model_folders(module: &str) -> BTreeMap<&str, Vec<&str>> {
    let mut folders: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for text in module.split('"') {
        let path = text.strip_prefix("gpuskin/").unwrap_or(text);
        let Some((folder, file)) = path.rsplit_once('/') else { continue };
        let is_bake = folder.split_once('/').is_some_and(|(model, hash)| {
            let is_word = |text: &str, is: fn(char) -> bool| !text.is_empty() && text.chars().all(is);
            is_word(model, |c| c.is_alphanumeric() || "_-".contains(c)) && is_word(hash, |c| c.is_ascii_hexdigit())
        });
        if is_bake && (file.ends_with(".ktx2") || file.ends_with(".bin")) {
            let files = folders.entry(folder).or_default();
            if !files.contains(&file) {
                files.push(file);
            }
        }
    }
    folders.retain(|_, files| files.contains(&MESH));
    folders
}

const MESH: &str = "mesh.bin";

fn stamp(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    hasher.finish()
}

/// The assets whose bakes a model and its attachments take.
#[derive(Resource)]
struct Source<M: 'static> {
    handle: Handle<CharacterModel>,
    /// The whole bake, which has the models of attachments; `None` without attachments.
    bake: Option<Handle<CharacterBake>>,
    props: Vec<Prop>,
    program: core::marker::PhantomData<fn() -> M>,
}

/// Model of an attachment.
struct Prop {
    /// Name of the model in the program: label of its asset.
    name: &'static str,
    /// The bake that is drawn.
    drawn: &'static Model,
}

/// Loads a bake and draws its model, and later ones in its place; models of attachments, too, if the bake has them.
pub(crate) fn build<M: BakedModel>(
    app: &mut App,
    path: &AssetPath<'static>,
    attachments: &[(&'static Model, Attachment<M>)],
) {
    let Some(server) = app.world().get_resource::<AssetServer>().cloned() else {
        error!("{}: no bake is loaded from {path}; add AssetPlugin before CharacterPlugin", type_name::<M>());
        return;
    };
    if !app.is_plugin_added::<BakeAssets>() {
        app.add_plugins(BakeAssets);
    }
    app.insert_resource(Source::<M> {
        handle: server.load(path.clone().with_label(M::MODEL.meta.name().to_owned())),
        bake: (!attachments.is_empty()).then(|| server.load(path.clone().with_label(ALL))),
        props: attachments.iter().map(|(prop, _)| Prop { name: prop.meta.name(), drawn: prop }).collect(),
        program: core::marker::PhantomData,
    });
    app.add_systems(PreUpdate, reload::<M>.before(CharacterSystems::Events));
}

struct BakeAssets;

impl Plugin for BakeAssets {
    fn build(&self, app: &mut App) {
        let loaded = Loaded::default();
        app.init_asset::<CharacterBake>().init_asset::<CharacterModel>();
        app.insert_resource(loaded.clone()).register_asset_loader(BakeLoader(loaded));
        let watches = |server: Res<AssetServer>| server.watching_for_changes();
        app.add_systems(PreUpdate, notice_replaced.run_if(watches));
    }
}

/// Replaces the bakes of a model and of its attachments by those that were loaded.
fn reload<M: BakedModel>(
    mut events: MessageReader<AssetEvent<CharacterModel>>,
    mut source: ResMut<Source<M>>,
    assets: Res<Assets<CharacterModel>>,
    bakes: Res<Assets<CharacterBake>>,
    mut bake: ResMut<Bake<M>>,
    mut outbox: ResMut<Outbox<M>>,
    mut characters: Query<&mut Character<M>>,
) {
    let Source { handle, bake: whole, props, .. } = &mut *source;
    if let Some(Refusal { model, drawn, drawn_props }) = outbox.bypass_change_detection().refusal.take() {
        props.iter_mut().zip(drawn_props).for_each(|(prop, drawn)| prop.drawn = drawn);
        // Unless a bake after the refused one is on its way.
        if model.is_some_and(|refused| core::ptr::eq(refused, bake.model())) {
            bake.replace(drawn);
            characters.iter_mut().for_each(|mut character| character.take_bake());
        }
    }
    let new = events.read().filter_map(|event| match event {
        AssetEvent::Added { id } | AssetEvent::Modified { id } => Some(*id),
        _ => None,
    });
    let new: HashSet<_> = new.collect();
    if new.is_empty() {
        return;
    }
    if new.contains(&handle.id())
        && let Some(CharacterModel { model, .. }) = assets.get(handle.id())
        && model.meta.content_hash != bake.meta().content_hash
    {
        match model.meta.check_constants(&M::MODEL.meta) {
            Ok(()) => {
                let model = leak(model);
                bake.replace(model);
                outbox.current.model = Some(model);
            }
            Err(reason) => error!("the model {} is drawn as before: {reason}", M::MODEL.meta.name()),
        }
    }
    let models = whole.as_ref().and_then(|whole| bakes.get(whole)).map_or(&[][..], CharacterBake::models);
    for i in 0..props.len() {
        let (earlier, [Prop { name, drawn }, ..]) = props.split_at_mut(i) else { continue };
        let is_it = |handle: &&Handle<_>| handle.path().and_then(AssetPath::label) == Some(*name);
        let Some(CharacterModel { model, .. }) = models.iter().find(is_it).and_then(|handle| assets.get(handle)) else {
            continue;
        };
        let hash = &model.meta.content_hash;
        if drawn.meta.content_hash != *hash {
            // Two attachments may have one model.
            let same = earlier.iter().find(|prop| prop.drawn.meta.content_hash == *hash);
            *drawn = same.map_or_else(|| leak(model), |prop| prop.drawn);
            outbox.current.props.push((i, drawn));
        }
    }
    if outbox.current.reloads() {
        for mut character in &mut characters {
            character.take_bake();
        }
    }
}

/// Keeps a model until the program ends: sockets, casters of rays and the renderer borrow from it. It is the bytes of the asset,
/// not a copy.
fn leak(model: &Arc<Model>) -> &'static Model {
    Box::leak(Box::new(Model::clone(model)))
}

/// Time between two checks.
const PAUSE: Duration = Duration::from_millis(500);

/// Module of a bake, as it was found last.
struct Found {
    stamp: u64,
    /// Whether the module is loaded, or a reload was requested.
    settled: bool,
}

/// Reloads bakes whose module was replaced and which Bevy has not tried to load at the next check. Bevy's own watcher misses a file that is
/// moved over another one, if it was written more than 0.3 s before, as in bakes of many models.
fn notice_replaced(
    server: Res<AssetServer>,
    loaded: Res<Loaded>,
    mut seen: Local<HashMap<AssetPath<'static>, Found>>,
    mut checked: Local<Option<Instant>>,
    mut reading: Local<Vec<Task<Option<(AssetPath<'static>, u64)>>>>,
) {
    reading.retain_mut(|task| match block_on(poll_once(task)) {
        Some(Some((path, stamp))) => {
            let found = seen.entry(path.clone()).or_insert(Found { stamp, settled: true });
            if found.stamp != stamp {
                *found = Found { stamp, settled: false };
            } else if !found.settled {
                found.settled = true;
                let is_loaded = loaded.stamps().get(&path) == Some(&stamp);
                if !is_loaded {
                    server.reload(path);
                }
            }
            false
        }
        Some(None) => false,
        None => true,
    });
    if !reading.is_empty() || checked.is_some_and(|checked| checked.elapsed() < PAUSE) {
        return;
    }
    *checked = Some(Instant::now());
    for (path, stamp) in loaded.stamps().iter() {
        seen.entry(path.clone()).or_insert(Found { stamp: *stamp, settled: true });
    }
    for path in seen.keys().cloned() {
        let server = server.clone();
        reading.push(IoTaskPool::get().spawn(async move {
            let mut module = Vec::new();
            let source = server.get_source(path.source()).ok()?;
            let mut reader = source.reader().read(path.path()).await.ok()?;
            reader.read_to_end(&mut module).await.ok()?;
            drop(reader);
            Some((path, stamp(&module)))
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_models_are_found_in_the_module() {
        let module = r#"
            data: Data::Bytes(Borrowed(include_bytes!("gpuskin/soldier/74341886/anim-local-packed.ktx2"))),
            Borrowed(include_bytes!("gpuskin/soldier/74341886/mesh.bin")), name: Borrowed("a \" quote"),
            Data::File { name: Borrowed("big-hound/0f/mesh.bin"), baked: Borrowed("target/debug/out") },
            Data::File { name: Borrowed("big-hound/0f/mesh.bin"), baked: Borrowed("target/debug/out") },
            include_bytes!("gpuskin/sky/12c903e0/environment.ktx2"), "and/or", "art/soldier.glb",
        "#;
        let expected = BTreeMap::from([
            ("big-hound/0f", vec!["mesh.bin"]),
            ("soldier/74341886", vec!["anim-local-packed.ktx2", "mesh.bin"]),
        ]);
        assert_eq!(model_folders(module), expected);
    }
}
