// Word 19.
fn gpuskin_tangent_word(input: GpuskinInput) -> u32 {
    return gpuskin_words_4(input).w;
}
