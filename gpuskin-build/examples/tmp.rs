use gpuskin_build::{bake::*, finding::*, manifest::*, output, pose::*};
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let m = match Manifest::load(a[2].as_ref()) {
        Ok(m) => m,
        Err(f) => {
            eprintln!("{}", f.render(Style::Plain));
            return;
        }
    };
    match a[1].as_str() {
        "bake" => {
            let t = std::time::Instant::now();
            match bake(&m, &BakeOptions::default()) {
                Ok(b) => {
                    println!("{:?}", t.elapsed());
                    eprintln!("{}", b.warnings.render(Style::Plain));
                    for x in &b.models {
                        println!(
                            "{} bones {} verts {} clips {} {:?} {:?} {:?} rest {:?}",
                            x.meta.name,
                            x.meta.bones.len(),
                            x.meta.mesh.vertex_count,
                            x.meta.clips.len(),
                            x.meta.texture,
                            x.meta.encoding,
                            x.meta.mesh.format,
                            x.meta.rest_bounds
                        );
                        for c in x.meta.clips.iter().take(14) {
                            println!(
                                "   {} {:.3}s {:.3}fps int {} st {} loop {} enc {:?} mot {:?}",
                                c.name,
                                c.duration,
                                c.frame_rate,
                                c.intervals,
                                c.stored,
                                c.looped,
                                c.encoding_error,
                                c.motion_error
                            );
                        }
                    }
                    if let Some(o) = a.get(3) {
                        output::write(&b.files, o.as_ref()).unwrap();
                    }
                    println!("{:?}", t.elapsed());
                }
                Err(f) => eprintln!("{}", f.findings.render(Style::Plain)),
            }
        }
        _ => {
            let path = match a[5].as_str() {
                "source" => PosePath::Source,
                "cpu" => PosePath::Cpu,
                _ => PosePath::Gpu,
            };
            let times = if a[6] == "all" {
                PoseTimes::AllFrames
            } else {
                PoseTimes::Seconds(a[6].split(',').map(|t| t.parse().unwrap()).collect())
            };
            let r = PoseRequest {
                model: a[3].clone(),
                clip: a[4].clone(),
                times,
                path,
                encoding: a.get(8).map(|e| gpuskin_rt::Encoding::from_name(e).unwrap()),
            };
            match pose(&m, &r) {
                Ok(p) => p.write(a[7].as_ref()).unwrap(),
                Err(f) => eprintln!("{}", f.render(Style::Plain)),
            }
        }
    }
}
