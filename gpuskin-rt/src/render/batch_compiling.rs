//! Compilation of the pipelines of batches, in a thread of its own while frames are drawn.

use std::collections::HashSet;
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;

use super::batch_passes::BatchPipelines;
use super::compute::LazyPipelines;
use super::crowd_core::CrowdCore;
use super::error::Error;
#[cfg(not(target_arch = "wasm32"))]
use super::gpu::guarded;
use super::gpu_model::GpuModel;
use super::layouts::Layouts;
use super::pipelines::{PipelineCache, Pipelines};
use crate::shader::{InstanceSource, Variant};

/// Compiles the pipelines of batches. A crowd is drawn by itself until those of its model are compiled, so that no frame
/// waits for them.
#[derive(Debug)]
pub(super) struct BatchCompiler {
    passes: Arc<LazyPipelines<BatchPipelines>>,
    jobs: Vec<Job>,
}

/// Models whose pipelines a thread compiles.
#[derive(Debug)]
struct Job {
    work: Arc<Work>,
    /// `None` after a failure. Those models are drawn by themselves.
    thread: Option<JoinHandle<Result<(), Error>>>,
}

#[derive(Debug)]
struct Work {
    device: wgpu::Device,
    passes: Arc<LazyPipelines<BatchPipelines>>,
    /// Bind group layout of the depth pyramid, with occlusion culling.
    pyramid: Option<wgpu::BindGroupLayout>,
    models: Vec<ModelWork>,
}

#[derive(Debug)]
struct ModelWork {
    model: Weak<GpuModel>,
    /// Pipelines of each part in a batch.
    pipelines: Vec<Arc<Pipelines>>,
    /// Pipelines of each part in a crowd that is drawn by itself.
    single: Vec<Arc<Pipelines>>,
}

impl BatchCompiler {
    pub(super) fn new(device: &wgpu::Device) -> Self {
        let passes = Arc::new(LazyPipelines::new(device, BatchPipelines::new));
        Self { passes, jobs: Vec::new() }
    }

    pub(super) fn passes(&self) -> &Arc<LazyPipelines<BatchPipelines>> {
        &self.passes
    }

    /// Compiles what batches of crowds need, and sets [`GpuModel::batched`] of each model once its pipelines are there: in
    /// this call if `at_once`, or if the device cannot compile in another thread. `pyramid`: as in [`Work`].
    ///
    /// # Errors
    /// If the device could not create the pipelines of an earlier call.
    pub(super) fn compile<'a>(
        &mut self,
        device: &wgpu::Device,
        (layouts, pipelines): (&Layouts, &mut PipelineCache),
        pyramid: Option<&wgpu::BindGroupLayout>,
        crowds: impl Iterator<Item = &'a Arc<CrowdCore>>,
        at_once: bool,
    ) -> Result<(), Error> {
        let result = self.finish();
        let mut new = crowds.filter(|crowd| crowd.model.batched.get().is_none()).peekable();
        if new.peek().is_none() {
            return result;
        }
        let known = self.jobs.iter().flat_map(|job| &job.work.models);
        // The job keeps the allocation of its model, so that no other model has this address.
        let mut known: HashSet<_> = known.map(|of| of.model.as_ptr()).collect();
        let made = self.passes.is_made();
        let (done, models): (Vec<_>, Vec<_>) = new
            .filter(|crowd| known.insert(Arc::as_ptr(&crowd.model)))
            .map(|crowd| ModelWork::new(crowd, layouts, pipelines))
            .partition(|of| made && of.is_done());
        done.iter().for_each(ModelWork::finish);
        if models.is_empty() {
            return result;
        }
        let (device, passes) = (device.clone(), self.passes.clone());
        let work = Arc::new(Work { device, passes, pyramid: pyramid.cloned(), models });
        match if at_once { None } else { spawn(work.clone()) } {
            thread @ Some(_) => self.jobs.push(Job { work, thread }),
            None => {
                work.run();
                work.models.iter().for_each(ModelWork::finish);
            }
        }
        result
    }

    /// Takes the results of threads that have ended.
    fn finish(&mut self) -> Result<(), Error> {
        let mut result = Ok(());
        self.jobs.retain_mut(|Job { work, thread }| {
            let Some(ended) = thread.take_if(|thread| thread.is_finished()) else { return true };
            let panicked = || Err(Error::Device { reason: "a thread that compiled pipelines panicked".to_owned() });
            let made = ended.join().unwrap_or_else(|_| panicked());
            match made {
                Ok(()) => work.models.iter().for_each(ModelWork::finish),
                Err(error) => {
                    result = Err(error);
                    return true;
                }
            }
            false
        });
        result
    }
}

impl Drop for BatchCompiler {
    /// Waits: a driver that compiles while the process ends may crash.
    fn drop(&mut self) {
        self.jobs.iter_mut().filter_map(|job| job.thread.take()).for_each(|thread| _ = thread.join());
    }
}

impl Work {
    fn run(&self) {
        let passes = self.passes.get();
        self.pyramid.iter().for_each(|pyramid| _ = passes.reveal(&self.device, pyramid));
        self.models
            .iter()
            .flat_map(|of| of.pipelines.iter().zip(&of.single))
            .for_each(|(p, like)| p.compile_like(like));
    }
}

impl ModelWork {
    fn new(crowd: &CrowdCore, layouts: &Layouts, pipelines: &mut PipelineCache) -> Self {
        let model = &crowd.model;
        let variant = Variant { previous_transforms: false, ..model.geometry.variant };
        let source = InstanceSource::Batch { table: layouts.table_len.is_some() };
        let of = |surface| pipelines.uncompiled(layouts, (variant, source), surface);
        let pipelines = model.surfaces.iter().copied().map(of).collect();
        let single = crowd.parts.iter().map(|part| part.pipelines.clone()).collect();
        Self { model: Arc::downgrade(model), pipelines, single }
    }

    fn is_done(&self) -> bool {
        self.pipelines.iter().zip(&self.single).all(|(pipelines, like)| pipelines.is_like(like))
    }

    /// Gives the model its pipelines.
    fn finish(&self) {
        if let Some(model) = self.model.upgrade() {
            model.batched.get_or_init(|| self.pipelines.clone());
        }
    }
}

/// Works in another thread. `None` if the device cannot compile in one while this one draws: an OpenGL context belongs to
/// one thread at a time.
#[cfg(not(target_arch = "wasm32"))]
fn spawn(work: Arc<Work>) -> Option<JoinHandle<Result<(), Error>>> {
    use wgpu::Backend::{Dx12, Metal, Vulkan};
    let able = matches!(work.device.adapter_info().backend, Dx12 | Metal | Vulkan);
    let run = move || {
        guarded(&work.device, || {
            work.run();
            Ok(())
        })
    };
    able.then(|| std::thread::Builder::new().name("gpuskin pipelines".into()).spawn(run).ok()).flatten()
}

/// In a browser, devices belong to their thread, and pipelines compile in another process.
#[cfg(target_arch = "wasm32")]
fn spawn(_: Arc<Work>) -> Option<JoinHandle<Result<(), Error>>> {
    None
}
