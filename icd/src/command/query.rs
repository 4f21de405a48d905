//! Query results as bytes.

use crate::entry::query::Query;
use ash::vk;

/// What VkQueryResultFlags make of a query: byte offsets and bytes to be written there. An unavailable result
/// is not written, except the availability word.
pub fn encode(query: &Query, flags: vk::QueryResultFlags) -> Vec<(usize, Vec<u8>)> {
    let wide = flags.contains(vk::QueryResultFlags::TYPE_64);
    let word =
        |value: u64| if wide { value.to_le_bytes().to_vec() } else { (value as u32).to_le_bytes().to_vec() };
    let mut out = Vec::new();
    let value = query.get();
    match value {
        Some(value) => out.push((0, word(value))),
        None if flags.contains(vk::QueryResultFlags::PARTIAL) => out.push((0, word(0))),
        None => {}
    }
    if flags.contains(vk::QueryResultFlags::WITH_AVAILABILITY) {
        out.push((if wide { 8 } else { 4 }, word(u64::from(value.is_some()))));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unavailable_results_leave_the_value_alone() {
        let query = Query::default();
        let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WITH_AVAILABILITY;
        assert_eq!(encode(&query, flags), vec![(8, vec![0; 8])]);
        query.put(5);
        assert_eq!(
            encode(&query, flags),
            vec![(0, 5u64.to_le_bytes().to_vec()), (8, 1u64.to_le_bytes().to_vec())]
        );
    }
}
