//! The properties that say how storage is reached: what all kinds of storage share.

use std::collections::BTreeMap;

use calve_types::{Error, Result};

use super::assume_role;
use super::location::Kind;

/// The value of a property; one of blanks counts as not given.
pub(crate) fn given<'a>(properties: &'a BTreeMap<String, String>, key: &str) -> Option<&'a str> {
    properties.get(key).map(|value| value.trim()).filter(|value| !value.is_empty())
}

/// The value of the first of some properties that is given.
pub(super) fn first<'a>(properties: &'a BTreeMap<String, String>, keys: &[&str]) -> Option<&'a str> {
    keys.iter().find_map(|key| given(properties, key))
}

/// The value of a number's property.
///
/// # Errors
/// `invalid-option` for anything but a natural number.
pub(super) fn number(properties: &BTreeMap<String, String>, key: &str) -> Result<Option<u64>> {
    let Some(text) = given(properties, key) else { return Ok(None) };
    text.parse().map(Some).map_err(|_| {
        Error::new("invalid-option", format!("invalid value '{text}' of option '{key}'")).with_hint("use a number")
    })
}

/// Whether a property is `true`, in any case, as Java's `Boolean.parseBoolean` reads it.
pub(super) fn is_true(properties: &BTreeMap<String, String>, key: &str) -> bool {
    given(properties, key).is_some_and(|value| value.eq_ignore_ascii_case("true"))
}

/// Checks that a secret can be sent in a header as it is.
///
/// # Errors
/// `invalid-option` for one that cannot; it is not shown.
pub(super) fn check_header(what: &str, secret: &str) -> Result<()> {
    if secret.bytes().all(|b| (0x21..0x7f).contains(&b)) {
        return Ok(());
    }
    Err(Error::new("invalid-option", format!("the {what} holds blanks, line ends or characters that are not ASCII")))
}

/// The Java classes that read and write files (`io-impl`), and the storage they are for. `None` takes any.
const FILE_IO: [(&str, Option<Kind>); 5] = [
    ("org.apache.iceberg.aws.s3.S3FileIO", Some(Kind::S3)),
    ("org.apache.iceberg.gcp.gcs.GCSFileIO", Some(Kind::Gcs)),
    ("org.apache.iceberg.azure.adlsv2.ADLSFileIO", Some(Kind::Adls)),
    ("org.apache.iceberg.hadoop.HadoopFileIO", None),
    ("org.apache.iceberg.io.ResolvingFileIO", None),
];

/// Checks `io-impl`: the Java classes whose storage we reach. Which of them it is changes nothing: storage is chosen by the
/// scheme of a location, as `ResolvingFileIO` does it.
///
/// # Errors
/// `not-supported` for another class, such as one of a company's own.
pub(super) fn check_file_io(properties: &BTreeMap<String, String>) -> Result<Option<Kind>> {
    let Some(class) = given(properties, "io-impl") else { return Ok(None) };
    match FILE_IO.iter().find(|(known, _)| *known == class) {
        Some((_, kind)) => Ok(*kind),
        None => {
            let known: Vec<_> = FILE_IO.iter().filter_map(|(class, _)| class.rsplit('.').next()).collect();
            Err(Error::unsupported(format!("io-impl '{class}'")).with_hint(format!(
                "leave it out: storage is chosen by the scheme of locations; known are {}",
                known.join(", ")
            )))
        }
    }
}

/// Options whose meaning would be lost if they were ignored: with them set, files would be kept, protected or reached in
/// another way than their owner wants.
const REFUSED: [(&str, &str); 7] = [
    ("s3.acl", "give the bucket a policy instead"),
    ("s3.write.storage-class", "give the bucket a lifecycle rule instead"),
    ("adls.token-credential-provider", "use 'adls.token', a shared key, a SAS token, or AZURE_* variables"),
    ("gcs.encryption-key", "use a key that the bucket itself is set up with"),
    ("gcs.decryption-key", "use a key that the bucket itself is set up with"),
    ("gcs.impersonate.service-account", "use the credentials of the service account itself"),
    ("client.credentials-provider", "use 's3.access-key-id' and its siblings, or the AWS_* variables"),
];

/// Families of such options.
const REFUSED_PREFIXES: [&str; 4] = ["s3.write.tags.", "s3.delete.tags.", "s3.access-points.", "encryption."];

/// Switches of that kind: only `true` asks for something.
const REFUSED_IF_TRUE: [(&str, &str); 3] = [
    (
        "s3.remote-signing-enabled",
        "ask the catalog for vended credentials instead ('header.X-Iceberg-Access-Delegation' = 'vended-credentials')",
    ),
    ("s3.access-grants.enabled", "use credentials that may read the bucket themselves"),
    ("s3.write.table-tag-enabled", "leave it out"),
];

/// The Java classes of `client.credentials-provider` that do what calve does without it: look for credentials in the
/// environment.
const DEFAULT_CREDENTIALS: [&str; 6] = [
    "DefaultCredentialsProvider",
    "EnvironmentVariableCredentialsProvider",
    "ProfileCredentialsProvider",
    "InstanceProfileCredentialsProvider",
    "ContainerCredentialsProvider",
    "WebIdentityTokenFileCredentialsProvider",
];

/// The Java class of `client.credentials-provider` for buckets that everybody may read.
const ANONYMOUS: &str = "AnonymousCredentialsProvider";

/// Whether requests to S3 go without a signature: `client.credentials-provider` is Java's anonymous one, or pyiceberg's
/// `s3.anonymous` or iceberg-rust's `s3.allow-anonymous` is `true`.
pub(super) fn is_anonymous(properties: &BTreeMap<String, String>) -> bool {
    let class = given(properties, "client.credentials-provider").and_then(|class| class.rsplit('.').next());
    class == Some(ANONYMOUS) || is_true(properties, "s3.anonymous") || is_true(properties, "s3.allow-anonymous")
}

/// Checks that no option asks for what calve does not do with files.
///
/// # Errors
/// `not-supported`, with the option's name; `missing-option`, `invalid-option` for those of a role of AWS.
pub(super) fn check(properties: &BTreeMap<String, String>) -> Result<()> {
    let refuse = |key: &str| Error::unsupported(format!("option '{key}'"));
    for (key, hint) in REFUSED {
        let Some(value) = given(properties, key) else { continue };
        let class = value.rsplit('.').next().unwrap_or(value);
        if key == "client.credentials-provider" && (class == ANONYMOUS || DEFAULT_CREDENTIALS.contains(&class)) {
            continue;
        }
        return Err(refuse(key).with_hint(hint));
    }
    for (key, hint) in REFUSED_IF_TRUE {
        if is_true(properties, key) {
            return Err(refuse(key).with_hint(hint));
        }
    }
    if let Some(class) = given(properties, "client.factory")
        && !matches!(class.rsplit(['.', '$']).next(), Some("DefaultAwsClientFactory" | "AwsClientFactory"))
        && !assume_role::is_asked(properties)
    {
        return Err(refuse("client.factory")
            .with_hint("leave it out, or set it to 'AssumeRoleAwsClientFactory' to take a role"));
    }
    assume_role::check_options(properties)?;
    match properties.keys().find(|key| REFUSED_PREFIXES.iter().any(|prefix| key.starts_with(prefix))) {
        Some(key) => Err(refuse(key).with_hint("leave it out")),
        None => Ok(()),
    }
}
