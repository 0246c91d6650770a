//! TLS and mTLS, and what the names in certificates may do.

use crate::common::*;
use proto::p4::v1::p4_runtime_client::P4RuntimeClient;
use proto::p4::v1::stream_message_request::Update as Request;
use proto::p4::v1::stream_message_response::Update as Response;
use proto::p4::v1::{CapabilitiesRequest, MasterArbitrationUpdate, ReadRequest, StreamMessageRequest, WriteRequest};
use proto::trace::WatchRequest;
use proto::trace::packet_traces_client::PacketTracesClient;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use service::{Clients, Refused, Tls};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Identity};
use tonic::{Code, Status};

struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    fn pem(&self) -> String {
        self.0.pem()
    }

    /// Certificate and key.
    fn signed(&self) -> (String, String) {
        self.sign(CertificateParams::new(vec!["localhost".to_owned()]).unwrap())
    }

    /// One whose name is the common name, as many authorities still write it.
    fn signed_for(&self, name: &str) -> (String, String) {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        self.sign(params)
    }

    fn sign(&self, params: CertificateParams) -> (String, String) {
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.0).unwrap();
        (certificate.pem(), key.serialize_pem())
    }
}

async fn ask(served: &Served, tls: ClientTlsConfig) -> Result<(), Box<dyn std::error::Error>> {
    let endpoint = Channel::from_shared(format!("https://localhost:{}", served.port))?.tls_config(tls)?;
    P4RuntimeClient::new(endpoint.connect().await?).capabilities(CapabilitiesRequest::default()).await?;
    Ok(())
}

async fn serve(authority: &Authority, client_ca: Option<&Authority>, clients: Clients) -> Served {
    let (certificate, key) = authority.signed();
    let client_ca = client_ca.map(|authority| authority.pem().into_bytes());
    Served::with_tls(Some(Tls { certificate: certificate.into(), key: key.into(), client_ca }), clients).await
}

#[tokio::test]
async fn a_controller_can_check_who_the_switch_is() {
    let authority = Authority::new();
    let served = serve(&authority, None, Clients::default()).await;
    let trust = |pem| ClientTlsConfig::new().ca_certificate(Certificate::from_pem(pem));
    ask(&served, trust(authority.pem())).await.unwrap();
    ask(&served, trust(Authority::new().pem())).await.unwrap_err();
    P4RuntimeClient::connect(format!("http://localhost:{}", served.port))
        .await
        .unwrap()
        .capabilities(CapabilitiesRequest::default())
        .await
        .unwrap_err();
}

#[tokio::test]
async fn the_switch_can_check_who_the_controller_is() {
    let (authority, clients) = (Authority::new(), Authority::new());
    let served = serve(&authority, Some(&clients), Clients::default()).await;
    let trust = || ClientTlsConfig::new().ca_certificate(Certificate::from_pem(authority.pem()));
    let with = |(certificate, key): (String, String)| trust().identity(Identity::from_pem(certificate, key));
    ask(&served, with(clients.signed())).await.unwrap();
    ask(&served, trust()).await.unwrap_err();
    ask(&served, with(authority.signed())).await.unwrap_err();
}

/// A switch that knows three names, and who shows their certificates to it.
struct Guarded {
    served: Served,
    authority: Authority,
}

impl Guarded {
    async fn new() -> Self {
        let authority = Authority::new();
        let clients = ["reader=read", "writer=operate", "edge=operate,capture", "watcher=capture"];
        let clients = Clients::new(clients.map(|client| client.parse().unwrap())).unwrap();
        Self { served: serve(&authority, Some(&authority), clients).await, authority }
    }

    async fn channel(&self, (certificate, key): (String, String)) -> Channel {
        let tls = ClientTlsConfig::new()
            .ca_certificate(Certificate::from_pem(self.authority.pem()))
            .identity(Identity::from_pem(certificate, key));
        let endpoint = Channel::from_shared(format!("https://localhost:{}", self.served.port)).unwrap();
        endpoint.tls_config(tls).unwrap().connect().await.unwrap()
    }

    async fn named(&self, name: &str) -> Channel {
        self.channel(self.authority.signed_for(name)).await
    }

    /// The stream of that name after a bid, and the first answer.
    async fn bids(
        &self,
        name: &str,
        update: MasterArbitrationUpdate,
    ) -> (mpsc::Sender<StreamMessageRequest>, Result<String, Status>) {
        let (requests, receiver) = mpsc::channel(1);
        let mut client = P4RuntimeClient::new(self.named(name).await);
        let mut answers = client.stream_channel(ReceiverStream::new(receiver)).await.unwrap().into_inner();
        requests.send(StreamMessageRequest { update: Some(Request::Arbitration(update)) }).await.unwrap();
        let answer = answers.message().await.map(|answer| match answer.unwrap().update.unwrap() {
            Response::Arbitration(update) => update.status.unwrap().message,
            other => panic!("{other:?}"),
        });
        (requests, answer)
    }

    fn refused(&self) -> Vec<(String, &'static str, &'static str, u64)> {
        let refused = self.served.hub.clients().refused();
        refused.into_iter().map(|(Refused { client, call, reason }, count)| (client, call, reason, count)).collect()
    }
}

async fn watch(channel: Channel) -> Result<(), Status> {
    PacketTracesClient::new(channel).watch(WatchRequest::default()).await.map(drop)
}

async fn write(channel: Channel, election: u64) -> Result<(), Status> {
    let request = WriteRequest { device_id: DEVICE, election_id: id(election), ..Default::default() };
    P4RuntimeClient::new(channel).write(request).await.map(drop)
}

#[tokio::test]
async fn who_may_only_read_does_not_write_bid_or_watch() {
    let guarded = Guarded::new().await;
    let _writer = guarded.bids("writer", MasterArbitrationUpdate { election_id: id(7), ..bid() }).await;
    let mut reader = P4RuntimeClient::new(guarded.named("reader").await);
    reader.capabilities(CapabilitiesRequest::default()).await.unwrap();
    let read = reader.read(ReadRequest { device_id: DEVICE, ..Default::default() }).await;
    assert_eq!(read.unwrap_err().code(), Code::FailedPrecondition, "it was let in, and there is no pipeline");

    // The primary's election id, which everybody is told, does not help.
    let refused = write(guarded.named("reader").await, 7).await.unwrap_err();
    assert_eq!(refused.code(), Code::PermissionDenied);
    assert!(refused.message().contains("reader may not do this: Write needs the right operate"), "{refused}");
    assert_eq!(watch(guarded.named("reader").await).await.unwrap_err().code(), Code::PermissionDenied);
    let (_stream, answer) = guarded.bids("reader", MasterArbitrationUpdate { election_id: id(9), ..bid() }).await;
    assert_eq!(answer.unwrap_err().code(), Code::PermissionDenied);
    let role = Some(proto::p4::v1::Role { name: "one of its own".into(), ..Default::default() });
    let (_stream, answer) = guarded.bids("reader", MasterArbitrationUpdate { role, ..bid() }).await;
    assert_eq!(answer.unwrap_err().code(), Code::PermissionDenied);
    let (_stream, answer) = guarded.bids("reader", bid()).await;
    assert_eq!(answer.unwrap(), "another controller is primary");
    let reader = |call, reason, count| ("reader".to_owned(), call, reason, count);
    assert_eq!(
        guarded.refused(),
        [
            reader("MasterArbitrationUpdate", "operate", 2),
            reader("Watch", "capture", 1),
            reader("Write", "operate", 1),
            ("writer".to_owned(), "PacketIn", "capture", 1),
        ]
    );
}

#[tokio::test]
async fn who_may_operate_sees_packets_only_with_capture() {
    let guarded = Guarded::new().await;
    let (_edge, answer) = guarded.bids("edge", MasterArbitrationUpdate { election_id: id(1), ..bid() }).await;
    assert_eq!(answer.unwrap(), "you are primary");
    let (_writer, answer) = guarded.bids("writer", MasterArbitrationUpdate { election_id: id(2), ..bid() }).await;
    assert_eq!(answer.unwrap(), "you are primary; packets are not sent to you: that needs the right capture");
    let written = write(guarded.named("writer").await, 2).await.unwrap_err();
    assert_eq!(written.code(), Code::FailedPrecondition, "it was let in, and there is no pipeline");
    assert_eq!(watch(guarded.named("writer").await).await.unwrap_err().code(), Code::PermissionDenied);
    for name in ["edge", "watcher"] {
        // Let in; the switch of these tests traces nothing.
        assert_eq!(watch(guarded.named(name).await).await.unwrap_err().code(), Code::ResourceExhausted);
    }
    assert_eq!(write(guarded.named("watcher").await, 2).await.unwrap_err().code(), Code::PermissionDenied);
}

#[tokio::test]
async fn a_name_that_is_not_known_may_nothing() {
    let guarded = Guarded::new().await;
    let mut stranger = P4RuntimeClient::new(guarded.channel(guarded.authority.signed()).await);
    let refused = stranger.capabilities(CapabilitiesRequest::default()).await.unwrap_err();
    assert_eq!(refused.code(), Code::PermissionDenied);
    assert!(refused.message().contains("--grpc-server-client localhost=read"), "{refused}");
    // A DNS name counts, and then the common name does not (RFC 9525).
    let mut params = CertificateParams::new(vec!["other.example.net".to_owned()]).unwrap();
    params.distinguished_name.push(DnType::CommonName, "edge");
    let mut other = P4RuntimeClient::new(guarded.channel(guarded.authority.sign(params)).await);
    let refused = other.capabilities(CapabilitiesRequest::default()).await.unwrap_err();
    assert!(refused.message().contains("other.example.net"), "{refused}");
    assert_eq!(guarded.refused(), [(String::new(), "Capabilities", "name", 2)]);
}

/// How many of so many calls at once are let in: in turn, a slow machine would give them time.
async fn let_in(mut client: P4RuntimeClient<Channel>, calls: u64) -> u64 {
    // From the first answer on the client knows how many calls may be under way.
    client.capabilities(CapabilitiesRequest::default()).await.unwrap();
    let call = || {
        let mut client = client.clone();
        tokio::spawn(async move { client.capabilities(CapabilitiesRequest::default()).await })
    };
    let under_way: Vec<_> = (0..calls).map(|_| call()).collect();
    let mut answered = 0;
    for call in under_way {
        match call.await.unwrap() {
            Ok(_) => answered += 1,
            Err(status) => assert_eq!(status.code(), Code::ResourceExhausted, "{status}"),
        }
    }
    answered
}

#[tokio::test]
async fn who_only_reads_calls_so_often_and_a_controller_as_often_as_it_needs() {
    let guarded = Guarded::new().await;
    assert_eq!(let_in(P4RuntimeClient::new(guarded.named("edge").await), 1000).await, 1000);
    let answered = let_in(P4RuntimeClient::new(guarded.named("reader").await), 1000).await;
    assert!((199..1000).contains(&answered), "{answered}");
    assert_eq!(guarded.refused(), [("reader".to_owned(), "Capabilities", "rate", 1000 - answered)]);
}

#[tokio::test]
async fn streams_of_readers_leave_room_for_controllers() {
    let guarded = Guarded::new().await;
    let reader = P4RuntimeClient::new(guarded.named("reader").await);
    let mut open = Vec::new();
    for _ in 0..32 {
        let (requests, receiver) = mpsc::channel(1);
        let answers = reader.clone().stream_channel(ReceiverStream::new(receiver)).await.unwrap();
        open.push((requests, answers));
    }
    let (_requests, receiver) = mpsc::channel(1);
    let mut another = P4RuntimeClient::new(guarded.named("reader").await);
    let refused = another.stream_channel(ReceiverStream::new(receiver)).await.unwrap_err();
    assert_eq!(refused.code(), Code::ResourceExhausted);
    let (_edge, answer) = guarded.bids("edge", MasterArbitrationUpdate { election_id: id(1), ..bid() }).await;
    assert_eq!(answer.unwrap(), "you are primary");
}
