//! Samples, repetitions and digests of lists by hand.

use super::*;

fn names(count: usize) -> Vec<String> {
    (0..count).map(|index| format!("dEQP-VK.a.{index}")).collect()
}

#[test]
fn a_sample_is_even_and_exact() {
    for (length, count) in [(8820, 500), (10, 3), (7, 7), (5, 9), (3, 1)] {
        let chosen = sample(names(length), count);
        assert_eq!(chosen.len(), count.min(length));
        assert_eq!(chosen[0], "dEQP-VK.a.0");
    }
    assert_eq!(sample(names(10), 3), ["dEQP-VK.a.0", "dEQP-VK.a.3", "dEQP-VK.a.6"]);
}

#[test]
fn a_pattern_without_a_case_is_refused() {
    let filter = Filter { include: vec![Wildcard::new("dEQP-VK.b.*")], ..Filter::default() };
    let error = select(names(3), &filter).unwrap_err().to_string();
    assert!(error.contains("dEQP-VK.b.*"), "{error}");
}

#[test]
fn repetitions_go() {
    let mut twice = names(3);
    twice.extend(names(3));
    assert_eq!(select(twice, &Filter::default()).unwrap(), names(3));
}

#[test]
fn a_digest_is_of_the_set() {
    let mut other = names(5);
    other.reverse();
    assert_eq!(digest(names(5).iter().map(String::as_str)), digest(other.iter().map(String::as_str)));
    assert_ne!(digest(names(5).iter().map(String::as_str)), digest(names(4).iter().map(String::as_str)));
}
