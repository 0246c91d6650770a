//! What clients may ask at a time.

use crate::common::*;
use proto::p4::v1::{CapabilitiesRequest, StreamMessageRequest};
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Code, Request};

#[tokio::test]
async fn there_are_so_many_streams_and_one_that_ends_makes_room() {
    let served = Served::new().await;
    let mut open = Vec::new();
    for _ in 0..2 {
        let client = served.client().await;
        for _ in 0..32 {
            let (requests, receiver) = tokio::sync::mpsc::channel::<StreamMessageRequest>(1);
            let answers = client.clone().stream_channel(ReceiverStream::new(receiver)).await.unwrap();
            open.push((requests, answers));
        }
    }
    let (_requests, receiver) = tokio::sync::mpsc::channel::<StreamMessageRequest>(1);
    let mut client = served.client().await;
    let refused = client.stream_channel(ReceiverStream::new(receiver)).await.unwrap_err();
    assert_eq!(refused.code(), Code::ResourceExhausted);
    client.capabilities(CapabilitiesRequest::default()).await.unwrap();
    open.pop();
    loop {
        let (_requests, receiver) = tokio::sync::mpsc::channel::<StreamMessageRequest>(1);
        if client.stream_channel(ReceiverStream::new(receiver)).await.is_ok() {
            break;
        }
    }
}

#[tokio::test]
async fn headers_are_bounded() {
    let served = Served::new().await;
    let mut client = served.client().await;
    let mut request = Request::new(CapabilitiesRequest::default());
    request.metadata_mut().insert("much", "x".repeat(32 << 10).parse().unwrap());
    client.capabilities(request).await.unwrap_err();
    client.capabilities(CapabilitiesRequest::default()).await.unwrap();
}

#[tokio::test]
async fn who_holds_a_stream_stays_while_others_come_and_go() {
    let served = Served::new().await;
    let mut controller = served.controller(10).await;
    assert_eq!(controller.arbitration().await.0, 0);
    let mut others = Vec::new();
    for _ in 0..100 {
        others.push(tokio::net::TcpStream::connect(("127.0.0.1", served.port)).await.unwrap());
    }
    served.client().await.capabilities(CapabilitiesRequest::default()).await.unwrap();
    controller.bid(proto::p4::v1::MasterArbitrationUpdate { election_id: id(11), ..bid() }).await;
    assert_eq!(controller.arbitration().await, (0, Some(11)));
}
