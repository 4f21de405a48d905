//! Text form of the representation, for snapshots and `--dump`.
