//! Every kind of finding: its code, what it means and what to do. docs/diagnostics.md has a section for each, with an
//! example; a test holds the two together.

use std::fmt;

macro_rules! codes {
    ($($variant:ident, $name:literal, $meaning:literal, $remedy:literal;)*) => {
        /// What kind of finding it is. Codes stay what they are from version to version; messages do not.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Code {
            $(#[doc = $meaning] $variant,)*
        }

        impl Code {
            /// All of them, in the order of the documentation.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// As it is printed: `gpuskin::clip::not_found`.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => concat!("gpuskin::", $name),)* }
            }

            /// What it means, in a sentence.
            pub fn meaning(self) -> &'static str {
                match self { $(Self::$variant => $meaning,)* }
            }

            /// What to do about it: the help of a finding that has nothing more precise to say.
            pub fn remedy(self) -> &'static str {
                match self { $(Self::$variant => $remedy,)* }
            }
        }
    };
}

codes! {
    ManifestUnreadable, "manifest::unreadable", "The manifest is not there, cannot be read, or is no text.", "name a gpuskin.toml that exists and may be read";
    ManifestSyntax, "manifest::syntax", "The manifest is not TOML.", "repair the line: https://toml.io has the grammar";
    ManifestKey, "manifest::unknown_key", "A table of the manifest has a key that it does not know.", "remove the key, or correct its name";
    ManifestLater, "manifest::not_yet", "A key or value that a later version will understand.", "remove it until then";
    ManifestType, "manifest::wrong_type", "A value of the manifest is of the wrong type.", "write a value of the type that the message names";
    ManifestValue, "manifest::bad_value", "A value of the manifest is none of those that its key can have.", "write one of the values that the README lists for the key";
    ManifestMissing, "manifest::missing_key", "A model has no `name` or no `path`.", "add the key";
    ManifestEmpty, "manifest::no_models", "The manifest has no `[[model]]`.", "add a [[model]] table with `name` and `path`";
    ManifestConflict, "manifest::conflict", "Two settings exclude each other.", "leave one of the two out";
    ManifestNoEffect, "manifest::no_effect", "A setting that changes nothing with the others.", "leave it out";
    ManifestFeature, "manifest::missing_feature", "A setting needs a Cargo feature that this build does not have.", "add the feature to the dependency, or leave the setting out";
    NameInvalid, "name::invalid", "A name makes no Rust identifier.", "use letters, digits and `_`, a letter first";
    NameCollision, "name::collision", "Two models, clips, events, masks or parts would become the same identifier.", "give one of them another name";
    ModelNotFound, "model::not_found", "The manifest has no model of this name.", "name a model of the manifest";
    FileNotFound, "file::not_found", "A file that the manifest names is not there.", "paths start at the folder of the manifest";
    FileUnreadable, "file::unreadable", "A file cannot be read, or is no regular file.", "check that it exists, that it is a file, and that it may be read";
    FileKind, "file::wrong_kind", "A file is of a kind that is not read.", "export it as glTF 2.0 (.glb or .gltf)";
    UriRefused, "uri::refused", "A URI inside a glTF file leads out of the folder of the file, or has a scheme.", "put the file beside the glTF file, name its folder in `[bake] roots`, or export as .glb";
    UriData, "uri::bad_data", "A data URI cannot be decoded.", "export it again, as .glb if possible";
    GltfCutOff, "gltf::cut_off", "A file ends before its content does.", "the file is cut off: export it again, or copy it again";
    GltfSyntax, "gltf::syntax", "A file is not glTF, or its JSON has values that glTF does not have.", "export it as glTF 2.0 (.glb or .gltf)";
    GltfVersion, "gltf::version", "A file is of a version of glTF that is not read.", "export it as glTF 2.0 (.glb or .gltf)";
    GltfRequired, "gltf::required_extension", "A file requires an extension that is not read.", "export without it";
    GltfExtension, "gltf::unknown_extension", "A file uses an extension that is not known.", "what it changes does not show: export without it if that is wrong";
    GltfIndex, "gltf::bad_index", "Something refers to an item that the file does not have.", "the file is damaged: export it again";
    GltfBuffer, "gltf::bad_buffer", "A buffer or buffer view passes its end, is empty or makes no sense.", "the file is damaged: export it again";
    GltfAccessor, "gltf::bad_accessor", "An accessor is of a type or size that cannot be what it is used for.", "the file is damaged, or of an exporter that is wrong: export it again";
    GltfCompression, "gltf::bad_compression", "Data compressed by meshopt cannot be decompressed.", "the file is damaged: export it again, or without compression";
    GltfNotFinite, "gltf::not_finite", "A number is infinite, not a number, or beyond the range of 32-bit floats.", "look for keys, vertices or transforms that are far off, and export again";
    NodeCycle, "node::not_a_tree", "Nodes are not a tree: a cycle, a child of two nodes, or one that does not exist.", "the file is damaged: export it again";
    NodeNotFound, "node::not_found", "A key of the manifest names a node that the scene does not have.", "write the name of a node of the scene";
    NodeTransform, "node::odd_transform", "A transform is not one that glTF allows; it was read as other programs do.", "apply transforms in the modelling tool, and export again";
    NodeUnevenScale, "node::uneven_scale", "A node that moves something is scaled unevenly: what hangs on it shears when it turns, and the smaller encodings cannot hold it.", "apply scales in the modelling tool, or scale all axes alike";
    NodeEmpty, "node::nothing_there", "A mask has no bone, or a part no mesh: there is none at its nodes or below.", "name nodes that have some";
    SceneOthers, "scene::others", "A file has several scenes, and one of them is baked.", "make the scene that you mean the default one of the file";
    SceneEmpty, "scene::empty", "Nothing is there to draw.", "check `include` and `exclude`, and that the file's default scene is the one you mean";
    SkinInvalid, "skin::invalid", "A skin has no joints, or too few inverse bind matrices.", "the file is damaged: export it again";
    Affine3, "skin::odd_matrix", "An inverse bind matrix is singular or not affine.", "look for joints of scale zero in the rest pose, and export again";
    SkinMirrored, "skin::mirrored", "Some joints of a mesh mirror it and some do not.", "apply negative scales before skinning, and export again";
    SkinWeights, "skin::bad_weights", "Skin weights are missing, negative, or do not sum to one; they were repaired.", "normalise weights in the modelling tool (Blender: Weights > Normalize All), and export again";
    SkinJoint, "skin::bad_joint", "A vertex hangs on a joint that its skin does not have, or its joints and weights do not match.", "the file is damaged: export it again";
    SkinUnbound, "skin::unbound", "A mesh of a node with a skin has no joints: it moves with the node.", "bind the mesh to its skeleton, or take the skin away";
    SkinInfluences, "skin::dropped_influences", "Vertices have more influences than are kept; weight is lost.", "limit influences in the modelling tool (Blender: Weights > Limit Total)";
    MeshAttribute, "mesh::bad_attribute", "Attributes of a primitive do not have as many elements as it has vertices.", "the file is damaged: export it again";
    MeshIndex, "mesh::bad_index", "Indices or a primitive mode that make no triangles.", "the file is damaged: export it again";
    MeshLeftOut, "mesh::left_out", "A primitive is not drawn: points, lines, or nothing at all.", "make triangles of it, or remove it";
    MeshInstances, "mesh::instances", "EXT_mesh_gpu_instancing is not read: the mesh is drawn once.", "make objects of the instances before exporting";
    MeshRepaired, "mesh::repaired", "Normals, tangents, texture coordinates or colours were not finite, and are zero now.", "recalculate them in the modelling tool, and export again";
    MeshNoUv, "mesh::no_uv", "A material has a texture, and the mesh no coordinates for it.", "unwrap it, or give it another material";
    MeshUndeclared, "mesh::undeclared_quantization", "Vertices are integers, and the file does not say so.", "declare KHR_mesh_quantization, or export floats";
    MeshColors, "mesh::colors", "Vertex colours that are not drawn.", "bake them into the texture of its material";
    MorphLost, "morph::not_baked", "Morph targets are not baked in bone mode.", "`mode = \"vertex\"` bakes morph targets";
    MorphOdd, "morph::odd", "Morph targets or their weights do not match the mesh; they were read as other programs do.", "export it again";
    MaterialOdd, "material::invalid", "A material has values that make no sense.", "repair the material, and export again";
    MaterialExtension, "material::not_drawn", "A material has extensions that are not drawn.", "convert it to plain metallic-roughness if it looks wrong";
    MaterialBlend, "material::blend", "Alpha blending is not drawn: the material is opaque.", "alpha mode MASK cuts out by a threshold";
    MaterialTexture, "material::texture_left_out", "A texture other than the base colour is not baked.", "gpuskin's own material does without; a game's pipelines may want it";
    ImageInvalid, "image::invalid", "An image cannot be decoded, or is of a kind that is not read.", "convert it to PNG or JPEG";
    ImageBlocks, "image::uneven_size", "An image is not whole blocks of 4 x 4 texels: it is baked uncompressed.", "scale it to multiples of 4, or use `textures = [\"rgba8\"]`";
    ImageEncoder, "image::encoder", "A texture could not be compressed.", "`textures = [\"rgba8\"]` does without";
    ClipNotFound, "clip::not_found", "A clip that was asked for is not in the file.", "name a clip of the file, or leave the table out to bake all";
    ClipAmbiguous, "clip::ambiguous", "A name fits several clips or nodes.", "name one of them apart";
    ClipNone, "clip::none", "A model has no clips.", "export it with its animations, or add files that have them: `animations = [\"run.glb\"]`";
    ClipUnused, "clip::unused_file", "No clip of a file in `animations` is baked.", "take it out of `animations`, or add a [model.clips.<name>] table for its clips";
    ClipIdle, "clip::idle", "A clip moves nothing that is drawn.", "export it with the channels of its skeleton, or leave it out";
    ClipStrangers, "clip::unknown_nodes", "A clip of another file moves nodes that the model does not have.", "export both from the same skeleton: nodes are matched by their names";
    ClipSeam, "clip::seam", "A clip is told to loop, and its ends do not meet.", "make its last key equal its first, or drop `loop = true`";
    ClipFlip, "clip::flip", "A rotation turns half around, or more, between two keys: which way is anybody's guess.", "add a key between the two, or run the tool's Euler or quaternion filter, and export again";
    ClipChannel, "clip::channel_left_out", "A channel of a clip is not played, or played as other programs do.", "remove it, or export again";
    ClipKeys, "clip::odd_keys", "Keys at one time, or before the start of a clip.", "clean the keys up in the modelling tool, and export again";
    ClipCurve, "clip::bad_curve", "A curve has keys that go back, a number of values that does not fit, or an interpolation that glTF does not have.", "the file is damaged: export it again";
    ClipEvent, "clip::event", "An event is outside of its clip, has no name for Rust, or is one too many.", "times count seconds from the clip's start";
    ClipRoot, "clip::no_root", "A clip is told to have root motion, and nothing that carries the model moves in it.", "remove `root_motion`, or name the node that carries the model: root = \"Hips\"";
    ClipFrame, "clip::no_frame", "A clip does not have the frame that was asked for.", "ask for one that it has";
    EncodingTolerance, "encoding::tolerance", "The named encoding, or any, is less exact than the tolerance asks for.", "raise `tolerance`, or name a more precise `encoding`";
    EncodingRange, "encoding::out_of_range", "A pose is out of the range of the encoding.", "set `scale` so that the model is in metres, or use `encoding = \"matrix-f32\"`";
    EncodingUneven, "encoding::uneven_scale", "A clip scales a bone unevenly, and the encoding cannot hold that.", "use `encoding = \"matrix-f16\"`";
    EncodingCoarse, "encoding::coarse", "The encoding is so far off that it will be seen.", "use a more precise `encoding`, or set `scale` so that the model is in metres";
    EncodingUnfit, "encoding::unfit", "The encoding cannot hold the model at all.", "use another `encoding`, or leave it out";
    LimitFile, "limit::file", "A file is larger than the limit.", "split it, or raise `file` in [limits]";
    LimitJson, "limit::json", "The JSON of a file is larger than is read.", "keep binary data in .bin files, or export as .glb";
    LimitNodes, "limit::nodes", "A file has more nodes than the limit.", "join nodes, or raise `nodes` in [limits]";
    LimitDepth, "limit::depth", "Nodes are nested deeper than the limit.", "flatten the hierarchy, or raise `depth` in [limits]";
    LimitBones, "limit::bones", "More bones move the vertices than are supported.", "bake parts as models of their own, with include and exclude";
    LimitVertices, "limit::vertices", "A model has more vertices than the limit.", "leave parts out with include and exclude, or raise `vertices` in [limits]";
    LimitPrimitives, "limit::primitives", "A scene has more primitives than are read.", "leave parts out with include and exclude, or join them";
    LimitMemory, "limit::memory", "What a model unfolds to takes more memory than the limit.", "split the model, leave clips out with [model.clips.<name>], or raise `memory` in [limits]";
    LimitImage, "limit::image", "An image has more texels than the limit.", "scale images down, or raise `image` in [limits]";
    LimitMorphs, "limit::morphs", "A mesh has more morph targets than are read.", "leave out targets that no clip moves";
    LimitInfluences, "limit::influences", "A vertex has more influences than are read.", "limit influences in the modelling tool (Blender: Weights > Limit Total)";
    LimitClips, "limit::clips", "A model has more clips than it can have.", "name those that the game plays under [model.clips]";
    LimitFrames, "limit::frames", "Clips have more frames than the limit.", "bake fewer clips, set a lower `fps`, or raise `frames` in [limits]";
    LimitTexture, "limit::texture", "The animation does not fit a texture.", "bake fewer clips, set a lower `fps`, or raise `texture` in [limits]";
    CacheUnwritable, "cache::unwritable", "What was encoded cannot be kept for the next bake.", "GPUSKIN_CACHE names another folder";
    CacheDamaged, "cache::damaged", "An entry of the cache is not what was written.", "nothing: it is removed, and the next bake makes it again";
    CacheLost, "cache::lost", "Files were removed from the cache while a bake needed them.", "let no other program clean it meanwhile, or name another folder by GPUSKIN_CACHE";
    CacheMissing, "cache::missing", "`bake --merge` did not find a model in the cache.", "run its shard again; `bake` without --merge bakes it here";
    CacheNone, "cache::none", "A command needs a cache, and there is none.", "name a folder by GPUSKIN_CACHE";
    CacheShared, "cache::shared", "The shared cache cannot be used; the bake does without it.", "check GPUSKIN_SHARED_CACHE, the network, and the keys to it";
    OutputFailed, "output::failed", "A file cannot be written.", "check that the folder may be written, and that the disk is not full";
    OutputDiffers, "output::differs", "What is in the output folder is not what would be baked.", "bake again, and commit what it writes";
    OutputOthers, "output::other_models", "The output folder has other models, which baking one would take away.", "leave out --model to bake all of them, or give this one a folder with --out";
    ScriptOutDir, "script::no_out_dir", "`build` was called outside of a build script.", "elsewhere use `gpuskin bake`, or gpuskin_build::bake and gpuskin_build::output";
    ScriptSlow, "script::unoptimised", "Baking took long, because build scripts are built unoptimised.", "set `opt-level = 3` under [profile.dev.build-override]";
    GpuMissing, "gpu::none", "No GPU was found, or this build has no support for one.", "install a Vulkan driver, or build with the feature `gpu`";
    GpuFailed, "gpu::failed", "The GPU refused to draw.", "update its driver, or choose another adapter with WGPU_ADAPTER_NAME";
    InspectFile, "inspect::unknown_file", "A file is none that gpuskin wrote.", "name an anim-*.ktx2 or color-*.ktx2 file of a bake";
    PreviewMask, "preview::no_mask", "A model has no mask of the name that was asked for.", "name one of its [model.masks]";
    PreviewClips, "preview::clips_differ", "Two encodings do not have the same clips.", "compare encodings of the same mode";
    More, "more", "More of the same kind was found than is shown.", "repair those that are shown first";
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
