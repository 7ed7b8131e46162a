//! File system faults for tests: makes the n-th operation of a kind below a folder fail.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::Op;

/// Kind of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A system error, by number.
    Error(i32),
    /// Writes only a part, without an error.
    Short,
    /// Writes only a part; the next write fails because the disk is full.
    ShortThenFull,
}

#[derive(Debug)]
struct PlannedFault {
    folder: PathBuf,
    op: Op,
    fault: Fault,
    /// Operations left before the fault. Counts down.
    left: i64,
    triggered: bool,
}

static PLANS: Mutex<Vec<Arc<Mutex<PlannedFault>>>> = Mutex::new(Vec::new());

/// Keeps a fault active until it is dropped.
pub(crate) struct FaultGuard(Arc<Mutex<PlannedFault>>);

/// Plans a fault for the `nth` operation, counted from zero.
pub(crate) fn plan(folder: &Path, op: Op, nth: usize, fault: Fault) -> FaultGuard {
    let plan = PlannedFault { folder: folder.to_owned(), op, fault, left: nth as i64, triggered: false };
    let plan = Arc::new(Mutex::new(plan));
    PLANS.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&plan));
    FaultGuard(plan)
}

impl FaultGuard {
    pub(crate) fn triggered(&self) -> bool {
        self.0.lock().unwrap().triggered
    }
}

impl Drop for FaultGuard {
    fn drop(&mut self) {
        PLANS.lock().unwrap_or_else(PoisonError::into_inner).retain(|plan| !Arc::ptr_eq(plan, &self.0));
    }
}

fn plans(path: &Path) -> Vec<Arc<Mutex<PlannedFault>>> {
    let plans = PLANS.lock().unwrap_or_else(PoisonError::into_inner);
    plans.iter().filter(|plan| path.starts_with(&plan.lock().unwrap().folder)).cloned().collect()
}

pub(crate) fn hit(op: Op, path: &Path) -> io::Result<()> {
    for plan in plans(path) {
        let mut plan = plan.lock().unwrap();
        if plan.op == op {
            plan.left -= 1;
            let now = plan.left == -1;
            plan.triggered |= now;
            match plan.fault {
                Fault::Error(number) if now => return Err(io::Error::from_raw_os_error(number)),
                // The write after the partial one.
                Fault::ShortThenFull if plan.left == -2 => return Err(io::Error::from_raw_os_error(28)),
                _ => {}
            }
        }
    }
    Ok(())
}

/// Returns the number of bytes that are written of `len`.
pub(crate) fn part(path: &Path, len: usize) -> usize {
    let short = |plan: &Arc<Mutex<PlannedFault>>| {
        let plan = plan.lock().unwrap();
        plan.op == Op::Write && plan.left == -1 && !matches!(plan.fault, Fault::Error(_))
    };
    if plans(path).iter().any(short) { len.div_ceil(2) } else { len }
}
