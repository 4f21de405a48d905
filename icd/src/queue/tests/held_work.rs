//! How long a submission holds its work.

use crate::queue::Queue;
use crate::queue::completion::Completion;
use crate::queue::submission::{Submission, Use, Work};
use crate::queue::told::Completed;
use pellucid_memory::commands::Range;
use std::sync::Arc;

/// Work that holds one object.
struct Holds(#[expect(dead_code, reason = "it is there to be counted")] Arc<()>);

impl Work for Holds {
    fn run(&self, _: &Queue, _: &[String]) -> Result<(), String> {
        Ok(())
    }

    fn submit(&self, _: u32, _: u64) {}

    fn use_of(&self, _: *const ()) -> Option<Use> {
        Some(Use { command: "vkCmdDispatch", index: Some(1) })
    }

    fn use_of_ended(&self, _: *const ()) -> Option<Use> {
        None
    }

    fn bytes_used(&self, _: *const (), _: Range, _: &mut dyn FnMut(Range)) {}

    fn access_of(&self, _: Range) -> Option<Use> {
        None
    }
}

/// A submission, the object that its work holds, and who remembers it.
fn submitted() -> (Arc<Submission>, Arc<()>, Completion) {
    let object = Arc::new(());
    let work: Arc<dyn Work> = Arc::new(Holds(object.clone()));
    let submission = Arc::new(Submission { work: Some(work).into(), ..Submission::default() });
    let completion = Completion::default();
    completion.submitted(&submission);
    (submission, object, completion)
}

#[test]
fn it_is_known_until_the_host_knows_that_it_has_completed() {
    let (submission, object, completion) = submitted();
    drop(submission.work.begin());
    assert!(completion.use_of(std::ptr::null()).is_some());
    assert_eq!(Arc::strong_count(&object), 2);
    completion.host_saw(Completed::default());
    assert!(completion.use_of(std::ptr::null()).is_none());
    assert_eq!(Arc::strong_count(&object), 1, "the queue's thread may have the submission still");
    drop(submission);
}

#[test]
fn it_is_held_while_it_runs_although_nobody_asks_any_more() {
    let (submission, object, completion) = submitted();
    let running = submission.work.begin();
    completion.host_saw(Completed::default());
    assert_eq!(Arc::strong_count(&object), 2);
    drop(running);
    assert_eq!(Arc::strong_count(&object), 1);
}

#[test]
fn it_runs_although_so_many_came_behind_it_that_nobody_remembers_it() {
    let (submission, object, completion) = submitted();
    for _ in 0..1000 {
        completion.submitted(&Arc::new(Submission::default()));
    }
    let running = submission.work.begin();
    assert!(running.is_some());
    drop(running);
    assert_eq!(Arc::strong_count(&object), 1);
}
