use super::*;

/// The text of all tokens, one blank where white space was, and the rendered findings.
fn run_with(text: &str, options: &Options, files: &[(&str, &str)]) -> (String, String) {
    let mut map = SourceMap::new();
    for (name, text) in files {
        map.add(*name, *text);
    }
    let main = map.add("main.p4", text);
    let mut diagnostics = Diagnostics::new();
    let tokens = preprocess(&mut map, main, options, &mut diagnostics);
    let mut out = String::new();
    for token in &tokens {
        if token.space && !out.is_empty() {
            out.push(' ');
        }
        out.push_str(&token.text);
    }
    (out.trim_end().to_owned(), diagnostics.render(&map, false))
}

fn good(text: &str) -> String {
    let (out, errors) = run_with(text, &Options::default(), &[]);
    assert_eq!(errors, "");
    out
}

fn bad(text: &str) -> String {
    run_with(text, &Options::default(), &[]).1
}

#[test]
fn object_macros_expand_again_but_not_themselves() {
    assert_eq!(good("#define A B C\n#define B b\nA A"), "b C b C");
    assert_eq!(good("#define A A x\n#define P Q\n#define Q P\nA P"), "A x P");
    assert_eq!(good("#define E\na E b"), "a b");
}

#[test]
fn a_word_goes_on_behind_a_splice() {
    assert_eq!(good("#define F fo\\\no\nF ab\\\r\nc 1\\\n2 \"x\\\ny\" d\\\n e"), "foo abc 12 \"xy\" d e");
}

#[test]
fn counters_count_and_files_are_asked_for() {
    assert_eq!(good("__COUNTER__ __COUNTER__\n#if __COUNTER__ == 2\n__COUNTER__\n#endif"), "0 1 3");
    assert_eq!(good("#if __has_include(<core.p4>) && !__has_include(\"not/there.p4\")\nyes\n#endif"), "yes");
    assert_eq!(good("#ifdef __has_include\nyes\n#endif"), "yes");
    assert!(bad("#if __has_include\n#endif").contains("`__has_include` needs the name of a file"));
}

#[test]
fn a_line_that_is_no_directive_is_warned_of() {
    let (out, said) = run_with("# some text\n#inclde <core.p4>\na", &Options::default(), &[]);
    assert_eq!(out, "a");
    assert!(said.contains("warning: there is no directive `#some`") && said.contains("write `#include`"), "{said}");
    assert!(!said.contains("error"), "{said}");
}

#[test]
fn function_macros_take_arguments() {
    assert_eq!(good("#define F(x, y) (x)+(y)\nF(1, (2, 3)) F (4,\n5)"), "(1)+((2, 3)) (4)+(5)");
    assert_eq!(good("#define F(x) x\nF F\n(1) F(F(2))"), "F 1 2");
    assert_eq!(good("#define F() z\nF() F( )"), "z z");
    assert_eq!(good("#define F (x)\nF"), "(x)");
    assert_eq!(good("#define G F(\n#define F(x) <x>\nG 1)"), "<1>");
}

#[test]
fn stringify_and_paste() {
    assert_eq!(good("#define S(x) #x\nS(a  b \"c\\n\")"), r#""a b \"c\\n\"""#);
    assert_eq!(good("#define J(a, b) a ## b\n#define X 1\nJ(X, 2) J(, y) J(x, )"), "X2 y x");
    assert_eq!(good("#define S(x) #x\n#define T(x) S(x)\n#define V 9\nS(V) T(V)"), r#""V" "9""#);
    // What makes no token stands side by side, and is never taken for a comment.
    assert_eq!(good("#define J(a, b) a ## b\nJ(+, /) J(], x) J(/, /)"), "+ / ] x / /");
}

#[test]
fn variadic_macros() {
    assert_eq!(good("#define L(f, ...) log(f, __VA_ARGS__)\nL(1, 2, 3)"), "log(1, 2, 3)");
    assert_eq!(good("#define L(f, ...) log(f, ##__VA_ARGS__)\nL(1) L(1, 2)"), "log(1) log(1,2)");
    assert_eq!(good("#define L(r...) (r)\nL(1, 2) L()"), "(1, 2) ()");
}

#[test]
fn conditionals_choose_one_branch() {
    let text = "#if defined(A) && A > 1\none\n#elif !defined B\ntwo\n#else\nthree\n#endif";
    assert_eq!(good(text), "two");
    assert_eq!(good(&format!("#define A 2\n{text}")), "one");
    assert_eq!(good(&format!("#define B\n{text}")), "three");
    assert_eq!(good("#ifdef X\n#if nonsense (\n#else\n#endif\n#bad\n'\"\n#else\nok\n#endif"), "ok");
    assert_eq!(good("#ifndef X\nok\n#endif"), "ok");
}

#[test]
fn conditions_compute_as_c_does() {
    for (condition, value) in [
        ("1 + 2 * 3 == 7", true),
        ("(1 ? 0 : 1) || 0", false),
        ("0 && 1 / 0", false),
        ("0x10 == 16 && 010 == 8 && 0b11 == 3 && 5UL", true),
        ("-1 < 0 && ~0 == -1 && !0", true),
        ("1 << 4 >> 3 == 2", true),
        ("20180101 >= 20200408", false),
        ("unknown", false),
        ("10 % 4 == 2 && (6 & 3) == 2 && (6 ^ 3) == 5 && (6 | 3) == 7", true),
    ] {
        let expected = if value { "yes" } else { "no" };
        assert_eq!(good(&format!("#if {condition}\nyes\n#else\nno\n#endif")), expected, "{condition}");
    }
}

#[test]
fn wrong_conditions_are_errors() {
    assert!(bad("#if 1 / 0\n#endif").contains("division by zero"));
    assert!(bad("#if\n#endif").contains("the condition is missing"));
    assert!(bad("#if (1\n#endif").contains("expected `)`"));
    assert!(bad("#if 1 2\n#endif").contains("`2` is left over"));
    assert!(bad("#if 08\n#endif").contains("`08` is no number"));
    assert!(bad(&format!("#if {}1\n#endif", "(".repeat(100_000))).contains("nested too deeply"));
    assert!(bad(&format!("#if {}1\n#endif", "!".repeat(100_000))).contains("nested too deeply"));
}

#[test]
fn unbalanced_conditionals_are_errors() {
    assert_eq!(bad("#ifdef A\nx"), "main.p4:1:1: error: this `#ifdef` has no `#endif`\n  #ifdef A\n  ^^^^^^\n");
    assert!(bad("#endif").contains("`#endif` without `#if`"));
    assert!(bad("#else").contains("`#else` without `#if`"));
    assert!(bad("#if 1\n#else\n#else\n#endif").contains("a second `#else`"));
    assert!(bad("#if 1\n#else\n#elif 1\n#endif").contains("`#elif` after `#else`"));
}

#[test]
fn includes_look_beside_the_file_then_in_the_folders() {
    let options = Options { include_dirs: vec!["inc".into()], ..Options::default() };
    let files =
        [("sub/a.p4", "a\n#include \"b.p4\"\n"), ("sub/b.p4", "b1"), ("inc/b.p4", "b2"), ("inc/x.p4", "__FILE__")];
    let text = "#define NAME <b.p4>\n#include \"sub/a.p4\"\n#include <b.p4>\n#include NAME\n#include \"x.p4\"\nend";
    assert_eq!(run_with(text, &options, &files), ("a b1 b2 b2 \"inc/x.p4\" end".to_owned(), String::new()));
}

#[test]
fn built_in_files_are_found_without_the_disk() {
    let out = good("#include <core.p4>\n#include <v1model.p4>\n");
    assert!(out.contains("extern packet_in {") && out.contains("package V1Switch<"));
    assert_eq!(out.matches("NoAction").count(), 1);
}

#[test]
fn include_loops_end_with_an_error() {
    let (_, errors) = run_with("#include \"main.p4\"\n", &Options::default(), &[]);
    assert!(errors.contains("more than 64 files include each other"), "{errors}");
    let twice = "#include \"main.p4\"\n#include \"main.p4\"\n";
    let (_, errors) = run_with(twice, &Options::default(), &[]);
    assert!(errors.contains("more than 10000 inclusions"), "{errors}");
}

#[test]
fn missing_files_are_errors() {
    let errors = bad("#include <nothing.p4>\n");
    assert!(errors.starts_with("main.p4:1:10: error: there is no file `nothing.p4` to include\n"), "{errors}");
    assert!(bad("#include nothing\n").contains("expected the name of a file"));
}

#[test]
fn caller_defines_and_undefines() {
    let define = |name: &str, body: &str| (name.to_owned(), body.to_owned());
    let options = Options {
        defines: vec![define("A", "1"), define("B", "2"), define("F(x)", "x x")],
        undefines: vec!["B".to_owned()],
        ..Options::default()
    };
    assert_eq!(run_with("A B F(y)", &options, &[]).0, "1 B y y");
}

#[test]
fn messages_of_the_program() {
    assert!(bad("#error do not\n").contains("main.p4:1:1: error: #error: do not\n"));
    assert!(bad("#warning it's odd\n").contains("warning: #warning: it's odd\n"));
    assert!(bad("#inclued <a>\n").contains("help: write `#include`"));
    assert_eq!(good("#pragma once\n#\nx"), "x");
}

#[test]
fn macro_mistakes_are_errors() {
    assert!(bad("#define\n").contains("the name of a macro is missing"));
    assert!(bad("#define 3 x\n").contains("`3` cannot be the name"));
    assert!(bad("#define F(a, a) x\n").contains("parameter `a` is there twice"));
    assert!(bad("#define F(a\n").contains("expected `)`"));
    assert!(bad("#define F(a) #b\n").contains("must stand before a parameter"));
    assert!(bad("#define F a ##\n").contains("must stand between two tokens"));
    assert!(bad("#define F(a) a\nF(1, 2)").contains("macro `F` takes 1 arguments, not 2"));
    assert!(bad("#define F(a) a\nF(1").contains("have no `)`"));
    assert!(bad("#define A 1\n#define A 2\n").contains("defined again, and differently"));
    assert_eq!(good("#define A 1\n#define A 1\nA"), "1");
}

#[test]
fn place_macros_obey_line_markers() {
    assert_eq!(good("__LINE__\n#line 40 \"x.p4\"\n__LINE__ __FILE__\n# 7\n__LINE__"), "1 40 \"x.p4\" 7");
}

#[test]
fn expanded_tokens_point_to_the_use() {
    let mut map = SourceMap::new();
    let main = map.add("main.p4", "#define F(x) a x\n\n F(b)");
    let tokens = preprocess(&mut map, main, &Options::default(), &mut Diagnostics::new());
    assert_eq!(map.snippet(tokens[0].span), "F(b)");
    assert_eq!(map.snippet(tokens[1].span), "b");
}

#[test]
fn macro_bombs_end_with_an_error() {
    let mut text = "#define M0 x x x x x x x x x x\n".to_owned();
    for i in 1..20 {
        let before = format!("M{} ", i - 1).repeat(10);
        text.push_str(&format!("#define M{i} {before}\n"));
    }
    text.push_str("M19");
    assert!(bad(&text).contains("more than 4000000 tokens"));
    let nested = format!("#define F(x) x\n{}1{}", "F(".repeat(1000), ")".repeat(1000));
    assert!(bad(&nested).contains("more than 64 macro calls"));
}

/// Preprocesses, makes a text of it and preprocesses that.
fn again(text: &str) -> (Vec<String>, Vec<String>, String) {
    let mut map = SourceMap::new();
    let main = map.add("main.p4", text);
    let mut diagnostics = Diagnostics::new();
    let tokens = preprocess(&mut map, main, &Options::default(), &mut diagnostics);
    let whole = program_text(&map, &tokens);
    let second = map.add("whole.p4", whole.as_str());
    let tokens_again = preprocess(&mut map, second, &Options::default(), &mut diagnostics);
    assert!(diagnostics.is_empty(), "{}", diagnostics.render(&map, false));
    let places = |tokens: &[Token]| {
        let place = |t: &Token| {
            let at = map.location(t.span);
            format!("{} {}:{}", t.text, at.file, at.line)
        };
        tokens.iter().filter(|t| t.kind != TokenKind::Eof).map(place).collect()
    };
    (places(&tokens), places(&tokens_again), whole)
}

#[test]
fn program_text_says_the_same_at_the_same_places() {
    let (first, second, whole) = again(
        "#include <core.p4>\n#define P +\n#define V 8\nconst bit<V> x = a P+ b P\n    + c;\n\n\n\n\n\n\n\n\n\n\n\n\nend\n",
    );
    assert_eq!(first, second);
    assert!(
        whole.contains("# 4 \"main.p4\"\nconst bit<8> x = a + + b +\n    + c;\n# 18 \"main.p4\"\nend\n"),
        "{whole}"
    );
    let (first, second, _) = again("#include <v1model.p4>\nx");
    assert_eq!(first, second);
}

#[test]
fn program_text_keeps_shifts_of_macros_in_one_piece() {
    let (first, second, whole) = again(
        "#define ID(x) x\n#define HALF(x) (x >> 1)\n#define ASSIGN(x, y) x >>= y\nHALF(ID(a>>2)) ASSIGN(b, HALF(c)) > > d\n",
    );
    assert_eq!(first, second);
    assert!(whole.contains("(a>>2 >> 1) b >>= (c >> 1) > > d"), "{whole}");
    let (first, second, whole) = again("#define MORE(x) x >\nMORE(a)= b");
    assert_eq!(first, second);
    assert!(whole.contains("a > = b"), "{whole}");
}

#[test]
fn directives_and_macros_count_in_strings_of_several_lines() {
    // As cpp of GCC puts them out, with `-C -undef -nostdinc -x assembler-with-cpp`.
    let text = "#define TWO 2\n#define F(x, y) (x)+(y)\n@r(\"a TWO\n\t b  ==   TWO  // TWO  it's\n  #if TWO == 2\n  \
                /* TWO */ F(1,TWO)::K 'TWO'\n#else\n  no\n#endif\n \n  end TWO \") TWO";
    let lines =
        ["a TWO", "         b == 2 // TWO  it's", "", "  /* TWO */ (1)+(2)::K 'TWO'", "", "", "", "", "  end 2 "];
    assert_eq!(good(text), format!("@r(\"{}\") 2", lines.join("\n")));
}

#[test]
fn each_branch_may_end_a_string_or_none() {
    let text = "\nf(\"\n a;\n#ifdef X\n X;\" X\n#elif 1\n y;\" y\n#endif\n)";
    assert_eq!(good(&format!("#define X z\n{text}")), "f(\"\n a;\n\n z;\" z )");
    assert_eq!(good(text), "f(\"\n a;\n\n\n\n y;\" y )");
    assert!(run_with("f(\"\n#if 0\n a\")\n#endif\n b", &Options::default(), &[]).0.starts_with("f(\"\n b"));
}
