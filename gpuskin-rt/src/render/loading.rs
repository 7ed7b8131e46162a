//! Loading of models, crowds and fields into a renderer.

use std::sync::{Arc, OnceLock, Weak};

use super::crowd_core::CrowdCore;
use super::descriptor::DrawPath;
use super::field_core::{FieldCore, not_textured};
use super::geometry::Geometry;
use super::gpu::Gpu;
use super::gpu::guarded;
use super::gpu_model::{GpuModel, playable, textured};
use super::material::MaterialConstants;
use super::materials::Materials;
use super::pipelines::DrawnPart;
use super::roots::RootClips;
use super::sharing::{CacheState, SharedPoses};
use super::surface::Surface;
use super::textures::{MaterialTextures, Textures, choose};
use super::{CrowdDescriptor, CrowdRenderer, Error};
use crate::field::FieldDescriptor;
use crate::shader::{InstanceSource, MorphUse, Variant};
use crate::{MeshPart, Metadata, Model, Payload};

impl CrowdRenderer {
    /// Returns the textures of a material, for a game's own pipelines: base colour,
    /// occlusion-roughness-metallic, normals and emitted light. The factors that they are
    /// multiplied with are in [`crate::Material`].
    ///
    /// The renderer itself loads base colours and emissive textures. Others are loaded on the first
    /// call, and kept as long as the model has a crowd.
    ///
    /// ```no_run
    /// # use gpuskin_rt::{wgpu, Crowd, CrowdRenderer, Error, Model, BakedModel, pipeline::MaterialTextures};
    /// # fn load<Soldier: BakedModel>(renderer: &mut CrowdRenderer, crowd: &Crowd<Soldier>) -> Result<(), Error> {
    /// # let soldier: &'static Model = Soldier::MODEL;
    /// let materials: Vec<MaterialTextures> = (0..soldier.meta.materials().len() as u32)
    ///     .map(|material| renderer.material_textures(soldier, material))
    ///     .collect::<Result<_, _>>()?;
    /// // Create a bind group per material, and set it in the callback of `crowd.draw_with`: `part.material` is the index.
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If the model has no such material, a file is missing or from another bake, or the device
    /// supports none of a texture's formats.
    pub fn material_textures(&mut self, model: &Model, material: u32) -> Result<MaterialTextures, Error> {
        self.textures_of(model, material, false)
    }

    /// Returns the textures of a material as [`Self::material_textures`] does, but with the base colours of all variants.
    ///
    /// If they differ, `base_color` is a texture array, `texture_2d_array<f32>` in WGSL. The layer of a variant is
    /// [`Material::base_color_layer`](crate::Material::base_color_layer); the shader gets the number of the variant from
    /// `gpuskin_variant_of`. The renderer draws the same array, so this takes no further memory.
    ///
    /// # Errors
    /// As [`Self::material_textures`].
    pub fn layered_material_textures(&mut self, model: &Model, material: u32) -> Result<MaterialTextures, Error> {
        self.textures_of(model, material, true)
    }

    fn textures_of(&mut self, model: &Model, material: u32, layers: bool) -> Result<MaterialTextures, Error> {
        let on_device = self.model(model)?;
        let meta = &model.meta;
        let Some(material) = meta.materials.get(material as usize) else {
            return Err(Error::model(&meta.name, format!("material {material} does not exist")));
        };
        on_device.textures.of_material(
            Gpu { device: &self.device, queue: &self.queue },
            &mut self.samplers,
            model,
            material,
            layers,
        )
    }

    /// Returns the names of the files of a model that are not part of the program and that this device
    /// reads, as [`provide_file`](crate::provide_file) takes them: for web pages, which fetch them before
    /// they make a crowd. Of each texture it is the first format that the device supports.
    ///
    /// # Errors
    /// If the device plays no encoding of the model, or supports none of a texture's formats.
    pub fn side_files<'m>(&self, model: &'m Model) -> Result<Vec<&'m str>, Error> {
        let played = playable(&self.device, model)?;
        let mut payloads = vec![&played.animation, &played.mesh];
        for index in 0..model.meta.textures.len() {
            payloads.push(choose(self.device.features(), model, index)?.1);
        }
        Ok(payloads.into_iter().filter_map(Payload::side_file).collect())
    }

    /// Loads a prop, and returns its parts with pipelines for another variant. First indices count
    /// from the prop's own first index.
    pub(crate) fn prop(&mut self, model: &Model, variant: Variant) -> Result<(Arc<GpuModel>, Vec<DrawnPart>), Error> {
        let played = playable(&self.device, model)?;
        guarded(&self.device.clone(), || {
            let on_device = self.load(model, played)?;
            let parts = self.parts(&played.meta.mesh.parts, &on_device.surfaces, (variant, InstanceSource::Records));
            Ok((on_device, parts))
        })
    }

    /// Returns mesh parts with their pipelines.
    fn parts(&mut self, mesh: &[MeshPart], surfaces: &[Surface], text: (Variant, InstanceSource)) -> Vec<DrawnPart> {
        let pipelines = surfaces.iter().map(|surface| self.pipelines.get(&self.layouts, text, *surface));
        let parts = mesh.iter().zip(pipelines);
        parts.map(|(mesh, pipelines)| DrawnPart::new(*mesh, pipelines)).collect()
    }

    /// Creates a field in this renderer.
    pub(crate) fn field<M>(&mut self, model: &Model, descriptor: &FieldDescriptor<M>) -> Result<Arc<FieldCore>, Error> {
        guarded(&self.device.clone(), || self.make_field(model, descriptor))
    }

    fn make_field<M>(&mut self, model: &Model, descriptor: &FieldDescriptor<M>) -> Result<Arc<FieldCore>, Error> {
        let played = textured(model).ok_or_else(|| not_textured(&model.meta))?;
        let on_device = self.load(model, played)?;
        let geometry = &on_device.geometry;
        on_device.materials.bind(&self.device, &self.layouts, geometry);
        let parts = self.parts(&geometry.parts, &on_device.surfaces, (geometry.variant, InstanceSource::Field));
        let bind_group = |uniform: &wgpu::Buffer| geometry.with_field(&self.device, &self.layouts, uniform);
        let on_device = (on_device.clone(), parts);
        let core = Arc::new(FieldCore::new(&self.device, on_device, &played.meta, bind_group, descriptor)?);
        self.fields.push(Arc::downgrade(&core));
        Ok(core)
    }

    /// Creates a crowd in this renderer.
    pub(crate) fn crowd(&mut self, model: &Model, descriptor: &CrowdDescriptor) -> Result<Arc<CrowdCore>, Error> {
        guarded(&self.device.clone(), || self.make_crowd(model, descriptor))
    }

    fn make_crowd(&mut self, model: &Model, descriptor: &CrowdDescriptor) -> Result<Arc<CrowdCore>, Error> {
        let played = match descriptor.path {
            Some(DrawPath::Direct) => textured(model).ok_or_else(|| not_direct(&model.meta))?,
            _ => playable(&self.device, model)?,
        };
        let on_device = self.load(model, played)?;
        let geometry = &on_device.geometry;
        let (name, clock) = (&model.meta.name, (self.clock.clone(), self.poses.clone()));
        let shared = SharedPoses::of(&self.device, (played, geometry), self.culled_views.is_some(), descriptor)?;
        let mut parts = self.parts(&geometry.parts, &on_device.surfaces, (geometry.variant, InstanceSource::Records));
        if matches!(shared.1, CacheState::On { .. }) {
            let cached = self.parts(&geometry.parts, &on_device.surfaces, (geometry.variant, InstanceSource::Cached));
            parts.iter_mut().zip(cached).for_each(|(part, cached)| part.cached = Some(cached.pipelines));
        }
        if geometry.poses().is_some() && geometry.variant.morphs == MorphUse::None {
            // Compiled on first use: most crowds have room for all poses.
            let text = (geometry.variant, InstanceSource::Slotless);
            for (part, surface) in parts.iter_mut().zip(&on_device.surfaces) {
                part.slotless = Some(self.pipelines.uncompiled(&self.layouts, text, *surface));
            }
        }
        if geometry.poses().is_some_and(|poses| poses.morphs_fit(1)) {
            let added = self.parts(&geometry.parts, &on_device.surfaces, (geometry.variant, InstanceSource::Added));
            parts.iter_mut().zip(added).for_each(|(part, added)| part.morphs_added = Some(added.pipelines));
        }
        let on_device = (on_device.clone(), parts);
        let core = Arc::new(CrowdCore::new(self.gpu(), on_device, name, clock, descriptor, shared)?);
        self.crowds.push(Arc::downgrade(&core));
        Ok(core)
    }

    /// Returns the model on the device, shared by all of its crowds.
    fn model(&mut self, model: &Model) -> Result<Arc<GpuModel>, Error> {
        self.load(model, playable(&self.device, model)?)
    }

    /// Loads a model. `played`: the model itself, or its alternative in another encoding.
    fn load(&mut self, model: &Model, played: &Model) -> Result<Arc<GpuModel>, Error> {
        let meta = &model.meta;
        let key = (meta.content_hash, played.meta.encoding);
        if let Some(loaded) = self.models.get(&key).and_then(Weak::upgrade) {
            return Ok(loaded);
        }
        self.models.retain(|_, model| model.strong_count() > 0);
        let blended = meta.materials.iter().find(|material| material.alpha_blend);
        if let Some((material, format)) = blended.zip(self.pipelines.unblendable()) {
            let reason = format!(
                "material `{}` is blended, which this device cannot do in {format:?}; choose another color_format, such \
                 as Rgba16Float, or export the material with alpha mode MASK",
                material.name
            );
            return Err(Error::Argument { model: meta.name.to_string(), reason });
        }
        let full = self.is_full();
        let constants = MaterialConstants::of(&self.device, meta, full);
        let pipelines = &self.palette_pipelines;
        let geometry = Geometry::new(&self.device, &self.queue, pipelines, self.pose_memory, played, &constants)?;
        let textures = Textures::new(meta);
        let roots = RootClips::new(&played.meta.clips).map(Arc::new);
        let gpu = Gpu { device: &self.device, queue: &self.queue };
        let materials = Materials::new(gpu, model, &textures, &mut self.samplers, &self.white, full)?;
        let surface = |part: &MeshPart| Surface::of(part, &meta.materials[part.material as usize], full);
        let surfaces = geometry.parts.iter().map(surface).collect();
        let loaded = Arc::new(GpuModel { geometry, surfaces, materials, textures, roots, batched: OnceLock::new() });
        self.models.insert(key, Arc::downgrade(&loaded));
        Ok(loaded)
    }
}

fn not_direct(meta: &Metadata) -> Error {
    let reason = format!(
        "path: `direct` needs an animation texture, but the model is baked to {} alone; add \"webgl2\" to `devices` for it \
         in gpuskin.toml, or choose another encoding",
        meta.encoding.name()
    );
    Error::Argument { model: meta.name.to_string(), reason }
}
