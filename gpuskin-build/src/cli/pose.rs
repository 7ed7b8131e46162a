//! `pose`: vertices of a clip at given times, for comparison with an independent reference.

use gpuskin_rt::internals::Encoding;

use super::args::{Args, Command, MANIFEST, MESSAGE_FORMAT, option, required};
use super::text::count;
use super::{Done, Failure, load};
use crate::pose::{PosePath, PoseRequest, PoseTimes};

pub(super) const COMMAND: Command = Command {
    name: "pose",
    summary: "Writes the vertices of a clip at given times, in the order and space of the glTF file.",
    operand: None,
    flags: &[
        MANIFEST,
        MESSAGE_FORMAT,
        required("model", "NAME", "which model"),
        required("clip", "NAME|INDEX", "which clip: its name or index in the glTF file"),
        option("times", "T,T,...", "seconds into the clip; clamped to it, never wrapped"),
        option("frames", "all|N,N,...", "baked frames instead; their times go into frames.json"),
        required(
            "path",
            "source|cpu|gpu",
            "source: the file evaluated in f64, nothing baked\n\
             cpu: the baked data, on the CPU\n\
             gpu: the baked data, through the vertex shader that draws crowds",
        ),
        option("encoding", "NAME", "instead of the manifest's"),
        required("out", "DIR", "where frames.bin and frames.json go"),
    ],
    notes: "Give either --times or --frames. The manifest's scale and up axis are undone.",
};

pub(super) fn run(args: &Args) -> Result<Done, Failure> {
    let times = match (args.text("times")?, args.text("frames")?) {
        (Some(times), None) => PoseTimes::Seconds(list("times", times, |time: &f64| time.is_finite())?),
        (None, Some("all")) => PoseTimes::AllFrames,
        (None, Some(frames)) => PoseTimes::Frames(list("frames", frames, |_| true)?),
        (None, None) => {
            return Err(Failure::Usage("`--times T,T,...` or `--frames all|N,N,...` is missing".to_owned()));
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
    let out = args.path("out").expect("it is required");
    if path == PosePath::Gpu {
        super::preview::need_gpu("pose --path gpu")?;
    }
    let manifest = load(&args.manifest())?;
    let request = PoseRequest { model: model.to_owned(), clip: clip.to_owned(), times, path, encoding };
    let poses = crate::pose::pose(&manifest, &request)?;
    poses.write(&out)?;
    let moments = count(poses.times.len() as u64, "moment", "moments");
    let text = format!("{moments} of `{clip}` of `{model}` in {}\n", out.display());
    Ok(Done { text, warnings: poses.warnings })
}

fn list<T: std::str::FromStr>(flag: &str, text: &str, fits: impl Fn(&T) -> bool) -> Result<Vec<T>, Failure> {
    text.split(',')
        .map(|item| {
            let number = item.trim().parse().ok().filter(&fits);
            number.ok_or_else(|| Failure::Usage(format!("`{item}` in `--{flag}` is not a number that can stand there")))
        })
        .collect()
}
