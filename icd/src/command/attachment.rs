//! What is done to attachments, as data: by commands that begin and end rendering, and by
//! vkCmdClearAttachments.

use super::{Cleared, Dependency};
use crate::entry::image_view::ImageView;
use ash::vk;
use std::any::Any;
use std::sync::Arc;

/// Aspects of an attachment.
#[derive(Clone)]
pub struct Target {
    pub view: Arc<ImageView>,
    /// Color, or depth, or stencil, or both of these.
    pub aspects: vk::ImageAspectFlags,
    /// The layout that they are said to be in.
    pub layout: vk::ImageLayout,
}

/// What is done to an attachment.
#[derive(Clone)]
pub enum Does {
    /// VK_ATTACHMENT_LOAD_OP_LOAD.
    Load,
    /// VK_ATTACHMENT_LOAD_OP_CLEAR and vkCmdClearAttachments.
    Clear(Cleared),
    /// VK_ATTACHMENT_LOAD_OP_DONT_CARE.
    Discard,
    /// VK_ATTACHMENT_STORE_OP_STORE.
    Store,
    /// VK_ATTACHMENT_STORE_OP_DONT_CARE.
    Drop,
    /// It becomes what the samples of this one resolve to.
    Resolve(Target),
}

/// An operation on an attachment.
#[derive(Clone)]
pub struct AttachmentUse {
    pub target: Target,
    pub does: Does,
    pub area: vk::Rect2D,
    /// Layers, counted from the view's first.
    pub layers: Arc<[u32]>,
}

/// VkClearAttachment.
#[derive(Clone, Copy)]
pub struct AttachmentClear {
    pub aspects: vk::ImageAspectFlags,
    /// Index of the color attachment.
    pub color: u32,
    /// VkClearValue.
    pub words: [u32; 4],
}

/// What vkCmdClearAttachments writes to.
pub struct Rendering {
    pub colors: Vec<Option<Target>>,
    pub depth: Option<Target>,
    pub stencil: Option<Target>,
    /// The views of multiview rendering; `None` where there is none.
    pub views: Option<Arc<[u32]>>,
}

/// A command that begins or ends a render pass instance, or one of its subpasses.
#[derive(Default)]
pub struct Step {
    /// The entry point.
    pub name: &'static str,
    /// What ends the subpass before it.
    pub ends: Vec<AttachmentUse>,
    pub dependency: Option<Dependency>,
    /// What begins the subpass after it.
    pub begins: Vec<AttachmentUse>,
    /// What is rendered to from now on; `None`: the instance ends.
    pub rendering: Option<Arc<Rendering>>,
    /// The objects that it is recorded with.
    pub objects: Vec<Arc<dyn Any + Send + Sync>>,
}

/// Depth and stencil of one view that are treated alike are one use.
pub fn merged(uses: Vec<AttachmentUse>) -> Vec<AttachmentUse> {
    let mut out: Vec<AttachmentUse> = Vec::with_capacity(uses.len());
    for next in uses {
        if let Some(last) = out.last_mut()
            && Arc::ptr_eq(&last.target.view, &next.target.view)
            && last.target.layout == next.target.layout
            && last.target.aspects == vk::ImageAspectFlags::DEPTH
            && next.target.aspects == vk::ImageAspectFlags::STENCIL
        {
            let both = match (&last.does, &next.does) {
                (
                    Does::Clear(Cleared::DepthStencil(depth, _)),
                    Does::Clear(Cleared::DepthStencil(_, stencil)),
                ) => Some(Does::Clear(Cleared::DepthStencil(*depth, *stencil))),
                (Does::Load, Does::Load) => Some(Does::Load),
                (Does::Discard, Does::Discard) => Some(Does::Discard),
                (Does::Store, Does::Store) => Some(Does::Store),
                (Does::Drop, Does::Drop) => Some(Does::Drop),
                _ => None,
            };
            if let Some(does) = both {
                last.does = does;
                last.target.aspects |= next.target.aspects;
                continue;
            }
        }
        out.push(next);
    }
    out
}

impl Rendering {
    fn targets(&self) -> impl Iterator<Item = &Target> {
        self.colors.iter().chain([&self.depth, &self.stencil]).flatten()
    }

    /// What vkCmdClearAttachments does. An attachment that is not there is left out.
    pub fn clears(&self, attachments: &[AttachmentClear], rects: &[vk::ClearRect]) -> Vec<AttachmentUse> {
        let mut uses = Vec::new();
        for attachment in attachments {
            let color = self.colors.get(attachment.color as usize).and_then(Option::as_ref);
            let all = [
                (vk::ImageAspectFlags::COLOR, color),
                (vk::ImageAspectFlags::DEPTH, self.depth.as_ref()),
                (vk::ImageAspectFlags::STENCIL, self.stencil.as_ref()),
            ];
            for rect in rects {
                let layers = self.views.clone().unwrap_or_else(|| {
                    (rect.base_array_layer..rect.base_array_layer.saturating_add(rect.layer_count)).collect()
                });
                for (_, target) in all.iter().filter(|(aspect, _)| attachment.aspects.contains(*aspect)) {
                    let Some(target) = target else { continue };
                    let does = Does::Clear(clear_value(target.aspects, attachment.words));
                    let (target, layers) = ((*target).clone(), layers.clone());
                    uses.push(AttachmentUse { target, does, area: rect.rect, layers });
                }
            }
        }
        merged(uses)
    }
}

/// A VkClearValue, given as words, for these aspects.
pub fn clear_value(aspects: vk::ImageAspectFlags, words: [u32; 4]) -> Cleared {
    match aspects {
        vk::ImageAspectFlags::COLOR => Cleared::Color(words),
        _ => Cleared::DepthStencil(f32::from_bits(words[0]), words[1]),
    }
}

impl Step {
    /// True if the object at `object` is used.
    pub fn uses(&self, object: *const ()) -> bool {
        let uses = self.ends.iter().chain(&self.begins);
        let used = uses.flat_map(|u| match &u.does {
            Does::Resolve(from) => vec![from, &u.target],
            _ => vec![&u.target],
        });
        let rendered = self.rendering.iter().flat_map(|r| r.targets());
        let through =
            |t: &Target| Arc::as_ptr(&t.view).cast::<()>() == object || t.view.image.is_or_uses(object);
        used.chain(rendered).any(through)
            || self.objects.iter().any(|of| Arc::as_ptr(of).cast::<()>() == object)
    }
}
