//! What a host can be told to do. In JSON the kind stands under `command`, beside its fields.

use serde::Deserialize;

use crate::apps;
use crate::flow::App;

/// A command; its fields are described where the program is.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "command", rename_all = "snake_case")]
pub enum Command {
    Ping(apps::Ping),
    TcpServe(apps::TcpServe),
    TcpSend(apps::TcpSend),
    TcpRequest(apps::TcpRequest),
    UdpEcho(apps::UdpEcho),
    UdpReceive(apps::UdpReceive),
    UdpSend(apps::UdpSend),
    /// Ends a flow.
    Stop(Stop),
    /// Tells the host's state as an event.
    Status(Status),
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stop {
    pub flow: u32,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Status {}

impl Command {
    /// From a line of JSON.
    pub fn parse(line: &str) -> Result<Self, String> {
        serde_json::from_str(line).map_err(|error| format!("not a command: {error}"))
    }

    /// The program that carries it out on a link with this MTU.
    pub(crate) fn into_app(self, mtu: usize) -> Result<Box<dyn App>, String> {
        match self {
            Self::Ping(command) => command.into_app(mtu),
            Self::TcpServe(command) => command.into_app(),
            Self::TcpSend(command) => command.into_app(),
            Self::TcpRequest(command) => command.into_app(),
            Self::UdpEcho(command) => command.into_app(),
            Self::UdpReceive(command) => command.into_app(),
            Self::UdpSend(command) => command.into_app(mtu),
            Self::Stop(_) | Self::Status(_) => Err("this command starts no program".into()),
        }
    }
}
