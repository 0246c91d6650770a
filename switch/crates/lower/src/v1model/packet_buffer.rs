//! Calls of packet buffers, whose extern is beside v1model's own.

use hir::Expr;
use hir::instances::InstanceId;
use ir::{Inst, Operand};
use syntax::source::Span;

use crate::context::{Block, Lower, R, fail};
use crate::externs::Called;
use crate::value::Value;

impl Lower<'_> {
    pub fn call_buffer(&mut self, span: Span, instance: InstanceId, method: &str, given: &[&Expr]) -> R<Called> {
        if self.block != Block::Ingress {
            return fail(span, "a packet buffer can only be used in ingress, where the packet is as it came in");
        }
        let Some(&buffer) = self.objects.buffers.get(&instance) else { return Ok(Called::NoValue) };
        match (method, given) {
            ("keep", [queue, number, microseconds, list]) => {
                let (queue, number) = (self.scalar(queue)?, self.scalar(number)?);
                let microseconds = self.scalar(microseconds)?;
                let fields = self.field_list(list)?;
                let dst = self.b.temp(1);
                self.b.push(Inst::BufferKeep { dst, buffer, queue, number, microseconds, fields });
                return Ok(Called::Value(Value::Scalar(Operand::Temp(dst))));
            }
            ("release", [queue, number]) => {
                let (queue, number) = (self.scalar(queue)?, self.scalar(number)?);
                self.b.push(Inst::BufferRelease { buffer, queue, number });
            }
            ("send", [queue, number]) => {
                let (queue, number) = (self.scalar(queue)?, self.scalar(number)?);
                self.b.push(Inst::BufferSend { buffer, queue, number });
            }
            _ => return fail(span, format!("packet_buffer.p4 has no `packet_buffer.{method}` with these arguments")),
        }
        Ok(Called::NoValue)
    }
}
