//! TLS to the engine: whose certificates count, and that the server's name is theirs. The connection is tokio-postgres's.

use std::error::Error;
use std::future::Future;
use std::io;
use std::iter::successors;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::Socket;
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

/// Where systems keep the certificates that they trust, in one file of PEM.
const SYSTEMS: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    #[error("no file of trusted certificates is at {}", SYSTEMS.join(", "))]
    NoneFound,
    #[error("the trusted certificates in {} cannot be read: {why}", path.display())]
    Unreadable { path: PathBuf, why: String },
    #[error("there is no certificate in {}", path.display())]
    Empty { path: PathBuf },
}

/// What to do about the server's certificate, where that is why there is no connection.
pub(super) fn hint(error: &(dyn Error + 'static)) -> Option<&'static str> {
    use tokio_rustls::rustls::CertificateError::{
        BadSignature, Expired, ExpiredContext, NotValidForName, NotValidForNameContext, NotValidYet,
        NotValidYetContext, UnknownIssuer,
    };
    const NAME: &str = "write the host into the URL as the server's certificate names it, or have a certificate made for the name in the URL";
    const TIME: &str = "have the server's certificate renewed; if it is not out of date, this machine's clock is wrong";
    const ISSUER: &str = "name the file of the authority that signed the server's certificate: `ca = \"ca.pem\"` under [desk] in config.toml";
    const OWN: &str = "a certificate that signed itself is not taken: make an authority, have it sign one for the server, and name the \
        authority's file as `ca` under [desk] in config.toml";
    let failed = causes(error).find_map(|error| {
        let inside = error.downcast_ref::<io::Error>()?.get_ref()?;
        inside.downcast_ref::<tokio_rustls::rustls::Error>()
    });
    let Some(tokio_rustls::rustls::Error::InvalidCertificate(why)) = failed else {
        let has_none = causes(error).any(|error| error.to_string().contains(NO_TLS));
        return has_none.then_some("turn on `ssl` in the server's postgresql.conf, with a certificate for its name");
    };
    Some(match why {
        NotValidForName | NotValidForNameContext { .. } => NAME,
        Expired | ExpiredContext { .. } | NotValidYet | NotValidYetContext { .. } => TIME,
        UnknownIssuer | BadSignature => ISSUER,
        other if format!("{other:?}").contains("CaUsedAsEndEntity") => OWN,
        _ => "have the server's certificate made again, by the authority that `ca` under [desk] in config.toml names",
    })
}

fn causes<'e>(error: &'e (dyn Error + 'static)) -> impl Iterator<Item = &'e (dyn Error + 'static)> {
    successors(Some(error), |error: &&'e (dyn Error + 'static)| (*error).source())
}

/// How tokio-postgres says that a server has no TLS.
const NO_TLS: &str = "server does not support TLS";

/// Makes connections over TLS that are verified against these certificates, and the name that is connected to.
#[derive(Clone)]
pub(super) struct Tls(Arc<ClientConfig>);

impl Tls {
    /// Trusts the certificates in this file, or those that the system trusts.
    pub(super) fn trusting(file: Option<&Path>) -> Result<Self, CertificateError> {
        let systems = || SYSTEMS.iter().map(Path::new).find(|path| path.exists());
        let path = file.or_else(systems).ok_or(CertificateError::NoneFound)?;
        let unreadable = |why: String| CertificateError::Unreadable { path: path.into(), why };
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_file_iter(path).map_err(|error| unreadable(error.to_string()))? {
            let certificate = certificate.map_err(|error| unreadable(error.to_string()))?;
            match roots.add(certificate) {
                Ok(()) => {}
                // The system's list has some of forms that are no longer in use.
                Err(_) if file.is_none() => {}
                Err(error) => return Err(unreadable(error.to_string())),
            }
        }
        if roots.is_empty() {
            return Err(CertificateError::Empty { path: path.into() });
        }
        let config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
        Ok(Self(Arc::new(config)))
    }
}

impl MakeTlsConnect<Socket> for Tls {
    type Stream = Stream;
    type TlsConnect = To;
    type Error = io::Error;

    fn make_tls_connect(&mut self, domain: &str) -> io::Result<To> {
        let name = ServerName::try_from(domain.to_owned()).map_err(io::Error::other)?;
        Ok(To { connector: TlsConnector::from(Arc::clone(&self.0)), name })
    }
}

pub(super) struct To {
    connector: TlsConnector,
    name: ServerName<'static>,
}

impl TlsConnect<Socket> for To {
    type Stream = Stream;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Stream>> + Send>>;

    fn connect(self, stream: Socket) -> Self::Future {
        Box::pin(async move { self.connector.connect(self.name, stream).await.map(|stream| Stream(Box::new(stream))) })
    }
}

pub(super) struct Stream(Box<TlsStream<Socket>>);

impl tokio_postgres::tls::TlsStream for Stream {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl AsyncRead for Stream {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, into)
    }
}

impl AsyncWrite for Stream {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}
