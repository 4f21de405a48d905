//! What queues and their operations are known by.

use serde::{Deserialize, Serialize};

/// A queue of the device, counted from 0 in creation order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct QueueId(pub u32);

/// A queue operation, counted from 0 in the order of [`Tracker::begin`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct OperationId(pub u64);
