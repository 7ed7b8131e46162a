//! Diagnostic codes: name, meaning and remedy of each. docs/diagnostics.md has one section per
//! code, with an example; the test `tests/input/diagnostics.rs` compares the two.

use std::fmt;

macro_rules! codes {
    ($($variant:ident, $name:literal, $meaning:literal, $remedy:literal;)*) => {
        /// Kind of a diagnostic. Codes are stable across versions; messages are not.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum DiagnosticCode {
            $(#[doc = $meaning] $variant,)*
        }

        impl DiagnosticCode {
            /// All codes, in the order of docs/diagnostics.md.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// Returns the printed name: `gpuskin::clip::not_found`.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => concat!("gpuskin::", $name),)* }
            }

            /// Returns the meaning of the code, as one sentence.
            pub fn meaning(self) -> &'static str {
                match self { $(Self::$variant => $meaning,)* }
            }

            /// Returns what to do: the help text of diagnostics that have no more precise one.
            pub fn remedy(self) -> &'static str {
                match self { $(Self::$variant => $remedy,)* }
            }
        }
    };
}

codes! {
    ManifestUnreadable, "manifest::unreadable", "The manifest does not exist, cannot be read, or is not text.", "pass the path of an existing, readable gpuskin.toml";
    ManifestSyntax, "manifest::syntax", "The manifest is not valid TOML.", "correct the line; https://toml.io has the grammar";
    ManifestKey, "manifest::unknown_key", "A table of the manifest has an unknown key.", "remove the key, or correct its name";
    ManifestNotYetSupported, "manifest::not_yet", "A key or value of the manifest is reserved for a later version.", "remove the key or value";
    ManifestType, "manifest::wrong_type", "A value of the manifest has the wrong type.", "write a value of the type that the message names";
    ManifestValue, "manifest::bad_value", "A value of the manifest is not allowed for its key.", "write one of the values that the manifest reference lists for the key";
    ManifestMissing, "manifest::missing_key", "A model has no `name` or no `path`.", "add the missing key";
    ManifestEmpty, "manifest::no_models", "The manifest has no `[[model]]` table.", "add a [[model]] table with `name` and `path`";
    ManifestConflict, "manifest::conflict", "Two settings exclude each other.", "remove one of the two settings";
    ManifestNoEffect, "manifest::no_effect", "A setting has no effect together with the other settings.", "remove the setting";
    ManifestFeature, "manifest::missing_feature", "A setting needs a Cargo feature that this build does not have.", "add the feature to the dependency, or remove the setting";
    NameInvalid, "name::invalid", "A name cannot become a Rust identifier.", "use letters, digits and `_`, and begin with a letter";
    NameCollision, "name::collision", "Two models, clips, events, masks, parts or variants would become the same identifier.", "rename one of the two";
    ModelNotFound, "model::not_found", "The manifest has no model of this name.", "use the name of a model in the manifest";
    FileNotFound, "file::not_found", "A file that the manifest names does not exist.", "correct the path; paths are relative to the folder of the manifest";
    FileUnreadable, "file::unreadable", "A file cannot be read, or is not a regular file.", "check that the path is an existing file and that it is readable";
    FileKind, "file::wrong_kind", "A file has an unsupported format.", "export the model as glTF 2.0 (.glb or .gltf)";
    UriRefused, "uri::refused", "A URI inside a glTF file leads out of the folder of that file, or has a scheme.", "put the file beside the glTF file, add its folder to `[bake] roots`, or export as .glb";
    UriData, "uri::bad_data", "A data URI cannot be decoded.", "export the file again, as .glb if possible";
    GltfCutOff, "gltf::cut_off", "A file is truncated.", "export or copy the file again";
    GltfSyntax, "gltf::syntax", "A file is not glTF, or its JSON has values that glTF does not allow.", "export the model as glTF 2.0 (.glb or .gltf)";
    GltfVersion, "gltf::version", "A file has an unsupported glTF version.", "export the model as glTF 2.0 (.glb or .gltf)";
    GltfRequired, "gltf::required_extension", "A file requires an unsupported extension.", "export the file without the extension";
    GltfExtension, "gltf::unknown_extension", "A file uses an unknown extension.", "the extension is ignored; if the model looks wrong, export it without the extension";
    GltfBrokenRule, "gltf::broken_rule", "A file breaks a rule of glTF; it was read in the same way as other programs do.", "export the file again; if the rule stays broken, report it to the author of the exporter";
    GltfIndex, "gltf::bad_index", "An index refers to an item that the file does not have.", "the file is damaged: export it again";
    GltfBuffer, "gltf::bad_buffer", "A buffer or buffer view is empty, inconsistent, or longer than its data.", "the file is damaged: export it again";
    GltfAccessor, "gltf::bad_accessor", "An accessor has a type or size that does not suit its use.", "the file is damaged, or its exporter is faulty: export it again";
    GltfCompression, "gltf::bad_compression", "Data compressed with meshopt or Draco cannot be decompressed.", "the file is damaged: export it again, or without compression";
    GltfNotFinite, "gltf::not_finite", "A number is infinite, NaN, or beyond the range of 32-bit floats.", "look for extreme values in keys, vertices or transforms, and export the file again";
    NodeCycle, "node::not_a_tree", "The nodes do not form a tree: there is a cycle, a node with two parents, or a child that does not exist.", "the file is damaged: export it again";
    NodeNotFound, "node::not_found", "A key of the manifest names a node that the scene does not have.", "use the name of a node in the scene";
    NodeTransform, "node::odd_transform", "A transform is not allowed by glTF; it was read in the same way as other programs do.", "apply transforms in the modelling tool, and export the file again";
    NodeUnevenScale, "node::uneven_scale", "A node that moves vertices or other nodes has a non-uniform scale: its children shear when they turn, and the smaller encodings cannot store shear.", "apply scales in the modelling tool, or scale all axes by the same factor";
    NodeEmptySelection, "node::nothing_there", "A mask contains no bone, or a part contains no mesh: the named nodes and their descendants have none.", "name nodes that have bones (for a mask) or meshes (for a part) at or below them";
    SceneMultiple, "scene::others", "A file has several scenes; only one is baked.", "make the intended scene the default scene of the file";
    SceneEmpty, "scene::empty", "The scene has no mesh to draw.", "check `include` and `exclude`, and check that the default scene of the file is the intended one";
    SkinInvalid, "skin::invalid", "A skin has no joints, or too few inverse bind matrices.", "the file is damaged: export it again";
    SkinMatrix, "skin::odd_matrix", "An inverse bind matrix is singular or not affine.", "look for joints with scale zero in the rest pose, and export the file again";
    SkinMirrored, "skin::mirrored", "Some joints of a mesh mirror it, and others do not.", "apply negative scales before skinning, and export the file again";
    SkinWeights, "skin::bad_weights", "Skin weights were missing, negative, not finite, or did not sum to one, and were repaired.", "normalise weights in the modelling tool (Blender: Weights > Normalize All), and export the file again";
    SkinJoint, "skin::bad_joint", "A vertex refers to a joint that its skin does not have, or has joints without matching weights.", "the file is damaged: export it again";
    SkinUnbound, "skin::unbound", "A mesh of a node with a skin has no joints, and is rigid: it follows its node.", "bind the mesh to its skeleton, or remove the skin from the node";
    SkinInfluences, "skin::dropped_influences", "Vertices have more influences than are stored; some weight was dropped.", "limit influences in the modelling tool (Blender: Weights > Limit Total)";
    MeshAttribute, "mesh::bad_attribute", "An attribute of a primitive does not have one element per vertex.", "the file is damaged: export it again";
    MeshIndex, "mesh::bad_index", "The indices or the mode of a primitive do not form triangles.", "the file is damaged: export it again";
    MeshLeftOut, "mesh::left_out", "A primitive is not drawn: it has points, lines, or no elements at all.", "convert the primitive to triangles, or remove it";
    MeshInstances, "mesh::instances", "EXT_mesh_gpu_instancing is not supported: the mesh is drawn once.", "convert the instances to separate objects before exporting";
    MeshRepaired, "mesh::repaired", "Normals, tangents, texture coordinates or colours were not finite, and were set to zero.", "recalculate the attribute in the modelling tool, and export the file again";
    MeshNoUv, "mesh::no_uv", "A material has a texture, but the mesh has no texture coordinates for it.", "unwrap the mesh, or assign another material";
    MeshUndeclared, "mesh::undeclared_quantization", "Vertex attributes are integers, but the file does not declare KHR_mesh_quantization.", "declare KHR_mesh_quantization, or export floats";
    MeshColors, "mesh::colors", "Vertex colours are not drawn.", "bake the colours into the texture of the material";
    MorphLost, "morph::not_baked", "Morph targets are left out, because the manifest says `morphs = false`.", "remove `morphs = false`";
    MorphMismatch, "morph::odd", "Morph targets or their weights do not match the mesh; they were read in the same way as other programs do.", "export the file again";
    MaterialInvalid, "material::invalid", "A material has invalid values.", "correct the material, and export the file again";
    MaterialExtension, "material::not_drawn", "A material has extensions that are not drawn.", "if the material looks wrong, convert it to plain metallic-roughness";
    MaterialNotFound, "material::not_found", "A variant or a tint mask names a material that no baked mesh has.", "use the name of a material of the model";
    MaterialTexture, "material::texture_left_out", "A texture is not baked: it has no image, or does not fit the other textures of its material.", "correct what the message names, or load the texture separately if the game's pipeline needs it";
    MaterialSampler, "material::sampler", "A texture is drawn with the sampler of another one, with which it is combined.", "give both textures the same wrap modes and the same filter";
    MaterialVariant, "material::variant", "An image of a variant does not fit its material: the material has no base colour texture, or one of another size.", "give all images of a material the same size";
    VariantDifference, "material::variant_difference", "A variant of the file changes more of a material than its base colour.", "give the models whose surfaces differ entries of their own in the manifest, or leave the variants out: `file_variants = false`";
    MaterialTintMask, "material::tint_mask", "A tint mask does not fit its material: the material is not opaque, has no base colour texture, or one of another size.", "give the mask the size of the material's base colour texture";
    ImageInvalid, "image::invalid", "An image cannot be decoded, or has an unsupported format.", "convert the image to PNG, JPEG, WebP or KTX2 (Basis Universal)";
    ImageBlocks, "image::uneven_size", "An image does not divide into blocks of 4 x 4 texels: it is enlarged, or baked uncompressed if it is small or its texels are to be seen.", "scale the image to multiples of 4, or use `textures = [\"rgba8\"]`";
    ImageEncoder, "image::encoder", "A texture could not be compressed.", "use `textures = [\"rgba8\"]`, which needs no compression";
    EnvironmentShape, "environment::shape", "A panorama is not twice as wide as high.", "render or export the panorama in the equirectangular projection";
    EnvironmentTexels, "environment::texels", "A panorama has texels that are negative, infinite or NaN.", "clamp the panorama in the tool that made it, and export it again";
    ClipNotFound, "clip::not_found", "A requested clip is not in the file.", "use the name of a clip in the file, or remove the table to bake all clips";
    ClipAmbiguous, "clip::ambiguous", "A name matches several clips or nodes.", "rename one of them";
    ClipNone, "clip::none", "The manifest names clips of a file without animations.", "export the file with its animations, or add files that contain them: `animations = [\"run.glb\"]`";
    ClipUnused, "clip::unused_file", "No clip of a file in `animations` is baked.", "remove the file from `animations`, or add a [model.clips.<name>] table for its clips";
    ClipWithoutEffect, "clip::idle", "A clip moves nothing that is drawn.", "export the clip with the channels of its skeleton, or leave the clip out";
    ClipUnknownNodes, "clip::unknown_nodes", "A clip of another file moves nodes that the model does not have.", "export both files from the same skeleton, whose nodes are matched by name, or write `retarget = \"humanoid\"`";
    RetargetBones, "retarget::bones", "A skeleton is not a humanoid, or its bones were not found by their names.", "name the nodes by bone: `bones = { left_foot = \"Ankle.L\" }` for an animation file, [model.humanoid] for the model";
    RetargetPose, "retarget::pose", "The nodes of a file without a bind pose stand in no pose in which skeletons can be compared, so that one was made from their joints.", "add a file of the same skeleton that has a skin or stands in a T or A pose: `{ path = \"tpose.glb\", retarget = \"humanoid\" }`";
    RetargetUnmatched, "retarget::unmatched", "Bones of a retargeted clip or of the model have no counterpart in the other skeleton.", "name the nodes by bone, if the skeletons have them, or ignore the warning";
    ClipAlikeNodes, "clip::alike_nodes", "Nodes of an animation file were matched with nodes of the model whose names differ in a prefix or in separators.", "if the match is right, write `rename = { \"mixamorig:*\" = \"*\" }`";
    ClipSeam, "clip::seam", "A clip loops, but its last pose differs from its first.", "write `loop = \"close\"`, which blends the end into the start, or make the last key equal to the first";
    ClipPlaysOnce, "clip::plays_once", "A clip with the name of a cycle plays once, because its ends do not meet.", "write `loop = \"close\"` to blend the end into the start, `loop = true` to keep the jump, or `loop = false`";
    ClipFlip, "clip::flip", "A rotation turns by 180 degrees or more between two keys, so that its direction is ambiguous.", "add a key between the two, or run the tool's Euler or quaternion filter, and export the file again";
    ClipChannel, "clip::channel_left_out", "A channel of a clip is ignored, or was read in the same way as other programs do.", "remove the channel, or export the file again";
    ClipKeys, "clip::odd_keys", "Keys of a clip share one time, or lie before its start.", "clean the keys up in the modelling tool, and export the file again";
    ClipCurve, "clip::bad_curve", "A curve has unsorted keys, a wrong number of values, or an unknown interpolation.", "the file is damaged: export it again";
    ClipEvent, "clip::event", "An event lies outside of its clip, has a name that cannot become a Rust identifier, or exceeds the limit.", "write event times in seconds from the start of the clip";
    ClipRoot, "clip::no_root", "A clip has `root_motion`, but no node that carries the whole model moves in it.", "remove `root_motion`, or name the node that carries the model: root = \"Hips\"";
    ClipFrame, "clip::no_frame", "A clip does not have the requested frame.", "request a frame that the clip has";
    EncodingTolerance, "encoding::tolerance", "The error of the named encoding, or of every encoding, is above the tolerance.", "raise `tolerance`, or name a more precise `encoding`";
    EncodingRange, "encoding::out_of_range", "A pose is outside the range of the encoding.", "set `scale` so that the model is in metres, or use `encoding = \"matrix-f32\"`";
    EncodingUnevenScale, "encoding::uneven_scale", "A clip scales a bone non-uniformly, which the encoding cannot store.", "use `encoding = \"matrix-f16\"`";
    EncodingCoarse, "encoding::coarse", "The error of the encoding is large enough to be visible.", "use a more precise `encoding`, or set `scale` so that the model is in metres";
    EncodingAboveDefault, "encoding::above_default", "An error exceeds a tolerance that the manifest does not set; the encoding is used nevertheless.", "set the tolerance: a larger one accepts the error, a smaller one refuses it";
    EncodingFewerFeatures, "encoding::fewer_features", "The model does not fit into `local-packed`, and is baked in an encoding without layers, live bones, levels of detail and culling.", "write `require = [\"layers\"]` to make this an error, or name the `encoding` to accept it";
    EncodingUnfit, "encoding::unfit", "The encoding cannot store the model.", "use another `encoding`, or remove the key";
    LimitFile, "limit::file", "A file is larger than the limit.", "split the file, or raise `file` in [limits]";
    LimitJson, "limit::json", "The JSON of a file is larger than the limit.", "keep binary data in .bin files, or export as .glb";
    LimitNodes, "limit::nodes", "A file has more nodes than the limit.", "join nodes, or raise `nodes` in [limits]";
    LimitDepth, "limit::depth", "Nodes are nested deeper than the limit.", "flatten the hierarchy, or raise `depth` in [limits]";
    LimitBones, "limit::bones", "More bones move the vertices than are supported.", "use `include` and `exclude` to bake the model as several models";
    LimitVertices, "limit::vertices", "A model has more vertices than the limit.", "remove nodes with `include` and `exclude`, or raise `vertices` in [limits]";
    LimitPrimitives, "limit::primitives", "A scene has more primitives than the limit.", "remove nodes with `include` and `exclude`, or join primitives";
    LimitMemory, "limit::memory", "The decoded data of a model takes more memory than the limit.", "split the model, bake fewer clips with [model.clips.<name>], or raise `memory` in [limits]";
    LimitImage, "limit::image", "An image has more texels than the limit.", "scale images down, or raise `image` in [limits]";
    LimitMorphs, "limit::morphs", "A mesh has more morph targets than the limit.", "remove targets that no clip moves";
    LimitInfluences, "limit::influences", "A vertex has more influences than the limit.", "limit influences in the modelling tool (Blender: Weights > Limit Total)";
    LimitVariants, "limit::variants", "The file and the manifest have more than 255 variants.", "remove variants, or leave those of the file out: `file_variants = false`";
    LimitClips, "limit::clips", "A model has more clips than the limit.", "list only the clips that the game plays under [model.clips]";
    LimitFrames, "limit::frames", "The clips have more frames than the limit.", "bake fewer clips, set a lower `fps`, or raise `frames` in [limits]";
    LimitTexture, "limit::texture", "The animation does not fit into one texture.", "bake fewer clips, set a lower `fps`, or raise `texture` in [limits]";
    CacheUnwritable, "cache::unwritable", "The cache cannot be written, so the next bake encodes everything again.", "set GPUSKIN_CACHE to another folder";
    CacheDamaged, "cache::damaged", "A cache entry is damaged.", "no action needed: the entry was removed, and the next bake writes it again";
    CacheFilesRemoved, "cache::lost", "Files were removed from the cache while a bake needed them.", "do not clean the cache during a bake, or set GPUSKIN_CACHE to another folder";
    CacheMissing, "cache::missing", "`bake --merge` did not find a model in the cache.", "run the shard of the model again, or run `bake` without --merge to bake it here";
    CacheNone, "cache::none", "A command needs a cache, but there is none.", "set GPUSKIN_CACHE to a folder";
    CacheShared, "cache::shared", "The shared cache cannot be used; the bake continues without it.", "check GPUSKIN_SHARED_CACHE, the network, and the access keys";
    OutputFailed, "output::failed", "A file cannot be written.", "check that the folder is writable, and that the disk is not full";
    OutputDiffers, "output::differs", "A file in the output folder differs from the result of the bake.", "bake again, and commit the files that it writes";
    OutputOtherModels, "output::other_models", "The output folder has other models, which baking a single model would remove.", "leave out --model to bake all models, or choose another folder with --out";
    ReportInvalid, "report::invalid", "A file to compare with is not a report of this version.", "pass a report that this version wrote with `gpuskin bake --report FILE.json`";
    ScriptOutDir, "script::no_out_dir", "`build` was called outside of a build script.", "use `gpuskin bake`, or gpuskin_build::bake_into";
    ScriptSlow, "script::unoptimised", "Baking took long, because build scripts are compiled without optimisation.", "set `opt-level = 3` under [profile.dev.build-override]";
    GpuMissing, "gpu::none", "No GPU was found, or this build was compiled without GPU support.", "install a Vulkan driver, or build with the feature `gpu`";
    GpuFailed, "gpu::failed", "The GPU reported an error.", "update the GPU driver, or choose another adapter with WGPU_ADAPTER_NAME";
    InspectFile, "inspect::unknown_file", "A file is neither a model nor written by gpuskin.", "pass a model as .glb or .gltf, the folder of a baked model, or a .ktx2 file in it";
    ViewWindow, "view::no_window", "No window can be opened.", "pass --out FILE.png, or build gpuskin-build with the feature `view` and run it on a desktop";
    WatchPort, "watch::port", "The port for the report cannot be used.", "pass another --port, or leave the flag out to use the next free one";
    PreviewMask, "preview::no_mask", "A model does not have the requested mask.", "use the name of a mask in [model.masks]";
    PreviewPart, "preview::no_part", "A model does not have the requested part.", "use the name of a part in [model.parts]";
    PreviewVariant, "preview::no_variant", "A model does not have the requested variant.", "use the name of a variant in [model.variants]";
    PreviewLod, "preview::no_lod", "A model does not have the requested level of detail.", "choose a lower level; 0 is the finest";
    PreviewNotRetargeted, "preview::not_retargeted", "A picture of retargeted clips was requested of a model that has none.", "write `retarget = \"humanoid\"` in a file of `animations`, or leave out `--retarget`";
    PreviewClips, "preview::clips_differ", "Two encodings do not have the same clips.", "compare encodings of the same mode";
    More, "more", "There are more diagnostics of the same kind than are shown.", "repair the ones that are shown, and bake again";
}

impl fmt::Display for DiagnosticCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
