//! The Python module `wayname_host`: the host in process. `wayname_host.pyi` describes it.

use std::net::IpAddr;

use ::host::{Command, Config, Host};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

/// A host in the hand of a Python program.
#[pyclass(name = "Host")]
struct PyHost {
    host: Host,
    /// The latest time that the caller told.
    now: u64,
}

#[pymethods]
impl PyHost {
    #[new]
    #[pyo3(signature = (*, mac, addresses = vec![], gateway = None, mtu = 1500, seed = 1))]
    fn new(mac: &str, addresses: Vec<String>, gateway: Option<&str>, mtu: usize, seed: u64) -> PyResult<Self> {
        let mut config = Config::parse(mac, &addresses, gateway).map_err(PyValueError::new_err)?;
        config.mtu = mtu;
        config.seed = seed;
        Ok(Self { host: Host::new(&config).map_err(PyValueError::new_err)?, now: 0 })
    }

    fn receive(&mut self, frame: &[u8], now: u64) {
        self.now = self.now.max(now);
        self.host.receive(frame, self.now);
    }

    fn poll<'py>(&mut self, python: Python<'py>, now: u64) -> Vec<Bound<'py, PyBytes>> {
        self.now = self.now.max(now);
        let mut frames = vec![];
        self.host.poll(self.now, &mut frames);
        frames.iter().map(|frame| PyBytes::new(python, frame)).collect()
    }

    fn next_wake(&mut self, now: u64) -> Option<u64> {
        self.host.next_wake(now)
    }

    fn events(&mut self) -> PyResult<Vec<String>> {
        let events = self.host.take_events();
        let text = events.iter().map(serde_json::to_string).collect::<Result<_, _>>();
        text.map_err(|error| PyValueError::new_err(error.to_string()))
    }

    fn udp_is_connected(&self, local_port: u16, peer: IpAddr, peer_port: u16) -> bool {
        matches!(peer, IpAddr::V6(peer) if self.host.udp_is_connected(local_port, peer, peer_port))
    }

    fn set_link(&mut self, up: bool, now: u64) {
        self.now = self.now.max(now);
        self.host.set_link(up, self.now);
    }

    fn command(&mut self, line: &str) -> PyResult<Option<u32>> {
        let command = Command::parse(line).map_err(PyValueError::new_err)?;
        self.host.command(command, self.now).map_err(PyValueError::new_err)
    }

    #[pyo3(signature = (to, **options))]
    fn ping(&mut self, to: &str, options: Option<Bound<'_, PyDict>>, python: Python<'_>) -> PyResult<Option<u32>> {
        self.start_to("ping", to, options, python)
    }

    #[pyo3(signature = (**options))]
    fn tcp_serve(&mut self, options: Option<Bound<'_, PyDict>>, python: Python<'_>) -> PyResult<Option<u32>> {
        self.start("tcp_serve", &options.unwrap_or_else(|| PyDict::new(python)))
    }

    #[pyo3(signature = (to, **options))]
    fn tcp_send(&mut self, to: &str, options: Option<Bound<'_, PyDict>>, python: Python<'_>) -> PyResult<Option<u32>> {
        self.start_to("tcp_send", to, options, python)
    }

    #[pyo3(signature = (to, **options))]
    fn tcp_request(
        &mut self,
        to: &str,
        options: Option<Bound<'_, PyDict>>,
        python: Python<'_>,
    ) -> PyResult<Option<u32>> {
        self.start_to("tcp_request", to, options, python)
    }

    #[pyo3(signature = (**options))]
    fn udp_echo(&mut self, options: Option<Bound<'_, PyDict>>, python: Python<'_>) -> PyResult<Option<u32>> {
        self.start("udp_echo", &options.unwrap_or_else(|| PyDict::new(python)))
    }

    #[pyo3(signature = (**options))]
    fn udp_receive(&mut self, options: Option<Bound<'_, PyDict>>, python: Python<'_>) -> PyResult<Option<u32>> {
        self.start("udp_receive", &options.unwrap_or_else(|| PyDict::new(python)))
    }

    #[pyo3(signature = (to, **options))]
    fn udp_send(&mut self, to: &str, options: Option<Bound<'_, PyDict>>, python: Python<'_>) -> PyResult<Option<u32>> {
        self.start_to("udp_send", to, options, python)
    }

    fn stop(&mut self, flow: u32, python: Python<'_>) -> PyResult<()> {
        let options = PyDict::new(python);
        options.set_item("flow", flow)?;
        self.start("stop", &options).map(|_| ())
    }

    fn status(&mut self, python: Python<'_>) -> PyResult<()> {
        self.start("status", &PyDict::new(python)).map(|_| ())
    }
}

impl PyHost {
    fn start_to(
        &mut self,
        name: &str,
        to: &str,
        options: Option<Bound<'_, PyDict>>,
        python: Python<'_>,
    ) -> PyResult<Option<u32>> {
        let fields = options.unwrap_or_else(|| PyDict::new(python));
        fields.set_item("to", to)?;
        self.start(name, &fields)
    }

    /// Arguments of a method are the fields of the command of that name.
    fn start(&mut self, name: &str, fields: &Bound<'_, PyDict>) -> PyResult<Option<u32>> {
        fields.set_item("command", name)?;
        let line: String = fields.py().import("json")?.call_method1("dumps", (fields,))?.extract()?;
        self.command(&line)
    }
}

#[pymodule]
fn wayname_host(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyHost>()
}
