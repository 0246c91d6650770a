//! A switch in the hand of a Python program.

use std::sync::{Arc, Mutex, PoisonError};

use control::{Control, Scope, Status};
use pipeline::{BackendKind, Engine, Message, Shape, Sink, Traffic};
use prost::Message as _;
use proto::p4::config::v1::P4Info;
use proto::p4::v1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyType};
use runtime::{Random, Seed};

use crate::traces::Traces;
use crate::{CompileError, StatusError};

/// Entries looked through for idle timeouts at a time.
const MOST_EXPIRED: usize = 1024;

#[pyclass]
pub struct Switch {
    program: Arc<loader::Program>,
    control: Control,
    traffic: Traffic,
    cpu_port: Option<u32>,
    /// Gives each run its random numbers.
    random: Random,
    to_controller: Vec<Vec<u8>>,
    messages: Vec<String>,
    traces: Traces,
}

/// What left in one run.
#[derive(Default)]
struct Outputs {
    packets: Vec<(u32, Vec<u8>, u64)>,
    messages: Vec<Message>,
}

impl Sink for Outputs {
    fn transmit(&mut self, port: u32, bytes: &[u8], at: u64) {
        self.packets.push((port, bytes.to_vec(), at));
    }

    fn message(&mut self, message: Message) {
        self.messages.push(message);
    }
}

/// The class of what leaves, a named tuple.
pub fn output_type(python: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    static TYPE: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let make = || {
        let named_tuple = python.import("collections")?.getattr("namedtuple")?;
        let class = named_tuple.call1(("Output", ("port", "packet", "at")))?;
        Ok::<_, PyErr>(class.cast_into::<PyType>()?.unbind())
    };
    Ok(TYPE.get_or_try_init(python, make)?.bind(python))
}

#[pymethods]
impl Switch {
    #[new]
    #[pyo3(signature = (program, *, cpu_port = None, backend = "jit", seed = None, p4info = None))]
    fn new(
        python: Python<'_>,
        program: &str,
        cpu_port: Option<u32>,
        backend: &str,
        seed: Option<u64>,
        p4info: Option<&[u8]>,
    ) -> PyResult<Self> {
        let kind = match backend {
            "jit" => BackendKind::Jit,
            "interpreter" => BackendKind::Interpreter,
            _ => return Err(PyValueError::new_err(format!("backend '{backend}' is neither jit nor interpreter"))),
        };
        let seed = seed.map_or_else(Seed::from_system, |number| Ok(number.into()))?;
        let program = python.detach(|| load(program, kind)).map_err(CompileError::new_err)?;
        let program = Arc::new(program);
        let p4info = match p4info {
            Some(bytes) => decode::<P4Info>(bytes, "p4info")?,
            None => program.p4info.clone().ok_or_else(|| PyValueError::new_err("BMv2 JSON needs its p4info"))?,
        };
        if let Some(port) = cpu_port {
            check_port(&program, port)?;
        }
        let control = Control::new(p4info, program.clone()).map_err(refused)?;
        Ok(Self {
            program,
            control,
            traffic: Traffic::default(),
            cpu_port,
            random: Random::new(seed),
            to_controller: vec![],
            messages: vec![],
            traces: Traces::default(),
        })
    }

    fn p4info<'py>(&self, python: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(python, &self.control.p4info().encode_to_vec())
    }

    #[pyo3(signature = (request, now = 0))]
    fn write(&self, request: &[u8], now: u64) -> PyResult<Vec<(i32, String)>> {
        let request: v1::WriteRequest = decode(request, "WriteRequest")?;
        let statuses = self.control.write(&request.updates, request.atomicity, &Scope::All, now).map_err(refused)?;
        Ok(statuses.into_iter().map(|status| (status.code as i32, status.message)).collect())
    }

    #[pyo3(signature = (request, now = 0))]
    fn read<'py>(&self, python: Python<'py>, request: &[u8], now: u64) -> PyResult<Bound<'py, PyBytes>> {
        let request: v1::ReadRequest = decode(request, "ReadRequest")?;
        let reading = self.control.read(&request.entities, &Scope::All, now);
        if let Some(error) = reading.statuses.into_iter().find(|status| !status.is_ok()) {
            return Err(refused(error));
        }
        Ok(PyBytes::new(python, &v1::ReadResponse { entities: reading.entities }.encode_to_vec()))
    }

    #[pyo3(signature = (port, packet, now = 0))]
    fn inject<'py>(
        &mut self,
        python: Python<'py>,
        port: u32,
        packet: &[u8],
        now: u64,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        check_port(&self.program, port)?;
        self.receive(python, port, packet, now)
    }

    #[pyo3(signature = (message, now = 0))]
    fn packet_out<'py>(&mut self, python: Python<'py>, message: &[u8], now: u64) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let Some(port) = self.cpu_port else {
            return Err(PyValueError::new_err("the switch has no CPU port; give cpu_port when making it"));
        };
        let message: v1::PacketOut = decode(message, "PacketOut")?;
        let packet = self.control.packet_out(&message).map_err(refused)?;
        let port = self.program.loaded.cpu_port(port);
        self.receive(python, port, &packet, now)
    }

    fn advance<'py>(&mut self, python: Python<'py>, now: u64) -> PyResult<Vec<Bound<'py, PyAny>>> {
        self.run(python, now, |engine, outputs| engine.poll(now, outputs))
    }

    fn next_departure(&self) -> Option<u64> {
        let kept = self.program.loaded.device.next_kept();
        self.traffic.next_departure().into_iter().chain(kept).min()
    }

    fn packets_in<'py>(&mut self, python: Python<'py>) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let packets = std::mem::take(&mut self.to_controller);
        packets
            .iter()
            .map(|packet| {
                let message = self.control.packet_in(packet).map_err(refused)?;
                Ok(PyBytes::new(python, &message.encode_to_vec()))
            })
            .collect()
    }

    fn digests<'py>(&self, python: Python<'py>, now: u64) -> Vec<Bound<'py, PyBytes>> {
        let lists = self.control.digest_lists(now, now);
        lists.iter().map(|list| PyBytes::new(python, &list.encode_to_vec())).collect()
    }

    fn acknowledge(&self, message: &[u8]) -> PyResult<()> {
        self.control.acknowledge(&decode(message, "DigestListAck")?).map_err(refused)
    }

    fn idle_timeouts<'py>(&self, python: Python<'py>, now: u64) -> Vec<Bound<'py, PyBytes>> {
        let entries = self.control.expired(now, MOST_EXPIRED);
        entries.iter().map(|entry| PyBytes::new(python, &entry.encode_to_vec())).collect()
    }

    fn messages(&mut self) -> Vec<String> {
        std::mem::take(&mut self.messages)
    }

    #[pyo3(signature = (port, *, rate = None, queue = 1024))]
    fn set_link(&mut self, port: u32, rate: Option<u64>, queue: usize) -> PyResult<()> {
        check_port(&self.program, port)?;
        self.traffic.set_shape(port, Shape { bits_per_second: rate, packets: queue });
        Ok(())
    }

    fn set_port_up(&self, port: u32, up: bool) -> PyResult<()> {
        check_port(&self.program, port)?;
        self.program.loaded.device.set_port_up(port, up);
        self.program.loaded.replication.set_port_up(port, up);
        Ok(())
    }

    #[pyo3(signature = (filter = Some(String::new())))]
    fn watch(&mut self, filter: Option<String>) -> PyResult<()> {
        let filter = filter.map(|text| text.parse()).transpose();
        self.traces.watch(filter.map_err(PyValueError::new_err::<String>)?);
        Ok(())
    }

    #[pyo3(signature = (text = false))]
    fn traces(&mut self, text: bool) -> PyResult<Vec<String>> {
        self.traces.take(text).map_err(|error| PyValueError::new_err(error.to_string()))
    }
}

impl Switch {
    /// Lets a packet enter, traced if somebody wants to see it.
    fn receive<'py>(
        &mut self,
        python: Python<'py>,
        port: u32,
        packet: &[u8],
        now: u64,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let recorder = self.traces.choose(port, packet, now);
        self.run(python, now, |engine, outputs| {
            if let Some(recorder) = recorder {
                engine.trace_next(recorder);
            }
            engine.receive(port, packet, now, outputs);
        })
    }

    /// Does something to the packets and hands on what came of it.
    fn run<'py>(
        &mut self,
        python: Python<'py>,
        now: u64,
        work: impl FnOnce(&mut Engine<'_>, &mut Outputs),
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let mut outputs = Outputs::default();
        work(&mut Engine::new(&self.program.loaded, &mut self.traffic, self.random.fork()), &mut outputs);
        for message in outputs.messages {
            match message {
                Message::Digest { digest, values, .. } => self.control.digest(digest, &values, now),
                Message::Log { text } => self.messages.push(text),
                Message::AssertionFailed { text } => self.messages.push(format!("assertion failed: {text}")),
            }
        }
        let class = output_type(python)?;
        let mut packets = vec![];
        for (port, bytes, at) in outputs.packets {
            if self.cpu_port.is_some_and(|cpu| port == cpu || port == pipeline::PSA_PORT_CPU) {
                self.to_controller.push(bytes);
            } else {
                packets.push(class.call1((port, PyBytes::new(python, &bytes), at))?);
            }
        }
        Ok(packets)
    }
}

/// v1model's ports have 9 bits: a larger number would lose its upper ones and name another port.
fn check_port(program: &loader::Program, port: u32) -> PyResult<()> {
    if control::Loaded::has_port(program, port) {
        return Ok(());
    }
    Err(PyValueError::new_err(format!("there is no port {port}; v1model's ports are 0 to {}", pipeline::DROP_PORT - 1)))
}

/// Loads a program. One after the other of the same text share their code: compiling takes longer than most tests.
fn load(text: &str, kind: BackendKind) -> Result<loader::Program, String> {
    static LAST: Mutex<Option<(String, BackendKind, loader::Program)>> = Mutex::new(None);
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    match &*last {
        Some((known, of, program)) if known == text && *of == kind => program.fresh(),
        _ => {
            let program = loader::load(text, kind)?;
            let fresh = program.fresh();
            *last = Some((text.to_string(), kind, program));
            fresh
        }
    }
}

fn decode<M: prost::Message + Default>(bytes: &[u8], name: &str) -> PyResult<M> {
    M::decode(bytes).map_err(|error| PyValueError::new_err(format!("not a {name}: {error}")))
}

fn refused(status: Status) -> PyErr {
    StatusError::new_err((status.code as i32, status.message))
}
