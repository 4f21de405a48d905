//! What the two formats' grammars allow beyond what tests usually write, and what no file may do to a reader:
//! loop, overflow the stack, or be misread in silence.

use std::time::Instant;

use pellucid_memory::litmus::report::{Report, Wanted};
use pellucid_memory::litmus::run::{By, Settings, load, parse};

const THREADS: &str = "P0@sg 0, wg 0, qf 0 | P1@sg 1, wg 0, qf 0 ;\n";

fn report(file: &str, text: &str, by: By) -> Report {
    let test = parse(file, text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    Report::new(file, &test, &Settings { by, ..Settings::default() }, &Wanted::default()).expect("a report")
}

fn answer(text: &str) -> Option<bool> {
    report("t.litmus", text, By::Axioms).question.expect("a question").holds
}

fn error(file: &str, text: &str) -> String {
    match parse(file, text) {
        Ok(_) => panic!("accepted:\n{text}"),
        Err(error) => error.to_string(),
    }
}

fn program(declarations: &str, rows: &str, question: &str) -> String {
    format!("VULKAN t\n\"c\"\n{declarations}\n{THREADS}{rows}{question}\n")
}

fn passing(question: &str) -> String {
    program("{ x=0; }", "st.atom.wg.sc0 x, 1 | ld.atom.wg.sc0 r0, x ;\n", question)
}

#[test]
fn comments_and_blanks_are_legal_between_any_two_tokens() {
    let tight = "VULKAN(**)t(*{*)<<{x}>>{(*a*)x(*b*)=(*c*)0}(*e*)P0(**)@(**)sg(**)0,wg 0(**),qf 0|P1@sg 1,wg 0,qf 0;\
                 st(**).(**)atom.wg.sc0 x(*,*),(**)1|ld.atom.wg.sc0(**)r0,x;exists(**)(P1(**):r0(**)==(**)1)(*end*)";
    let plain = passing("exists (P1:r0 == 1)");
    for text in [
        tight.to_owned(),
        format!("(* lead *)\n << a {{ >> (* {{ *)\n{plain}"),
        format!("\u{feff}{plain}"),
        plain.replace('\n', "\r\n"),
        plain.replace('\n', "\r"),
        plain.replace(' ', "\t"),
        plain.replace('\n', " "),
        plain.replace("st.atom.wg.sc0 x, 1", "st . atom . wg . sc0 x , 1"),
        plain.replace("P0@", "0@").replace("P1:", "1:"),
    ] {
        assert_eq!(answer(&text), Some(true), "{text}");
    }
    let name = report(
        "t.litmus",
        "VULKAN (* not this *) name \"c\" { } P0@sg 0,wg 0,qf 0; ; exists (1 == 1)",
        By::Axioms,
    )
    .test;
    assert_eq!(name, "name");
}

#[test]
fn questions_of_every_shape() {
    for (question, expected) in [
        ("not exists (P1:r0 > 1)", true),
        ("~ exists P1:r0 >= 2 ;", true),
        ("forall (P1:r0 = 0 \\/ 1 == P1:r0)", true),
        ("filter (P1:r0 != 0); forall P1:r0 == 1", true),
        ("locations [x; P1:r0;] filter not P1:r0 == 0 forall (P1:r0 == 0)", false),
        ("exists (((P1:r0 == 1)) /\\ not not (x == 1 /\\ ~(x = 0)))", true),
        ("exists (P1:r0 == 0 /\\ P1:r0 == 1 \\/ P1:r0 == 1)", true),
        ("exists (P1:r0 == 1 \\/ P1:r0 == 1 /\\ P1:r0 == 0)", true),
        ("exists (P1:r0 == P0:r0)", true),
        ("exists (P1:r0 == 0x1 /\\ x == 0x01)", true),
        ("exists (P1:r0 < -0x7f)", false),
        ("final (P1:r0 == 1); with tso: ~exists; default: exists;", true),
    ] {
        assert_eq!(answer(&passing(question)), Some(expected), "{question}");
    }
}

#[test]
fn signed_instances_of_control_barriers_are_different_ones() {
    let rows = |first: &str, second: &str| {
        program(
            "{ x=0; }",
            &format!(
                "st.nonpriv.sc0 x, 1 | cbar.acq_rel.wg.semsc0.semav.semvis {second} ;\n\
                 cbar.acq_rel.wg.semsc0.semav.semvis {first} | ld.nonpriv.sc0 r0, x ;\n"
            ),
            "forall (P1:r0 == 1)",
        )
    };
    assert_eq!(answer(&rows("-1", "-1")), Some(true));
    assert_eq!(answer(&rows("-1", "-2")), Some(false));
    assert_eq!(answer(&rows("-1", "1")), Some(false));
}

#[test]
fn every_operation_of_a_read_modify_write() {
    for (operation, value) in
        [("", 5), (".add", 17), (".sub", 7), (".mul", 60), (".div", 2), (".and", 4), (".or", 13), (".xor", 9)]
    {
        for flags in
            ["atom.dv.sc0", "atom.acq_rel.dv.sc0.semsc0.semsc3.semav.semvis", "atom.rel.sg.sc2.semsc1"]
        {
            let rows = format!("rmw.{flags}{operation} r0, x, r1 | ;\n");
            let text =
                program("{ x=12; P0:r1=5; }", &rows, &format!("forall (x == {value} /\\ P0:r0 == 12)"));
            assert_eq!(answer(&text), Some(true), "{text}");
        }
    }
}

#[test]
fn qualifiers_that_contradict_each_other_are_refused() {
    for (row, expected) in [
        ("rmw.atom.dv.sc0.add.sub r0, x, 1", "t.litmus:5:21: expected one operation, found `sub`"),
        ("st.sc0.sc1 x, 1", "t.litmus:5:8: expected one storage class, found `sc1`"),
        ("st.atom.wg.dv.sc0 x, 1", "t.litmus:5:12: expected one scope, found `dv`"),
        ("membar.acq.wg.semsc0.add", "t.litmus:5:1: expected a barrier without .sc, .atom,"),
        ("ld.sc0.add r0, x", "t.litmus:5:1: expected an operation on `rmw` only"),
        ("cbar.wg -", "t.litmus:5:11: expected an integer constant of at most 64 bits, found `|`"),
    ] {
        let message = error("t.litmus", &program("{ x=0; }", &format!("{row} | ;\n"), ""));
        assert!(message.starts_with(expected), "{message}");
    }
}

#[test]
fn what_is_not_text_is_named_with_its_place() {
    let directory = std::env::temp_dir().join(format!("pellucid-formats-{}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("a directory");
    let file = directory.join("t.litmus");
    std::fs::write(&file, b"VULKAN t\n{ \xffx=0; }").expect("a file");
    let message = load(&file).map(|_| ()).unwrap_err().to_string();
    std::fs::remove_dir_all(&directory).expect("removed");
    assert!(message.ends_with("t.litmus:2:3: expected text in UTF-8, found the byte 0xff"), "{message}");
}

#[test]
fn deep_nesting_is_refused_and_long_chains_are_not() {
    let deep = 100_000;
    for condition in [
        format!("{}P1:r0 == 1{}", "(".repeat(deep), ")".repeat(deep)),
        format!("{}P1:r0 == 1", "~".repeat(deep)),
    ] {
        let message = error("t.litmus", &passing(&format!("exists {condition}")));
        assert!(message.contains("expected at most 100 levels of nesting"), "{message}");
    }
    let chain = |operator: &str| vec!["P1:r0 == 1"; deep].join(operator);
    assert_eq!(answer(&passing(&format!("exists ({})", chain(" \\/ ")))), Some(true));
    assert_eq!(answer(&passing(&format!("exists ({})", chain(" /\\ ")))), Some(true));
}

const ORDERED: &str = "NEWWG\nNEWSG\nNEWTHREAD1\nst.av.scopedev.sc0 x = 1\nst.atom.rel.scopedev.sc0.semsc0 y=1\nNEWWG\nNEWSG\n\
                       NEWTHREAD 7\nld.atom.acq.scopedev.sc0.semsc0 y = 1\nld.vis.scopedev.sc0 x\t=\t1\n";

fn asserted(predicate: &str) -> bool {
    report("t.test", &format!("{ORDERED}SATISFIABLE {predicate}\n"), By::Axioms).as_asserted()
}

#[test]
fn predicates_of_every_shape() {
    for predicate in [
        "consistent[X]&&#dr=0",
        "consistent[X] implies racefree[X] else #dr>0",
        "consistent[X] <=> racefree[X] <=> consistent[X]",
        "not #dr>0 and (some X.rf & X.sloc) && no X.dr",
        "transitive[X.po] && irreflexive[X.hb] && symmetric[X.swg]",
        "strict_partial_order[X.asmo] && is_equivalence[X.ssg, X.EV] && is_acyclic[X.po + X.rf + X.fr]",
        "X.immpo = imm[X.po] && rai[X.po] in X.sthd && ~(X.rf).(X.rf) in iden",
        "X.R in X.W.(X.rf) && some (X.W <: X.hb :> X.R) && #X.sw = 1",
        "consistent[X] => (#dr = 0 => #rf = 2)",
    ] {
        assert!(asserted(predicate), "{predicate}");
    }
    for predicate in [
        "consistent[X] => #dr > 0",
        "consistent[X] && (racefree[X] <=> #dr != 0)",
        "symmetric[X.po] && some X.po",
    ] {
        assert!(!asserted(predicate), "{predicate}");
    }
}

#[test]
fn hostile_predicates_end() {
    let start = Instant::now();
    let deep = 50_000;
    for predicate in [
        format!("{}#dr=0{}", "(".repeat(deep), ")".repeat(deep)),
        format!("{}#dr=0", "!".repeat(deep)),
        format!("#{}dr{}=0", "(".repeat(deep), ")".repeat(deep)),
        format!("#{}dr=0", "~".repeat(deep)),
        vec!["#dr=0"; deep].join(" => "),
    ] {
        let message = error("t.test", &format!("{ORDERED}SATISFIABLE {predicate}\n"));
        assert!(message.contains("expected at most 100 levels of nesting"), "{message}");
    }
    let sum = vec!["dr"; deep].join(" + ");
    let message = error("t.test", &format!("{ORDERED}SATISFIABLE #({sum}) = 0\n"));
    assert!(message.contains("expected at most 500 operators"), "{message}");
    for operator in [" && ", " || ", " <=> "] {
        assert!(asserted(&format!("consistent[X] && ({})", vec!["#dr=0"; deep].join(operator))));
    }
    assert!(start.elapsed().as_secs() < 30);
}

#[test]
fn a_test_with_too_many_orders_is_undecided() {
    let writers: String = (0..12).map(|n| format!("NEWTHREAD\nst.atom.scopedev.sc0 x = {n}\n")).collect();
    let test = parse("t.test", &format!("{writers}SATISFIABLE consistent[X] && #dr>0\n")).expect("a test");
    let mut settings = Settings::default();
    settings.limits.candidates = 1000;
    let report = Report::new("t.test", &test, &settings, &Wanted::default()).expect("a report");
    assert!(!report.complete && !report.as_asserted());
    assert_eq!(report.assertions[0].holds, None);
}

fn counting(rounds: u32) -> String {
    let rows =
        format!("LC00: | ;\n st.atom.dv.sc0 x, 1 | ;\n add r0, r0, 1 | ;\n blt r0, {rounds}, LC00 | ;\n");
    program("{ x=0; }", &rows, &format!("exists (P0:r0 == {rounds})"))
}

#[test]
fn a_loop_that_the_bound_cuts_is_never_called_exhausted() {
    for by in [By::Axioms, By::Machine] {
        let within = report("t.litmus", &counting(4), by);
        assert!(within.complete);
        assert!(within.text().contains("exists P0:r0 == 4: yes\n"), "{}", within.text());
        let beyond = report("t.litmus", &counting(5), by);
        assert!(!beyond.complete);
        let text = beyond.text();
        assert!(text.contains("exists P0:r0 == 5: no, as far as 4 rounds of each loop show\n"), "{text}");
        assert!(text.contains("race-free: yes, as far as 4 rounds of each loop show\n"), "{text}");
    }
    // A loop that only waits is cut without loss.
    let rows = "st.atom.dv.sc0 x, 1 | LC00: ;\n | ld.atom.dv.sc0 r0, x ;\n | beq r0, 0, LC00 ;\n";
    for by in [By::Axioms, By::Machine] {
        assert!(report("t.litmus", &program("{ x=0; }", rows, "forall (P1:r0 == 1)"), by).complete);
    }
}

#[test]
fn long_programs_end() {
    let start = Instant::now();
    let rows = |count: usize, row: &dyn Fn(usize) -> String| (0..count).map(row).collect::<String>();
    // Forward branches do not use the stack, and sums of sums are evaluated once.
    let forward = rows(20_000, &|n| format!("goto LC{n} | ;\nLC{n}: | ;\n"));
    assert_eq!(answer(&program("{ x=0; }", &forward, "exists (P0:r0 == 0)")), Some(true));
    let doubled = format!("ld.sc0 r0, x | ;\n{}st.sc0 x, r0 | ;\n", "add r0, r0, r0 | ;\n".repeat(2000));
    assert_eq!(answer(&program("{ x=0; }", &doubled, "exists (x == 0)")), Some(true));
    let carried = "ld.sc0 r0, x | ;\nadd r1, r0, r0 | ;\nst.sc0 x, r1 | ;\n".repeat(40);
    assert_eq!(answer(&program("{ x=1; }", &carried, &format!("exists (x == {})", 1_u64 << 40))), Some(true));
    let constants = rows(100_000, &|n| format!("add r0, r0, {n} | ;\n"));
    assert_eq!(answer(&program("{ x=0; }", &constants, "exists (P0:r0 == 4999950000)")), Some(true));
    // Loops in loops in loops: given up, not walked.
    let heads = rows(12, &|n| format!("LC{n}: | ;\n"));
    let tails = rows(12, &|n| format!("bne r0, {n}, LC{n} | ;\n"));
    let nested = format!("{heads}rmw.atom.dv.sc0.add r0, x, 1 | ;\n{tails}");
    assert_eq!(answer(&program("{ x=0; }", &nested, "exists (P0:r0 == 1000000)")), None);
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
}
