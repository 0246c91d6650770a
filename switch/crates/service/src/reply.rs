//! Statuses on the wire (spec "Error Reporting Messages").

use control::{Code, Status};
use prost::Message;
use prost::bytes::Bytes;
use prost_types::Any;

/// Error details travel in a header, which clients bound: 8 KiB by default, 64 KiB in finsy. Base64 adds a third.
const MOST_DETAILS: usize = 44 * 1024;

/// The status of a whole call.
pub fn status(status: Status) -> tonic::Status {
    tonic::Status::new(tonic::Code::from_i32(status.code as i32), status.message)
}

/// The status of a batch: fine if every part is, otherwise UNKNOWN with one `p4.v1.Error` for each part.
pub fn batch(what: &str, statuses: &[Status]) -> Result<(), tonic::Status> {
    let mut failed = statuses.iter().enumerate().filter(|(_, status)| !status.is_ok());
    let Some((at, first)) = failed.next() else { return Ok(()) };
    let count = 1 + failed.count();
    let message = format!("{count} of {} {what} failed, the first at {at}: {}", statuses.len(), first.message);
    let mut details = encode(&message, statuses.iter().map(Status::to_p4_error));
    if details.len() > MOST_DETAILS {
        // The codes matter to programs, the texts to people, who start with the first.
        details = encode(&message, statuses.iter().map(|status| Status::new(status.code, "").to_p4_error()));
    }
    if details.len() > MOST_DETAILS {
        details = encode(&message, std::iter::empty());
    }
    Err(tonic::Status::with_details(tonic::Code::Unknown, message, Bytes::from(details)))
}

fn encode(message: &str, errors: impl Iterator<Item = proto::p4::v1::Error>) -> Vec<u8> {
    let details = errors
        .map(|error| Any { type_url: "type.googleapis.com/p4.v1.Error".to_owned(), value: error.encode_to_vec() });
    let status = proto::google::rpc::Status {
        code: Code::Unknown as i32,
        message: message.to_owned(),
        details: details.collect(),
    };
    status.encode_to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn details(status: &tonic::Status) -> Vec<(i32, String)> {
        let status = proto::google::rpc::Status::decode(status.details()).unwrap();
        let decode = |any: Any| proto::p4::v1::Error::decode(&*any.value).unwrap();
        status.details.into_iter().map(decode).map(|error| (error.canonical_code, error.message)).collect()
    }

    #[test]
    fn each_part_of_a_batch_has_its_own_error() {
        let statuses = [Status::new(Code::NotFound, "no t"), Status::ok(), Status::new(Code::OutOfRange, "k")];
        let error = batch("updates", &statuses).unwrap_err();
        assert_eq!(error.code(), tonic::Code::Unknown);
        assert_eq!(error.message(), "2 of 3 updates failed, the first at 0: no t");
        assert_eq!(details(&error), [(5, "no t".to_owned()), (0, String::new()), (11, "k".to_owned())]);
        assert!(batch("updates", &[Status::ok()]).is_ok());
    }

    #[test]
    fn details_that_no_header_can_hold_lose_their_texts_first() {
        let status = Status::new(Code::NotFound, "x".repeat(100));
        let error = batch("updates", &vec![status.clone(); 900]).unwrap_err();
        assert_eq!(details(&error), vec![(5, String::new()); 900]);
        let error = batch("updates", &vec![status; 9000]).unwrap_err();
        assert!(details(&error).is_empty() && error.message().starts_with("9000 of 9000"));
    }
}
