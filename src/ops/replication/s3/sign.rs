//! Signatures for S3: AWS Signature Version 4 in the header, with the payload's digest.

use crate::keys::{hex, hmac_sha256};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use sha2::{Digest, Sha256};

const ALGORITHM: &str = "AWS4-HMAC-SHA256";
/// The characters that are encoded in a query.
const QUERY: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
const PATH: &AsciiSet = &QUERY.remove(b'/');

/// The signed parts of a request.
pub(super) struct Signed<'r> {
    pub method: &'r str,
    /// As it is sent ([`encoded_path`]).
    pub path: &'r str,
    /// As it is sent ([`encoded_query`]).
    pub query: &'r str,
    /// All that are signed, in the order of their names, which are in lower case.
    pub headers: &'r [(&'r str, String)],
    /// SHA-256 in hex.
    pub payload: &'r str,
}

/// The access key and the region.
pub(super) struct Signer<'s> {
    pub key_id: &'s str,
    pub secret: &'s str,
    pub region: &'s str,
}

pub(super) fn encoded_path(path: &str) -> String {
    utf8_percent_encode(path, PATH).to_string()
}

/// Encodes a query, sorted by name as the signature demands.
pub(super) fn encoded_query(query: &[(&str, &str)]) -> String {
    let encoded = |text| utf8_percent_encode(text, QUERY).to_string();
    let mut pairs: Vec<String> =
        query.iter().map(|(name, value)| format!("{}={}", encoded(name), encoded(value))).collect();
    pairs.sort();
    pairs.join("&")
}

impl Signed<'_> {
    /// The header `authorization`. `moment`: `20130524T000000Z`, as `x-amz-date` has it.
    pub(super) fn authorization(&self, moment: &str, signer: &Signer) -> String {
        let day = &moment[..8];
        let scope = format!("{day}/{}/s3/aws4_request", signer.region);
        let text = format!("{ALGORITHM}\n{moment}\n{scope}\n{}", hex(&Sha256::digest(self.canonical())));
        let mut key = format!("AWS4{}", signer.secret).into_bytes();
        for part in [day, signer.region, "s3", "aws4_request"] {
            key = hmac_sha256(&key, &[part.as_bytes()]).to_vec();
        }
        let signature = hex(&hmac_sha256(&key, &[text.as_bytes()]));
        let (key_id, names) = (signer.key_id, self.names());
        format!("{ALGORITHM} Credential={key_id}/{scope},SignedHeaders={names},Signature={signature}")
    }

    fn canonical(&self) -> String {
        let headers: String = self.headers.iter().map(|(name, value)| format!("{name}:{}\n", value.trim())).collect();
        let Signed { method, path, query, payload, .. } = self;
        format!("{method}\n{path}\n{query}\n{headers}\n{}\n{payload}", self.names())
    }

    fn names(&self) -> String {
        self.headers.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(";")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXAMPLE: Signer = Signer {
        key_id: "AKIAIOSFODNN7EXAMPLE",
        secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        region: "us-east-1",
    };

    /// The examples of Amazon's "Signature Calculations for the Authorization Header: Transferring Payload in a Single Chunk":
    /// the digest of the canonical request, and the signature.
    #[test]
    fn the_published_examples_have_the_published_signatures() {
        type Example<'e> =
            (&'e str, &'e str, &'e [(&'e str, &'e str)], &'e [(&'e str, &'e str)], &'e str, [&'e str; 2]);
        let examples: [Example; 4] = [
            (
                "GET",
                "/test.txt",
                &[],
                &[("range", "bytes=0-9")],
                "",
                [
                    "7344ae5b7ee6c3e7e6b0fe0640412a37625d1fbfff95c48bbb2dc43964946972",
                    "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
                ],
            ),
            (
                "PUT",
                "/test$file.text",
                &[],
                &[("date", "Fri, 24 May 2013 00:00:00 GMT"), ("x-amz-storage-class", "REDUCED_REDUNDANCY")],
                "Welcome to Amazon S3.",
                [
                    "9e0e90d9c76de8fa5b200d8c849cd5b8dc7a3be3951ddb7f6a76b4158342019d",
                    "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
                ],
            ),
            (
                "GET",
                "/",
                &[("lifecycle", "")],
                &[],
                "",
                [
                    "9766c798316ff2757b517bc739a67f6213b4ab36dd5da2f94eaebf79c77395ca",
                    "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543",
                ],
            ),
            (
                "GET",
                "/",
                &[("prefix", "J"), ("max-keys", "2")],
                &[],
                "",
                [
                    "df57d21db20da04d7fa30298dd4488ba3a2b47ca3a489c74750e0f1e7df1b9b7",
                    "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
                ],
            ),
        ];
        for (method, path, query, more, body, [digest, signature]) in examples {
            let payload = hex(&Sha256::digest(body));
            let mut headers = vec![
                ("host", "examplebucket.s3.amazonaws.com".to_owned()),
                ("x-amz-content-sha256", payload.clone()),
                ("x-amz-date", "20130524T000000Z".to_owned()),
            ];
            headers.extend(more.iter().map(|(name, value)| (*name, (*value).to_owned())));
            headers.sort();
            let (path, query) = (encoded_path(path), encoded_query(query));
            let signed = Signed { method, path: &path, query: &query, headers: &headers, payload: &payload };
            assert_eq!(hex(&Sha256::digest(signed.canonical())), digest, "{method} {path}?{query}");
            let said = signed.authorization("20130524T000000Z", &EXAMPLE);
            assert!(said.ends_with(&format!(",Signature={signature}")), "{method} {path}?{query}: {said}");
            let start = "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,";
            assert!(said.starts_with(start) && !said.contains("EXAMPLEKEY"), "{said}");
        }
    }

    #[test]
    fn a_value_in_a_query_is_encoded_once_and_a_slash_in_a_path_stays() {
        assert_eq!(encoded_query(&[("prefix", "a b/c+d"), ("delimiter", "/")]), "delimiter=%2F&prefix=a%20b%2Fc%2Bd");
        assert_eq!(encoded_path("/box/site-1/2026-11-21T12-00-00Z"), "/box/site-1/2026-11-21T12-00-00Z");
    }
}
