//! Directional albedo of GGX: a table of 32 x 32 texels that the metallic-roughness material samples.

use super::gpu::Gpu;

/// Texels along each side: columns are the square root of dot(normal, to eye), rows are roughness.
const SIDE: u32 = 32;

/// Two half floats per texel: albedo with a Fresnel term of 1, and the integral of the Fresnel term
/// (1 - dot(to eye, half))^5. Written by the test `table_is_the_integral_of_ggx`.
const TABLE: &[u8] = include_bytes!("ggx_albedo.bin");

/// Creates the table on the device, and its sampler.
pub(crate) fn table(Gpu { device, queue }: Gpu<'_>) -> (wgpu::TextureView, wgpu::Sampler) {
    let label = Some("gpuskin GGX albedo");
    let texture = device.create_texture(&wgpu::TextureDescriptor {
        label,
        size: wgpu::Extent3d { width: SIDE, height: SIDE, depth_or_array_layers: 1 },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: wgpu::TextureFormat::Rg16Float,
        usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST,
        view_formats: &[],
    });
    let layout = wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(4 * SIDE), rows_per_image: None };
    queue.write_texture(texture.as_image_copy(), TABLE, layout, texture.size());
    let sampler = device.create_sampler(&wgpu::SamplerDescriptor {
        label,
        mag_filter: wgpu::FilterMode::Linear,
        min_filter: wgpu::FilterMode::Linear,
        ..Default::default()
    });
    (texture.create_view(&Default::default()), sampler)
}

#[cfg(test)]
mod tests {
    use core::f64::consts::PI;

    use half::f16;

    use super::*;

    /// Integrates the two values by importance sampling of the distribution of normals.
    fn integrate(n_dot_v: f64, roughness: f64) -> [f64; 2] {
        const SAMPLES: u32 = 4096;
        let a2 = roughness.powi(4);
        let v = [(1.0 - n_dot_v * n_dot_v).sqrt(), n_dot_v];
        let mut sums = [0.0; 2];
        for i in 0..SAMPLES {
            let turn = 2.0 * PI * (f64::from(i) + 0.5) / f64::from(SAMPLES);
            let random = f64::from(i.reverse_bits()) / 4_294_967_296.0;
            let cos = ((1.0 - random) / (1.0 + (a2 - 1.0) * random)).sqrt();
            let h = [(1.0 - cos * cos).sqrt() * turn.cos(), cos];
            let v_dot_h = v[0] * h[0] + v[1] * h[1];
            let n_dot_l = 2.0 * v_dot_h * h[1] - v[1];
            if n_dot_l > 0.0 && v_dot_h > 0.0 {
                let masking = n_dot_l * (n_dot_v * n_dot_v * (1.0 - a2) + a2).sqrt();
                let shadowing = n_dot_v * (n_dot_l * n_dot_l * (1.0 - a2) + a2).sqrt();
                let weight = 0.5 / (masking + shadowing) * n_dot_l * 4.0 * v_dot_h / cos;
                sums[0] += weight;
                sums[1] += weight * (1.0 - v_dot_h).powi(5);
            }
        }
        sums.map(|sum| sum / f64::from(SAMPLES))
    }

    #[test]
    fn table_is_the_integral_of_ggx() {
        let at = |i: u32| f64::from(i) / f64::from(SIDE - 1);
        let texels = (0..SIDE * SIDE).map(|i| {
            let (column, row) = (at(i % SIDE), at(i / SIDE));
            integrate((column * column).max(1e-3), row.max(0.045))
        });
        let texels: Vec<[f64; 2]> = texels.collect();
        if std::env::var_os("GPUSKIN_WRITE_TABLE").is_some() {
            let bytes: Vec<u8> = texels.as_flattened().iter().flat_map(|x| f16::from_f64(*x).to_le_bytes()).collect();
            std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/src/render/ggx_albedo.bin"), bytes).unwrap();
            return;
        }
        let stored = TABLE.as_chunks::<2>().0.iter().map(|bytes| f16::from_le_bytes(*bytes).to_f64());
        assert_eq!(stored.len(), texels.len() * 2);
        for (stored, exact) in stored.zip(texels.as_flattened()) {
            assert!(
                (stored - exact).abs() < 1e-3,
                "{stored} instead of {exact}; GPUSKIN_WRITE_TABLE=1 writes the file"
            );
        }
    }
}
