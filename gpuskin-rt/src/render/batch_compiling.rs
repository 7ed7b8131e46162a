//! Compilation of the pipelines of batches: at once in several threads, or in one thread while frames are drawn.

use std::collections::HashSet;
#[cfg(not(target_arch = "wasm32"))]
use std::sync::atomic::{AtomicUsize, Ordering};
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
use crate::local::shader::Scratch;
use crate::shader::{InstanceSource, Variant};

#[cfg(not(target_arch = "wasm32"))]
const THREAD_NAME: &str = "gpuskin pipelines";

/// Compiles some pipelines.
#[cfg(not(target_arch = "wasm32"))]
type Task<'a> = &'a (dyn Fn() + Sync);
#[cfg(target_arch = "wasm32")]
type Task<'a> = &'a dyn Fn();

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
    /// Memory that its palette pass needs.
    scratch: Scratch,
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
    /// If the device could not create the pipelines of this call, or of an earlier one.
    pub(super) fn compile<'a>(
        &mut self,
        device: &wgpu::Device,
        (layouts, pipelines): (&Layouts, &mut PipelineCache),
        pyramid: Option<&wgpu::BindGroupLayout>,
        crowds: impl Iterator<Item = &'a Arc<CrowdCore>>,
        at_once: bool,
    ) -> Result<(), Error> {
        let mut result = self.finish();
        let mut new = crowds.filter(|crowd| crowd.model.batched.get().is_none()).peekable();
        if new.peek().is_none() {
            return result;
        }
        let known = self.jobs.iter().flat_map(|job| &job.work.models);
        // The job keeps the allocation of its model, so that no other model has this address.
        let mut known: HashSet<_> = known.map(|of| of.model.as_ptr()).collect();
        let (done, models): (Vec<_>, Vec<_>) = new
            .filter(|crowd| known.insert(Arc::as_ptr(&crowd.model)))
            .map(|crowd| ModelWork::new(crowd, layouts, pipelines))
            .partition(|of| of.is_done() && self.passes.made().is_some_and(|passes| passes.are_compiled(of.scratch)));
        done.iter().for_each(ModelWork::finish);
        if models.is_empty() {
            return result;
        }
        let (device, passes) = (device.clone(), self.passes.clone());
        let work = Arc::new(Work { device, passes, pyramid: pyramid.cloned(), models });
        match if at_once { None } else { spawn(work.clone()) } {
            thread @ Some(_) => self.jobs.push(Job { work, thread }),
            None => {
                result = result.and(work.run(threads(&work.device)));
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
    /// Compiles all pipelines in this number of threads, of which this thread is one.
    fn run(&self, threads: usize) -> Result<(), Error> {
        let passes = self.passes.get();
        let (cull, arguments) = (|| _ = passes.cull(), || _ = passes.arguments());
        let sizes: HashSet<_> = self.models.iter().map(|of| of.scratch).collect();
        let palettes: Vec<_> = sizes.into_iter().map(|scratch| move || _ = passes.palette(scratch)).collect();
        let reveal = || self.pyramid.iter().for_each(|pyramid| _ = passes.reveal(pyramid));
        let parts = self.models.iter().flat_map(|of| of.pipelines.iter().zip(&of.single));
        let parts: Vec<_> = parts.map(|(pipelines, like)| || pipelines.compile_like(like)).collect();
        let mut tasks: Vec<Task<'_>> = palettes.iter().map(|palette| palette as Task<'_>).collect();
        tasks.extend([&cull as Task<'_>, &arguments, &reveal]);
        tasks.extend(parts.iter().map(|part| part as Task<'_>));
        compile_all(&self.device, &tasks, threads)
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
        Self { model: Arc::downgrade(model), scratch: model.geometry.scratch(), pipelines, single }
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

/// Whether the device compiles in other threads than the one that draws. An OpenGL context belongs to one thread at a time; in
/// a browser, devices belong to their thread, and pipelines compile in another process.
fn compiles_in_threads(device: &wgpu::Device) -> bool {
    use wgpu::Backend::{Dx12, Metal, Vulkan};
    cfg!(not(target_arch = "wasm32")) && matches!(device.adapter_info().backend, Dx12 | Metal | Vulkan)
}

/// Works in one other thread, so that the game keeps its cores. `None` if the device cannot compile there.
#[cfg(not(target_arch = "wasm32"))]
fn spawn(work: Arc<Work>) -> Option<JoinHandle<Result<(), Error>>> {
    if !compiles_in_threads(&work.device) {
        return None;
    }
    std::thread::Builder::new().name(THREAD_NAME.into()).spawn(move || work.run(1)).ok()
}

#[cfg(target_arch = "wasm32")]
fn spawn(_: Arc<Work>) -> Option<JoinHandle<Result<(), Error>>> {
    None
}

/// Returns the number of threads in which a device compiles fastest.
fn threads(device: &wgpu::Device) -> usize {
    if compiles_in_threads(device) { std::thread::available_parallelism().map_or(1, usize::from) } else { 1 }
}

/// Runs tasks that compile pipelines in this number of threads, of which this thread is one.
///
/// # Errors
/// If the device could not create a pipeline.
#[cfg(not(target_arch = "wasm32"))]
fn compile_all(device: &wgpu::Device, tasks: &[Task<'_>], threads: usize) -> Result<(), Error> {
    let next = AtomicUsize::new(0);
    // Error scopes belong to a thread.
    let work = || {
        guarded(device, || {
            while let Some(task) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
                task();
            }
            Ok(())
        })
    };
    std::thread::scope(|scope| {
        let spawn = |_| std::thread::Builder::new().name(THREAD_NAME.into()).spawn_scoped(scope, work).ok();
        let others: Vec<_> = (1..threads.min(tasks.len())).filter_map(spawn).collect();
        let own = work();
        others.into_iter().map(|thread| thread.join().unwrap_or_else(|_| panicked())).fold(own, Result::and)
    })
}

#[cfg(target_arch = "wasm32")]
fn compile_all(_: &wgpu::Device, tasks: &[Task<'_>], _: usize) -> Result<(), Error> {
    tasks.iter().for_each(|task| task());
    Ok(())
}

fn panicked() -> Result<(), Error> {
    Err(Error::Device { reason: "a thread that compiled pipelines panicked".to_owned() })
}
