//! An image that is not in the layout that its use needs, as people read it.

use super::api::ApiFinding;
use super::context::Object;
use super::hazard::Side;
use super::note::{FixKind, Note, NoteKind};
use super::suppress::Subject;
use super::text::Shown;
use pellucid_memory::commands::Operand;
use pellucid_memory::finding::FindingId;
use serde_json::{Value, json};

/// Who used an image or its bytes.
pub enum By<'a> {
    /// On the device.
    Command(Box<Side<'a>>),
    /// The host, after a call.
    Host(&'static str),
}

/// What is wrong with the use.
pub enum LayoutMistake {
    /// An access names another layout.
    Access(String),
    /// A transition names another old layout.
    OldLayout(String),
    /// The bytes are read through something else.
    Read {
        /// The image has linear tiling.
        linear: bool,
    },
}

/// Such a finding and what names its parts.
pub struct LayoutReport<'a> {
    /// Whose layout it is.
    pub image: Object,
    /// The first subresource that it is about: mip level and array layer.
    pub subresource: (u32, u32),
    /// Which plane of the image, if that has several.
    pub plane: Option<u32>,
    /// Why the use is not right by the layout.
    pub wrong: LayoutMistake,
    /// The command that used the subresource.
    pub by: By<'a>,
    /// The access, where a shader made it.
    pub operand: Option<Operand>,
    /// The layout that the subresource is in, without `VK_IMAGE_LAYOUT_`.
    pub layout: String,
    /// Who brought it there; `None` where it is as it was created.
    pub since: Option<By<'a>>,
    /// That was a write of its bytes through something else.
    pub overwritten: bool,
}

impl By<'_> {
    fn title(&self) -> String {
        match self {
            By::Command(side) => side.at(),
            By::Host("") => "the host".to_owned(),
            By::Host(since) => format!("the host, after {since},"),
        }
    }

    fn name(&self) -> &str {
        match self {
            By::Command(side) => side.command,
            By::Host(_) => "the host",
        }
    }

    fn side(&self) -> Option<&Side<'_>> {
        match self {
            By::Command(side) => Some(side),
            By::Host(_) => None,
        }
    }
}

impl LayoutReport<'_> {
    fn wanted(&self) -> &str {
        match &self.wrong {
            LayoutMistake::Access(layout) | LayoutMistake::OldLayout(layout) => layout,
            LayoutMistake::Read { .. } => "GENERAL",
        }
    }

    /// Where the access stands in the shader.
    fn location(&self) -> Option<String> {
        self.by.side()?.location(self.operand)
    }
}

impl ApiFinding for LayoutReport<'_> {
    fn id(&self) -> FindingId {
        FindingId::ImageLayout
    }

    /// The image, what is wrong with it, and who uses it.
    fn key(&self) -> String {
        let shader = self.by.side().and_then(|s| s.dispatch.as_ref()).map_or("", |d| d.shader.name.as_str());
        format!(
            "{}|{}|{}|{}|{}|{shader}|{}",
            self.image.name,
            std::mem::discriminant(&self.wrong)
                == std::mem::discriminant(&LayoutMistake::OldLayout(String::new())),
            self.wanted(),
            self.layout,
            self.by.name(),
            self.location().unwrap_or_default()
        )
    }

    fn subject(&self) -> Subject {
        let names = || vec![self.image.name.clone(), self.by.name().to_owned()];
        let host = || Subject { shaders: Vec::new(), names: names() };
        self.by.side().map_or_else(host, |side| side.subject(&self.image))
    }

    fn objects(&self) -> Vec<Object> {
        vec![self.image.clone()]
    }

    fn shown(&self) -> Vec<Shown> {
        self.by.side().map_or_else(Vec::new, |side| side.shown_alone(self.operand))
    }

    fn notes(&self) -> Vec<Note> {
        let (level, layer) = self.subresource;
        let plane = self.plane.map_or_else(String::new, |plane| format!("plane {plane}, "));
        let part = format!("{plane}mip level {level}, array layer {layer} of {}", self.image.called());
        let by = self.by.title();
        let uses = match &self.wrong {
            LayoutMistake::Access(layout) if self.operand.is_some() => {
                format!("{by} accesses {part}, which the descriptor says to be in {layout}")
            }
            LayoutMistake::Access(layout) => format!("{by} accesses {part}, which it says to be in {layout}"),
            LayoutMistake::OldLayout(from) => format!("{by} takes {part} to be in {from}"),
            LayoutMistake::Read { linear: false } => {
                format!(
                    "{by} reads bytes of {part}, which has optimal tiling: how they are laid out is not told"
                )
            }
            LayoutMistake::Read { linear: true } => {
                format!(
                    "{by} reads bytes of {part}; only in GENERAL and PREINITIALIZED is their layout the one that vkGetImageSubresourceLayout tells"
                )
            }
        };
        let is = match &self.since {
            None => format!("it is in {} since it was created", self.layout),
            Some(by) if self.overwritten => format!(
                "{} wrote its bytes through something else: what it holds is undefined, and so is its layout",
                by.title()
            ),
            Some(by) => format!("it is in {} since {}", self.layout, by.title()),
        };
        vec![Note::new(NoteKind::Access, uses), Note::new(NoteKind::Layout, is)]
    }

    fn help(&self) -> Note<FixKind> {
        let text = match &self.wrong {
            LayoutMistake::OldLayout(_) if self.layout == "UNDEFINED" => {
                "name UNDEFINED as the oldLayout: the image holds nothing that could be kept".to_owned()
            }
            LayoutMistake::OldLayout(_) => format!(
                "name {} as the oldLayout, or UNDEFINED where what the image holds is not needed",
                self.layout
            ),
            LayoutMistake::Access(wanted) => format!(
                "before it, put an image memory barrier for the subresource with oldLayout {} and newLayout {wanted}",
                self.layout
            ),
            LayoutMistake::Read { linear: true } => format!(
                "before it, put an image memory barrier for the subresource with oldLayout {} and newLayout GENERAL",
                self.layout
            ),
            LayoutMistake::Read { linear: false } => {
                "copy the image to a buffer (vkCmdCopyImageToBuffer) and read that, or create it with VK_IMAGE_TILING_LINEAR".to_owned()
            }
        };
        Note::new(FixKind::Layout, text)
    }

    fn members(&self) -> Value {
        let (level, layer) = self.subresource;
        let side = |by: &By<'_>| match by {
            By::Command(side) => side.json(),
            By::Host(since) => json!({ "host": { "after": since } }),
        };
        let mut user = side(&self.by);
        user["location"] = json!(self.location());
        let mut members = json!({
            "image": {
                "what": self.image.what,
                "name": self.image.name,
                "handle": format!("{:#x}", self.image.handle),
                "level": level,
                "layer": layer,
                "layout": self.layout,
                "wanted": self.wanted(),
            },
            "commands": [user],
            "since": self.since.as_ref().map(side),
        });
        if let Some(plane) = self.plane {
            members["image"]["plane"] = json!(plane);
        }
        members
    }
}
