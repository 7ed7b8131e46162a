fn gpuskin_tangent_word(input: GpuskinInput) -> u32 {
    return gpuskin_words_1(input).w;
}
