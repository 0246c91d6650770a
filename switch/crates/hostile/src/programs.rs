//! Program texts through the compiler.

use compiler::Options;

/// Compiles a text. What compiles has a well-formed flat form, and P4Info; what does not, has an error to show. Answers
/// whether it compiled.
pub fn compile(text: &str) -> Result<bool, String> {
    match compiler::compile_text("hostile.p4", text, &Options::default()) {
        Ok(compiled) => {
            if let Some(problem) = ir::verify(&compiled.program).first() {
                return Err(format!("the flat form is wrong: {problem}"));
            }
            match p4info::p4info(&compiled) {
                Err(failure) if failure.to_string().is_empty() => Err("refused without a word".into()),
                described => Ok(described.is_ok()),
            }
        }
        Err(failure) if failure.to_string().is_empty() => Err("refused without a word".into()),
        Err(_) => Ok(false),
    }
}
