//! Names of match fields.

use hir::instances::name_annotation;
use hir::{BinaryOp, Expr, ExprKind, Program, TableKey};
use num_bigint::BigInt;
use syntax::diag::Diagnostics;
use syntax::source::FileId;
use syntax::token::TokenKind;

/// The name of a key: what `@name` says, or the expression as it is written, with `$valid$` for `isValid()`.
pub fn key_name(program: &Program, key: &TableKey) -> String {
    match name_annotation(&key.annotations) {
        Some(name) => name.to_owned(),
        None => name(program, &key.expr, &numbers(&key.source)).unwrap_or_else(|| key.source.clone()),
    }
}

/// A number of the source and the base it is written in.
type Number = (BigInt, u32);

/// The checked program keeps no bases, so they come from the text.
fn numbers(source: &str) -> Vec<Number> {
    let tokens = syntax::lexer::lex(FileId::default(), source, &mut Diagnostics::new());
    let numbers = tokens.iter().filter(|token| token.kind == TokenKind::Number);
    numbers
        .filter_map(|token| {
            let text = token.text.replace('_', "").to_lowercase();
            // A width such as `8w` stands in front of the digits; no digit of a base in use is a `w` or an `s`.
            let digits = text.rsplit(['w', 's']).next().unwrap_or_default();
            let (base, digits) = match digits.as_bytes() {
                [b'0', b'x', ..] => (16, &digits[2..]),
                [b'0', b'b', ..] => (2, &digits[2..]),
                [b'0', b'o', ..] => (8, &digits[2..]),
                _ => (10, digits),
            };
            Some((BigInt::parse_bytes(digits.as_bytes(), base)?, base))
        })
        .collect()
}

fn number(value: &BigInt, numbers: &[Number]) -> String {
    match numbers.iter().find(|(other, _)| other == value) {
        Some((_, 16)) => format!("{value:#x}"),
        Some((_, 2)) => format!("{value:#b}"),
        Some((_, 8)) => format!("{value:#o}"),
        _ => value.to_string(),
    }
}

fn name(program: &Program, expr: &Expr, numbers: &[Number]) -> Option<String> {
    let inner = |expr: &Expr| name(program, expr, numbers);
    Some(match &expr.kind {
        ExprKind::Var(var) => program.vars[*var].name.clone(),
        ExprKind::Int(value) => number(value, numbers),
        ExprKind::Bool(value) => value.to_string(),
        ExprKind::Field(base, index) => {
            let field = program.types.fields(base.ty)?.get(*index)?;
            let own = name_annotation(&field.annotations).unwrap_or(&field.name);
            match own.strip_prefix('.') {
                Some(absolute) => absolute.to_owned(),
                None => format!("{}.{own}", inner(base)?),
            }
        }
        ExprKind::IsValid(base) => format!("{}.$valid$", inner(base)?),
        ExprKind::Index(base, index) => format!("{}[{}]", inner(base)?, inner(index)?),
        ExprKind::Slice { base, hi, lo } => {
            let bound = |bound: &u32| number(&BigInt::from(*bound), numbers);
            format!("{}[{}:{}]", inner(base)?, bound(hi), bound(lo))
        }
        ExprKind::Binary(BinaryOp::BitAnd, left, right) => format!("{} & {}", inner(left)?, inner(right)?),
        ExprKind::StackNext(base) => format!("{}.next", inner(base)?),
        ExprKind::StackLast(base) => format!("{}.last", inner(base)?),
        ExprKind::StackLastIndex(base) => format!("{}.lastIndex", inner(base)?),
        ExprKind::Cast(base) if matches!(base.kind, ExprKind::Int(_)) => inner(base)?,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_the_base_they_are_written_in() {
        let found = numbers("h.a[0x1F:8] & 8w0b11 & 0b101");
        let text: Vec<String> = found.iter().map(|(value, _)| number(value, &found)).collect();
        assert_eq!(text, ["0x1f", "8", "0b11", "0b101"]);
        assert_eq!(number(&BigInt::from(99), &found), "99");
    }
}
