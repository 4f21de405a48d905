//! Answers by samples beside those that are known.

use super::*;

#[test]
fn what_was_not_seen_never_contradicts() {
    let seen = |holds| Answer::Seen { holds, runs: 3 };
    let not_seen = |sought| Answer::NotSeen { sought, runs: 9 };
    for (answer, expected, verdict) in [
        (seen(true), Some(true), Verdict::Shown),
        (seen(true), Some(false), Verdict::Contradicted),
        (seen(false), None, Verdict::Shown),
        // `exists` expected to be reachable, and to be unreachable.
        (not_seen(true), Some(true), Verdict::Unseen),
        (not_seen(true), Some(false), Verdict::NotRefuted),
        // `forall`, `~exists` or race-free expected not to hold, and to hold.
        (not_seen(false), Some(false), Verdict::Unseen),
        (not_seen(false), Some(true), Verdict::NotRefuted),
        (not_seen(true), None, Verdict::Open),
        // An exhaustive exploration: load buffering may be what it does not see.
        (Answer::Exhausted { holds: false, runs: 9 }, Some(false), Verdict::Shown),
        (Answer::Exhausted { holds: false, runs: 9 }, Some(true), Verdict::Unseen),
        (Answer::Exhausted { holds: true, runs: 9 }, None, Verdict::Shown),
    ] {
        assert_eq!(Verdict::of(answer, expected), verdict, "{answer:?} {expected:?}");
    }
}
