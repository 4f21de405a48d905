//! Text form of the representation, for snapshots and `--dump`: deterministic, one node to a line.

use super::{ImageOperand, Node, Op, OpKind, Place, Region, Scalar, Shader, Value};
use pellucid_memory::access::Access;
use pellucid_memory::scope::Semantics;
use std::fmt::{self, Display, Formatter, Write};

impl Display for Value {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "v{}", self.0)
    }
}

impl Display for Shader {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let model = if self.vulkan_memory_model { "Vulkan" } else { "GLSL450" };
        writeln!(f, "shader {:?} local size {:?} memory model {model}", self.name, self.local_size)?;
        for (k, b) in self.bindings.iter().enumerate() {
            let written = if b.written { " written" } else { "" };
            writeln!(
                f,
                "binding {k}: set {} binding {} {:?} x{} {:?}{written}",
                b.set, b.binding, b.kind, b.count, b.name
            )?;
        }
        for (k, object) in self.workgroup.iter().enumerate() {
            let zeroed = if object.zeroed { " zeroed" } else { "" };
            writeln!(
                f,
                "workgroup {k}: {} bytes at {} {:?}{zeroed}",
                object.size, object.offset, object.name
            )?;
        }
        for (k, object) in self.private.iter().enumerate() {
            writeln!(f, "private {k}: {} bytes at {} {:?}", object.size, object.offset, object.name)?;
        }
        if self.push_constant_bytes != 0 {
            writeln!(f, "push constants: {} bytes", self.push_constant_bytes)?;
        }
        region(f, self, &self.body, 0)
    }
}

fn list(f: &mut Formatter<'_>, values: &[Value]) -> fmt::Result {
    for (k, value) in values.iter().enumerate() {
        write!(f, "{}{value}", if k == 0 { "" } else { ", " })?;
    }
    Ok(())
}

fn typed(f: &mut Formatter<'_>, shader: &Shader, values: &[Value]) -> fmt::Result {
    for (k, value) in values.iter().enumerate() {
        let scalar = shader.values.get(value.0 as usize);
        write!(f, "{}{value}", if k == 0 { "" } else { ", " })?;
        if let Some(scalar) = scalar {
            write!(f, ":{scalar:?}")?;
        }
    }
    Ok(())
}

fn region(f: &mut Formatter<'_>, shader: &Shader, nodes: &Region, depth: usize) -> fmt::Result {
    let indent = "  ".repeat(depth);
    for node in nodes {
        f.write_str(&indent)?;
        match node {
            Node::Op(op) => operation(f, shader, op)?,
            Node::If { condition, then, otherwise } => {
                writeln!(f, "if {condition} {{")?;
                region(f, shader, then, depth + 1)?;
                if !otherwise.is_empty() {
                    writeln!(f, "{indent}}} else {{")?;
                    region(f, shader, otherwise, depth + 1)?;
                }
                write!(f, "{indent}}}")?;
            }
            Node::Block { label, results, body } => {
                writeln!(f, "block L{} {{", label.0)?;
                region(f, shader, body, depth + 1)?;
                write!(f, "{indent}}} -> (")?;
                typed(f, shader, results)?;
                f.write_char(')')?;
            }
            Node::Loop { label, parameters, initial, body } => {
                write!(f, "loop L{} (", label.0)?;
                typed(f, shader, parameters)?;
                f.write_str(") = (")?;
                list(f, initial)?;
                f.write_str(") {\n")?;
                region(f, shader, body, depth + 1)?;
                write!(f, "{indent}}}")?;
            }
            Node::Switch { selector, cases, default } => {
                write!(f, "switch {selector} [")?;
                for (literal, label) in cases {
                    write!(f, "{literal} => L{}, ", label.0)?;
                }
                write!(f, "default => L{}]", default.0)?;
            }
            Node::Leave { label, arguments } => {
                write!(f, "leave L{} (", label.0)?;
                list(f, arguments)?;
                f.write_char(')')?;
            }
            Node::Repeat { label, arguments } => {
                write!(f, "repeat L{} (", label.0)?;
                list(f, arguments)?;
                f.write_char(')')?;
            }
            Node::End => f.write_str("end")?,
        }
        f.write_char('\n')?;
    }
    Ok(())
}

fn operation(f: &mut Formatter<'_>, shader: &Shader, op: &Op) -> fmt::Result {
    if !op.results.is_empty() {
        typed(f, shader, &op.results)?;
        f.write_str(" = ")?;
    }
    match &op.kind {
        OpKind::Constant(bits) => {
            let scalar = op.results.first().and_then(|value| shader.values.get(value.0 as usize));
            match scalar {
                Some(Scalar::F32) => write!(f, "constant {:?}", f32::from_bits(*bits as u32))?,
                Some(Scalar::F64) => write!(f, "constant {:?}", f64::from_bits(*bits))?,
                Some(Scalar::F16) => write!(f, "constant {bits:#06x}")?,
                _ => write!(f, "constant {bits}")?,
            }
        }
        OpKind::Alu(alu) => write!(f, "{alu:?} ")?,
        OpKind::Convert(conversion) => write!(f, "{conversion:?} ")?,
        OpKind::Load { place, access } => {
            f.write_str("load ")?;
            memory(f, place, access)?;
        }
        OpKind::Store { place, access } => {
            f.write_str("store ")?;
            memory(f, place, access)?;
            f.write_char(' ')?;
        }
        OpKind::Atomic { op, place, access } => {
            write!(f, "atomic {op:?} ")?;
            memory(f, place, access)?;
            f.write_char(' ')?;
        }
        OpKind::MemoryBarrier { scope, semantics } => {
            write!(f, "memory barrier {scope:?}")?;
            ordering(f, semantics)?;
        }
        OpKind::ControlBarrier { execution, memory, semantics } => {
            write!(f, "control barrier {execution:?} memory {memory:?}")?;
            ordering(f, semantics)?;
        }
        OpKind::ImageRead { image, access } => image_access(f, "image read", image, access)?,
        OpKind::ImageWrite { image, access } => image_access(f, "image write", image, access)?,
        OpKind::ImageAtomic { op, image, access } => {
            image_access(f, &format!("image atomic {op:?}"), image, access)?;
        }
        OpKind::ImageAtomicLoad { image, access } => image_access(f, "image atomic load", image, access)?,
        OpKind::ImageAtomicStore { image, access } => image_access(f, "image atomic store", image, access)?,
        OpKind::ImageFetch { image, access } => image_access(f, "image fetch", image, access)?,
        OpKind::ImageSample { image, access } => image_access(f, "image sample", image, access)?,
        OpKind::BufferSize { binding, element } => {
            write!(f, "buffer size {binding}")?;
            index(f, *element)?;
        }
        other => write!(f, "{other:?} ")?,
    }
    list(f, &op.arguments)?;
    if op.site.0 != 0 {
        write!(f, " @{}", op.site.0)?;
    }
    Ok(())
}

fn index(f: &mut Formatter<'_>, element: Option<Value>) -> fmt::Result {
    match element {
        Some(element) => write!(f, "[{element}]"),
        None => Ok(()),
    }
}

fn memory(f: &mut Formatter<'_>, place: &Place, access: &Access) -> fmt::Result {
    let (offset, immediate) = match *place {
        Place::Buffer { binding, element, offset, immediate } => {
            write!(f, "buffer {binding}")?;
            index(f, element)?;
            (offset, immediate)
        }
        Place::Physical { address, immediate } => {
            f.write_str("physical")?;
            (Some(address), immediate)
        }
        Place::Workgroup { object, offset, immediate } => {
            write!(f, "workgroup {object}")?;
            (offset, immediate)
        }
        Place::Private { object, offset, immediate } => {
            write!(f, "private {object}")?;
            (offset, immediate)
        }
        Place::PushConstant { offset, immediate } => {
            f.write_str("push constant")?;
            (offset, immediate)
        }
    };
    f.write_str(" at ")?;
    if let Some(offset) = offset {
        write!(f, "{offset} + ")?;
    }
    write!(f, "{immediate} {}x{}", access.size, access.components)?;
    manner(f, access)
}

fn manner(f: &mut Formatter<'_>, access: &Access) -> fmt::Result {
    if access.non_private && access.atomic.is_none() {
        f.write_str(" non-private")?;
    }
    if let Some(scope) = access.available {
        write!(f, " available {scope:?}")?;
    }
    if let Some(scope) = access.visible {
        write!(f, " visible {scope:?}")?;
    }
    if access.volatile {
        f.write_str(" volatile")?;
    }
    if let Some(scope) = access.atomic {
        write!(f, " scope {scope:?}")?;
        ordering(f, &access.semantics)?;
        if access.unequal != Semantics::RELAXED {
            f.write_str(" unequal")?;
            ordering(f, &access.unequal)?;
        }
    }
    Ok(())
}

fn ordering(f: &mut Formatter<'_>, semantics: &Semantics) -> fmt::Result {
    for (on, name) in [
        (semantics.acquire, "acquire"),
        (semantics.release, "release"),
        (semantics.make_available, "make-available"),
        (semantics.make_visible, "make-visible"),
        (semantics.volatile, "volatile"),
    ] {
        if on {
            write!(f, " {name}")?;
        }
    }
    if !semantics.classes.is_empty() {
        let names: Vec<&str> = semantics.classes.iter_names().map(|(name, _)| name).collect();
        write!(f, " [{}]", names.join(" "))?;
    }
    Ok(())
}

fn image_access(f: &mut Formatter<'_>, name: &str, image: &ImageOperand, access: &Access) -> fmt::Result {
    write!(f, "{name} {}", image.binding)?;
    index(f, image.element)?;
    if let Some((binding, element)) = image.sampler {
        write!(f, " sampler {binding}")?;
        index(f, element)?;
    }
    let arrayed = if image.arrayed { " arrayed" } else { "" };
    let samples = if image.multisampled { " multisampled" } else { "" };
    write!(f, " {:?}{arrayed}{samples} {:?} format {}", image.dim, image.texel, image.format)?;
    let sampling = image.sampling;
    if let Some(component) = sampling.gather {
        write!(f, " gather {component}")?;
    }
    if sampling.reference {
        write!(f, " compare")?;
    }
    if sampling.offsets > 0 {
        write!(f, " offsets {}", sampling.offsets)?;
    }
    if image.sparse {
        write!(f, " sparse")?;
    }
    manner(f, access)?;
    f.write_char(' ')
}
