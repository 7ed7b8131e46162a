//! Report of a bake for people and tools: sizes, errors over time, candidates and diagnostics.
//!
//! A report depends on the models and their diagnostics alone, not on the cache, the time or the
//! machine: the same bake gives the same bytes.

mod collect;
#[cfg_attr(not(feature = "cli"), allow(dead_code, reason = "only the command line compares reports"))]
mod compare;
mod data;
mod drawn;
mod html;
mod markdown;
mod number;
mod packed;
mod unseen;
#[cfg_attr(not(feature = "cli"), allow(dead_code, reason = "only the command line compares reports"))]
mod write;

#[cfg(feature = "cli")]
pub(crate) use compare::Comparison;
pub(crate) use data::Report;
pub(crate) use drawn::{DrawnIn, DrawnModels};
#[cfg(feature = "cli")]
pub(crate) use html::PageData;
#[cfg(feature = "cli")]
pub(crate) use html::live_page;
pub(crate) use write::{ReportFile, ReportKind};
