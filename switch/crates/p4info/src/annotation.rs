//! Annotations as P4Info keeps them.

use hir::{Annotation, AnnotationBody, AnnotationValue};
use num_traits::ToPrimitive;
use proto::p4::config::v1 as info;
use syntax::diag::Diagnostics;
use syntax::source::{FileId, Span};
use syntax::token::{Token, TokenKind};

/// What P4Info says elsewhere.
const ELSEWHERE: [&str; 4] = ["name", "id", "brief", "description"];

pub fn find<'a>(annotations: &'a [Annotation], name: &str) -> Option<&'a Annotation> {
    annotations.iter().find(|annotation| annotation.name == name)
}

pub fn has(annotations: &[Annotation], name: &str) -> bool {
    find(annotations, name).is_some()
}

/// What `@id(number)` says, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Id {
    pub number: u32,
    pub span: Span,
}

/// `@id(number)`; that it is one number of 32 bits was checked before.
pub fn id(annotations: &[Annotation]) -> Option<Id> {
    let number = number(annotations, "id")?.to_u32()?;
    find(annotations, "id").map(|annotation| Id { number, span: annotation.span })
}

/// The number of `@name(number)`.
pub fn number<'a>(annotations: &'a [Annotation], name: &str) -> Option<&'a num_bigint::BigInt> {
    match values(annotations, name) {
        [AnnotationValue::Int(number), ..] => Some(number),
        _ => None,
    }
}

/// The string of `@name("string")`.
pub fn string<'a>(annotations: &'a [Annotation], name: &str) -> Option<&'a str> {
    match values(annotations, name) {
        [AnnotationValue::Str(text), ..] => Some(text),
        _ => None,
    }
}

fn values<'a>(annotations: &'a [Annotation], name: &str) -> &'a [AnnotationValue] {
    match find(annotations, name).map(|annotation| &annotation.body) {
        Some(AnnotationBody::Exprs(values)) => values,
        _ => &[],
    }
}

/// The tokens between the parentheses.
pub fn tokens(annotation: &Annotation) -> Vec<Token> {
    // Behind a parenthesis the lexer takes a string over several lines for one.
    let text = format!("({}", annotation.text.as_deref().unwrap_or_default());
    let mut tokens = syntax::lexer::lex(FileId::default(), &text, &mut Diagnostics::new());
    tokens.retain(|token| token.kind != TokenKind::Eof);
    tokens.split_off(1)
}

/// Unstructured annotations in p4c's spelling, a blank between all tokens, but for those that P4Info says elsewhere
/// and those in `without`.
pub fn texts(annotations: &[Annotation], without: &[&str]) -> Vec<String> {
    annotations
        .iter()
        .filter(|annotation| !annotation.is_structured())
        .filter(|annotation| !ELSEWHERE.contains(&&*annotation.name) && !without.contains(&&*annotation.name))
        .map(|annotation| {
            let tokens = tokens(annotation);
            let texts: Vec<&str> = tokens.iter().map(|token| &*token.text).collect();
            let body = if texts.is_empty() { String::new() } else { format!("({})", texts.join(" ")) };
            format!("@{}{body}", annotation.name)
        })
        .collect()
}

/// Annotations with brackets.
pub fn structured(annotations: &[Annotation]) -> Vec<info::StructuredAnnotation> {
    use info::structured_annotation::Body;
    let structured = annotations.iter().filter(|annotation| annotation.is_structured());
    structured
        .map(|annotation| info::StructuredAnnotation {
            name: annotation.name.clone(),
            body: match &annotation.body {
                AnnotationBody::Exprs(values) if !values.is_empty() => {
                    let expressions = values.iter().map(expression).collect();
                    Some(Body::ExpressionList(info::ExpressionList { expressions }))
                }
                AnnotationBody::KeyValues(pairs) => {
                    let pair = |(key, value): &(String, AnnotationValue)| info::KeyValuePair {
                        key: key.clone(),
                        value: Some(expression(value)),
                    };
                    let kv_pairs = pairs.iter().map(pair).collect();
                    Some(Body::KvPairList(info::KeyValuePairList { kv_pairs }))
                }
                _ => None,
            },
            ..Default::default()
        })
        .collect()
}

fn expression(value: &AnnotationValue) -> info::Expression {
    use info::expression::Value;
    let value = match value {
        AnnotationValue::Str(text) => Some(Value::StringValue(text.clone())),
        // Larger numbers have no place in P4Info.
        AnnotationValue::Int(number) => number.to_i64().map(Value::Int64Value),
        AnnotationValue::Bool(value) => Some(Value::BoolValue(*value)),
    };
    info::Expression { value }
}

/// What `@brief` and `@description` say.
pub fn documentation(annotations: &[Annotation]) -> Option<info::Documentation> {
    let (brief, description) = (string(annotations, "brief"), string(annotations, "description"));
    (brief.is_some() || description.is_some()).then(|| info::Documentation {
        brief: brief.unwrap_or_default().to_owned(),
        description: description.unwrap_or_default().to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn annotation(name: &str, text: &str) -> Annotation {
        let body = AnnotationBody::Text(text.to_owned());
        Annotation { name: name.to_owned(), body, text: Some(text.to_owned()), span: Default::default() }
    }

    #[test]
    fn tokens_have_blanks_between_them() {
        let list = [annotation("a", "x+1,\"b  c\""), annotation("id", "3"), annotation("b", ""), annotation("c", "2")];
        assert_eq!(texts(&list, &["c"]), ["@a(x + 1 , \"b  c\")", "@b"]);
        assert_eq!(texts(&[annotation("lines", "\"\n a::b;\n\"")], &[]), ["@lines(\"\n a::b;\n\")"]);
    }

    #[test]
    fn brackets_make_an_annotation_structured() {
        let body = AnnotationBody::KeyValues(vec![("k".to_owned(), AnnotationValue::Bool(true))]);
        let list = [Annotation { name: "s".to_owned(), body, text: None, span: Default::default() }];
        assert!(texts(&list, &[]).is_empty());
        let structured = structured(&list);
        assert_eq!(structured[0].name, "s");
        let Some(info::structured_annotation::Body::KvPairList(pairs)) = &structured[0].body else { panic!() };
        assert_eq!(pairs.kv_pairs[0].key, "k");
    }
}
