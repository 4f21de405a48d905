//! Which findings of shaders' accesses are one and the same, and what names them.

use super::context::{Context, base_name};
use super::suppress::Subject;
use pellucid_memory::finding::Finding;

/// What makes findings equal: the id, and the shader and static instruction of each access.
pub fn key(finding: &Finding, context: &Context<'_>) -> String {
    let mut key = finding.id.name().to_owned();
    for access in &finding.accesses {
        let dispatch = context.of(access);
        let shader = dispatch.map_or("", |d| d.shader.name.as_str());
        let site = dispatch.and_then(|d| d.site(access.site));
        let location = dispatch.map(|d| d.location(access.site)).unwrap_or_default();
        let (word, instruction) = site.map_or((0, ""), |s| (s.word, s.instruction.as_str()));
        key.push_str(&format!("|{shader}|{location}|{word}|{instruction}"));
    }
    key
}

/// What suppressions of a finding are matched against.
pub fn subject(finding: &Finding, context: &Context<'_>) -> Subject {
    let mut subject = Subject::default();
    for access in &finding.accesses {
        let Some(dispatch) = context.of(access) else { continue };
        subject.shaders.push(dispatch.shader.name.clone());
        subject.shaders.push(dispatch.pipeline.to_owned());
        subject.shaders.extend(dispatch.shader.files.iter().map(|f| base_name(&f.name).to_owned()));
        let object = dispatch.object(access);
        subject.names.extend(object.map(|o| o.name.clone()));
        let Some(site) = dispatch.site(access.site) else { continue };
        subject.names.extend([site.variable.clone(), site.function.clone(), dispatch.location(access.site)]);
        let file = site.source.and_then(|p| dispatch.shader.files.get(p.file as usize));
        subject.names.extend(file.map(|f| base_name(&f.name).to_owned()));
    }
    subject.named()
}
