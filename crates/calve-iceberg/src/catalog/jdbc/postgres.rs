//! The `uri` of a catalog in PostgreSQL, and the properties of its connections, as the Java driver (`org.postgresql`) names
//! them.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use calve_types::{Error, Result};
use reqwest::Url;
use sqlx::postgres::{PgConnectOptions, PgSslMode};

use crate::catalog::open::Access;

/// How long a connection may take where no option says it.
const CONNECTING: Duration = Duration::from_secs(10);
/// How long a statement may take where no option says it: it changes one row.
const PATIENCE: Duration = Duration::from_secs(60);
/// How many connections there are at most where no option says it, as in the Java library.
const CLIENTS: u32 = 2;
const HINT: &str = "use 'uri' = 'jdbc:postgresql://host:port/database'";

/// Connection properties that change whom the driver trusts or asks, and that are not followed here.
const NOT_FOLLOWED: [&str; 12] = [
    "authenticationPluginClassName",
    "channelBinding",
    "gssEncMode",
    "jaasLogin",
    "requireAuth",
    "service",
    "socketFactory",
    "sslfactory",
    "sslhostnameverifier",
    "sslnegotiation",
    "sslpassword",
    "targetServerType",
];

/// A database of a PostgreSQL server, and how it is reached.
#[derive(Clone)]
pub(super) struct Server {
    /// Address, user, password, TLS.
    pub(super) options: PgConnectOptions,
    /// The address in messages.
    pub(super) shown: String,
    /// How long a connection may take.
    pub(super) connecting: Duration,
    /// How long a statement may take.
    pub(super) patience: Duration,
    /// How many connections there are at most.
    pub(super) clients: u32,
}

// the options hold the password
impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("shown", &self.shown).finish_non_exhaustive()
    }
}

impl Server {
    /// From what follows `jdbc:postgresql:` in a URI, and the options `jdbc.*` and `clients`. Parameters of the URI win, as in
    /// the Java driver. Without a password there, libpq's sources are asked: `PGPASSWORD` and `.pgpass`.
    ///
    /// # Errors
    /// `invalid-option` for what is wrong; `not-supported` for several hosts, and for properties that are not followed.
    pub(super) fn parse(rest: &str, options: &BTreeMap<String, String>, access: Access) -> Result<Self> {
        let (address, parameters) = rest.split_once('?').unwrap_or((rest, ""));
        let (host, database) = match address.strip_prefix("//") {
            Some(address) => address.split_once('/').unwrap_or((address, "")),
            None => ("", address.trim_start_matches('/')),
        };
        if host.contains('@') {
            return Err(Error::new("invalid-option", "the uri of a JDBC catalog names a user before its host")
                .with_hint("use the options 'jdbc.user' and 'jdbc.password'"));
        }
        let shown = format!("jdbc:postgresql:{address}");
        let invalid = |why: &str| Error::new("invalid-option", format!("the uri '{shown}' {why}")).with_hint(HINT);
        if host.contains(',') {
            return Err(
                Error::unsupported(format!("several hosts in the uri of a JDBC catalog ('{shown}')")).with_hint(HINT)
            );
        }
        let properties = properties(parameters, options)?;
        let given = |key: &str| properties.get(key).map(|value| value.trim()).filter(|value| !value.is_empty());

        let host = if host.is_empty() { "localhost" } else { host };
        let mut url = Url::parse(&format!("postgres://{host}/{database}")).map_err(|_| invalid("is not an address"))?;
        // as its driver for Java does
        let who =
            ["USER", "LOGNAME"].into_iter().find_map(|name| std::env::var(name).ok().filter(|who| !who.is_empty()));
        if let Some(user) = given("user").or(who.as_deref()) {
            url.set_username(user).map_err(|()| invalid("is not an address"))?;
        }
        let mut connect: PgConnectOptions = url.as_str().parse().map_err(|_| invalid("is not an address"))?;
        connect = connect.port(url.port().unwrap_or(5432)).ssl_mode(ssl_mode(given("sslmode"), given("ssl"))?);
        if database.is_empty() {
            let user = connect.get_username().to_owned();
            connect = connect.database(&user);
        }
        if let Some(password) = properties.get("password") {
            connect = connect.password(password);
        }
        if let Some(file) = given("sslrootcert") {
            connect = connect.ssl_root_cert(file);
        }
        if let Some(file) = given("sslcert") {
            connect = connect.ssl_client_cert(file);
        }
        if let Some(file) = given("sslkey") {
            connect = connect.ssl_client_key(file);
        }
        connect = connect.application_name(given("ApplicationName").unwrap_or("calve"));
        connect = connect.options(settings(given("options"))?);
        if let Some(schema) = given("currentSchema") {
            connect = connect.options([("search_path", schema)]);
        }
        if access == Access::ReadOnly {
            connect = connect.options([("default_transaction_read_only", "on")]);
        }
        Ok(Self {
            options: connect,
            connecting: seconds("connectTimeout", given("connectTimeout").or(given("loginTimeout")))?
                .unwrap_or(CONNECTING),
            patience: seconds("socketTimeout", given("socketTimeout"))?.unwrap_or(PATIENCE),
            clients: clients(options.get("clients"))?,
            shown,
        })
    }
}

/// The connection properties: the options `jdbc.*`, and over them the parameters of the URI.
fn properties(parameters: &str, options: &BTreeMap<String, String>) -> Result<BTreeMap<String, String>> {
    let of_options =
        options.iter().filter_map(|(key, value)| Some((key.strip_prefix("jdbc.")?.to_owned(), value.clone())));
    let mut properties: BTreeMap<String, String> = of_options.collect();
    if !parameters.is_empty() {
        // the message of the parser could hold a password
        let parameters = Url::parse(&format!("jdbc:?{parameters}"))
            .map_err(|_| Error::new("invalid-option", "the parameters of the uri of a JDBC catalog cannot be read"))?;
        properties.extend(parameters.query_pairs().map(|(key, value)| (key.into_owned(), value.into_owned())));
    }
    match NOT_FOLLOWED.iter().find(|key| properties.contains_key(**key)) {
        Some(key) => Err(Error::unsupported(format!("the connection property '{key}' of PostgreSQL's Java driver"))),
        None => Ok(properties),
    }
}

fn invalid_value(key: &str, value: &str, hint: &str) -> Error {
    Error::new("invalid-option", format!("invalid value '{value}' of the connection property '{key}'")).with_hint(hint)
}

/// `sslmode`; without it `ssl` = `true` is `verify-full`, as in the Java driver.
fn ssl_mode(mode: Option<&str>, ssl: Option<&str>) -> Result<PgSslMode> {
    let modes = "it is 'disable', 'allow', 'prefer', 'require', 'verify-ca' or 'verify-full'";
    match (mode, ssl) {
        (Some(mode), _) => mode.parse().map_err(|_| invalid_value("sslmode", mode, modes)),
        (None, Some(ssl)) if ssl.eq_ignore_ascii_case("true") => Ok(PgSslMode::VerifyFull),
        (None, _) => Ok(PgSslMode::Prefer),
    }
}

/// A time in seconds; 0 is none.
fn seconds(key: &str, value: Option<&str>) -> Result<Option<Duration>> {
    let Some(value) = value else { return Ok(None) };
    match value.parse::<u32>() {
        Ok(0) => Ok(None),
        Ok(seconds) => Ok(Some(Duration::from_secs(u64::from(seconds)))),
        Err(_) => Err(invalid_value(key, value, "it is a number of seconds")),
    }
}

/// The option `clients`.
fn clients(value: Option<&String>) -> Result<u32> {
    let Some(value) = value else { return Ok(CLIENTS) };
    match value.trim().parse::<u32>() {
        Ok(clients) if clients > 0 => Ok(clients),
        _ => Err(Error::new("invalid-option", format!("invalid value '{value}' of option 'clients'"))
            .with_hint("it is the number of connections at most, 1 or more")),
    }
}

/// Server settings in the property `options`: `-c name=value` and `--name=value`.
fn settings(options: Option<&str>) -> Result<Vec<(&str, &str)>> {
    let mut settings = Vec::new();
    let mut words = options.unwrap_or_default().split_whitespace();
    while let Some(word) = words.next() {
        let setting = match word {
            "-c" => words.next(),
            word => word.strip_prefix("--").or_else(|| word.strip_prefix("-c")),
        };
        match setting.and_then(|setting| setting.split_once('=')) {
            Some(setting) => settings.push(setting),
            None => return Err(invalid_value("options", word, "it is '-c name=value', once or more often")),
        }
    }
    Ok(settings)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;

    fn parse(rest: &str, options: &[(&str, &str)]) -> Result<Server> {
        let options = options.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        Server::parse(rest, &options, Access::Full)
    }

    #[test]
    fn addresses() {
        for (rest, want) in [
            ("//db.example:5433/lake", ("db.example", 5433, "lake")),
            ("//db.example/a%20b", ("db.example", 5432, "a b")),
            ("//[::1]:5433/lake", ("[::1]", 5433, "lake")),
            ("lake", ("localhost", 5432, "lake")),
            ("//db.example", ("db.example", 5432, "ann")),
        ] {
            let server = parse(rest, &[("jdbc.user", "ann")]).unwrap();
            let got = (server.options.get_host(), server.options.get_port(), server.options.get_database().unwrap());
            assert_eq!(got, want, "{rest}");
        }
    }

    #[test]
    fn properties_of_the_uri_win() {
        let options =
            [("jdbc.user", "ann"), ("jdbc.sslmode", "require"), ("jdbc.socketTimeout", "7"), ("clients", "5")];
        let server = parse("//h/db?user=b%40b&sslmode=disable&connectTimeout=3", &options).unwrap();
        assert_eq!(server.options.get_username(), "b@b");
        assert!(matches!(server.options.get_ssl_mode(), PgSslMode::Disable));
        let times = (server.connecting.as_secs(), server.patience.as_secs(), server.clients);
        assert_eq!(times, (3, 7, 5));
        assert!(matches!(parse("//h/db?ssl=true", &[]).unwrap().options.get_ssl_mode(), PgSslMode::VerifyFull));
        let server = parse("//h/db?options=-c%20work_mem=1MB&currentSchema=lake", &[]).unwrap();
        assert!(server.options.get_options().unwrap().ends_with("-c work_mem=1MB -c search_path=lake"));
    }

    #[test]
    fn no_secret_is_told() {
        let server = parse("//h/db?password=hunter2", &[("jdbc.password", "hunter3")]).unwrap();
        assert!(!format!("{server:?}").contains("hunter"));
        assert_eq!(server.shown, "jdbc:postgresql://h/db");
        for (rest, message) in [
            ("//ann:hunter2@h/db", "the uri of a JDBC catalog names a user before its host"),
            ("//h:x/db?password=hunter2", "the uri 'jdbc:postgresql://h:x/db' is not an address"),
            (
                "//a,b/db?password=hunter2",
                "not supported: several hosts in the uri of a JDBC catalog ('jdbc:postgresql://a,b/db')",
            ),
            ("//h/db?password=hunter2&sslmode=on", "invalid value 'on' of the connection property 'sslmode'"),
            ("//h/db?socketTimeout=soon", "invalid value 'soon' of the connection property 'socketTimeout'"),
            ("//h/db?options=work_mem", "invalid value 'work_mem' of the connection property 'options'"),
            (
                "//h/db?sslfactory=org.postgresql.ssl.NonValidatingFactory",
                "not supported: the connection property 'sslfactory' of PostgreSQL's Java driver",
            ),
        ] {
            let error = parse(rest, &[]).unwrap_err();
            assert_eq!(error.message, message);
            assert!(!format!("{error:?}").contains("hunter"));
        }
    }
}
