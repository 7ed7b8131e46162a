fn gpuskin_tangent_word(input: GpuskinInput) -> u32 {
    return input.words_2.z;
}
