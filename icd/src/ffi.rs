//! Reading and writing what the application's pointers point to.
//!
//! A function that follows a pointer is `unsafe` with one contract, **the pointer is the application's**: it
//! came from the application in the call that is being answered, as an argument of an entry point or as a
//! member of a structure reached from one. The valid usage that the specification asks of every command then
//! makes it null or valid for its type and count until the call returns, and nobody else writes there
//! meanwhile. Where null is not allowed it is refused with an error instead of trusted.
//!
//! Entry points have that valid usage as their own contract, and `boundary::entries` says so for their
//! bodies.

use crate::error::{Error, Outcome};
use ash::vk;
use std::ffi::{CStr, c_char, c_void};
use std::marker::PhantomData;
use std::os::fd::{BorrowedFd, FromRawFd, OwnedFd};

/// What `p` points to.
///
/// # Safety
/// The pointer is the application's.
pub(crate) unsafe fn read<'a, T>(p: *const T) -> Outcome<&'a T> {
    // SAFETY: the contract.
    unsafe { p.as_ref() }.ok_or_else(|| Error::usage("a required pointer is null"))
}

/// What `p` points to, or nothing if it is null.
///
/// # Safety
/// The pointer is the application's.
pub(crate) unsafe fn optional<'a, T>(p: *const T) -> Option<&'a T> {
    // SAFETY: the contract.
    unsafe { p.as_ref() }
}

/// What `p` points to, to be changed.
///
/// # Safety
/// The pointer is the application's.
pub(crate) unsafe fn read_mut<'a, T>(p: *mut T) -> Outcome<&'a mut T> {
    // SAFETY: the contract.
    unsafe { p.as_mut() }.ok_or_else(|| Error::usage("a required pointer is null"))
}

/// An array of `count` elements; empty if the pointer is null.
///
/// # Safety
/// The pointer is the application's.
pub(crate) unsafe fn slice<'a, T>(p: *const T, count: impl TryInto<usize>) -> &'a [T] {
    let count = count.try_into().unwrap_or(0);
    if p.is_null() || count == 0 {
        return &[];
    }
    // SAFETY: the contract.
    unsafe { std::slice::from_raw_parts(p, count) }
}

/// An array of `count` elements, which may be null only if there are none.
///
/// # Safety
/// The pointer is the application's.
pub(crate) unsafe fn array<'a, T>(p: *const T, count: u32) -> Outcome<&'a [T]> {
    if p.is_null() && count > 0 {
        return Err(Error::usage("a required pointer is null"));
    }
    // SAFETY: the contract.
    Ok(unsafe { slice(p, count) })
}

/// An array of `count` elements to be written; empty if the pointer is null.
///
/// # Safety
/// The pointer is the application's.
pub(crate) unsafe fn slice_mut<'a, T>(p: *mut T, count: impl TryInto<usize>) -> &'a mut [T] {
    let count = count.try_into().unwrap_or(0);
    if p.is_null() || count == 0 {
        return &mut [];
    }
    // SAFETY: the contract.
    unsafe { std::slice::from_raw_parts_mut(p, count) }
}

/// Writes a result.
///
/// # Safety
/// The pointer is the application's.
pub(crate) unsafe fn write<T>(p: *mut T, value: T) -> Outcome<()> {
    if p.is_null() {
        return Err(Error::usage("a required pointer is null"));
    }
    // SAFETY: the contract.
    unsafe { p.write(value) };
    Ok(())
}

/// Reads a `T` at `data + offset`, at any alignment (descriptor update templates).
///
/// # Safety
/// The pointer is the application's, and there is a `T` at `offset`.
pub(crate) unsafe fn read_at<T: Copy>(data: *const c_void, offset: usize) -> T {
    // SAFETY: the contract; the template's entries say where its data lies.
    unsafe { data.cast::<u8>().add(offset).cast::<T>().read_unaligned() }
}

/// `count` bytes at `data + offset`.
///
/// # Safety
/// The pointer is the application's, and `count` bytes are at `offset`.
pub(crate) unsafe fn bytes_at<'a>(data: *const c_void, offset: usize, count: usize) -> &'a [u8] {
    // SAFETY: as for `read_at`.
    unsafe { slice(data.cast::<u8>().add(offset), count) }
}

/// A null-terminated string.
///
/// # Safety
/// The pointer is the application's.
pub(crate) unsafe fn string(p: *const c_char) -> Option<String> {
    if p.is_null() {
        return None;
    }
    // SAFETY: the contract.
    Some(unsafe { CStr::from_ptr(p) }.to_string_lossy().into_owned())
}

/// Writes `text` into a fixed array, cut to fit, null-terminated.
pub(crate) fn put_string(to: &mut [c_char], text: &str) {
    to.fill(0);
    let end = text.floor_char_boundary(to.len() - 1);
    for (slot, byte) in to.iter_mut().zip(text[..end].bytes()) {
        *slot = byte as c_char;
    }
}

/// A structure of a `pNext` chain of inputs. Only [`chain`] makes it, so that there is one, of its type.
pub(crate) struct Link<'a> {
    start: *const c_void,
    /// Its `sType`.
    pub(crate) kind: vk::StructureType,
    chain: PhantomData<&'a ()>,
}

impl<'a> Link<'a> {
    /// It, if it is a `T`.
    pub(crate) fn read<T: vk::TaggedStructure + 'a>(&self) -> Option<&'a T> {
        // SAFETY: the contract of `chain`; the structure type says that this is a `T`.
        (self.kind == T::STRUCTURE_TYPE).then(|| unsafe { &*self.start.cast::<T>() })
    }

    /// The `count` VkBool32 members of a feature structure.
    ///
    /// # Safety
    /// It is a feature structure of that many members.
    pub(crate) unsafe fn bools(&self, count: usize) -> &'a [vk::Bool32] {
        // SAFETY: feature structures are a header of two words followed by VkBool32 members only.
        unsafe { slice(self.start.cast::<u8>().add(size_of::<vk::BaseInStructure>()).cast(), count) }
    }
}

/// A structure of a `pNext` chain of outputs. Only [`chain_mut`] makes it, so that there is one, of its type,
/// and nobody else has it.
pub(crate) struct LinkMut<'a> {
    start: *mut c_void,
    /// Its `sType`.
    pub(crate) kind: vk::StructureType,
    chain: PhantomData<&'a mut ()>,
}

impl LinkMut<'_> {
    /// It, to be changed, if it is a `T`.
    pub(crate) fn write<T: vk::TaggedStructure>(&mut self) -> Option<&mut T> {
        // SAFETY: the contract of `chain_mut`; the structure type says that this is a `T`.
        (self.kind == T::STRUCTURE_TYPE).then(|| unsafe { &mut *self.start.cast::<T>() })
    }

    /// Where it is, if it is of this type, which Vulkan's headers do not have.
    pub(crate) fn cast<T>(&self, kind: vk::StructureType) -> Option<*mut T> {
        (self.kind == kind).then(|| self.start.cast())
    }
}

/// The structures of a `pNext` chain of inputs.
///
/// # Safety
/// The pointer is the application's.
pub(crate) unsafe fn chain<'a>(next: *const c_void) -> impl Iterator<Item = Link<'a>> {
    let mut next = next.cast::<vk::BaseInStructure<'static>>();
    std::iter::from_fn(move || {
        // SAFETY: the contract; every extending structure begins like VkBaseInStructure.
        let item = unsafe { next.as_ref() }?;
        let start = next.cast();
        next = item.p_next;
        Some(Link { start, kind: item.s_type, chain: PhantomData })
    })
}

/// The structures of a `pNext` chain of outputs.
///
/// # Safety
/// The pointer is the application's, to be written to, and nobody else follows it while there is a link.
pub(crate) unsafe fn chain_mut<'a>(next: *mut c_void) -> impl Iterator<Item = LinkMut<'a>> {
    let mut next = next.cast::<vk::BaseOutStructure<'static>>();
    std::iter::from_fn(move || {
        // SAFETY: the contract; every extending structure begins like VkBaseOutStructure.
        let item = unsafe { next.as_ref() }?;
        let start = next.cast();
        next = item.p_next;
        Some(LinkMut { start, kind: item.s_type, chain: PhantomData })
    })
}

/// The structure of type `T` in a `pNext` chain of inputs.
///
/// # Safety
/// The pointer is the application's.
pub(crate) unsafe fn find<'a, T: vk::TaggedStructure + 'a>(next: *const c_void) -> Option<&'a T> {
    // SAFETY: the contract.
    unsafe { chain(next) }.find_map(|link| link.read())
}

/// The structure of type `T` in a `pNext` chain of outputs.
///
/// # Safety
/// As for [`chain_mut`].
pub(crate) unsafe fn find_mut<'a, T: vk::TaggedStructure>(next: *mut c_void) -> Option<&'a mut T> {
    // SAFETY: the contract; the structure type says that this is a `T`.
    unsafe {
        let link = chain_mut(next).find(|link| link.kind == T::STRUCTURE_TYPE)?;
        Some(&mut *link.start.cast::<T>())
    }
}

/// A file descriptor that the application hands over to be imported.
///
/// # Errors
/// It is none.
///
/// # Safety
/// It is open and the application's, until [`take`].
pub(crate) unsafe fn descriptor<'a>(number: i32) -> Outcome<BorrowedFd<'a>> {
    if number < 0 {
        let text = format!("{number} is no file descriptor");
        return Err(Error::new(vk::Result::ERROR_INVALID_EXTERNAL_HANDLE, text));
    }
    // SAFETY: the contract.
    Ok(unsafe { BorrowedFd::borrow_raw(number) })
}

/// Closes a descriptor that was imported: it is the driver's, which has one of its own.
///
/// # Safety
/// It is open, and the application has given it away.
pub(crate) unsafe fn take(number: i32) {
    // SAFETY: the contract.
    drop(unsafe { OwnedFd::from_raw_fd(number) });
}

/// The two-call idiom of enumerations: the count, or as many elements as fit.
///
/// # Safety
/// The pointers are the application's.
pub(crate) unsafe fn enumerate<T: Clone>(items: &[T], count: *mut u32, out: *mut T) -> Outcome<vk::Result> {
    // SAFETY: the contract.
    unsafe { enumerate_with(items.len(), count, out, |n, slot| *slot = items[n].clone()) }
}

/// As [`enumerate`], of elements that keep what they hold but for what `put` writes to each.
///
/// # Safety
/// The pointers are the application's.
pub(crate) unsafe fn enumerate_with<T>(
    available: usize,
    count: *mut u32,
    out: *mut T,
    mut put: impl FnMut(usize, &mut T),
) -> Outcome<vk::Result> {
    // SAFETY: the contract; `out` has room for as many elements as the count says.
    unsafe {
        let room = *read(count)? as usize;
        if out.is_null() {
            write(count, available as u32)?;
            return Ok(vk::Result::SUCCESS);
        }
        let written = room.min(available);
        slice_mut(out, written).iter_mut().enumerate().for_each(|(n, slot)| put(n, slot));
        write(count, written as u32)?;
        Ok(if written < available { vk::Result::INCOMPLETE } else { vk::Result::SUCCESS })
    }
}

/// The two-call idiom for opaque data, in bytes: all of them or none.
///
/// # Safety
/// The pointers are the application's.
pub(crate) unsafe fn enumerate_bytes(data: &[u8], size: *mut usize, out: *mut c_void) -> Outcome<vk::Result> {
    // SAFETY: as for `enumerate`.
    unsafe {
        let room = *read(size)?;
        if !out.is_null() && room < data.len() {
            write(size, 0)?;
            return Ok(vk::Result::INCOMPLETE);
        }
        write(size, data.len())?;
        if !out.is_null() {
            slice_mut(out.cast::<u8>(), data.len()).copy_from_slice(data);
        }
        Ok(vk::Result::SUCCESS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn null_is_refused_or_empty() {
        // SAFETY: null is always allowed.
        unsafe {
            assert!(read::<u32>(std::ptr::null()).is_err());
            assert!(optional::<u32>(std::ptr::null()).is_none());
            assert!(write(std::ptr::null_mut(), 1u32).is_err());
            assert!(slice::<u32>(std::ptr::null(), 3u32).is_empty());
            assert!(array::<u32>(std::ptr::null(), 3).is_err());
            assert!(array::<u32>(std::ptr::null(), 0).is_ok_and(<[u32]>::is_empty));
            assert!(slice_mut::<u32>(std::ptr::null_mut(), 3u32).is_empty());
            assert_eq!(string(std::ptr::null()), None);
        }
    }

    #[test]
    fn structures_are_found_in_chains() {
        let timeline = vk::SemaphoreTypeCreateInfo::default().initial_value(7);
        let info = vk::SemaphoreCreateInfo { p_next: (&raw const timeline).cast(), ..Default::default() };
        // SAFETY: the chain is made of structures that live here.
        unsafe {
            let found = find::<vk::SemaphoreTypeCreateInfo<'_>>(info.p_next);
            assert_eq!(found.map(|t| t.initial_value), Some(7));
            assert!(find::<vk::ExportSemaphoreCreateInfo<'_>>(info.p_next).is_none());
        }
        let mut v12 = vk::PhysicalDeviceVulkan12Features::default();
        let mut v13 =
            vk::PhysicalDeviceVulkan13Features { p_next: (&raw mut v12).cast(), ..Default::default() };
        let out = vk::PhysicalDeviceFeatures2 { p_next: (&raw mut v13).cast(), ..Default::default() };
        // SAFETY: as above.
        unsafe {
            assert_eq!(chain_mut(out.p_next).count(), 2);
            if let Some(v12) = find_mut::<vk::PhysicalDeviceVulkan12Features<'_>>(out.p_next) {
                v12.timeline_semaphore = vk::TRUE;
            }
        }
        assert_eq!(v12.timeline_semaphore, vk::TRUE);
    }

    #[test]
    fn features_are_read_as_an_array() {
        let v13 = vk::PhysicalDeviceVulkan13Features::default().synchronization2(true);
        // SAFETY: the structure lives here, and has 15 members.
        let enabled = unsafe {
            let link = chain((&raw const v13).cast()).next().expect("a structure");
            link.bools(15).iter().filter(|b| **b == vk::TRUE).count()
        };
        assert_eq!(enabled, 1);
    }

    #[test]
    fn enumerations_are_cut_to_the_room() {
        let (items, mut count, mut out) = ([1u32, 2, 3], 0u32, [0u32; 3]);
        // SAFETY: counts and arrays live here, and no count is greater than its array.
        unsafe {
            assert_eq!(enumerate(&items, &raw mut count, std::ptr::null_mut()).unwrap(), vk::Result::SUCCESS);
            assert_eq!(count, 3);
            count = 2;
            let answer = enumerate(&items, &raw mut count, out.as_mut_ptr()).unwrap();
            assert_eq!((answer, count, out), (vk::Result::INCOMPLETE, 2, [1, 2, 0]));
            let (mut size, mut bytes) = (2usize, [0u8; 4]);
            let answer = enumerate_bytes(&[7, 8, 9], &raw mut size, bytes.as_mut_ptr().cast()).unwrap();
            assert_eq!((answer, size, bytes), (vk::Result::INCOMPLETE, 0, [0; 4]), "all or nothing");
            size = 4;
            let answer = enumerate_bytes(&[7, 8, 9], &raw mut size, bytes.as_mut_ptr().cast()).unwrap();
            assert_eq!((answer, size, bytes), (vk::Result::SUCCESS, 3, [7, 8, 9, 0]));
        }
    }

    #[test]
    fn data_of_templates_may_stand_anywhere() {
        let mut data = [0u8; 24];
        data[3..11].copy_from_slice(&0x0102_0304_0506_0708u64.to_ne_bytes());
        let mut text = [1 as c_char; 4];
        put_string(&mut text, "device");
        // SAFETY: the data and the text live here, and the text has an end.
        unsafe {
            assert_eq!(read_at::<u64>(data.as_ptr().cast(), 3), 0x0102_0304_0506_0708);
            assert_eq!(bytes_at(data.as_ptr().cast(), 3, 8).len(), 8);
            assert_eq!(string(text.as_ptr()).as_deref(), Some("dev"));
        }
    }
}
