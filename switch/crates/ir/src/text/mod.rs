//! The text form of a program: `Display` writes it, `FromStr` reads it, and what was written reads back the same.
//!
//! A comment runs from `//` to the end of its line. Line ends mean nothing else. What a name refers to stands before its
//! use. `NAME` is a word of letters, digits and `_ $ . [ ]`, or any text in double quotes; `INT` is decimal or `0x..`.
//! An object is referred to by its name, or by its number (`#3`) where the name is not unique or there is none.
//!
//! ```text
//! program   = item*
//! item      = "frame" INT "persistent" INT ["headers" INT] "{" (INT NAME ":" type)* "}"   size; offset, variable
//!           | "metadata" "{" (NAME INT)* "}"                                  offsets of standard metadata
//!           | "errors" "(" NAME,* ")"
//!           | "growth" INT
//!           | "header" NAME "size" INT "{" (INT NAME ":" ["varbit"] INT)* "}"
//!           | "action" NAME "(" (NAME ":" INT "@" INT),* ")"                  width @ offset in the entry's data
//!           | "profile" NAME "size" INT ["selector" algorithm INT]
//!           | "table" NAME "size" INT ["const_entries"] ["idle_timeout"] "{" part* "}"
//!           | ("counter" | "meter") NAME "size" INT unit
//!           | "register" NAME "size" INT "width" INT ["initial" INT]
//!           | "value_set" NAME "size" INT "{" key* "}"
//!           | "digest" NAME "(" INT,* ")"
//!           | "extern" NAME "(" INT,* ")" ["of" NAME NAME "(" INT,* ")"]   widths of results; object, type, arguments
//!           | "field_list" [INT] "{" (INT INT)* "}"                           offset, bytes
//!           | "string" NAME
//!           | "note" kind NAME NAME INT                                       text, file, line
//!           | "local" NAME ["in" NAME] "@" INT "{" (INT NAME ":" type)* "}"   offset; parts as in the frame
//!           | "function" NAME "{" ["unused" (TEMP ":" INT)*] block* "}"
//!           | "blocks" NAME NAME NAME NAME NAME NAME      parser, verify, ingress, egress, compute, deparser
//!           | "psa" NAME*6 (INT INT)*4 INT*25       blocks; offset, bytes of what is kept; offsets of PSA's metadata
//! type      = "bits" INT | "varbit" INT | "bool" | "error"
//! part      = key | "action" NAME ["default_only"] ["table_only"] | "profile" NAME | "selector" "(" INT,* ")"
//!           | "default" INT "(" INT,* ")" ["const"]                           index into the table's actions
//!           | "empty_group" INT "(" INT,* ")"                                 the same
//!           | "entry" ["const"] "(" match,* ")" "priority" INT "->" INT "(" INT,* ")"
//!           | "counter" NAME unit | "meter" NAME unit
//! key       = "key" NAME ":" INT ("exact" | "lpm" | "ternary" | "range" | "optional")
//! match     = INT | INT "/" INT | INT "&&&" INT | INT ".." INT | "optional" INT | "*"
//!
//! block     = LABEL ":" inst* end                                             b0, b1, ... in order
//! operand   = TEMP | INT                                                      %0, %1, ...
//! place     = (NAME | "@" INT) ["+" operand "*" INT "below" INT]              name or offset; index * stride, count
//! arg       = operand ":" INT | place ":" INT | "const" INT ":" INT | "varbit" place ":" INT
//! args      = "(" arg,* ")"
//! def       = TEMP ":" INT                                                    a temp and its width
//! dest      = def | place ":" INT
//! end       = "jump" LABEL | "branch" operand "," LABEL "," LABEL | "return"
//!           | "switch" operand ":" INT "{" (INT ":" LABEL ",")* "default" ":" LABEL "}"
//! inst      = def "=" ("neg" | "not") operand
//!           | def "=" ("add" | "sub" | ...) operand "," operand
//!           | def "=" ("eq" | "lt_u" | ...) ":" INT operand "," operand       width of the operands
//!           | def "=" ("resize_u" | "resize_s") ":" INT operand               width it has
//!           | def "=" "slice" "[" INT ":" INT "]" operand
//!           | def "=" "insert" "[" INT ":" INT "]" operand "," operand
//!           | def "=" "concat" operand "," operand ":" INT
//!           | def "=" "select" operand "," operand "," operand
//!           | def "=" "load" place
//!           | "store" place ":" INT "," operand
//!           | "copy" place "," place "," INT | "zero" place "," INT
//!           | dest "=" "wide" operation ["[" INT ":" INT "]"] args
//!           | ("push_front" | "pop_front") place "," INT "," INT "," INT      stride, count, by
//!           | def "=" ("extract" | "peek") NAME place ["varbit" operand]
//!           | def "," dest "=" "lookahead"
//!           | def "=" "advance" operand | def "=" "packet_length" | def "=" "fuel"
//!           | def "=" "in_value_set" NAME args
//!           | "emit" NAME place
//!           | def "," def "=" "lookup" NAME args ["selector" args]
//!           | def "=" "load_arg" INT | "copy_arg" place "," INT "," INT       offset; offset, bytes
//!           | "count" NAME "," operand
//!           | def "=" "meter" NAME "," operand ["before" operand] | def "=" "direct_meter" NAME ["before" operand]
//!           | dest "=" "register_read" NAME "," operand | "register_write" NAME "," operand "," arg
//!           | def "=" "buffer_keep" NAME "," operand "," operand "," operand "fields" NAME     queue, number, time
//!           | ("buffer_release" | "buffer_send") NAME "," operand "," operand
//!           | dest "=" "hash" algorithm arg "," args "," arg                  base, data, max
//!           | dest "=" "checksum" algorithm args ["payload"]
//!           | dest "=" "random" arg "," arg
//!           | "digest" NAME args
//!           | "call_extern" NAME args ("->" place ":" INT)*
//!           | ("clone_i2e" | "clone_e2e") operand ["fields" NAME]
//!           | ("resubmit" | "recirculate") ["fields" NAME]
//!           | "truncate" operand | "log_message" NAME args | "assert" operand "," NAME | "note" NAME
//!           | "locals" [NAME]                                                 by its number: the innermost that lives
//! ```
//!
//! Temps are numbered by hand; a number left out is a temp of 1 bit that nothing uses.
//! A header's place is written without the `.$valid` of the symbol that stands there: `%0:32 = extract ipv6_t hdr.ipv6`.

mod lex;
mod names;
mod parse;
mod parse_code;
mod parser;
mod print;
mod print_code;

pub use parser::ParseError;
pub use print::Names;
pub use print_code::InstText;
