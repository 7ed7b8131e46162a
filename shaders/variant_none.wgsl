// The instance has the own look of the model: a field without variants, or a prop of another model.
fn gpuskin_variant_of(input: GpuskinInput) -> u32 {
    return 0u;
}
