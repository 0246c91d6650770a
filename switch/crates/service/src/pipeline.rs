//! The forwarding-pipeline config: what was set, saved and committed (spec "SetForwardingPipelineConfig RPC").

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use control::{Code, Control, Scope, Status};
use proto::p4::v1::ForwardingPipelineConfig;
use proto::p4::v1::get_forwarding_pipeline_config_request::ResponseType;
use proto::p4::v1::set_forwarding_pipeline_config_request::Action;
use proto::p4::v1::write_request::Atomicity;

use crate::state::State;
use crate::target::{Program, Target};
use crate::{device_config, difference};

/// A config that the switch can run.
pub struct Installed {
    pub control: Control,
    program: Arc<dyn Program>,
    pub config: ForwardingPipelineConfig,
}

/// The config that packets run through, and one that was saved to be committed later.
#[derive(Default)]
pub struct Pipeline {
    configs: Mutex<Configs>,
}

#[derive(Default)]
struct Configs {
    running: Option<Arc<Installed>>,
    saved: Option<Arc<Installed>>,
}

impl Pipeline {
    /// What packets run through.
    pub fn running(&self) -> Option<Arc<Installed>> {
        self.configs().running.clone()
    }

    /// What reads and writes refer to: the saved config if there is one. Writes to it reach the packets with its
    /// commit, which is how they are replayed then.
    pub fn current(&self) -> Result<Arc<Installed>, Status> {
        let configs = self.configs();
        configs.saved.as_ref().or(configs.running.as_ref()).cloned().ok_or_else(|| {
            Status::new(
                Code::FailedPrecondition,
                "no forwarding pipeline config is set; send SetForwardingPipelineConfig",
            )
        })
    }

    /// Does what the request asks; it may take long, as programs are compiled.
    pub fn set(
        &self,
        target: &dyn Target,
        action: i32,
        config: Option<ForwardingPipelineConfig>,
    ) -> Result<(), Status> {
        let action = Action::try_from(action).unwrap_or(Action::Unspecified);
        match action {
            Action::Unspecified => Err(Status::invalid("action is not set")),
            Action::Verify => load(target, config).map(|_| ()),
            Action::VerifyAndSave => {
                let installed = Arc::new(load(target, config)?);
                self.configs().saved = Some(installed);
                Ok(())
            }
            Action::VerifyAndCommit => {
                self.commit(Arc::new(load(target, config)?));
                Ok(())
            }
            Action::Commit if config.is_some() => {
                Err(Status::invalid("COMMIT takes no config; it commits the one that was saved"))
            }
            Action::Commit => {
                let saved = self.configs().saved.take();
                let saved =
                    saved.ok_or_else(|| Status::not_found("no config was saved; send VERIFY_AND_SAVE first"))?;
                self.commit(saved);
                Ok(())
            }
            Action::ReconcileAndCommit => {
                let installed = load(target, config)?;
                if let Some(running) = self.running() {
                    let taken = installed.control.take_over(&running.control, target.now());
                    taken.map_err(|error| Status::invalid(error.message))?;
                }
                self.commit(Arc::new(installed));
                Ok(())
            }
        }
    }

    /// Runs a config again, with what was configured. Tells what was refused.
    pub fn restore(&self, target: &dyn Target, state: State) -> Result<Vec<Status>, Status> {
        let installed = load(target, state.config)?;
        let now = target.now();
        let mut refused = installed.control.restore(&state.configured, now)?;
        for updates in state.written {
            let statuses = installed.control.write(&updates, Atomicity::ContinueOnError as i32, &Scope::All, now)?;
            refused.extend(statuses.into_iter().filter(|status| !status.is_ok()));
        }
        self.commit(Arc::new(installed));
        Ok(refused)
    }

    /// The config as it was set, or nothing when none was (spec "GetForwardingPipelineConfig RPC").
    pub fn get(&self, response_type: i32) -> Option<ForwardingPipelineConfig> {
        let config = &self.current().ok()?.config;
        let mut answer = ForwardingPipelineConfig { cookie: config.cookie, ..Default::default() };
        let kind = ResponseType::try_from(response_type).unwrap_or(ResponseType::All);
        if matches!(kind, ResponseType::All | ResponseType::P4infoAndCookie) {
            answer.p4info = config.p4info.clone();
        }
        if matches!(kind, ResponseType::All | ResponseType::DeviceConfigAndCookie) {
            answer.p4_device_config = config.p4_device_config.clone();
        }
        Some(answer)
    }

    fn commit(&self, installed: Arc<Installed>) {
        let mut configs = self.configs();
        // Both at once, so that no message of the data plane meets the wrong P4Info for long.
        installed.program.clone().commit();
        configs.running = Some(installed);
        configs.saved = None;
    }

    fn configs(&self) -> MutexGuard<'_, Configs> {
        self.configs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Compiles the config's text and checks that its P4Info describes it.
fn load(target: &dyn Target, config: Option<ForwardingPipelineConfig>) -> Result<Installed, Status> {
    let config = config.ok_or_else(|| Status::invalid("config is not set"))?;
    let text = device_config::text(&config.p4_device_config)?;
    let program =
        target.load(&text).map_err(|error| Status::invalid(format!("the program does not compile:\n{error}")))?;
    let p4info = config.p4info.clone().ok_or_else(|| Status::invalid("p4info is not set"))?;
    if let Some(difference) = program.p4info().and_then(|own| difference::first(&p4info, own)) {
        return Err(Status::invalid(format!("the P4Info does not describe the program: {difference}")));
    }
    let control = Control::new(p4info, program.clone())?.with_checks(target.checks())?;
    Ok(Installed { control, program, config })
}
