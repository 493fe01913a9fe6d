//! Signature Version 4 as a server checks it, written from its description: nothing here is shared with who signs.

use std::collections::BTreeMap;

use super::http::{Request, decoded};

/// Whether a request is signed.
pub fn verify(request: &Request, key: &str, secret: &str, region: &str, service: &str) -> Result<(), String> {
    let header = |name: &str| request.headers.get(name).cloned().ok_or_else(|| format!("there is no header {name}"));
    let authorization = header("authorization")?;
    let fields = authorization.strip_prefix("AWS4-HMAC-SHA256 ").ok_or("it is of another kind")?;
    let fields: BTreeMap<&str, &str> = fields.split(',').filter_map(|field| field.trim().split_once('=')).collect();
    let field = |name: &str| fields.get(name).copied().ok_or_else(|| format!("it has no {name}"));
    let time = header("x-amz-date")?;
    let scope = format!("{}/{region}/{service}/aws4_request", time.get(..8).unwrap_or_default());
    if field("Credential")? != format!("{key}/{scope}") {
        return Err(format!("the credential is {}", field("Credential")?));
    }
    let payload = header("x-amz-content-sha256")?;
    if payload != hex(&sha256(&request.body)) {
        return Err("the body is another one".to_owned());
    }
    let signed = field("SignedHeaders")?;
    for needed in ["host", "x-amz-date", "x-amz-content-sha256"] {
        if !signed.split(';').any(|name| name == needed) {
            return Err(format!("{needed} is not signed"));
        }
    }
    let mut headers = String::new();
    for name in signed.split(';') {
        let value = header(name)?;
        headers.push_str(&format!("{name}:{}\n", value.split_whitespace().collect::<Vec<_>>().join(" ")));
    }
    let query = request.target.split_once('?').map_or("", |(_, query)| query);
    let mut pairs: Vec<(String, String)> = query
        .split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        .map(|(key, value)| (encoded(&decoded(key), false), encoded(&decoded(value), false)))
        .collect();
    pairs.sort();
    let pairs: Vec<String> = pairs.iter().map(|(key, value)| format!("{key}={value}")).collect();
    // every service but S3 encodes the path once more
    let path = encoded(request.path(), true);
    let canonical = format!("{}\n{path}\n{}\n{headers}\n{signed}\n{payload}", request.method, pairs.join("&"));
    let to_sign = format!("AWS4-HMAC-SHA256\n{time}\n{scope}\n{}", hex(&sha256(canonical.as_bytes())));
    let date = hmac(format!("AWS4{secret}").as_bytes(), time.get(..8).unwrap_or_default().as_bytes());
    let signing = hmac(&hmac(&hmac(&date, region.as_bytes()), service.as_bytes()), b"aws4_request");
    if field("Signature")? != hex(&hmac(&signing, to_sign.as_bytes())) {
        return Err(format!("it does not fit:\n{canonical}"));
    }
    Ok(())
}

fn encoded(text: &str, keep_slash: bool) -> String {
    let kept = |b: u8| b.is_ascii_alphanumeric() || b"-._~".contains(&b) || (keep_slash && b == b'/');
    text.bytes().map(|b| if kept(b) { char::from(b).to_string() } else { format!("%{b:02X}") }).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// RFC 2104.
fn hmac(key: &[u8], text: &[u8]) -> [u8; 32] {
    let mut block = [0_u8; 64];
    let key = if key.len() > 64 { sha256(key).to_vec() } else { key.to_vec() };
    block[..key.len()].copy_from_slice(&key);
    let inner = sha256(&[block.map(|b| b ^ 0x36).as_slice(), text].concat());
    sha256(&[block.map(|b| b ^ 0x5c).as_slice(), &inner].concat())
}

/// FIPS 180-4. The constants are the fractions of the roots of the first primes.
pub fn sha256(text: &[u8]) -> [u8; 32] {
    let primes: Vec<u32> = (2..312).filter(|n| (2..*n).all(|d| n % d != 0)).collect();
    assert_eq!(primes.len(), 64);
    let fraction = |root: f64| ((root - root.floor()) * 4_294_967_296.0) as u32;
    let constants: Vec<u32> = primes.iter().map(|p| fraction(f64::from(*p).cbrt())).collect();
    let mut state: Vec<u32> = primes.iter().take(8).map(|p| fraction(f64::from(*p).sqrt())).collect();
    let mut padded = text.to_vec();
    padded.push(0x80);
    // room for the length behind it
    padded.resize((padded.len() + 8).next_multiple_of(64), 0);
    let end = padded.len() - 8;
    padded[end..].copy_from_slice(&(text.len() as u64 * 8).to_be_bytes());
    for block in padded.chunks(64) {
        let mut w: Vec<u32> = block.chunks(4).map(|c| u32::from_be_bytes(c.try_into().unwrap())).collect();
        for i in 16..64 {
            let (x, y) = (w[i - 15], w[i - 2]);
            let s0 = x.rotate_right(7) ^ x.rotate_right(18) ^ (x >> 3);
            let s1 = y.rotate_right(17) ^ y.rotate_right(19) ^ (y >> 10);
            w.push(w[i - 16].wrapping_add(s0).wrapping_add(w[i - 7]).wrapping_add(s1));
        }
        let mut v: [u32; 8] = state.clone().try_into().unwrap();
        for i in 0..64 {
            let [a, b, c, d, e, f, g, h] = v;
            let s1 = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
            let t1 = h.wrapping_add(s1).wrapping_add((e & f) ^ (!e & g)).wrapping_add(constants[i]).wrapping_add(w[i]);
            let s0 = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
            let t2 = s0.wrapping_add((a & b) ^ (a & c) ^ (b & c));
            v = [t1.wrapping_add(t2), a, b, c, d.wrapping_add(t1), e, f, g];
        }
        state.iter_mut().zip(v).for_each(|(s, v)| *s = s.wrapping_add(v));
    }
    let bytes: Vec<u8> = state.iter().flat_map(|s| s.to_be_bytes()).collect();
    bytes.try_into().unwrap()
}

#[test]
fn sha256_and_hmac_of_their_standards() {
    let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    assert_eq!(hex(&sha256(b"")), empty);
    assert_eq!(hex(&sha256(b"abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    // lengths around the block's end, against each other: RFC 4231's test cases 1 and 6
    let tests: [(&[u8], &[u8], &str); 2] = [
        (&[0x0b; 20], b"Hi There", "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"),
        (
            &[0xaa; 131],
            b"Test Using Larger Than Block-Size Key - Hash Key First",
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
        ),
    ];
    for (key, text, expected) in tests {
        assert_eq!(hex(&hmac(key, text)), expected);
    }
}
