// Instances whose poses are in the palette: what they play is zero.

fn gpuskin_playing_instance(number: u32) -> GpuskinInstance {
    var instance: GpuskinInstance;
    return instance;
}
