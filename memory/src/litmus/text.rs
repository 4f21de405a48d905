//! Litmus programs as text: instructions, conditions, whole programs in the herd-style format.

use std::fmt::Write;

use super::program::{
    Access, Arithmetic, Condition, Instruction, LitmusProgram, Operand, Question, Term, Thread, Update,
};
use crate::scope::{Scope, Semantics, StorageClasses};

fn scope_name(scope: Scope) -> &'static str {
    match scope {
        Scope::Invocation => "",
        Scope::Subgroup => ".sg",
        Scope::Workgroup => ".wg",
        Scope::QueueFamily => ".qf",
        Scope::Device => ".dv",
    }
}

fn classes(prefix: &str, classes: StorageClasses) -> String {
    (0..4).filter(|bit| classes.bits() >> bit & 1 != 0).map(|bit| format!(".{prefix}{bit}")).collect()
}

fn order(semantics: Semantics) -> &'static str {
    match (semantics.acquire, semantics.release) {
        (true, true) => ".acq_rel",
        (true, false) => ".acq",
        (false, true) => ".rel",
        (false, false) => "",
    }
}

fn semantics_text(semantics: Semantics) -> String {
    let mut text = classes("semsc", semantics.classes);
    if semantics.make_available {
        text.push_str(".semav");
    }
    if semantics.make_visible {
        text.push_str(".semvis");
    }
    text
}

fn qualifiers(access: &Access) -> String {
    if access.atomic {
        let Access { scope, class, semantics, .. } = *access;
        return format!(
            ".atom{}{}{}{}",
            order(semantics),
            scope_name(scope),
            classes("sc", class),
            semantics_text(semantics)
        );
    }
    let privacy = match (access.available, access.visible, access.non_private) {
        (true, ..) => format!(".av{}", scope_name(access.scope)),
        (_, true, _) => format!(".vis{}", scope_name(access.scope)),
        (_, _, true) => ".nonpriv".to_owned(),
        _ => String::new(),
    };
    format!("{privacy}{}", classes("sc", access.class))
}

fn arithmetic(operation: Arithmetic) -> &'static str {
    match operation {
        Arithmetic::Add => "add",
        Arithmetic::Sub => "sub",
        Arithmetic::Mul => "mul",
        Arithmetic::Div => "div",
        Arithmetic::And => "and",
        Arithmetic::Or => "or",
        Arithmetic::Xor => "xor",
    }
}

/// One instruction, in the herd-style syntax.
pub fn instruction(program: &LitmusProgram, thread: &Thread, instruction: &Instruction) -> String {
    let operand = |operand: &Operand| match operand {
        Operand::Constant(value) => value.to_string(),
        Operand::Register(register) => thread.registers[*register].clone(),
    };
    let variable = |access: &Access| program.variables[access.variable].name.as_str();
    let label = |pc: usize| match thread.code.get(pc) {
        Some(Instruction::Label(name)) => name.clone(),
        _ => format!("LC{pc}"),
    };
    match instruction {
        Instruction::Store(access, value) => {
            format!("st{} {}, {}", qualifiers(access), variable(access), operand(value))
        }
        Instruction::Load(access, register) => {
            format!("ld{} {}, {}", qualifiers(access), thread.registers[*register], variable(access))
        }
        Instruction::ReadModifyWrite(access, register, update, value) => {
            let operation = match update {
                Update::Exchange => String::new(),
                Update::Apply(operation) => format!(".{}", arithmetic(*operation)),
            };
            let (qualifiers, register) = (qualifiers(access), &thread.registers[*register]);
            format!("rmw{qualifiers}{operation} {register}, {}, {}", variable(access), operand(value))
        }
        Instruction::MemoryBarrier(scope, semantics) => {
            format!("membar{}{}{}", order(*semantics), scope_name(*scope), semantics_text(*semantics))
        }
        Instruction::ControlBarrier { scope, semantics, instance, resource, quorum } => {
            let mut text = format!(
                "cbar{}{}{} {instance}",
                order(*semantics),
                scope_name(*scope),
                semantics_text(*semantics)
            );
            for value in resource.iter().chain(quorum) {
                let _ = write!(text, ", {}", operand(value));
            }
            text
        }
        Instruction::AvailableDevice => "avdevice".to_owned(),
        Instruction::VisibleDevice => "visdevice".to_owned(),
        Instruction::Local(register, operation, a, b) => {
            let register = &thread.registers[*register];
            format!("{} {register}, {}, {}", arithmetic(*operation), operand(a), operand(b))
        }
        Instruction::Goto(target) => format!("goto {}", label(*target)),
        Instruction::Branch(comparison, a, b, target) => {
            let name = match comparison {
                super::program::Comparison::Equal => "beq",
                super::program::Comparison::NotEqual => "bne",
                super::program::Comparison::Less => "blt",
                super::program::Comparison::LessEqual => "ble",
                super::program::Comparison::Greater => "bgt",
                super::program::Comparison::GreaterEqual => "bge",
            };
            format!("{name} {}, {}, {}", operand(a), operand(b), label(*target))
        }
        Instruction::Label(name) => format!("{name}:"),
    }
}

/// A condition, in the herd-style syntax.
pub fn condition(program: &LitmusProgram, of: &Condition) -> String {
    let term = |of: &Term| match of {
        Term::Memory(_) => format!("[{}]", program.term_name(*of)),
        _ => program.term_name(*of),
    };
    match of {
        Condition::Compare(comparison, a, b) => format!("{} {} {}", term(a), comparison.symbol(), term(b)),
        Condition::Not(inner) => format!("~({})", condition(program, inner)),
        Condition::And(a, b) => format!("({} /\\ {})", condition(program, a), condition(program, b)),
        Condition::Or(a, b) => format!("({} \\/ {})", condition(program, a), condition(program, b)),
    }
}

/// The whole program, in the herd-style format.
pub fn program(of: &LitmusProgram) -> String {
    let mut text = format!("VULKAN {}\n{{\n", of.name);
    for (index, variable) in of.variables.iter().enumerate() {
        match of.variables[..index].iter().find(|earlier| earlier.location == variable.location) {
            Some(earlier) => {
                let _ = writeln!(text, "{} aliases {};", variable.name, earlier.name);
            }
            None => {
                let _ = writeln!(text, "{}={};", variable.name, of.initial[variable.location as usize]);
            }
        }
    }
    for thread in &of.threads {
        for (name, value) in thread.registers.iter().zip(&thread.initial) {
            let _ = writeln!(text, "P{}:{name}={value};", thread.id);
        }
    }
    text.push_str("}\n");
    if !of.system_synchronizes.is_empty() {
        text.push_str("{\n");
        for (first, second) in &of.system_synchronizes {
            let _ = writeln!(text, "ssw {} {};", of.threads[*first].id, of.threads[*second].id);
        }
        text.push_str("}\n");
    }
    let heads = of
        .threads
        .iter()
        .map(|t| format!("P{}@sg {}, wg {}, qf {}", t.id, t.subgroup, t.workgroup, t.queue_family));
    let mut rows: Vec<Vec<String>> = vec![heads.collect()];
    for row in 0..of.threads.iter().map(|thread| thread.code.len()).max().unwrap_or(0) {
        let cell =
            |thread: &Thread| thread.code.get(row).map_or(String::new(), |i| instruction(of, thread, i));
        rows.push(of.threads.iter().map(cell).collect());
    }
    let widths: Vec<usize> = (0..of.threads.len())
        .map(|column| rows.iter().map(|row| row[column].len()).max().unwrap_or(0))
        .collect();
    for row in rows {
        let cells: Vec<String> =
            row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}", width = *width)).collect();
        let _ = writeln!(text, " {} ;", cells.join(" | "));
    }
    if let Some(filter) = &of.filter {
        let _ = writeln!(text, "filter ({})", condition(of, filter));
    }
    match &of.question {
        Some(Question::Exists(asked)) => {
            let _ = writeln!(text, "exists ({})", condition(of, asked));
        }
        Some(Question::NotExists(asked)) => {
            let _ = writeln!(text, "~exists ({})", condition(of, asked));
        }
        Some(Question::ForAll(asked)) => {
            let _ = writeln!(text, "forall ({})", condition(of, asked));
        }
        None => {}
    }
    text
}
