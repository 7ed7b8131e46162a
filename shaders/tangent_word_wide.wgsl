fn gpuskin_tangent_word(input: GpuskinInput) -> u32 {
    return input.words_1.w;
}
