//! Who may call what: rights by the names in controllers' certificates, and how often.

use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use control::Status;
use listen::{Bucket, Caller, Rate};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tonic::transport::server::TlsConnectInfo;
use tonic::{Extensions, Request};
use tracing::info;
use x509_parser::prelude::{FromDer, GeneralName, X509Certificate};

use crate::reply;

/// What the log lines are called that say who did what, and who was not let.
pub const AUDIT: &str = "audit";

/// Calls of one name that may not operate: a controller's own work is not to wait.
const CALLS: Rate = Rate { per_second: 50, at_once: 200 };

/// What a call needs. Whoever has one of the others may read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Right {
    Read,
    Operate,
    Capture,
}

impl Right {
    fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Operate => "operate",
            Self::Capture => "capture",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rights {
    /// Become primary, write, set the pipeline, send packets.
    pub operate: bool,
    /// See packets: traces, and those that the program sends to its controllers.
    pub capture: bool,
}

impl Rights {
    pub const ALL: Self = Self { operate: true, capture: true };

    fn has(self, right: Right) -> bool {
        match right {
            Right::Read => true,
            Right::Operate => self.operate,
            Right::Capture => self.capture,
        }
    }
}

/// A name in certificates and its rights, as `NAME=RIGHT,RIGHT` gives them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Client {
    pub name: String,
    pub rights: Rights,
}

impl FromStr for Client {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let form = "write NAME=RIGHT,RIGHT with read, operate or capture, as ops.example.net=operate,capture";
        let (name, given) = text.rsplit_once('=').filter(|(name, _)| !name.is_empty()).ok_or(form)?;
        let mut rights = Rights { operate: false, capture: false };
        for right in given.split(',') {
            match right {
                "read" => {}
                "operate" => rights.operate = true,
                "capture" => rights.capture = true,
                _ => return Err(format!("there is no right {right:?}; {form}")),
            }
        }
        Ok(Self { name: name.to_owned(), rights })
    }
}

/// Calls that were refused.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Refused {
    /// Empty for who is not known.
    pub client: String,
    pub call: &'static str,
    pub reason: &'static str,
}

/// The clients that are known by name. If there are none, whoever may connect may do everything.
#[derive(Default)]
pub struct Clients {
    known: BTreeMap<String, Known>,
    refused: Mutex<BTreeMap<Refused, u64>>,
}

struct Known {
    rights: Rights,
    calls: Mutex<Bucket>,
    /// One read of a name at a time: each may hold all tables.
    reading: Arc<Semaphore>,
}

/// Who calls, and what it may do.
#[derive(Clone, Debug)]
pub struct Who {
    /// That of the certificate; without one, where it calls from.
    pub name: String,
    pub from: String,
    pub rights: Rights,
}

impl Clients {
    /// The error says which name is given twice.
    pub fn new(clients: impl IntoIterator<Item = Client>) -> Result<Self, String> {
        let (now, mut known) = (Instant::now(), BTreeMap::new());
        for Client { name, rights } in clients {
            let client = Known { rights, calls: Bucket::new(CALLS, now).into(), reading: Semaphore::new(1).into() };
            if known.insert(name.clone(), client).is_some() {
                return Err(format!("{name} is given twice; name all its rights in one place"));
            }
        }
        Ok(Self { known, refused: Mutex::default() })
    }

    /// Calls that were refused so far.
    pub fn refused(&self) -> Vec<(Refused, u64)> {
        self.counts().iter().map(|(refused, count)| (refused.clone(), *count)).collect()
    }

    pub(crate) fn admit<T>(
        &self,
        request: &Request<T>,
        call: &'static str,
        needs: Right,
    ) -> Result<Who, tonic::Status> {
        self.who_may(request.extensions(), call, needs).map_err(reply::status)
    }

    fn who_may(&self, extensions: &Extensions, call: &'static str, needs: Right) -> Result<Who, Status> {
        let names = names_in(extensions);
        let from = extensions.get::<Caller>().map_or("somewhere".to_owned(), |caller| caller.peer.to_string());
        if self.known.is_empty() {
            let name = names.into_iter().next().unwrap_or_else(|| from.clone());
            return Ok(Who { name, from, rights: Rights::ALL });
        }
        let Some((name, known)) = names.iter().find_map(|name| self.known.get_key_value(name)) else {
            let text = match names.first() {
                Some(name) => format!(
                    "this switch knows no client {name}: start it with --grpc-server-client {name}={} to let it in",
                    needs.name()
                ),
                None => "the certificate has neither a DNS name nor a common name; sign one that has".to_owned(),
            };
            return Err(self.refuse("", &from, call, "name", Status::denied(text)));
        };
        let who = Who { name: name.clone(), from, rights: known.rights };
        if !who.rights.operate && !known.calls.lock().unwrap_or_else(PoisonError::into_inner).take(Instant::now()) {
            let text = format!("{name} calls more than {} times a second; wait, and call less often", CALLS.per_second);
            return Err(self.refuse(name, &who.from, call, "rate", Status::exhausted(text)));
        }
        self.require(&who, call, needs)?;
        Ok(who)
    }

    /// Refuses a part of a call that needs a right of its own.
    pub(crate) fn require(&self, who: &Who, call: &'static str, needs: Right) -> Result<(), Status> {
        if who.rights.has(needs) {
            return Ok(());
        }
        let (name, needed) = (&who.name, needs.name());
        let text = format!(
            "{name} may not do this: {call} needs the right {needed}; add it to --grpc-server-client {name}=... of the switch"
        );
        Err(self.refuse(name, &who.from, call, needed, Status::denied(text)))
    }

    /// Waits until no other read of that name, which may not operate, is under way.
    pub(crate) async fn turn_to_read(&self, who: &Who) -> Option<OwnedSemaphorePermit> {
        let known = self.known.get(&who.name).filter(|known| !known.rights.operate)?;
        known.reading.clone().acquire_owned().await.ok()
    }

    fn refuse(&self, client: &str, from: &str, call: &'static str, reason: &'static str, status: Status) -> Status {
        *self.counts().entry(Refused { client: client.to_owned(), call, reason }).or_default() += 1;
        info!(target: AUDIT, from, "{call} refused: {}", status.message);
        status
    }

    fn counts(&self) -> MutexGuard<'_, BTreeMap<Refused, u64>> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The DNS names of the certificate that TLS has checked; without any, its common name (RFC 9525).
fn names_in(extensions: &Extensions) -> Vec<String> {
    let certificates = extensions.get::<TlsConnectInfo<Caller>>().and_then(|connection| connection.peer_certs());
    let Some(certificate) = certificates.as_ref().and_then(|certificates| certificates.first()) else {
        return Vec::new();
    };
    let Ok((_, certificate)) = X509Certificate::from_der(certificate) else { return Vec::new() };
    let alternative = certificate.subject_alternative_name().ok().flatten();
    let dns = |name: &GeneralName<'_>| match name {
        GeneralName::DNSName(name) => Some((*name).to_owned()),
        _ => None,
    };
    let names: Vec<String> =
        alternative.into_iter().flat_map(|names| names.value.general_names.iter().filter_map(dns)).collect();
    if !names.is_empty() {
        return names;
    }
    certificate.subject().iter_common_name().filter_map(|name| name.as_str().ok().map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(text: &str) -> Result<Client, String> {
        text.parse()
    }

    #[test]
    fn rights_are_read_and_what_is_wrong_is_said() {
        let rights = |text| client(text).unwrap().rights;
        assert_eq!(rights("a=read"), Rights { operate: false, capture: false });
        assert_eq!(rights("a=read,operate"), Rights { operate: true, capture: false });
        assert_eq!(rights("a=operate,capture"), Rights::ALL);
        assert_eq!(client("edge=1=capture").unwrap().name, "edge=1");
        for wrong in ["a", "=read", "a=", "a=write", "a=read,"] {
            assert!(client(wrong).unwrap_err().contains("as ops.example.net=operate"), "{wrong}");
        }
    }

    #[test]
    fn a_name_stands_once() {
        let twice = [client("a=read").unwrap(), client("a=operate").unwrap()];
        assert!(Clients::new(twice).err().unwrap().contains("a is given twice"));
    }
}
