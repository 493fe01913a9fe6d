//! `calve explain`: what the codes of errors and warnings mean.
//!
//! A code has a page, `pages/CODE.md`: a title, a line that says what it means, and more with a wrong example and the
//! right one. A test holds the pages against the codes in the sources.

mod pages;

use pages::PAGES;

/// What a code means.
#[derive(Debug, Clone, Copy)]
pub struct Page {
    /// The code.
    pub code: &'static str,
    /// The page in Markdown.
    pub text: &'static str,
}

impl Page {
    /// What it means in one line: the first below the title.
    pub fn summary(&self) -> &'static str {
        self.text.lines().skip(1).find(|line| !line.is_empty()).unwrap_or(self.code)
    }
}

/// The page of a code.
pub fn page(code: &str) -> Option<&'static Page> {
    PAGES.iter().find(|page| page.code == code)
}

/// What `calve explain` prints: a code's page, or a line for each code.
///
/// # Errors
/// There is no such code; the text says which one may be meant.
pub fn explain(code: Option<&str>) -> Result<String, String> {
    let Some(code) = code else {
        let width = PAGES.iter().map(|page| page.code.len()).max().unwrap_or_default();
        return Ok(PAGES.iter().map(|page| format!("{:width$}  {}\n", page.code, page.summary())).collect());
    };
    // as it is copied from a message: error[code]
    let name = code.rsplit('[').next().unwrap_or(code).trim_end_matches(']').trim().to_ascii_lowercase();
    match page(&name) {
        Some(page) => Ok(page.text.to_owned()),
        None => Err(match calve_types::nearest(&name, PAGES.iter().map(|page| page.code)) {
            Some(near) => format!("there is no code '{name}'; did you mean '{near}'?"),
            None => format!("there is no code '{name}'; `calve explain` lists all codes"),
        }),
    }
}

#[cfg(test)]
mod tests;
