// Variant of the model's materials that an instance of a field has. CPU reference: FieldUniform::appearance.
fn gpuskin_variant_of(input: GpuskinInput) -> u32 {
    let hash = gpuskin_field_hash(gpuskin_instance_number(input));
    return gpuskin_multiply(gpuskin_random(hash, 9u), gpuskin_field.variants).x;
}
