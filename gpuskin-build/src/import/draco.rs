//! Meshes compressed with Draco, as `KHR_draco_mesh_compression` has them.
//!
//! The decompressed elements take the place of the accessors' buffer views. Accessors that have a view
//! of their own keep it: a primitive whose positions have one has an uncompressed copy of everything.

use draco_core::{DecodeLimits, DecoderBuffer, Mesh, MeshDecoder};
use gltf::json::accessor::ComponentType as Component;
use gltf::json::accessor::GenericComponentType;
use gltf::json::mesh::{Mode, Semantic};
use gltf::json::validation::Checked;
use gltf::json::{Accessor, Index};

use super::attributes;
use super::document::{Draco, GltfPrimitive};
use super::file::{File, Unpacked};
use super::untrusted;
use crate::diagnostic::{Diagnostic, DiagnosticCode};

impl GltfPrimitive {
    /// Returns the compressed data, if the primitive has no uncompressed copy of it.
    pub(super) fn compressed(&self, file: &File<'_>) -> Option<&Draco> {
        let position = attributes::accessor(self, Semantic::Positions)?;
        let plain = file.document.accessors.get(position.value())?.buffer_view.is_some();
        self.extensions.draco.as_ref().filter(|_| !plain)
    }
}

/// Decompresses a primitive.
pub(super) fn unpack(file: &File<'_>, primitive: &GltfPrimitive, draco: &Draco) -> Result<Unpacked, Diagnostic> {
    if primitive.mode != Checked::Valid(Mode::Triangles) {
        return Err(failed("only lists of triangles are supported").help("export triangles, not strips or fans"));
    }
    let Some(indices) = primitive.indices else { return Err(failed("the primitive has no accessor of indices")) };
    let corners = file.get(&file.document.accessors, indices, "accessor")?.count.0;
    let (bytes, _) = file.view(draco.buffer_view)?;
    let mut limits = DecodeLimits::permissive();
    limits.max_faces = corners / 3;
    limits.max_decoded_bytes = file.memory_left();
    let mesh = untrusted::run(|| {
        let mut mesh = Mesh::new();
        MeshDecoder::new().decode(&mut DecoderBuffer::new(bytes).with_limits(limits), &mut mesh).map(|()| mesh)
    });
    let mesh = match mesh {
        Some(Ok(mesh)) => mesh,
        Some(Err(error)) => return Err(failed(format!("the data cannot be decompressed: {error}"))),
        None => return Err(failed("the data cannot be decompressed")),
    };

    let mut unpacked = Unpacked::new();
    for (name, accessor) in &primitive.attributes {
        let Checked::Valid(semantic) = name else { continue };
        let name = semantic.to_string();
        let Some(id) = draco.attributes.get(&name) else { continue };
        let within = |e: Diagnostic| e.within(&name);
        let Some(attribute) = mesh.attribute_by_unique_id(*id) else {
            return Err(within(failed(format!("the compressed data has no attribute {id}"))));
        };
        let (component, width) = layout(file, *accessor).map_err(within)?;
        if usize::from(attribute.num_components()) != width {
            let message =
                format!("the compressed elements have {} numbers; expected {width}", attribute.num_components());
            return Err(within(failed(message)));
        }
        let points = mesh.num_points();
        file.claim((points as u64).saturating_mul(width as u64)).map_err(within)?;
        let mut bytes = Vec::with_capacity(points * width * component.size());
        attribute.read_f32s(points, width).iter().for_each(|number| write(*number, component, &mut bytes));
        unpacked.insert(accessor.value(), bytes);
    }
    let (component, _) = layout(file, indices)?;
    file.claim(corners)?;
    let mut bytes = Vec::with_capacity(mesh.num_faces() * 3 * component.size());
    for corner in mesh.faces().iter().flatten() {
        let index = corner.0.to_le_bytes();
        let size = component.size().min(4);
        if index[size..].iter().any(|byte| *byte != 0) {
            let message = format!("index {} does not fit the component type of the accessor", corner.0);
            return Err(failed(message).within("indices"));
        }
        bytes.extend(&index[..size]);
    }
    unpacked.insert(indices.value(), bytes);
    Ok(unpacked)
}

/// Returns component type and numbers per element of an accessor.
fn layout(file: &File<'_>, index: Index<Accessor>) -> Result<(Component, usize), Diagnostic> {
    let accessor = file.get(&file.document.accessors, index, "accessor")?;
    match (accessor.component_type, accessor.type_) {
        (Checked::Valid(GenericComponentType(component)), Checked::Valid(shape)) => {
            Ok((component, shape.multiplicity()))
        }
        _ => Err(Diagnostic::error(DiagnosticCode::GltfAccessor, "unknown type")),
    }
}

/// Appends a number as the type of a component. Conversions to integers saturate.
fn write(number: f32, component: Component, bytes: &mut Vec<u8>) {
    match component {
        Component::I8 => bytes.extend((number as i8).to_le_bytes()),
        Component::U8 => bytes.push(number as u8),
        Component::I16 => bytes.extend((number as i16).to_le_bytes()),
        Component::U16 => bytes.extend((number as u16).to_le_bytes()),
        Component::U32 => bytes.extend((number as u32).to_le_bytes()),
        Component::F32 => bytes.extend(number.to_le_bytes()),
    }
}

fn failed(message: impl Into<String>) -> Diagnostic {
    Diagnostic::error(DiagnosticCode::GltfCompression, message).within("KHR_draco_mesh_compression")
}
