//! The thread that compiles the running program for what its tables hold.

use std::sync::Arc;
use std::thread::{Builder, JoinHandle, sleep};
use std::time::Instant;

use anyhow::Result;
use pipeline::{LOOK, Specialiser, Switch};
use tracing::{debug, warn};

use crate::handle::Handle;

/// Looks at the tables again and again until the switch stops.
pub fn follow_tables(switch: Arc<Switch>, handle: Arc<Handle>) -> Result<JoinHandle<()>> {
    let follow = move || {
        let mut specialiser: Option<Specialiser> = None;
        while !handle.stopping() {
            sleep(LOOK);
            let Some(loaded) = switch.loaded().filter(|loaded| loaded.is_native()) else {
                specialiser = None;
                continue;
            };
            if !specialiser.as_ref().is_some_and(|specialiser| specialiser.follows(&loaded)) {
                specialiser = Some(Specialiser::new(loaded));
            }
            let Some(following) = &mut specialiser else { continue };
            let start = Instant::now();
            match following.look() {
                Ok(true) => debug!("compiled for the tables' content in {:?}", start.elapsed()),
                Ok(false) => {}
                Err(error) => {
                    warn!("the program is not compiled for its tables' content, and runs as it is: {error}");
                    return;
                }
            }
        }
    };
    Ok(Builder::new().name("specialise".into()).spawn(follow)?)
}
