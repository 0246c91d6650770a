//! TLS and mTLS.

use crate::common::*;
use proto::p4::v1::CapabilitiesRequest;
use proto::p4::v1::p4_runtime_client::P4RuntimeClient;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use service::Tls;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Identity};

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
        let key = KeyPair::generate().unwrap();
        let certificate =
            CertificateParams::new(vec!["localhost".to_owned()]).unwrap().signed_by(&key, &self.0).unwrap();
        (certificate.pem(), key.serialize_pem())
    }
}

async fn ask(served: &Served, tls: ClientTlsConfig) -> Result<(), Box<dyn std::error::Error>> {
    let endpoint = Channel::from_shared(format!("https://localhost:{}", served.port))?.tls_config(tls)?;
    P4RuntimeClient::new(endpoint.connect().await?).capabilities(CapabilitiesRequest::default()).await?;
    Ok(())
}

async fn serve(authority: &Authority, client_ca: Option<&Authority>) -> Served {
    let (certificate, key) = authority.signed();
    let client_ca = client_ca.map(|authority| authority.pem().into_bytes());
    Served::with_tls(Some(Tls { certificate: certificate.into(), key: key.into(), client_ca })).await
}

#[tokio::test]
async fn a_controller_can_check_who_the_switch_is() {
    let authority = Authority::new();
    let served = serve(&authority, None).await;
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
    let served = serve(&authority, Some(&clients)).await;
    let trust = || ClientTlsConfig::new().ca_certificate(Certificate::from_pem(authority.pem()));
    let with = |(certificate, key): (String, String)| trust().identity(Identity::from_pem(certificate, key));
    ask(&served, with(clients.signed())).await.unwrap();
    ask(&served, trust()).await.unwrap_err();
    ask(&served, with(authority.signed())).await.unwrap_err();
}
