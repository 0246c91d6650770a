//! Primitives that work on counters, meters, registers, hashes, random numbers and digests.

use ir::{Arg, HashAlgorithm, Inst, Operand};
use lower::value::{Value, Values, arg, number};
use num_traits::ToPrimitive;

use crate::context::Translation;
use crate::error::{Error, Result, fail};
use crate::expr::Expr;
use crate::model::{Calculation, Input, Primitive};

impl<'d> Translation<'d> {
    pub fn extern_primitive(&mut self, primitive: &Primitive) -> Result<()> {
        match (primitive.op.as_str(), primitive.parameters.as_slice()) {
            ("count", [Expr::Object(_, counter), index]) => {
                let found = self.objects.counters.get(counter);
                let counter = *found.ok_or_else(|| Error::new(format!("there is no counter {counter}")))?;
                let index = self.index(index, u128::from(u32::MAX))?;
                self.b.push(Inst::Count { counter, index });
                Ok(())
            }
            ("execute_meter", [Expr::Object(_, meter), index, colour]) => {
                let found = self.objects.meters.get(meter);
                let meter = *found.ok_or_else(|| Error::new(format!("there is no meter {meter}")))?;
                let index = self.index(index, u128::from(u32::MAX))?;
                let colour = self.spot(colour)?;
                let dst = self.b.temp(2);
                self.b.push(Inst::Meter { dst, meter, index, before: None });
                let value = self.resize(&Value::Scalar(Operand::Temp(dst)), 2, colour.width, false);
                self.put(colour, &value);
                Ok(())
            }
            ("register_read", [to, Expr::Object(_, register), index]) => {
                let cell = Expr::Register(register.clone(), Box::new(index.clone()));
                self.assign(to, &cell)
            }
            ("register_write", [Expr::Object(_, register), index, value]) => {
                self.register_write(register, index, value)
            }
            ("modify_field_with_hash_based_offset", [to, base, Expr::Object(_, calculation), max]) => {
                let to = self.spot(to)?;
                let base = self.argument_of(base)?;
                let calculation = self.calculation(calculation)?;
                let algorithm = algorithm(&calculation.algo)?;
                let (data, _) = self.inputs(&calculation.input)?;
                let max = self.argument_of(max)?;
                let (dst, value) = self.dest(to.width);
                self.b.push(Inst::Hash { dst, algorithm, base, data, max });
                self.put(to, &value);
                Ok(())
            }
            ("modify_field_rng_uniform", [to, low, high]) => {
                let to = self.spot(to)?;
                let (lo, hi) = (self.low(low, to.width)?, self.low(high, to.width)?);
                let (lo, hi) = (arg(&lo, to.width), arg(&hi, to.width));
                let (dst, value) = self.dest(to.width);
                self.b.push(Inst::Random { dst, lo, hi });
                self.put(to, &value);
                Ok(())
            }
            ("generate_digest", [_, Expr::Number(list)]) => {
                let number = list.to_u32().unwrap_or(u32::MAX);
                let digest = self.objects.digests.get(&number);
                let digest = *digest.ok_or_else(|| Error::new(format!("there is no learn list {list}")))?;
                let document = self.document;
                let list = document.learn_lists.iter().find(|list| list.id == number);
                let (data, _) = self.inputs(list.map_or(&[], |list| &list.elements))?;
                self.b.push(Inst::Digest { digest, data });
                Ok(())
            }
            (name, parameters) => {
                fail(format!("primitive `{name}` with {} such parameters is not supported", parameters.len()))
            }
        }
    }

    pub fn register_write(&mut self, register: &str, index: &Expr, value: &Expr) -> Result<()> {
        let (register, width) = self.register(register)?;
        let index = self.index(index, u128::from(u32::MAX))?;
        let value = self.low(value, width)?;
        self.b.push(Inst::RegisterWrite { register, index, value: arg(&value, width) });
        Ok(())
    }

    pub fn calculation(&self, name: &str) -> Result<&'d Calculation> {
        let found = self.document.calculations.iter().find(|calculation| calculation.name == name);
        found.ok_or_else(|| Error::new(format!("there is no calculation {name}")))
    }

    /// What a list takes in, and whether the payload is in it.
    pub fn inputs(&mut self, inputs: &[Input]) -> Result<(Vec<Arg>, bool)> {
        let (mut args, mut payload) = (Vec::new(), false);
        for input in inputs {
            match input {
                Input::Payload => payload = true,
                Input::Number(value, width) if *width > 0 => args.push(arg(&number(value, *width), *width)),
                Input::Number(..) => {}
                Input::Value(Expr::Header(name)) => {
                    let header = self.header(name)?.clone();
                    for field in &header.ty.fields {
                        args.push(self.argument_of(&Expr::Field(name.clone(), field.name.clone()))?);
                    }
                }
                Input::Value(value) => args.push(self.argument_of(value)?),
            }
        }
        Ok((args, payload))
    }
}

pub fn algorithm(name: &str) -> Result<HashAlgorithm> {
    Ok(match name {
        "crc32" => HashAlgorithm::Crc32,
        "crc32_custom" => HashAlgorithm::Crc32Custom,
        "crc16" => HashAlgorithm::Crc16,
        "crc16_custom" => HashAlgorithm::Crc16Custom,
        "random" => HashAlgorithm::Random,
        "identity" => HashAlgorithm::Identity,
        "csum16" => HashAlgorithm::Csum16,
        "xor16" => HashAlgorithm::Xor16,
        _ => return fail(format!("hash algorithm `{name}` is not supported")),
    })
}
