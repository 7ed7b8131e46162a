//! Text and lists that are constants in a game, and values in tools.

use std::borrow::Cow;

/// Text that is either a constant or read at run time.
pub type Str = Cow<'static, str>;
/// List that is either a constant or read at run time.
pub type List<T> = Cow<'static, [T]>;
