//! Ten seconds of a world, twenty ticks a second, as lines.

use gpuskin_rt::NoticeKind;
use server::{META, World};

fn main() -> Result<(), gpuskin_rt::SocketError> {
    let mut world = World::new(8)?;
    for tick in 1..=200 {
        let now = f64::from(tick) / 20.0;
        for notice in world.tick(now) {
            let (who, at) = (notice.instance, notice.time.as_secs());
            match notice.kind {
                NoticeKind::Event(event) => println!("{at:7.3} s: soldier {who}: {}", META.events[usize::from(event)]),
                NoticeKind::Finished => {
                    let hand = world.hand(who, notice.time);
                    println!("{at:7.3} s: soldier {who} has ended a clip, his hand at {hand:.2}");
                }
            }
        }
    }
    println!("{} of {} have fallen", world.fallen.iter().filter(|fallen| **fallen).count(), world.fallen.len());
    Ok(())
}
