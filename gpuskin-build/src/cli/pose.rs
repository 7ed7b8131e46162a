//! `pose`: writes the vertices of a clip at given times, for comparison with an independent
//! reference.

use gpuskin_rt::internals::Encoding;

use super::args::{Args, Command, MANIFEST, MESSAGE_FORMAT, option, required};
use super::outcome::{CommandOutput, Failure, load};
use super::text::count;
use crate::pose::{PosePath, PoseRequest, PoseTimes};

pub(super) const COMMAND: Command = Command {
    name: "pose",
    summary: "Writes the vertices of a clip at given times, in the order and space of the glTF file.",
    operand: None,
    flags: &[
        MANIFEST,
        MESSAGE_FORMAT,
        required("model", "NAME", "name of the model"),
        required("clip", "NAME|INDEX", "name or index of the clip in the glTF file"),
        option("times", "T,T,...", "seconds from the start of the clip; clamped to the clip, never wrapped"),
        option("frames", "all|N,N,...", "baked frames instead of times; frames.json lists their times"),
        required(
            "path",
            "source|cpu|gpu",
            "source: evaluate the glTF file in f64, without baking\n\
             cpu: evaluate the baked data on the CPU\n\
             gpu: evaluate the baked data with the vertex shader that draws crowds",
        ),
        option("encoding", "NAME", "encoding to use instead of the manifest's"),
        required("out", "DIR", "output folder of frames.bin and frames.json"),
    ],
    notes: "Exactly one of --times and --frames is required. The manifest's scale and up axis are undone.",
};

pub(super) fn run(args: &Args) -> Result<CommandOutput, Failure> {
    let times = match (args.text("times")?, args.text("frames")?) {
        (Some(times), None) => PoseTimes::Seconds(list("times", times, |time: &f64| time.is_finite())?),
        (None, Some("all")) => PoseTimes::AllFrames,
        (None, Some(frames)) => PoseTimes::Frames(list("frames", frames, |_| true)?),
        (None, None) => {
            return Err(Failure::Usage("missing flag `--times T,T,...` or `--frames all|N,N,...`".to_owned()));
        }
        (Some(_), Some(_)) => return Err(Failure::Usage("`--times` and `--frames` exclude each other".to_owned())),
    };
    let path = match args.word("path", &["source", "cpu", "gpu"])? {
        Some("source") => PosePath::Source,
        Some("gpu") => PosePath::Gpu,
        _ => PosePath::Cpu,
    };
    let encoding = args.word("encoding", &Encoding::ALL.map(Encoding::name))?.and_then(Encoding::from_name);
    let (model, clip) = (args.required("model")?, args.required("clip")?);
    let out = args.path("out").expect("`--out` is a required flag");
    if path == PosePath::Gpu {
        super::picture::need_gpu("pose --path gpu")?;
    }
    let manifest = load(&args.manifest())?;
    let request = PoseRequest { model: model.to_owned(), clip: clip.to_owned(), times, path, encoding };
    let poses = crate::pose::pose(&manifest, &request)?;
    poses.write(&out)?;
    let samples = count(poses.times.len() as u64, "sample", "samples");
    let text = format!("model `{model}`: {samples} of clip `{clip}` written to {}\n", out.display());
    Ok(CommandOutput { text, warnings: poses.warnings })
}

fn list<T: std::str::FromStr>(flag: &str, text: &str, fits: impl Fn(&T) -> bool) -> Result<Vec<T>, Failure> {
    text.split(',')
        .map(|item| {
            let number = item.trim().parse().ok().filter(&fits);
            number.ok_or_else(|| Failure::Usage(format!("invalid number `{item}` in `--{flag}`")))
        })
        .collect()
}
