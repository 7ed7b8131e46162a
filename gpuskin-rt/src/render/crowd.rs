//! Crowds: many instances of one model.

use core::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::Ordering;

#[cfg(feature = "testing")]
use super::View;
use super::crowd_core::CrowdCore;
#[cfg(feature = "testing")]
use super::draw_run::OtherPoses;
#[cfg(feature = "testing")]
use super::gpu::Gpu;
#[cfg(feature = "testing")]
use super::readback::{read, read_words, wait};
use super::{CrowdDescriptor, CrowdRenderer, Error, model_checks};
use crate::shader::Variant;
use crate::{BakedModel, Dynamic, Metadata, Model, Time};

/// Numbers of instances that one view drew in a frame, counted by [`Crowd::count_drawn`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
#[cfg(feature = "testing")]
pub struct DrawCounts {
    /// Number of instances per level of detail, finest LOD first.
    pub lods: Vec<u64>,
    /// Number of instances whose vertices came from the pose cache.
    pub cached: u64,
}

#[cfg(feature = "testing")]
impl DrawCounts {
    /// Returns the number of instances of all levels of detail.
    pub fn total(&self) -> u64 {
        self.lods.iter().sum()
    }
}

/// Many instances of one model: a handle into the [`CrowdRenderer`] that draws them.
///
/// Clones are handles to the same crowd, which is removed when the last handle is dropped. Handles
/// can be used from any thread. Changes to a crowd show after the next [`CrowdRenderer::prepare`].
///
/// ```no_run
/// # use gpuskin_rt::*;
/// # fn example<Soldier: BakedModel>(renderer: &mut CrowdRenderer, run: Clip<Soldier>, die: Clip<Soldier>) -> Result<(), Error> {
/// let crowd = Crowd::<Soldier>::new(renderer, CrowdDescriptor { capacity: 10_000, ..Default::default() })?;
/// let id = crowd.spawn(Instance::at([4.0, 0.0, -2.0]).play(run).phase(0.25));
/// crowd.play(id, die, Transition::crossfade(0.2))?;
/// # Ok(())
/// # }
/// ```
pub struct Crowd<M> {
    pub(super) core: Arc<CrowdCore>,
    pub(super) meta: Meta,
    model: PhantomData<fn() -> M>,
}

/// Metadata of a model: compiled into the program, or loaded at run time.
#[derive(Clone)]
pub(super) enum Meta {
    Baked(&'static Metadata),
    Read(Arc<Metadata>),
}

impl core::ops::Deref for Meta {
    type Target = Metadata;
    fn deref(&self) -> &Metadata {
        match self {
            Self::Baked(meta) => meta,
            Self::Read(meta) => meta,
        }
    }
}

impl<M: BakedModel> Crowd<M> {
    /// Creates an empty crowd of a model that was baked into the program.
    ///
    /// # Errors
    /// If a file of the model is missing or from another bake, or if the device cannot hold the
    /// model.
    pub fn new(renderer: &mut CrowdRenderer, descriptor: CrowdDescriptor) -> Result<Self, Error> {
        let core = renderer.crowd(M::MODEL, &descriptor)?;
        Ok(Self { core, meta: Meta::Baked(&M::MODEL.meta), model: PhantomData })
    }

    /// Creates an empty crowd from a later bake of the model, loaded at run time: shows changes
    /// without a rebuild.
    ///
    /// # Errors
    /// If the loaded model lacks what the program's constants name (clips, bones, events, masks, morph targets, parts, variants)
    /// or has it in another order; or if the device cannot hold it.
    pub fn reloaded(renderer: &mut CrowdRenderer, model: &Model, descriptor: CrowdDescriptor) -> Result<Self, Error> {
        model_checks::constants::<M>(model)?;
        let core = renderer.crowd(model, &descriptor)?;
        Ok(Self { core, meta: Meta::Read(Arc::new(model.meta.clone())), model: PhantomData })
    }
}

impl Crowd<Dynamic> {
    /// Creates an empty crowd of a model that was loaded at run time.
    ///
    /// # Errors
    /// If a file of the model is missing or from another bake, or if the device cannot hold the
    /// model.
    pub fn with_model(renderer: &mut CrowdRenderer, model: &Model, descriptor: CrowdDescriptor) -> Result<Self, Error> {
        let core = renderer.crowd(model, &descriptor)?;
        Ok(Self { core, meta: Meta::Read(Arc::new(model.meta.clone())), model: PhantomData })
    }
}

impl<M> Crowd<M> {
    /// Metadata of the model.
    pub fn meta(&self) -> &Metadata {
        &self.meta
    }

    /// Shader variant of the model, for a game's own pipelines.
    pub fn variant(&self) -> Variant {
        self.core.model.geometry.variant
    }

    /// Returns the buffers of the instances on the device, for a game's own compute passes: see
    /// [`pipeline`](crate::pipeline). `None` before the first `prepare` with instances, and on devices
    /// without storage buffers.
    ///
    /// The CPU does not know what a pass has written. A command uploads the CPU's copy of a whole record:
    /// of the place record for a transform, a tint or visibility, of the playback record for a clip, a speed
    /// or custom words; of both when another instance is despawned, whose place the last one takes. Motion
    /// vectors of instances that a pass moves count from where the CPU has placed them. More instances than [`CrowdDescriptor::capacity`] need larger buffers: what was written
    /// before that frame is copied, and this returns the new ones.
    pub fn instance_buffers(&self) -> Option<crate::pipeline::InstanceBuffers> {
        self.core.instance_buffers()
    }

    /// Counts the instances that the last submitted frame drew in a view. Waits for the GPU: meant for tools and tests.
    ///
    /// # Errors
    /// If the counts cannot be read back from the device.
    #[cfg(feature = "testing")]
    pub fn count_drawn(&self, renderer: &CrowdRenderer, view: View) -> Result<DrawCounts, Error> {
        wait(renderer.gpu().device, self.count_drawn_async(renderer, view))
    }

    /// Counts the instances that the last submitted frame drew in a view, for web pages, which must not block.
    /// The game calls `Device::poll` meanwhile, for example in each frame.
    ///
    /// # Errors
    /// If the counts cannot be read back from the device.
    #[cfg(feature = "testing")]
    pub fn count_drawn_async(
        &self,
        renderer: &CrowdRenderer,
        view: View,
    ) -> impl Future<Output = Result<DrawCounts, Error>> + use<M> {
        let drawn = self.core.drawn_in(view);
        let (device, queue) = (renderer.gpu().device.clone(), renderer.gpu().queue.clone());
        let mut counts = DrawCounts { lods: vec![0; self.core.model.geometry.lods.len()], cached: 0 };
        let (mut kinds, mut places) = (Vec::new(), Vec::new());
        for run in drawn.iter().flat_map(|drawn| drawn.draw_runs(Some(view))) {
            let cached = run.others() == Some(OtherPoses::Cached);
            let Some((lods, draws)) = run.palette.and_then(|palette| Some((palette.lods, palette.draws?))) else {
                counts.lods[run.lod.map_or(0, |(lod, _)| lod as usize)] += u64::from(run.instances);
                continue;
            };
            for (lod, at) in lods.zip(draws.counts()) {
                kinds.push((lod as usize, cached));
                places.push((draws.arguments.clone(), at));
            }
        }
        async move {
            let words = read_words(Gpu { device: &device, queue: &queue }, &places).await?;
            for ((lod, cached), count) in kinds.into_iter().zip(words) {
                counts.lods[lod] += u64::from(count);
                counts.cached += if cached { u64::from(count) } else { 0 };
            }
            Ok(counts)
        }
    }

    /// Reads back the transforms that the last submitted frame drew, in the order of [`Crowd::id_at`]. Waits
    /// for the GPU: meant for tools and tests.
    ///
    /// # Errors
    /// If they cannot be read back from the device.
    #[cfg(feature = "testing")]
    pub fn drawn_transforms(&self, renderer: &CrowdRenderer) -> Result<Vec<crate::Transform>, Error> {
        let Some(drawn) = self.core.drawn() else { return Ok(Vec::new()) };
        let (places, at) = drawn.places();
        let gpu = renderer.gpu();
        let places = read::<crate::record::PlaceRecord>(gpu, places, at, drawn.instances as usize);
        let places = wait(gpu.device, places)?;
        Ok(places.iter().map(|place| place.transform()).collect())
    }

    pub(super) fn time(&self) -> Time {
        Time::from_bits(self.core.clock.load(Ordering::Relaxed))
    }
}

// Not derived: deriving would require `M: Clone` and `M: Debug`.
impl<M> Clone for Crowd<M> {
    fn clone(&self) -> Self {
        Self { core: self.core.clone(), meta: self.meta.clone(), model: PhantomData }
    }
}

impl<M> core::fmt::Debug for Crowd<M> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Crowd").field("model", &self.meta.name).field("len", &self.len()).finish_non_exhaustive()
    }
}
