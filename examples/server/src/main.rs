//! Prints ten seconds of a world at twenty ticks per second.

use gpuskin_rt::FiredEventKind;
use server::{META, World};

fn main() -> Result<(), gpuskin_rt::SocketError> {
    let mut world = World::new(8)?;
    for tick in 1..=200 {
        let now = f64::from(tick) / 20.0;
        for notice in world.tick(now) {
            let (soldier, at) = (notice.instance, notice.time.as_secs());
            match notice.kind {
                FiredEventKind::Event(event) => {
                    println!("{at:7.3} s: soldier {soldier}: {}", META.events[usize::from(event)])
                }
                // A server of this kind plays no layers.
                FiredEventKind::LayerFinished(_) => {}
                FiredEventKind::Finished => {
                    let hand = world.hand(soldier, notice.time);
                    println!("{at:7.3} s: soldier {soldier}: clip finished, hand at {hand:.2}");
                }
            }
        }
    }
    println!(
        "{} of {} soldiers have fallen",
        world.fallen.iter().filter(|fallen| **fallen).count(),
        world.fallen.len()
    );
    Ok(())
}
