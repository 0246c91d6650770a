//! The P4Runtime service without a network: HTTP requests are made by hand and handed to it.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use http_body::{Body, Frame};
use pipeline::{BackendKind, Engine, Loaded, Message, Sink, Traffic};
use proto::p4::config::v1::P4Info;
use runtime::Device;
use service::Hub;
use tonic::codegen::{Bytes, Service, http};

/// The port of the controller's packets.
const CPU_PORT: u32 = 510;

/// The program that a switch runs.
type Running = Arc<Mutex<Option<Arc<Loaded>>>>;

/// A program that need not be compiled again.
pub struct Known {
    pub text: String,
    program: Arc<ir::Program>,
    pub p4info: P4Info,
}

/// A switch that runs the controller's packets the moment they come.
pub struct Switch {
    known: Arc<Known>,
    running: Running,
}

struct Program {
    program: loader::Program,
    running: Running,
}

struct Nowhere;

impl Sink for Nowhere {
    fn transmit(&mut self, _port: u32, _bytes: &[u8], _at: u64) {}
    fn message(&mut self, _message: Message) {}
}

impl Known {
    pub fn new(text: &str) -> Result<Self, String> {
        let compiled = compiler::compile_text("known.p4", text, &compiler::Options::default());
        let compiled = compiled.map_err(|failure| failure.to_string())?;
        let p4info = p4info::p4info(&compiled).map_err(|failure| failure.to_string())?;
        Ok(Self { text: text.to_owned(), program: Arc::new(compiled.program), p4info })
    }
}

impl Switch {
    pub fn new(known: Arc<Known>) -> Self {
        Self { known, running: Arc::default() }
    }
}

impl service::Target for Switch {
    fn load(&self, text: &str) -> Result<Arc<dyn service::Program>, String> {
        let program = if text == self.known.text {
            let loaded = Arc::new(Loaded::new(self.known.program.clone(), BackendKind::Interpreter)?);
            loader::Program { loaded, p4info: Some(self.known.p4info.clone()) }
        } else {
            loader::load(text, BackendKind::Interpreter)?
        };
        Ok(Arc::new(Program { program, running: self.running.clone() }))
    }

    fn packet_out(&self, packet: Vec<u8>) -> Result<(), String> {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let loaded = running.ok_or("no program runs")?;
        Engine::new(&loaded, &mut Traffic::default(), 1).receive(CPU_PORT, &packet, 0, &mut Nowhere);
        Ok(())
    }

    fn now(&self) -> u64 {
        1_000_000_000
    }

    fn since_epoch(&self) -> u64 {
        1_700_000_000_000_000_000
    }
}

impl control::Loaded for Program {
    fn device(&self) -> &Device {
        self.program.device()
    }

    fn replication(&self) -> &dyn control::Replication {
        self.program.replication()
    }

    fn has_port(&self, port: u32) -> bool {
        self.program.has_port(port)
    }

    fn between_packets(&self, work: &mut dyn FnMut()) -> bool {
        work();
        true
    }
}

impl service::Program for Program {
    fn p4info(&self) -> Option<&P4Info> {
        self.program.p4info.as_ref()
    }

    fn commit(self: Arc<Self>) {
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) = Some(self.program.loaded.clone());
    }
}

/// What came back: the messages, and the status at the end.
#[derive(Debug, PartialEq)]
pub struct Answer {
    pub messages: Vec<Vec<u8>>,
    pub status: tonic::Code,
    pub text: String,
}

/// Messages of one call.
struct Messages {
    frames: VecDeque<Bytes>,
    /// The call stays open behind them.
    stays: bool,
}

impl Body for Messages {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match self.frames.pop_front() {
            Some(bytes) => Poll::Ready(Some(Ok(Frame::data(bytes)))),
            None if self.stays => Poll::Pending,
            None => Poll::Ready(None),
        }
    }
}

/// A stream that stays open as long as this lives.
pub struct Stream {
    _body: tonic::body::Body,
}

/// Calls a method with messages that are already encoded, whatever stands in them, and waits for the end of the answer.
pub async fn call(hub: &Arc<Hub>, method: &str, messages: &[&[u8]]) -> Answer {
    let (head, mut body) = send(hub, method, messages, false).await.into_parts();
    let mut data = Vec::new();
    // A call that is refused at once has its status in the head.
    let mut trailers = head.headers;
    while let Some(frame) = next_frame(&mut body).await {
        match frame.into_data() {
            Ok(bytes) => data.extend_from_slice(&bytes),
            Err(frame) => trailers.extend(frame.into_trailers().unwrap_or_default()),
        }
    }
    let status = tonic::Status::from_header_map(&trailers);
    let (status, text) = status
        .map_or((tonic::Code::Unknown, "no status".to_owned()), |status| (status.code(), status.message().to_owned()));
    Answer { messages: split(&data), status, text }
}

/// Opens a stream and waits for its first answer.
pub async fn open(hub: &Arc<Hub>, messages: &[&[u8]]) -> Stream {
    let mut body = send(hub, "StreamChannel", messages, true).await.into_body();
    next_frame(&mut body).await;
    Stream { _body: body }
}

async fn send(hub: &Arc<Hub>, method: &str, messages: &[&[u8]], stays: bool) -> http::Response<tonic::body::Body> {
    let frames = messages.iter().map(|message| framed(message)).collect();
    let request = http::Request::post(format!("http://switch/p4.v1.P4Runtime/{method}"))
        .header("content-type", "application/grpc")
        .body(tonic::body::Body::new(Messages { frames, stays }))
        .expect("a well-formed request");
    let Ok(response) = service::calls(hub.clone()).call(request).await;
    response
}

async fn next_frame(body: &mut tonic::body::Body) -> Option<Frame<Bytes>> {
    std::future::poll_fn(|context| Pin::new(&mut *body).poll_frame(context)).await.and_then(Result::ok)
}

/// A message with gRPC's prefix: not compressed, four bytes of length.
fn framed(message: &[u8]) -> Bytes {
    let len = (message.len() as u32).to_be_bytes();
    [&[0], &len[..], message].concat().into()
}

fn split(mut data: &[u8]) -> Vec<Vec<u8>> {
    let mut messages = Vec::new();
    while let [_, a, b, c, d, rest @ ..] = data {
        let (message, left) = rest.split_at((u32::from_be_bytes([*a, *b, *c, *d]) as usize).min(rest.len()));
        messages.push(message.to_vec());
        data = left;
    }
    messages
}
