//! What the server said of a batch.

use serde::Deserialize;

/// The body of an answer; where a limit struck in the middle, results are missing at its end.
#[derive(Default, Deserialize)]
pub struct Answer {
    #[serde(default)]
    pub results: Vec<LineResult>,
    pub error: Option<AnswerError>,
}

#[derive(Deserialize)]
pub struct LineResult {
    /// From 1, in the batch.
    pub line: usize,
    #[serde(flatten)]
    pub status: LineStatus,
}

#[derive(Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum LineStatus {
    Accepted,
    Duplicate,
    Rejected {
        #[serde(default)]
        field: String,
        #[serde(default)]
        expected: String,
    },
}

#[derive(Deserialize)]
pub struct AnswerError {
    pub code: String,
    pub message: String,
}

/// What is to be done with the lines that have no result.
#[derive(Debug, PartialEq, Eq)]
pub enum Rest {
    /// Sent again, after a while.
    Later,
    /// Sent again in smaller batches.
    Smaller,
    /// Given up: the server will never take them.
    Refused,
}

impl Rest {
    /// Client errors last, but for those that an operator mends (a token, a path, a proxy), those that
    /// time mends, and gzip data that was damaged on its way. `code` is that of the answer's error.
    pub fn after(status: u16, code: Option<&str>) -> Self {
        match status {
            400 if code == Some("encoding") => Self::Later,
            413 => Self::Smaller,
            401 | 403 | 404 | 405 | 407 | 408 | 421 | 425 | 429 => Self::Later,
            400..=499 => Self::Refused,
            _ => Self::Later,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Answer, LineStatus, Rest};

    #[test]
    fn reads_results_and_error() -> serde_json::Result<()> {
        let answer: Answer = serde_json::from_str(
            r#"{"lines":3,"accepted":1,"duplicate":1,"rejected":1,"results":[
                {"line":1,"status":"accepted","unknown_type":"later"},
                {"line":2,"status":"duplicate"},
                {"line":3,"status":"rejected","field":"tenant_id","expected":"\"acme\""}],
                "error":{"code":"store_unavailable","message":"no space"}}"#,
        )?;
        let [first, second, third] = answer.results.as_slice() else {
            panic!("expected three results");
        };
        assert!(matches!(first.status, LineStatus::Accepted));
        assert!(matches!(second.status, LineStatus::Duplicate));
        assert!(
            matches!(&third.status, LineStatus::Rejected { field, expected }
                if field == "tenant_id" && expected == "\"acme\"")
        );
        assert_eq!((first.line, second.line, third.line), (1, 2, 3));
        assert_eq!(
            answer.error.map(|error| error.code).as_deref(),
            Some("store_unavailable")
        );
        Ok(())
    }

    #[test]
    fn knows_what_passes() {
        for status in [200, 302, 401, 403, 404, 408, 429, 500, 502, 503, 504] {
            assert_eq!(Rest::after(status, None), Rest::Later, "{status}");
        }
        assert_eq!(Rest::after(400, Some("encoding")), Rest::Later);
        assert_eq!(Rest::after(413, Some("body_size")), Rest::Smaller);
        for status in [400, 415, 422] {
            assert_eq!(
                Rest::after(status, Some("dialect")),
                Rest::Refused,
                "{status}"
            );
            assert_eq!(Rest::after(status, None), Rest::Refused, "{status}");
        }
    }
}
