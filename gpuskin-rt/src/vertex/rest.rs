//! Rest pose of a mesh in vertex mode: for tools, and for games that draw the mesh without
//! animation. Does not need wgpu. [`Model::rest_mesh`] unpacks it.
//!
//! In `mesh.bin` the rest pose is a second vertex buffer for the same indices,
//! [`RestInfo::vertices`]. The buffer with [`Packing::Static`] vertices has everything else:
//!
//! | word | as a vertex attribute | from bit 0 up |
//! |---|---|---|
//! | 0-1 | `Unorm16x4` | position x, y, z: 16 bits each, 0..65535 over the range; 16 bits zero |
//! | 2 | `Snorm16x2` | normal, octahedral |
//! | 3 | | tangent, if any: as in packed vertices |

use glam::{Vec2, Vec3, Vec4};

use super::{Vertex, from_octahedral, high_snorm16, in_range, octahedral, snorm, tangent_of, tangent_word, unpack};
use crate::files::{FileError, load};
use crate::{ByteRange, Model, Packing, RestInfo};

/// A mesh in its rest pose.
#[derive(Clone, Debug, PartialEq)]
pub struct RestMesh {
    /// Vertices with positions in metres, normals and tangents; the first joint is the row of the
    /// animation texture.
    pub vertices: Vec<Vertex>,
    /// Indices of LOD 0, three per triangle, in the order of
    /// [`MeshInfo::parts`](crate::model::MeshInfo::parts).
    pub indices: Vec<u32>,
}

/// Returns the number of words per vertex.
pub const fn words(tangent: bool) -> usize {
    3 + tangent as usize
}

/// Packs the position, normal and tangent of a vertex into [`words`] words.
pub fn pack(vertex: &Vertex, tangent: bool, info: &RestInfo) -> Vec<u32> {
    let p = [0, 1, 2].map(|i| in_range(vertex.position[i], info.position_min[i], info.position_extent[i]));
    let n = octahedral(vertex.normal);
    let mut words = vec![p[0] | p[1] << 16, p[2], snorm(n.x, 16) | snorm(n.y, 16) << 16];
    words.extend(tangent.then(|| tangent_word(vertex.tangent)));
    words
}

/// Unpacks position, normal and tangent into `vertex`.
///
/// # Panics
/// If the slice is shorter than [`words`].
pub fn place(vertex: &mut Vertex, words: &[u32], tangent: bool, info: &RestInfo) {
    let unorm = |v: u32| (v & 0xffff) as f32 / 65_535.0;
    let fraction = Vec3::new(unorm(words[0]), unorm(words[0] >> 16), unorm(words[1]));
    vertex.position = Vec3::from(info.position_min) + Vec3::from(info.position_extent) * fraction;
    vertex.normal = from_octahedral(Vec2::new(high_snorm16(words[2] << 16), high_snorm16(words[2])));
    vertex.tangent = if tangent { tangent_of(words[3]) } else { Vec4::X };
}

impl Model {
    /// Returns the mesh in its rest pose: the pose that `rest_frame` in the manifest names,
    /// otherwise the pose of the file. `None` in bone mode, where vertices are stored in the bind
    /// pose.
    ///
    /// # Errors
    /// If `mesh.bin` is missing, unreadable, or comes from another bake.
    #[doc(hidden)]
    pub fn rest_mesh(&self) -> Result<Option<RestMesh>, FileError> {
        let mesh = &self.meta.mesh;
        let Some(info) = mesh.rest.as_ref().filter(|_| mesh.format.packing == Packing::Static) else { return Ok(None) };
        let file = load(&self.mesh, &self.meta.content_hash)?;
        let (fixed, still) = (all_words(&file, mesh.vertices)?, all_words(&file, info.vertices)?);
        let tangent = mesh.format.tangent;
        let at_rest = |(fixed, still): (&[u32], &[u32])| {
            let mut vertex = unpack(fixed, mesh.format, &mesh.range);
            place(&mut vertex, still, tangent, info);
            vertex
        };
        let pairs = fixed.chunks_exact(mesh.format.words()).zip(still.chunks_exact(words(tangent)));
        let indices: Vec<u32> = match mesh.wide_indices {
            true => all_words(&file, mesh.indices)?,
            false => {
                part(&file, mesh.indices)?.as_chunks::<2>().0.iter().map(|i| u16::from_le_bytes(*i).into()).collect()
            }
        };
        // Indices of coarser levels of detail follow and are left out.
        let finest = mesh.parts.iter().map(|p| indices.get(p.first_index as usize..)?.get(..p.index_count as usize));
        let finest: Option<Vec<&[u32]>> = finest.collect();
        let indices = finest.ok_or(FileError::OtherBake { path: None })?.concat();
        Ok(Some(RestMesh { vertices: pairs.map(at_rest).collect(), indices }))
    }
}

/// A range that lies outside the file means that the file comes from another bake.
fn part(file: &[u8], ByteRange { offset, len }: ByteRange) -> Result<&[u8], FileError> {
    let end = offset.checked_add(len).and_then(|end| usize::try_from(end).ok());
    end.and_then(|end| file.get(offset as usize..end)).ok_or(FileError::OtherBake { path: None })
}

fn all_words(file: &[u8], range: ByteRange) -> Result<Vec<u32>, FileError> {
    Ok(part(file, range)?.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect())
}
