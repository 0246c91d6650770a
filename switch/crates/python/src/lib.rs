//! The Python module `wayname_switch`: the engine in process. `wayname_switch.pyi` describes it.

mod switch;
mod traces;

use compiler::Options;
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyOSError, PyValueError};
use pyo3::prelude::*;

create_exception!(wayname_switch, CompileError, PyValueError);
create_exception!(wayname_switch, StatusError, PyException);

/// The program with all it includes as one text.
#[pyfunction]
#[pyo3(signature = (path, include = vec![], define = vec![]))]
fn device_config(path: &str, include: Vec<String>, define: Vec<String>) -> PyResult<String> {
    let text = std::fs::read(path).map_err(|error| PyOSError::new_err(format!("{path}: {error}")))?;
    let options = Options {
        include_dirs: include.into_iter().map(Into::into).collect(),
        defines: define
            .iter()
            .map(|define| {
                let (name, value) = define.split_once('=').unwrap_or((define, "1"));
                (name.to_string(), value.to_string())
            })
            .collect(),
        undefines: vec![],
        read_files: true,
    };
    compiler::device_config(path, &String::from_utf8_lossy(&text), &options).map_err(CompileError::new_err)
}

#[pymodule]
fn wayname_switch(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let python = module.py();
    module.add("CompileError", python.get_type::<CompileError>())?;
    module.add("StatusError", python.get_type::<StatusError>())?;
    module.add("Output", switch::output_type(python)?)?;
    module.add_class::<switch::Switch>()?;
    module.add_function(wrap_pyfunction!(device_config, module)?)
}
