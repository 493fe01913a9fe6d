//! LOAD and UNLOAD MODULE, USE MODULES. calve has one module, Flink's `core`: its functions.

use calve_sql::{Ident, Property};
use calve_types::{Error, Result};

use crate::result::ResultBody;

/// The only module.
const CORE: &str = "core";

/// Whether `core` is loaded, and whether it is in use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Modules {
    loaded: bool,
    used: bool,
}

impl Default for Modules {
    fn default() -> Self {
        Self { loaded: true, used: true }
    }
}

impl Modules {
    /// The loaded modules with whether they are in use.
    pub fn loaded(&self) -> Vec<(String, bool)> {
        if self.loaded { vec![(CORE.to_owned(), self.used)] } else { vec![] }
    }

    /// Whether the functions of `core` are listed.
    pub fn lists_core(&self) -> bool {
        self.loaded && self.used
    }

    /// LOAD MODULE: its name says which module it is.
    ///
    /// # Errors
    /// `invalid-option` for an option `type`, `module-exists`; `not-supported` for what is not `core`.
    pub fn load(&mut self, name: &Ident, properties: &[Property]) -> Result<ResultBody> {
        if let Some(option) = properties.iter().find(|p| p.key == "type") {
            return Err(Error::new("invalid-option", "option 'type' is not allowed: the module's name is its type")
                .with_detail(format!(
                    "Option 'type' = '{}' is not supported since module name is used to find module",
                    option.value
                ))
                .at(option.span));
        }
        if name.value != CORE {
            return Err(Error::unsupported(format!("module '{}'", name.value))
                .with_detail(format!(
                    "Could not find any factory for identifier '{}' that implements \
                     'org.apache.flink.table.factories.ModuleFactory' in the classpath.",
                    name.value
                ))
                .with_hint("the only module is 'core', with Flink's own functions")
                .at(name.span));
        }
        if self.loaded {
            return Err(Error::new("module-exists", format!("module '{CORE}' is loaded"))
                .with_detail(format!("A module with name '{CORE}' already exists"))
                .at(name.span));
        }
        *self = Self::default();
        Ok(ResultBody::Done)
    }

    /// UNLOAD MODULE.
    ///
    /// # Errors
    /// `unknown-module`.
    pub fn unload(&mut self, name: &Ident) -> Result<ResultBody> {
        self.check(name)?;
        *self = Self { loaded: false, used: false };
        Ok(ResultBody::Done)
    }

    /// USE MODULES.
    ///
    /// # Errors
    /// `unknown-module`, `duplicate-module`.
    pub fn use_only(&mut self, names: &[Ident]) -> Result<ResultBody> {
        for (at, name) in names.iter().enumerate() {
            if names.iter().take(at).any(|earlier| earlier.value == name.value) {
                return Err(Error::new("duplicate-module", format!("module '{}' stands twice", name.value))
                    .with_detail(format!("Module '{}' appears more than once", name.value))
                    .at(name.span));
            }
            self.check(name)?;
        }
        self.used = names.iter().any(|name| name.value == CORE);
        Ok(ResultBody::Done)
    }

    fn check(&self, name: &Ident) -> Result<()> {
        if self.loaded && name.value == CORE {
            return Ok(());
        }
        let error = Error::new("unknown-module", format!("module '{}' is not loaded", name.value))
            .with_detail(format!("No module with name '{}' exists", name.value))
            .at(name.span);
        Err(if name.value == CORE { error.with_hint("use LOAD MODULE core") } else { error })
    }
}
