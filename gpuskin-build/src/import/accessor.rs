//! Accessors: typed numbers in buffer views, checked before anything is allocated.

use gltf::json::accessor::{ComponentType as Component, GenericComponentType, IndexComponentType, Type as Shape};
use gltf::json::validation::{Checked, USize64};
use gltf::json::{Accessor, Index, buffer};

use super::file::File;
use crate::diagnostic::{Diagnostic, DiagnosticCode, Label};

/// Maximum number of elements of an accessor without a buffer view: zeros that sparse values
/// replace. Real files have at most one element per vertex of a primitive.
const MAX_ZEROS: u64 = 1 << 20;

/// Returns the name of a shape as written in glTF files.
fn name(shape: Shape) -> &'static str {
    match shape {
        Shape::Scalar => "SCALAR",
        Shape::Vec2 => "VEC2",
        Shape::Vec3 => "VEC3",
        Shape::Vec4 => "VEC4",
        Shape::Mat2 => "MAT2",
        Shape::Mat3 => "MAT3",
        Shape::Mat4 => "MAT4",
    }
}

/// Component types that are allowed for a use of an accessor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AllowedComponents {
    /// `f32`.
    Float,
    /// `f32`, or normalised integers of 8 or 16 bits.
    Normalized,
    /// For positions and texture coordinates: `f32`, or integers of 8 or 16 bits, normalised or
    /// not, as defined by `KHR_mesh_quantization`.
    Quantized,
    /// For normals and tangents: `f32`, or signed normalised integers of 8 or 16 bits, as defined
    /// by `KHR_mesh_quantization`.
    Direction,
    /// For weights and colours: `f32`, or unsigned integers of 8 or 16 bits. Integers are read as
    /// normalised even if the file does not mark them so: weights are divided by their sum anyway.
    Weights,
    /// Unsigned integers.
    Unsigned,
}

/// Bytes of elements. The first element starts at byte 0, and each element is complete.
struct Strided<'a> {
    bytes: &'a [u8],
    stride: usize,
}

/// Numbers of an accessor as they are stored.
struct Stored<'a> {
    data: Strided<'a>,
    /// Number and type of the elements: components, shape, whether integers are normalised.
    kind: (USize64, Component, Shape, bool),
    /// Bytes of an element.
    size: usize,
}

impl Stored<'_> {
    fn element(&self, i: usize) -> &[u8] {
        &self.data.bytes[i * self.data.stride..][..self.size]
    }
}

impl File<'_> {
    /// Returns the numbers of an accessor, element by element. Normalised integers are mapped to
    /// -1..1 or 0..1.
    pub(super) fn numbers(
        &self,
        index: Index<Accessor>,
        shape: Shape,
        allowed: AllowedComponents,
    ) -> Result<Vec<f64>, Diagnostic> {
        self.decode(index, shape, allowed).map_err(|e| e.within(Label::accessor(index.value())))
    }

    /// Returns the numbers of an accessor like [`Self::numbers`], and fails if one is not finite.
    pub(super) fn finite(
        &self,
        index: Index<Accessor>,
        shape: Shape,
        allowed: AllowedComponents,
    ) -> Result<Vec<f64>, Diagnostic> {
        let numbers = self.numbers(index, shape, allowed)?;
        let mut at = 0;
        while at < numbers.len() {
            if !numbers[at].is_finite() {
                let message = format!("element {} is not finite", at / shape.multiplicity());
                return Err(
                    Diagnostic::error(DiagnosticCode::GltfNotFinite, message).within(Label::accessor(index.value()))
                );
            }
            at += 1;
        }
        Ok(numbers)
    }

    /// Returns the unsigned integers of an accessor, such as indices or joints.
    pub(super) fn integers(&self, index: Index<Accessor>, shape: Shape) -> Result<Vec<u32>, Diagnostic> {
        let numbers = self.numbers(index, shape, AllowedComponents::Unsigned)?;
        Ok(numbers.into_iter().map(|n| n as u32).collect())
    }

    /// Returns whether an accessor of another file has the same numbers, stored in the same way; `false` if that cannot be
    /// seen without decoding one of them. `left`: number of bytes that may still be compared.
    pub(super) fn has_same_bytes(
        &self,
        index: Index<Accessor>,
        (other, of_other): (&File<'_>, Index<Accessor>),
        left: &mut u64,
    ) -> bool {
        let (Some(a), Some(b)) = (self.stored(index), other.stored(of_other)) else { return false };
        let Some(rest) = left.checked_sub(a.size as u64 * a.kind.0.0).filter(|_| a.kind == b.kind) else {
            return false;
        };
        *left = rest;
        (0..a.kind.0.0 as usize).all(|i| a.element(i) == b.element(i))
    }

    /// Returns the numbers of an accessor as they are stored; `None` if it is sparse or damaged.
    fn stored(&self, index: Index<Accessor>) -> Option<Stored<'_>> {
        let accessor = self.document.accessors.get(index.value()).filter(|accessor| accessor.sparse.is_none())?;
        let (Checked::Valid(GenericComponentType(component)), Checked::Valid(shape)) =
            (accessor.component_type, accessor.type_)
        else {
            return None;
        };
        let size = component.size() * shape.multiplicity();
        let offset = accessor.byte_offset.unwrap_or_default();
        let data = self.strided(accessor.buffer_view?, offset, size as u64, accessor.count).ok()?;
        Some(Stored { data, kind: (accessor.count, component, shape, accessor.normalized), size })
    }

    fn decode(&self, index: Index<Accessor>, shape: Shape, allowed: AllowedComponents) -> Result<Vec<f64>, Diagnostic> {
        let accessor = self.get(&self.document.accessors, index, "accessor")?;
        let Checked::Valid(GenericComponentType(component)) = accessor.component_type else {
            let code = self.written(&format!("/accessors/{index}/componentType"));
            return Err(Diagnostic::error(DiagnosticCode::GltfAccessor, format!("unknown component type {code}")));
        };
        let found = match accessor.type_ {
            Checked::Valid(found) if found == shape => None,
            Checked::Valid(other) => Some(name(other).to_owned()),
            Checked::Invalid => Some(self.written(&format!("/accessors/{index}/type"))),
        };
        if let Some(found) = found {
            return Err(Diagnostic::error(
                DiagnosticCode::GltfAccessor,
                format!("expected {}, found {found}", name(shape)),
            ));
        }
        // Some exporters set `normalized` on floats, where it has no meaning.
        let normalized = (accessor.normalized || allowed == AllowedComponents::Weights) && component != Component::F32;
        check(component, normalized, allowed)?;
        let core = component == Component::F32 || (normalized && matches!(component, Component::U8 | Component::U16));
        let integers = matches!(allowed, AllowedComponents::Quantized | AllowedComponents::Direction) && !core;
        self.quantized.set(self.quantized.get() || integers);
        let width = shape.multiplicity();
        let numbers = accessor.count.0.saturating_mul(width as u64);
        if numbers == 0 {
            return Err(Diagnostic::error(DiagnosticCode::GltfAccessor, "the accessor has no elements"));
        }
        let element = (component.size() * width) as u64;
        let unpacked = self.unpacked.borrow().clone();
        let data = match (unpacked.get(&index.value()), accessor.buffer_view) {
            (_, Some(view)) => {
                Some(self.strided(view, accessor.byte_offset.unwrap_or_default(), element, accessor.count)?)
            }
            (Some(bytes), None) => {
                let found = bytes.len() as u64 / element;
                if found != accessor.count.0 {
                    let message = format!("the compressed data has {found} elements; expected {}", accessor.count.0);
                    return Err(Diagnostic::error(DiagnosticCode::GltfCompression, message));
                }
                Some(Strided { bytes, stride: element as usize })
            }
            (None, None) if accessor.count.0 > MAX_ZEROS => {
                let message =
                    format!("{} elements without a buffer view; at most {MAX_ZEROS} are supported", accessor.count.0);
                return Err(Diagnostic::error(DiagnosticCode::GltfAccessor, message)
                    .help("the file is damaged: export it again"));
            }
            (None, None) => None,
        };
        self.claim(numbers)?;
        let count = at_most(accessor.count);
        let mut out = Vec::new();
        match data {
            Some(data) => {
                out.reserve_exact(count * width);
                read(&data, count, width, component, normalized, &mut out);
            }
            None => out.resize(count * width, 0.0),
        }
        if let Some(sparse) = &accessor.sparse {
            let within = |e: Diagnostic| e.within("sparse");
            let (at, values) = (&sparse.indices, &sparse.values);
            if sparse.count.0 > accessor.count.0 {
                let (some, all) = (sparse.count.0, accessor.count.0);
                return Err(Diagnostic::error(
                    DiagnosticCode::GltfAccessor,
                    format!("{some} replacements for {all} elements"),
                )
                .within("sparse"));
            }
            let Checked::Valid(IndexComponentType(places)) = at.component_type else {
                let code = self.written(&format!("/accessors/{index}/sparse/indices/componentType"));
                let message = format!("the indices have component type {code}, which is not allowed here");
                return Err(within(
                    Diagnostic::error(DiagnosticCode::GltfAccessor, message).help("expected unsigned integers"),
                ));
            };
            let replaced = at_most(sparse.count);
            let places_data =
                self.strided(at.buffer_view, at.byte_offset, places.size() as u64, sparse.count).map_err(within)?;
            let data = self.strided(values.buffer_view, values.byte_offset, element, sparse.count).map_err(within)?;
            self.claim((replaced as u64).saturating_mul(1 + width as u64))?;
            let (mut indices, mut numbers) = (Vec::new(), Vec::new());
            read(&places_data, replaced, 1, places, false, &mut indices);
            read(&data, replaced, width, component, normalized, &mut numbers);
            for (i, place) in indices.iter().enumerate() {
                let place = *place as usize;
                if place >= count {
                    return Err(Diagnostic::error(
                        DiagnosticCode::GltfAccessor,
                        format!("index {place} is out of range for {count} elements"),
                    )
                    .within("sparse"));
                }
                out[place * width..][..width].copy_from_slice(&numbers[i * width..][..width]);
            }
        }
        Ok(out)
    }

    /// Returns the bytes and stride of the elements of a buffer view. An element has `size` bytes.
    fn strided(
        &self,
        view: Index<buffer::View>,
        offset: USize64,
        size: u64,
        count: USize64,
    ) -> Result<Strided<'_>, Diagnostic> {
        let (bytes, stride) = self.view(view)?;
        // Some exporters write stride 0 for tightly packed elements.
        let stride = stride.filter(|s| *s != 0).unwrap_or(size);
        if stride < size {
            return Err(Diagnostic::error(
                DiagnosticCode::GltfBuffer,
                format!(
                    "buffer view {view}: the stride of {stride} bytes is less than the element size of {size} bytes"
                ),
            ));
        }
        let last = count.0.saturating_sub(1).checked_mul(stride);
        let end = last.and_then(|last| last.checked_add(size)?.checked_add(offset.0));
        match end {
            Some(end) if end <= bytes.len() as u64 => {
                Ok(Strided { bytes: &bytes[offset.0 as usize..], stride: stride as usize })
            }
            _ => Err(Diagnostic::error(
                DiagnosticCode::GltfBuffer,
                format!(
                    "{} elements at offset {} exceed buffer view {view}, which has {} bytes",
                    count.0,
                    offset.0,
                    bytes.len()
                ),
            )
            .help("the file is damaged: export it again")),
        }
    }
}

/// Converts a count to `usize`; a count that is too large becomes `usize::MAX`, which no data has.
fn at_most(count: USize64) -> usize {
    usize::try_from(count.0).unwrap_or(usize::MAX)
}

fn check(component: Component, normalized: bool, allowed: AllowedComponents) -> Result<(), Diagnostic> {
    use Component::{F32, I8, I16, U8, U16, U32};
    let ok = match (allowed, component) {
        (AllowedComponents::Unsigned, U8 | U16 | U32) => !normalized,
        (AllowedComponents::Unsigned, _) => false,
        (_, F32) => true,
        (AllowedComponents::Normalized, I8 | U8 | I16 | U16) => normalized,
        (AllowedComponents::Weights, U8 | U16) | (AllowedComponents::Quantized, I8 | U8 | I16 | U16) => true,
        (AllowedComponents::Direction, I8 | I16) => normalized,
        _ => false,
    };
    if ok {
        return Ok(());
    }
    let kind = if normalized { "normalised " } else { "" };
    let diagnostic = Diagnostic::error(
        DiagnosticCode::GltfAccessor,
        format!("the components are {kind}{component:?}, which are not allowed here"),
    );
    Err(diagnostic.help(match allowed {
        AllowedComponents::Float => "expected floats",
        AllowedComponents::Normalized => "expected floats, or integers of 8 or 16 bits with `normalized`",
        AllowedComponents::Quantized => "expected floats, or integers of 8 or 16 bits",
        AllowedComponents::Direction => "expected floats, or signed integers of 8 or 16 bits with `normalized`",
        AllowedComponents::Weights => "expected floats, or unsigned integers of 8 or 16 bits",
        AllowedComponents::Unsigned => "expected unsigned integers",
    }))
}

/// Appends decoded elements to `out`. Uses plain loops, because build scripts run without
/// optimisation.
fn read(data: &Strided<'_>, count: usize, width: usize, component: Component, normalized: bool, out: &mut Vec<f64>) {
    // Divisor of normalised integers.
    let top = match (component, normalized) {
        (Component::I8, true) => 127.0,
        (Component::U8, true) => 255.0,
        (Component::I16, true) => 32767.0,
        (Component::U16, true) => 65535.0,
        _ => 1.0,
    };
    // Minimum of normalised integers: the lowest integer has no positive counterpart, and is read
    // as -1.
    let least = if normalized { -1.0 } else { f64::MIN };
    let bytes = data.bytes;
    let size = component.size();
    let mut element = 0;
    while element < count {
        let mut at = element * data.stride;
        let end = at + size * width;
        while at < end {
            out.push(match component {
                Component::F32 => {
                    f64::from(f32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]))
                }
                Component::U32 => {
                    f64::from(u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]))
                }
                Component::U16 => f64::from(u16::from_le_bytes([bytes[at], bytes[at + 1]])) / top,
                Component::U8 => f64::from(bytes[at]) / top,
                Component::I16 => (f64::from(i16::from_le_bytes([bytes[at], bytes[at + 1]])) / top).max(least),
                Component::I8 => (f64::from(bytes[at] as i8) / top).max(least),
            });
            at += size;
        }
        element += 1;
    }
}
