//! Access to objects in a bucket or a folder, one at a time and with a time limit each.

use std::fmt::Display;
use std::path::Path as FilePath;
use std::time::Duration;

use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{ClientOptions, Error, GetResult, ObjectStore, ObjectStoreExt, ObjectStoreScheme, RetryConfig};
use tokio::runtime::Runtime;
use url::Url;

use super::shared_mode::SharedMode;

/// Maximum time for a response, in addition to the time that its size allows.
const LATENCY: Duration = Duration::from_secs(10);
const CONNECT: Duration = Duration::from_secs(4);
/// Minimum useful transfer rate, in bytes per second. With a slower connection, baking is usually
/// faster.
const MIN_BYTES_PER_SECOND: u64 = 256 << 10;

/// A bucket or folder of objects.
#[derive(Debug)]
pub(super) struct Remote {
    store: Box<dyn ObjectStore>,
    folder: Path,
    /// Runs on the calling thread.
    runtime: Runtime,
}

impl Remote {
    /// Opens `s3://bucket/folder`, `gs://`, `az://` or `file:///folder`. Keys, regions and
    /// endpoints come from the environment variables that the providers' own tools use.
    pub(super) fn open(url: &str, mode: SharedMode) -> Result<Self, String> {
        let form = "expected s3://BUCKET/FOLDER, gs://BUCKET/FOLDER, az://CONTAINER/FOLDER or file:///FOLDER";
        let parsed = Url::parse(url).map_err(|error| format!("invalid URL ({error}): {form}"))?;
        let (scheme, folder) = ObjectStoreScheme::parse(&parsed).map_err(|error| format!("{error}: {form}"))?;
        // Has no effect if the program has already installed a provider.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let retry = RetryConfig { max_retries: 2, retry_timeout: LATENCY, ..RetryConfig::default() };
        let client = ClientOptions::new().with_connect_timeout(CONNECT).with_timeout_disabled();
        macro_rules! bucket {
            ($builder:ty) => {{
                // Client settings from the environment are applied afterwards, so they take
                // precedence.
                let builder = <$builder>::from_env().with_url(url).with_retry(retry);
                let builder =
                    variables().fold(builder.with_client_options(client), |builder, (key, value)| match key.parse() {
                        Ok(key) => builder.with_config(key, value),
                        Err(_) => builder,
                    });
                Box::new(builder.build().map_err(error_text)?)
            }};
        }
        let store: Box<dyn ObjectStore> = match scheme {
            ObjectStoreScheme::AmazonS3 => bucket!(AmazonS3Builder),
            ObjectStoreScheme::GoogleCloudStorage => bucket!(GoogleCloudStorageBuilder),
            ObjectStoreScheme::MicrosoftAzure => bucket!(MicrosoftAzureBuilder),
            ObjectStoreScheme::Local => {
                let path = parsed.to_file_path().map_err(|()| form.to_owned())?;
                return Self::in_folder(&path, mode);
            }
            _ => return Err(form.to_owned()),
        };
        Self::new(store, folder)
    }

    /// Opens a shared folder. With [`SharedMode::Read`] the folder must exist.
    fn in_folder(path: &FilePath, mode: SharedMode) -> Result<Self, String> {
        if mode == SharedMode::ReadWrite {
            std::fs::create_dir_all(path).map_err(error_text)?;
        }
        Self::new(Box::new(LocalFileSystem::new_with_prefix(path).map_err(error_text)?), Path::default())
    }

    fn new(store: Box<dyn ObjectStore>, folder: Path) -> Result<Self, String> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(error_text)?;
        Ok(Self { store, folder, runtime })
    }

    /// Returns an object; `None` if it does not exist or has more than `most` bytes.
    pub(super) fn get(&self, name: &str, most: u64) -> Result<Option<Vec<u8>>, String> {
        let path = self.folder.clone().join(name);
        self.runtime.block_on(async {
            let found = match within(Duration::ZERO, self.store.get(&path)).await {
                Ok(found) if found.meta.size <= most => found,
                Ok(_) | Err(RemoteError::Object(Error::NotFound { .. })) => return Ok(None),
                Err(trouble) => return Err(trouble.to_string()),
            };
            let time = time_for(found.meta.size);
            within(time, read(found, most)).await.map_err(|trouble| trouble.to_string())
        })
    }

    /// Uploads an object atomically, replacing an existing one.
    pub(super) fn put(&self, name: &str, bytes: Vec<u8>) -> Result<(), String> {
        let path = self.folder.clone().join(name);
        let time = time_for(bytes.len() as u64);
        let put = async { within(time, self.store.put(&path, bytes.into())).await };
        self.runtime.block_on(put).map(drop).map_err(|trouble| trouble.to_string())
    }
}

/// Returns the environment variables of the providers, with the names that their builders expect.
fn variables() -> impl Iterator<Item = (String, String)> {
    let known = |(name, value): &(std::ffi::OsString, std::ffi::OsString)| {
        let name = name.to_str()?;
        let ours = ["AWS_", "GOOGLE_", "AZURE_"].iter().any(|start| name.starts_with(start));
        ours.then_some((name.to_ascii_lowercase(), value.to_str()?.to_owned()))
    };
    std::env::vars_os().filter_map(move |variable| known(&variable))
}

/// Reads the bytes of an object. Checks the limit again, because the stated size can be wrong.
async fn read(found: GetResult, most: u64) -> Result<Option<Vec<u8>>, Error> {
    use futures_util::TryStreamExt;
    let mut bytes = Vec::with_capacity(found.meta.size.min(most) as usize);
    let mut parts = found.into_stream();
    while let Some(part) = parts.try_next().await? {
        if bytes.len() as u64 + part.len() as u64 > most {
            return Ok(None);
        }
        bytes.extend_from_slice(&part);
    }
    Ok(Some(bytes))
}

fn time_for(bytes: u64) -> Duration {
    Duration::from_secs(bytes / MIN_BYTES_PER_SECOND)
}

/// Reason why an object cannot be read or written.
enum RemoteError {
    Time(Duration),
    Object(Error),
}

impl Display for RemoteError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Time(time) => write!(f, "no answer within {} s", time.as_secs()),
            Self::Object(error) => f.write_str(&error_text(error)),
        }
    }
}

/// Runs an operation with a time limit of `LATENCY` plus `more`.
async fn within<T>(more: Duration, what: impl Future<Output = Result<T, Error>>) -> Result<T, RemoteError> {
    let time = LATENCY.saturating_add(more);
    tokio::time::timeout(time, what).await.map_err(|_| RemoteError::Time(time))?.map_err(RemoteError::Object)
}

/// Returns an error and its sources as one line.
fn error_text(error: impl std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(reason) = source {
        let reason_text = reason.to_string();
        if !text.contains(&reason_text) {
            text = format!("{text}: {reason_text}");
        }
        source = reason.source();
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
