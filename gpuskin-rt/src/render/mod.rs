//! Crowd renderer: draws baked models with wgpu.
//!
//! | bind group | contents | changes |
//! |---|---|---|
//! | 0 | view, time and light | per pass |
//! | 1 | animation texture or palette, value ranges and clips of a model | per model |
//! | 2 | colour and texture of a material | per part |
//!
//! Vertex buffer 0 holds vertices, buffer 1 where instances are and how they look, buffer 2 what they
//! play. WebGL2's limits are enough: no storage buffers, no
//! compute. A render pass draws the bones of the instances that a view sees into a texture, as two
//! triangles per instance, and the vertex shader reads them from there. Only models in [`Encoding::LocalPacked`](crate::Encoding::LocalPacked) need compute:
//! one pass finds the instances that a view sees, another writes their bones into a palette, and
//! the vertex shader reads both from storage buffers. Draws are indirect, and their number does not
//! depend on the number of instances. [Layers](crate::layers) and live bones are applied when poses
//! are evaluated. [Poses shared by several instances](crate::cache) are skinned once.
//!
//! # Layers
//!
//! Each file imports only files of its own row and of rows below. `tests/layers.rs` asserts that
//! imports have no cycles.
//!
//! | layer | files |
//! |---|---|
//! | tools | `capture` |
//! | public handles and commands | `crowd`, `field`, `commands`, `bulk_commands`, `layer_commands`, `live_commands`, `attach`, `custom_draw`, `explain` |
//! | renderer | `loading`, `lighting`, `reveal`, `renderer`, `batching` |
//! | cores: state that renderer and handles share | `crowd_core`, `crowd_poses`, `field_core`, `attachments` |
//! | crowd state | `cpu_cull`, `instances`, `motions`, `layers`, `live`, `sharing`, `palettes` |
//! | merged passes of crowds | `batch`, `batch_draws`, `batch_passes`, `batch_members` |
//! | graphics pipelines | `pipelines` |
//! | models on the device | `gpu_model`, `roots`, `materials`, `textures`, `geometry`, `model_checks`, `surface`, `material`, `cpu_model`, `payload` |
//! | rays on the CPU | `ray_cast` |
//! | light on the device | `lit` |
//! | draw runs | `draw_run` |
//! | poses without compute | `poses` |
//! | compute passes | `cull`, `cache`, `palette`, `occlusion`, `scatter` |
//! | pipelines of compute passes | `compute` |
//! | pass that draws poses | `pose_pass` |
//! | bind group layouts and vertex buffer layouts | `layouts` |
//! | light | `shadows`, `light_shadows`, `shadow_map`, `albedo` |
//! | device, options and ids | `gpu`, `readback`, `staging`, `view`, `descriptor`, `shading`, `ids`, `stale`, `error`, `changes` |

mod albedo;
mod attach;
mod attachments;
mod batch;
mod batch_compiling;
mod batch_draws;
mod batch_materials;
mod batch_members;
mod batch_passes;
mod batched_palette;
mod batching;
mod bulk_commands;
mod cache;
#[cfg(feature = "testing")]
mod capture;
mod changes;
mod commands;
mod compute;
mod cpu_cull;
mod cpu_model;
mod crowd;
mod crowd_core;
mod crowd_events;
mod crowd_poses;
mod cull;
mod custom_draw;
mod descriptor;
mod draw_run;
mod environment;
mod error;
mod explain;
mod field;
mod field_core;
mod geometry;
mod gpu;
mod gpu_model;
mod ids;
mod instances;
mod layer_commands;
mod layers;
mod layouts;
mod light_shadows;
mod lighting;
mod lights;
mod lit;
mod live;
mod live_commands;
mod loading;
mod material;
mod materials;
mod model_checks;
mod morph_pass;
mod motion_pass;
mod motions;
mod occlusion;
mod palette;
mod palettes;
mod payload;
mod pipelines;
mod pose_pass;
mod pose_room;
mod poses;
mod previous;
mod ray_cast;
#[cfg(feature = "testing")]
mod readback;
mod renderer;
mod reveal;
mod roots;
mod scatter;
mod shading;
mod shadow_map;
mod shadows;
mod sharing;
mod snapshot;
mod staging;
mod stale;
mod surface;
mod textures;
mod view;
mod words_texture;

#[cfg(feature = "testing")]
pub use capture::{Capture, CaptureFrame, CapturedVertex};
#[cfg(feature = "testing")]
pub use cpu_model::CpuModel;
pub use crowd::Crowd;
#[cfg(feature = "testing")]
pub use crowd::DrawCounts;
pub use crowd_core::InstanceBuffers;
pub use custom_draw::{CustomDraw, CustomPart};
pub use descriptor::{CrowdDescriptor, DepthPass, DrawPath, PoseSharing, RendererDescriptor};
pub use error::Error;
pub use explain::{CullingState, Explanation};
pub use field::Field;
pub use ids::{AttachmentId, InstanceId};
pub use layouts::{VertexBuffers, field_layout_entries, field_vertex_buffers, model_layout_entries, vertex_buffers};
pub use ray_cast::{PosedInstance, Ray, RayCaster, RayHit};
#[cfg(feature = "testing")]
pub use readback::map as map_for_reading;
pub use renderer::CrowdRenderer;
pub use shading::{LightShadowDescriptor, LightingFeatures, Shading, ShadowDescriptor};
pub use sharing::CacheState;
#[cfg(feature = "testing")]
pub use sharing::time_grid_errors;
pub use stale::StaleId;
pub use textures::{MaterialTextures, SampledTexture};
pub use view::{Camera, Light, View};

#[cfg(all(test, feature = "testing"))]
pub(crate) use capture::CaptureUniform;
#[cfg(test)]
pub(crate) use light_shadows::{LightShadowUniform, LightTileUniform};
#[cfg(all(test, feature = "testing"))]
pub(crate) use material::MaterialUniform;
#[cfg(test)]
pub(crate) use material::{ConstantsUse, FullMaterialUniform};
#[cfg(test)]
pub(crate) use shadows::{CascadeUniform, ShadowUniform};
#[cfg(all(test, feature = "testing"))]
pub(crate) use view::SceneUniform;
