//! Shader of the metallic-roughness material: WGSL modules for what a surface and a renderer use.

use core::fmt::Write;

use super::{
    DEPTH_VARYINGS, InstanceSource, Variant, base_color, binding_table, drawn_text, passes_tint, surface_color,
    with_lines,
};
use crate::light_grid::has_light_grid;
use crate::lighting::ToneMapping;

/// Distance from the bit of a texture to that of its second texture coordinates.
const SECOND: u32 = 16;

/// Textures of a material that its shader samples, and their texture coordinates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct TextureSet(u32);

impl TextureSet {
    pub(crate) const BASE_COLOR: Self = Self(1);
    pub(crate) const EMISSIVE: Self = Self(2);
    pub(crate) const ORM: Self = Self(4);
    pub(crate) const NORMAL: Self = Self(8);
    pub(crate) const SPECULAR: Self = Self(16);
    pub(crate) const CLEARCOAT: Self = Self(32);
    pub(crate) const SHEEN: Self = Self(64);
    pub(crate) const CLEARCOAT_NORMAL: Self = Self(128);
    /// Not a texture: that of the base colour has layers, one per look of the material.
    pub(crate) const LAYERS: Self = Self(256);
    /// Not a texture: the alpha of the base colour is a tint mask.
    pub(crate) const TINT_MASK: Self = Self(512);
    /// Not a texture: the red channel of [`Self::ORM`], which has texture coordinates of its own.
    pub(crate) const OCCLUSION: Self = Self(1024);
    /// All textures, in the order of their bindings.
    pub(crate) const ALL: [Self; 8] = [
        Self::BASE_COLOR,
        Self::EMISSIVE,
        Self::ORM,
        Self::NORMAL,
        Self::SPECULAR,
        Self::CLEARCOAT,
        Self::SHEEN,
        Self::CLEARCOAT_NORMAL,
    ];

    pub(crate) fn has(self, texture: Self) -> bool {
        self.0 & texture.0 != 0
    }

    /// Returns the set with another texture, if it is used.
    pub(crate) fn with(self, texture: Self, used: bool) -> Self {
        if used { Self(self.0 | texture.0) } else { self }
    }

    /// Returns whether a texture has the second texture coordinates of the vertices.
    pub(crate) fn is_second(self, texture: Self) -> bool {
        self.0 & texture.0 << SECOND != 0
    }

    /// Returns the set with a texture that has the second texture coordinates of the vertices, if it does.
    pub(crate) fn with_second(self, texture: Self, second: bool) -> Self {
        if second { Self(self.0 | texture.0 << SECOND) } else { self }
    }

    /// Whether some texture has the second texture coordinates.
    fn any_second(self) -> bool {
        self.0 >> SECOND != 0
    }

    #[cfg(test)]
    pub(super) fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// Binding of the view of a single texture; the next one is its sampler.
    pub(crate) fn binding(self) -> u32 {
        1 + 2 * self.0.trailing_zeros()
    }
}

/// Properties of a surface that select its shader code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct SurfaceCode {
    pub(crate) textures: TextureSet,
    pub(crate) masked: bool,
    pub(crate) flat: bool,
    pub(crate) unlit: bool,
    pub(crate) emits: bool,
    /// Whether dielectrics reflect otherwise than with a refractive index of 1.5.
    pub(crate) specular: bool,
    /// Whether the surface has a clear coat.
    pub(crate) clearcoat: bool,
    /// Whether the surface has a sheen.
    pub(crate) sheen: bool,
}

impl SurfaceCode {
    /// Whether the clear coat has a normal map of its own. Flat surfaces have no normal maps.
    fn has_coat_normals(self) -> bool {
        self.clearcoat && self.textures.has(TextureSet::CLEARCOAT_NORMAL) && !self.flat
    }
}

/// Features of a renderer that select shader code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct LightingCode {
    /// Whether the sun casts shadows.
    pub(crate) shadows: bool,
    /// Number of tiles for the shadows of lights; 0 without.
    pub(crate) light_shadows: u32,
    pub(crate) fog: bool,
    /// Whether there is an environment map.
    pub(crate) environment: bool,
    /// Greatest number of point and spot lights.
    pub(crate) lights: u32,
    pub(crate) tone_mapping: ToneMapping,
}

/// WGSL functions of the game that take part in shading.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OwnFunctions<'a> {
    /// Changes lit surfaces.
    pub(crate) surface: Option<&'a str>,
    /// Reflects light.
    pub(crate) light: Option<&'a str>,
}

/// Binding of the lighting in the group of a view.
pub(crate) const LIGHTING_BINDING: u32 = 2;
/// Binding of the albedo table of GGX; the next one is its sampler.
pub(crate) const ALBEDO_BINDING: u32 = 3;
/// Binding of the cascades.
pub(crate) const SHADOWS_BINDING: u32 = 5;
/// Binding of the shadow map; the next one is its sampler.
pub(crate) const SHADOW_MAP_BINDING: u32 = 6;

/// Binding of the environment map; the next one is its sampler.
pub(crate) const ENVIRONMENT_BINDING: u32 = 9;
/// Binding of point and spot lights.
pub(crate) const LIGHTS_BINDING: u32 = 8;
/// Binding of the shadows of point and spot lights.
pub(crate) const LIGHT_SHADOWS_BINDING: u32 = 11;
/// Binding of the grid of many lights; the next one is the texture of its cells.
pub(crate) const LIGHT_GRID_BINDING: u32 = 12;

/// Returns camera, time, light and shadows of a view: structures, bindings in `@group(group)`, functions.
pub(crate) fn lighting(code: LightingCode, group: u32) -> String {
    let modules = [
        include_str!("../../shaders/lighting.wgsl"),
        match code.shadows {
            true => include_str!("../../shaders/shadows.wgsl"),
            false => include_str!("../../shaders/shadows_none.wgsl"),
        },
        match code.environment {
            true => include_str!("../../shaders/environment.wgsl"),
            false => include_str!("../../shaders/environment_none.wgsl"),
        },
        match code.fog {
            true => include_str!("../../shaders/fog.wgsl"),
            false => include_str!("../../shaders/fog_none.wgsl"),
        },
        match code.tone_mapping {
            ToneMapping::None => include_str!("../../shaders/tone_none.wgsl"),
            ToneMapping::Neutral => include_str!("../../shaders/tone_neutral.wgsl"),
            ToneMapping::Aces => include_str!("../../shaders/tone_aces.wgsl"),
        },
    ];
    let mut text = modules.join("\n");
    if code.lights > 0 {
        let lights = include_str!("../../shaders/lights.wgsl");
        text += &("\n".to_owned() + &lights.replace("MOST_LIGHTS", &code.lights.to_string()));
        text.push('\n');
        text += match has_light_grid(code.lights) {
            true => include_str!("../../shaders/light_grid.wgsl"),
            false => include_str!("../../shaders/light_grid_none.wgsl"),
        };
    }
    if code.light_shadows > 0 {
        let shadows = include_str!("../../shaders/light_shadows.wgsl");
        text += &("\n".to_owned() + &shadows.replace("MOST_TILES", &code.light_shadows.to_string()));
    }
    if code.shadows || code.light_shadows > 0 {
        text += &("\n".to_owned() + include_str!("../../shaders/shadow_map.wgsl"));
    }
    text.replace("@group(GROUP)", &format!("@group({group})"))
}

/// Returns the text of [`lighting`] and the functions that only shaders of games call.
pub(crate) fn lighting_of_games(code: LightingCode, group: u32) -> String {
    let lights = code.lights > 0;
    let irradiance = with_lines(include_str!("../../shaders/irradiance.wgsl"), "lights", lights);
    lighting(code, group) + "\n" + &with_lines(&irradiance, "light shadows", lights && code.light_shadows > 0)
}

/// Returns the renderer's shader in the metallic-roughness model.
pub(crate) fn material(
    variant: Variant,
    instances: InstanceSource,
    surface: SurfaceCode,
    code: LightingCode,
    own: OwnFunctions<'_>,
) -> String {
    // Unlit surfaces receive neither shadows nor light.
    let code = match surface.unlit {
        true => LightingCode { shadows: false, environment: false, lights: 0, light_shadows: 0, ..code },
        false => code,
    };
    let coat_normals = surface.has_coat_normals();
    let mapped = (surface.textures.has(TextureSet::NORMAL) || coat_normals) && !surface.unlit;
    let normals = match (surface.unlit, surface.flat, mapped) {
        (true, ..) => include_str!("../../shaders/normals_none.wgsl"),
        (_, true, _) => include_str!("../../shaders/normals_flat.wgsl"),
        (_, _, false) => include_str!("../../shaders/normals_vertex.wgsl"),
        _ if variant.vertex.tangent => include_str!("../../shaders/normal_map.wgsl"),
        _ => include_str!("../../shaders/normal_map_derivatives.wgsl"),
    };
    let [normals, clearcoat] = [normals, include_str!("../../shaders/clearcoat.wgsl")]
        .map(|module| with_lines(module, "coat normals", coat_normals));
    // Texture coordinates that the tangents belong to.
    let second_uv = surface.textures.any_second() && variant.vertex.second_uv && !surface.unlit;
    let map = if surface.textures.has(TextureSet::NORMAL) { TextureSet::NORMAL } else { TextureSet::CLEARCOAT_NORMAL };
    let normals = with_lines(&normals, "second normals", second_uv && surface.textures.is_second(map));
    let directions = !surface.unlit && !surface.flat;
    let [reflection, reflected_light, lit] = [
        include_str!("../../shaders/metallic_roughness.wgsl"),
        include_str!("../../shaders/reflected_light.wgsl"),
        include_str!("../../shaders/material_lit.wgsl"),
    ]
    .map(|module| with_lines(module, "sheen", surface.sheen));
    let lit = with_lines(&lit, "second uv", second_uv);
    let mut shade: Vec<&str> = match surface.unlit {
        true => vec![include_str!("../../shaders/material_unlit.wgsl")],
        false => vec![
            match surface.specular {
                true => include_str!("../../shaders/dielectric_specular.wgsl"),
                false => include_str!("../../shaders/dielectric_plain.wgsl"),
            },
            &reflection,
            &reflected_light,
            match own.light {
                None => include_str!("../../shaders/light_none.wgsl"),
                Some(_) => include_str!("../../shaders/light_own.wgsl"),
            },
            own.light.unwrap_or_default(),
            match (code.lights, code.light_shadows) {
                (0, _) => include_str!("../../shaders/metallic_roughness_lights_none.wgsl"),
                (_, 0) => include_str!("../../shaders/metallic_roughness_lights.wgsl"),
                _ => include_str!("../../shaders/metallic_roughness_lights_shadowed.wgsl"),
            },
            match surface.clearcoat {
                true => &clearcoat,
                false => include_str!("../../shaders/clearcoat_none.wgsl"),
            },
            match (surface.clearcoat, code.lights, code.light_shadows) {
                (false, ..) => "",
                (true, 0, _) => include_str!("../../shaders/clearcoat_lights_none.wgsl"),
                (true, _, 0) => include_str!("../../shaders/clearcoat_lights.wgsl"),
                (true, ..) => include_str!("../../shaders/clearcoat_lights_shadowed.wgsl"),
            },
            match own.surface {
                None => include_str!("../../shaders/surface_none.wgsl"),
                Some(_) => include_str!("../../shaders/surface_own.wgsl"),
            },
            own.surface.unwrap_or_default(),
            include_str!("../../shaders/unit_or.wgsl"),
            &lit,
        ],
    };
    shade.extend(surface.sheen.then_some(include_str!("../../shaders/sheen.wgsl")));
    let masked = match surface.masked {
        true => include_str!("../../shaders/masked.wgsl"),
        false => include_str!("../../shaders/masked_none.wgsl"),
    };
    let layers = surface.textures.has(TextureSet::LAYERS);
    let of_games = own.surface.is_some() || own.light.is_some();
    let light = if of_games { lighting_of_games(code, 0) } else { lighting(code, 0) };
    let mut all = drawn_text(variant, instances, layers) + "\n" + &light;
    let colors = variant.vertex.color;
    let tangent = directions && mapped && variant.vertex.tangent;
    let varyings = PassedOn { colors, normal: directions, tangent, second_uv };
    all.push_str(&interface(surface, instances, varyings));
    let constants = constants(surface);
    let base_color = match surface.textures.has(TextureSet::BASE_COLOR) {
        true => base_color(layers, instances),
        false => DEPTH_VARYINGS.to_owned() + "\n" + include_str!("../../shaders/base_color_none.wgsl"),
    };
    let color = surface_color(colors, surface.textures.has(TextureSet::TINT_MASK));
    let entries = include_str!("../../shaders/material.wgsl");
    let parts = [&constants, &base_color, &color, entries, &normals, masked, super::OPAQUE];
    for module in parts.into_iter().chain(shade) {
        all.push('\n');
        all.push_str(module);
    }
    binding_table::with_constants(all, layers, instances)
}

/// Returns the constants of a material, in the layout of `FullMaterialUniform` in `render/material.rs`: up to the last member
/// that the surface reads, and the sheen.
fn constants(surface: SurfaceCode) -> String {
    let plain = "base_color: vec4<f32>,\n    emissive: vec3<f32>,\n    alpha_cutoff: f32,\n    metallic: f32,\n    \
                 roughness: f32,\n    occlusion_strength: f32,\n    normal_scale: f32,";
    let members = [
        plain,
        "// Reflectance at normal incidence, and strength.\n    specular: vec4<f32>,",
        "// Strength and roughness of the clear coat.\n    clearcoat: vec2<f32>,",
        "// Layer of the base colour texture, a byte per variant of the model.\n    layers: array<vec4<u32>, 16>,",
    ];
    let last = match (surface.textures.has(TextureSet::LAYERS), surface.clearcoat, surface.specular) {
        (true, ..) => 3,
        (false, true, _) => 2,
        (false, false, true) => 1,
        (false, false, false) => 0,
    };
    let mut members = members[..=last].to_vec();
    if surface.has_coat_normals() {
        // Behind the clear coat, where it is padding otherwise.
        members.insert(3, "// Factor for x and y of the coat's normals.\n    clearcoat_normal_scale: f32,");
    }
    let sheen = "// Colour of the sheen, and roughness in w.\n    sheen: vec4<f32>,";
    members.extend(surface.sheen.then_some(sheen));
    format!("struct Material {{\n    {}\n}}\n", members.join("\n    "))
}

/// Numbers that vertices pass on to fragments.
struct PassedOn {
    /// Whether vertices have colours.
    colors: bool,
    normal: bool,
    tangent: bool,
    second_uv: bool,
}

/// Returns what depends on the surface: interpolated values, texture bindings and functions that read them.
fn interface(surface: SurfaceCode, instances: InstanceSource, passed_on: PassedOn) -> String {
    let PassedOn { colors, normal, tangent, second_uv } = passed_on;
    let mut text = String::from(
        "\nstruct Varyings {\n    @invariant @builtin(position) position: vec4<f32>,\n    \
         @location(0) uv: vec2<f32>,\n    // From the camera to the surface, world space.\n    @location(2) from_eye: vec3<f32>,\n",
    );
    if colors {
        text.push_str("    @location(1) color: vec4<f32>,\n");
    }
    if normal {
        text.push_str("    @location(3) normal: vec3<f32>,\n");
    }
    if tangent {
        text.push_str("    // Sign of the bitangent in w.\n    @location(4) tangent: vec4<f32>,\n");
    }
    let mut set = String::new();
    if surface.textures.has(TextureSet::LAYERS) {
        text.push_str("    @location(5) @interpolate(flat) variant: u32,\n");
        set.push_str("    (*varyings).variant = gpuskin_variant_of(input);\n");
    }
    if second_uv {
        text.push_str("    @location(8) second_uv: vec2<f32>,\n");
        set.push_str("    (*varyings).second_uv = gpuskin_second_uv(input);\n");
    }
    if passes_tint(colors, surface.textures.has(TextureSet::TINT_MASK)) {
        text.push_str(
            "    // RGBA, 8 bits each; for gpuskin_unorm4x8.\n    @location(7) @interpolate(flat) tint: u32,\n",
        );
    }
    text.push_str("}\n");
    let _ = writeln!(text, "\nfn set_variant(varyings: ptr<function, Varyings>, input: GpuskinInput) {{\n{set}}}\n");
    let names = ["emissive", "orm", "normal", "specular", "clearcoat", "sheen", "clearcoat_normal"];
    // The module of the base colour has the binding of its texture.
    let others = TextureSet::ALL.into_iter().filter(|texture| *texture != TextureSet::BASE_COLOR);
    for (texture, name) in others.zip(names).filter(|(t, _)| surface.textures.has(*t)) {
        text.push_str(&binding_table::texture(name, texture.binding(), false, instances));
    }
    if second_uv {
        text.push_str("\n// Second texture coordinates of the fragment.\nvar<private> second_uv: vec2<f32>;\n");
    }
    let uv_of = |texture| if second_uv && surface.textures.is_second(texture) { "second_uv" } else { "uv" };
    let sampled = |name: &str, texture| format!("{name}_sampled({})", uv_of(texture));
    let texel = |text: &mut String, name: &str, ty: &str, value: String| {
        let _ = write!(text, "\nfn {name}_texel(uv: vec2<f32>) -> {ty} {{\n    return {value};\n}}\n");
    };
    let has = |texture| surface.textures.has(texture);
    if surface.unlit {
        return text;
    }
    let emissive = match (surface.emits, has(TextureSet::EMISSIVE)) {
        (false, _) => "vec3<f32>(0.0)".into(),
        (true, false) => "vec3<f32>(1.0)".into(),
        (true, true) => sampled("emissive", TextureSet::EMISSIVE) + ".rgb",
    };
    texel(&mut text, "emissive", "vec3<f32>", emissive);
    // Occlusion, roughness, metallic.
    let orm = match (has(TextureSet::ORM), uv_of(TextureSet::OCCLUSION) == uv_of(TextureSet::ORM)) {
        (false, _) => "vec3<f32>(1.0)".into(),
        (true, true) => sampled("orm", TextureSet::ORM) + ".rgb",
        (true, false) => {
            let [occlusion, others] = [TextureSet::OCCLUSION, TextureSet::ORM].map(|texture| sampled("orm", texture));
            format!("vec3<f32>({occlusion}.r, {others}.gb)")
        }
    };
    texel(&mut text, "orm", "vec3<f32>", orm);
    if surface.specular {
        // Colour, and strength in alpha.
        let specular = match has(TextureSet::SPECULAR) {
            true => sampled("specular", TextureSet::SPECULAR),
            false => "vec4<f32>(1.0)".into(),
        };
        texel(&mut text, "specular", "vec4<f32>", specular);
    }
    if surface.clearcoat {
        // Strength and roughness.
        let clearcoat = match has(TextureSet::CLEARCOAT) {
            true => sampled("clearcoat", TextureSet::CLEARCOAT) + ".rg",
            false => "vec2<f32>(1.0)".into(),
        };
        texel(&mut text, "clearcoat", "vec2<f32>", clearcoat);
    }
    if surface.sheen {
        // Colour, and roughness in alpha.
        let sheen = match has(TextureSet::SHEEN) {
            true => sampled("sheen", TextureSet::SHEEN),
            false => "vec4<f32>(1.0)".into(),
        };
        texel(&mut text, "sheen", "vec4<f32>", sheen);
    }
    let normals = |name: &str, texture, scale: &str| {
        format!("({}.xyz * 2.0 - 1.0) * vec3<f32>(vec2<f32>(material.{scale}), 1.0)", sampled(name, texture))
    };
    if has(TextureSet::NORMAL) {
        texel(&mut text, "normal", "vec3<f32>", normals("normal", TextureSet::NORMAL, "normal_scale"));
    } else if surface.has_coat_normals() {
        texel(&mut text, "normal", "vec3<f32>", "vec3<f32>(0.0, 0.0, 1.0)".into());
    }
    if surface.has_coat_normals() {
        let normals = normals("clearcoat_normal", TextureSet::CLEARCOAT_NORMAL, "clearcoat_normal_scale");
        texel(&mut text, "clearcoat_normal", "vec3<f32>", normals);
    }
    text
}
