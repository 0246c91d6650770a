//! Messages on their way to one controller: a bounded queue that never makes the sender wait.

use std::pin::Pin;
use std::task::{Context, Poll};

use proto::p4::v1::StreamMessageResponse;
use tokio::sync::{mpsc, oneshot};
use tokio_stream::Stream;

/// Messages that may wait for a controller that does not read.
pub const MOST_WAITING: usize = 4096;
/// A controller whose queue stays full for this many nanoseconds is given up.
const PATIENCE: u64 = 10_000_000_000;

/// The sender's side.
#[derive(Debug)]
pub struct Outbox {
    messages: mpsc::Sender<StreamMessageResponse>,
    close: Option<oneshot::Sender<tonic::Status>>,
    full_since: Option<u64>,
    dropped: u64,
}

/// The controller's side: what tonic sends.
#[derive(Debug)]
pub struct OutboxStream {
    messages: mpsc::Receiver<StreamMessageResponse>,
    close: Option<oneshot::Receiver<tonic::Status>>,
}

/// Tells when the controller's side is closed. It keeps the stream open, as the outbox does.
#[derive(Debug)]
pub struct Gone(mpsc::Sender<StreamMessageResponse>);

impl Gone {
    pub async fn wait(&self) {
        self.0.closed().await;
    }
}

/// What became of a message.
#[derive(Debug, PartialEq, Eq)]
pub enum Sent {
    Queued,
    /// The queue is full; how many were dropped since it was not.
    Dropped(u64),
    /// The queue was full for too long, and the stream is closed.
    GaveUp,
}

pub fn channel() -> (Outbox, OutboxStream) {
    let (sender, receiver) = mpsc::channel(MOST_WAITING);
    let (close, closed) = oneshot::channel();
    (
        Outbox { messages: sender, close: Some(close), full_since: None, dropped: 0 },
        OutboxStream { messages: receiver, close: Some(closed) },
    )
}

impl Outbox {
    pub fn gone(&self) -> Gone {
        Gone(self.messages.clone())
    }

    /// Queues what may be lost: packets, digests, timeouts, errors.
    pub fn offer(&mut self, message: StreamMessageResponse, now: u64) -> Sent {
        match self.messages.try_send(message) {
            Ok(()) => {
                self.full_since = None;
                self.dropped = 0;
                Sent::Queued
            }
            Err(_) => {
                self.dropped += 1;
                if now.saturating_sub(*self.full_since.get_or_insert(now)) >= PATIENCE {
                    self.give_up();
                    return Sent::GaveUp;
                }
                Sent::Dropped(self.dropped)
            }
        }
    }

    /// Queues what must not be lost; a controller that can't take it is given up.
    pub fn send(&mut self, message: StreamMessageResponse) -> Sent {
        match self.messages.try_send(message) {
            Ok(()) => Sent::Queued,
            Err(_) => {
                self.give_up();
                Sent::GaveUp
            }
        }
    }

    /// Ends the stream with an error; what waits is not sent.
    pub fn close(&mut self, status: tonic::Status) {
        if let Some(close) = self.close.take() {
            // The stream may be gone already, and then nobody needs to be told.
            let _ = close.send(status);
        }
    }

    fn give_up(&mut self) {
        self.close(tonic::Status::resource_exhausted(format!(
            "the controller does not read its stream: {MOST_WAITING} messages wait; connect again"
        )));
    }
}

impl Stream for OutboxStream {
    type Item = Result<StreamMessageResponse, tonic::Status>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Some(close) = &mut self.close {
            match Pin::new(close).poll(context) {
                Poll::Ready(Ok(status)) => {
                    self.close = None;
                    self.messages.close();
                    while self.messages.try_recv().is_ok() {}
                    return Poll::Ready(Some(Err(status)));
                }
                Poll::Ready(Err(_)) => self.close = None,
                Poll::Pending => {}
            }
        }
        self.messages.poll_recv(context).map(|message| message.map(Ok))
    }
}

#[cfg(test)]
mod tests {
    use tokio_stream::StreamExt;

    use super::*;

    #[tokio::test]
    async fn a_controller_that_does_not_read_loses_messages_and_then_its_stream() {
        let (mut outbox, mut stream) = channel();
        for _ in 0..MOST_WAITING {
            assert_eq!(outbox.offer(StreamMessageResponse::default(), 0), Sent::Queued);
        }
        assert_eq!(outbox.offer(StreamMessageResponse::default(), 5), Sent::Dropped(1));
        assert_eq!(outbox.offer(StreamMessageResponse::default(), PATIENCE + 4), Sent::Dropped(2));
        assert_eq!(outbox.offer(StreamMessageResponse::default(), PATIENCE + 5), Sent::GaveUp);
        let error = stream.next().await.unwrap().unwrap_err();
        assert_eq!(error.code(), tonic::Code::ResourceExhausted);
        assert!(error.message().contains("does not read"), "{}", error.message());
        assert!(stream.next().await.is_none());
    }

    #[tokio::test]
    async fn a_controller_that_reads_again_is_forgiven() {
        let (mut outbox, mut stream) = channel();
        for _ in 0..=MOST_WAITING {
            outbox.offer(StreamMessageResponse::default(), 0);
        }
        assert!(stream.next().await.unwrap().is_ok());
        assert_eq!(outbox.offer(StreamMessageResponse::default(), PATIENCE), Sent::Queued);
        assert_eq!(outbox.offer(StreamMessageResponse::default(), PATIENCE), Sent::Dropped(1));
    }

    #[tokio::test]
    async fn what_must_not_be_lost_ends_the_stream_when_it_does_not_fit() {
        let (mut outbox, mut stream) = channel();
        for _ in 0..MOST_WAITING {
            assert_eq!(outbox.send(StreamMessageResponse::default()), Sent::Queued);
        }
        assert_eq!(outbox.send(StreamMessageResponse::default()), Sent::GaveUp);
        assert!(stream.next().await.unwrap().is_err());
    }

    #[tokio::test]
    async fn a_stream_ends_without_error_when_the_outbox_is_dropped() {
        let (mut outbox, mut stream) = channel();
        outbox.send(StreamMessageResponse::default());
        drop(outbox);
        assert!(stream.next().await.unwrap().is_ok());
        assert!(stream.next().await.is_none());
    }
}
