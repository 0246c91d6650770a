//! Checksum objects: a sum that lives from the start of the block that holds it to its end.

use hir::Expr;
use hir::instances::{Instance, InstanceId, Value as Constant};
use ir::{Arg, BinaryOp, HashAlgorithm, Inst, Operand, Place, Symbol, SymbolKind};

use crate::context::{Lower, R, fail};
use crate::value::{Value, Values};

/// Of the Internet checksum.
const WIDTH: u32 = 16;

/// Of `IDENTITY`, and of the number of its octets.
const IDENTITY: u32 = 64;
pub const OCTETS: u32 = 8;

/// Where a sum is kept. Each begins with 0, which is also the CRC of nothing.
#[derive(Clone, Copy)]
pub struct Checksum {
    pub place: Place,
    pub algorithm: HashAlgorithm,
}

impl Checksum {
    /// Where `IDENTITY` keeps how many octets it has.
    pub fn octets(self) -> Place {
        Place::at(self.place.offset + 8)
    }

    pub fn width(self) -> u32 {
        match self.algorithm {
            HashAlgorithm::Crc32 | HashAlgorithm::Crc32Custom => 32,
            HashAlgorithm::Identity => IDENTITY,
            _ => WIDTH,
        }
    }
}

impl Lower<'_> {
    /// Objects that only PSA has.
    pub fn make_psa_extern(&mut self, id: InstanceId, instance: &Instance) -> R<()> {
        let hir::Type::Extern(decl, _) = self.hir.types.get(instance.ty) else { return Ok(()) };
        let algorithm = match self.hir.types.externs[*decl].name.as_str() {
            "InternetChecksum" => HashAlgorithm::Csum16,
            "Checksum" => match instance.args.first() {
                Some(Some(Constant::EnumMember(ty, index))) => self.algorithm_of(*ty, *index, instance.span)?,
                _ => return fail(instance.span, "a checksum needs a hash algorithm"),
            },
            _ => return Ok(()),
        };
        let offset = self.out.frame.persistent;
        let checksum = Checksum { place: Place::at(offset), algorithm };
        let kind = SymbolKind::Bits(checksum.width());
        self.out.frame.symbols.push(Symbol { name: instance.name.clone(), offset, kind });
        self.extend_persistent(8);
        if algorithm == HashAlgorithm::Identity {
            // `Checksum::octets`.
            self.extend_persistent(8);
        }
        self.objects.checksums.insert(id, checksum);
        Ok(())
    }

    /// Begins the sums of a parser or control afresh, which happens each time that it is applied.
    pub fn clear_checksums(&mut self) {
        let instances = self.instances;
        let own = self.objects.checksums.iter().filter(|(id, _)| instances.get(**id).parent == Some(self.instance));
        let mut own: Vec<Checksum> = own.map(|(_, checksum)| *checksum).collect();
        own.sort_by_key(|checksum| checksum.place.offset);
        for checksum in own {
            self.clear(checksum);
        }
    }

    fn clear(&mut self, checksum: Checksum) {
        self.b.store(checksum.place, checksum.width(), Operand::Imm(0));
        if checksum.algorithm == HashAlgorithm::Identity {
            self.b.store(checksum.octets(), OCTETS, Operand::Imm(0));
        }
    }

    /// The methods of `Checksum` and `InternetChecksum`.
    pub fn checksum_method(
        &mut self,
        method: &str,
        instance: InstanceId,
        given: &[&Expr],
        call: &Expr,
    ) -> R<Option<Value>> {
        let Some(&checksum) = self.objects.checksums.get(&instance) else { return Ok(None) };
        let (place, width) = (checksum.place, checksum.width());
        let is_ones_complement = checksum.algorithm == HashAlgorithm::Csum16;
        match (method, given) {
            ("clear", []) => self.clear(checksum),
            ("update", [data]) if checksum.algorithm == HashAlgorithm::Identity => {
                self.continue_identity(checksum, data)?;
            }
            ("update", [data]) if !is_ones_complement => self.continue_crc(checksum, data)?,
            ("add" | "update", [data]) => {
                let negated = self.sum_of(data)?;
                let sum = self.b.unary(ir::UnaryOp::Not, WIDTH, negated);
                self.add_to(place, sum);
            }
            // RFC 1624, equation 3: to take a number away is to add its complement.
            ("subtract", [data]) => {
                let negated = self.sum_of(data)?;
                self.add_to(place, negated);
            }
            ("get", []) => {
                let sum = self.b.load(place, width);
                let value = if is_ones_complement { self.b.unary(ir::UnaryOp::Not, width, sum) } else { sum };
                let wanted = self.width(call.ty, call.span)?;
                return Ok(Some(self.resize(&Value::Scalar(value), width, wanted, false)));
            }
            ("get_state", []) => return Ok(Some(Value::Scalar(self.b.load(place, WIDTH)))),
            ("set_state", [state]) => {
                let state = self.scalar(state)?;
                self.b.store(place, WIDTH, state);
            }
            _ => return fail(call.span, format!("a checksum has no `{method}` with these arguments")),
        }
        Ok(None)
    }

    /// The complement of the one's complement sum of data.
    fn sum_of(&mut self, data: &Expr) -> R<Operand> {
        let mut list = Vec::new();
        self.args(data, &mut list)?;
        let bits: u32 = list.iter().map(Arg::width).sum();
        let varies = list.iter().any(|arg| matches!(arg, Arg::Varbit(..)));
        if !varies && !bits.is_multiple_of(WIDTH) {
            return fail(data.span, format!("a checksum takes a multiple of 16 bits, not {bits}"));
        }
        let dst = self.b.temp(WIDTH);
        let algorithm = HashAlgorithm::Csum16;
        self.b.push(Inst::Checksum { dst: ir::Dest::Temp(dst), algorithm, data: list, payload: false });
        Ok(Operand::Temp(dst))
    }

    /// One's complement addition: what carries out at the top comes in at the bottom.
    fn add_to(&mut self, place: Place, number: Operand) {
        let sum = self.b.load(place, WIDTH);
        let wide = [sum, number].map(|part| self.b.resize(part, WIDTH, 32, false));
        let sum = self.b.binary(BinaryOp::Add, 32, wide[0], wide[1]);
        let carry = self.b.binary(BinaryOp::Shr, 32, sum, Operand::Imm(16));
        let low = self.b.resize(sum, 32, WIDTH, false);
        let carry = self.b.resize(carry, 32, WIDTH, false);
        let sum = self.b.binary(BinaryOp::Add, WIDTH, low, carry);
        self.b.store(place, WIDTH, sum);
    }
}
