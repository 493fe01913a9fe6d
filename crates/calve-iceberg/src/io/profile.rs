//! The files of AWS's tools: `~/.aws/credentials` and `~/.aws/config`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::{env, fs};

use calve_types::{Error, Result};
use object_store::aws::AwsCredential;

/// The settings of the profile in use: that of `AWS_PROFILE`, else `default`.
pub(super) struct Profile {
    /// Its name, if the environment names one.
    named: Option<String>,
    /// `region`.
    pub(super) region: Option<String>,
    settings: BTreeMap<String, String>,
}

impl Profile {
    /// The profile as the files say now. Files that are not there or cannot be read are empty, as AWS's tools take them.
    pub(super) fn load() -> Self {
        let variable = |key: &str| env::var(key).ok().filter(|value| !value.is_empty());
        let home = variable("HOME").map(PathBuf::from);
        let text = |key: &str, name: &str| {
            let file = variable(key).map(PathBuf::from).or_else(|| Some(home.as_ref()?.join(".aws").join(name)));
            file.and_then(|file| fs::read_to_string(file).ok()).unwrap_or_default()
        };
        let config = text("AWS_CONFIG_FILE", "config");
        let credentials = text("AWS_SHARED_CREDENTIALS_FILE", "credentials");
        Self::parse(variable("AWS_PROFILE"), &config, &credentials)
    }

    fn parse(named: Option<String>, config: &str, credentials: &str) -> Self {
        let name = named.as_deref().unwrap_or("default");
        let mut settings = BTreeMap::new();
        section(config, |header| header.strip_prefix("profile").map_or(header, str::trim) == name, &mut settings);
        section(credentials, |header| header == name, &mut settings);
        Self { region: settings.get("region").cloned(), named, settings }
    }

    /// The profile's keys.
    ///
    /// # Errors
    /// `not-supported` if the environment names a profile whose credentials are made in another way.
    pub(super) fn credential(&self) -> Result<Option<AwsCredential>> {
        let setting = |key: &str| self.settings.get(key).filter(|value| !value.is_empty()).cloned();
        if let (Some(key_id), Some(secret_key)) = (setting("aws_access_key_id"), setting("aws_secret_access_key")) {
            return Ok(Some(AwsCredential { key_id, secret_key, token: setting("aws_session_token") }));
        }
        let other = ["sso_session", "sso_start_url", "credential_process", "role_arn", "web_identity_token_file"];
        match (&self.named, other.into_iter().find(|key| self.settings.contains_key(*key))) {
            (Some(name), Some(key)) => Err(Error::unsupported(format!("'{key}' of the AWS profile '{name}'"))
                .with_hint("let AWS's own tool export it: eval \"$(aws configure export-credentials --format env)\"")),
            _ => Ok(None),
        }
    }
}

/// Adds the settings of the sections whose header is wanted.
fn section(text: &str, wanted: impl Fn(&str) -> bool, settings: &mut BTreeMap<String, String>) {
    let mut inside = false;
    for line in text.lines() {
        let trimmed = line.trim();
        if trimmed.is_empty() || trimmed.starts_with(['#', ';']) {
            continue;
        }
        if let Some(header) = trimmed.strip_prefix('[') {
            inside = wanted(header.split(']').next().unwrap_or(header).trim());
        } else if let (true, false, Some((key, value))) =
            (inside, line.starts_with(char::is_whitespace), trimmed.split_once('='))
        {
            settings.insert(key.trim().to_lowercase(), value.trim().to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;

    #[test]
    fn the_profile_in_use_is_read() {
        let config = "# c\n[default]\nregion = eu-west-1\n\n[profile work]\nregion=us-east-2\ns3 =\n  region = nested\n\
                      [profile sso]\nsso_session = s\n";
        let credentials = "[default]\naws_access_key_id = A\naws_secret_access_key = B=\n[work]\n; no\naws_access_key_id=C\n\
                           aws_secret_access_key=D\naws_session_token = T\n";
        let profile = |name: Option<&str>| Profile::parse(name.map(str::to_owned), config, credentials);
        let default = profile(None);
        assert_eq!(default.region.as_deref(), Some("eu-west-1"));
        let keys = default.credential().unwrap().unwrap();
        assert_eq!((keys.key_id.as_str(), keys.secret_key.as_str(), keys.token), ("A", "B=", None));
        let work = profile(Some("work"));
        assert_eq!(work.region.as_deref(), Some("us-east-2"));
        assert_eq!(work.credential().unwrap().unwrap().token.as_deref(), Some("T"));
        assert!(profile(Some("none")).credential().unwrap().is_none());
        let refused = profile(Some("sso")).credential().unwrap_err();
        assert_eq!(refused.message, "not supported: 'sso_session' of the AWS profile 'sso'");
    }
}
