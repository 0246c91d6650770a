//! The Python module `wayname_cga`; `wayname_cga.pyi` describes it.

use cga::Found;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

const MOST_SEC: u8 = 7;

fn octets(modifier: u128, python: Python<'_>) -> Bound<'_, PyBytes> {
    PyBytes::new(python, &modifier.to_be_bytes())
}

#[pyclass(frozen)]
struct Search {
    search: cga::Search,
}

#[pymethods]
impl Search {
    #[new]
    fn new(tail: &[u8], sec: u8, start: [u8; 16]) -> PyResult<Search> {
        if sec > MOST_SEC {
            return Err(PyValueError::new_err(format!("sec is {sec}, but has three bits")));
        }
        Ok(Search { search: cga::Search::new(tail, sec, u128::from_be_bytes(start)) })
    }

    #[pyo3(signature = (threads, tries = None))]
    fn run<'py>(&self, python: Python<'py>, threads: usize, tries: Option<u64>) -> Option<Bound<'py, PyBytes>> {
        match python.detach(|| self.search.run(threads, tries)) {
            Found::Modifier(modifier) => Some(octets(modifier, python)),
            Found::NotYet => None,
        }
    }

    fn stop(&self) {
        self.search.stop();
    }

    #[getter]
    fn tried(&self) -> u64 {
        self.search.tried()
    }

    #[getter]
    fn next<'py>(&self, python: Python<'py>) -> Bound<'py, PyBytes> {
        octets(self.search.next(), python)
    }
}

#[pymodule]
fn wayname_cga(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Search>()
}
