//! A way between two interfaces of this namespace, through whoever forwards on it.

use std::path::PathBuf;
use std::str::FromStr;

use anyhow::{Context, Result, bail};
use bench::traffic::{Ends, ProcessTime, pin_forwarder};
use ports::interface::Interface;

#[derive(Clone)]
pub struct Road {
    pub name: String,
    input: String,
    output: String,
    /// Whose processor time counts; the kernel has no process.
    process: Option<u32>,
    pub points: PathBuf,
}

impl FromStr for Road {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        let [name, input, output, process, points] = text.split(',').collect::<Vec<_>>()[..] else {
            bail!("not NAME,INTERFACE,INTERFACE,PROCESS,FILE");
        };
        let process: u32 = process.parse().with_context(|| format!("process {process}"))?;
        Ok(Self {
            name: name.into(),
            input: input.into(),
            output: output.into(),
            process: (process != 0).then_some(process),
            points: points.into(),
        })
    }
}

impl Road {
    /// Opens both ends, and sees to it that whoever forwards has a processor of its own.
    pub fn ends(&self) -> Result<Ends> {
        if let Some(process) = self.process {
            pin_forwarder(process).with_context(|| format!("{} has ended", self.name))?;
        }
        let open = |name: &str| Interface::open(name).with_context(|| name.to_string());
        Ok(Ends::new(open(&self.input)?, open(&self.output)?))
    }

    /// Of all threads of the process so far; the kernel has none.
    pub fn processor_time(&self) -> Result<ProcessTime> {
        let Some(process) = self.process else { return Ok(ProcessTime::default()) };
        ProcessTime::of(process).with_context(|| format!("{} has ended", self.name))
    }
}
