//! How fast executions are judged: random ones of 14 events, and a long one of some hundreds.
//!
//! The aim is 20,000 judgements of 14 events per second and core (50 µs each).

// The macros of the harness make public functions without documentation.
#![allow(missing_docs)]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use pellucid_memory::litmus::axioms::{Goal, Limits, search};
use pellucid_memory::litmus::program::{Comparison, Condition, Term};
use pellucid_memory::litmus::random;
use pellucid_memory::model::{Execution, ModelOptions, RelationName};

/// Consistent executions of random programs with exactly `events` events.
fn executions(events: usize, count: usize) -> Vec<Execution> {
    let always = Condition::Compare(Comparison::Equal, Term::Constant(0), Term::Constant(0));
    let options = ModelOptions::default();
    let limits = Limits { unroll: 1, candidates: 1000 };
    (0..)
        .map(|seed| random::program(seed, events))
        .filter_map(|program| search(&program, &options, &limits, &Goal::State(&always, true)).witness)
        .map(|witness| witness.execution)
        .filter(|execution| execution.events().len() == events)
        .take(count)
        .collect()
}

/// Several executions side by side, as unrelated parts of one.
fn joined(executions: &[Execution], events: usize) -> Execution {
    let mut all = Execution::new();
    for (part, execution) in executions.iter().enumerate() {
        for event in execution.events() {
            if all.events().len() == events {
                return all;
            }
            let mut event = event.clone();
            event.agent.thread += 4 * part as u32;
            event.agent.subgroup += 4 * part as u32;
            event.agent.workgroup += 4 * part as u32;
            if let Some(barrier) = &mut event.barrier {
                barrier.instance += 100 * part as u32;
            }
            all.push(event);
        }
    }
    all
}

fn judge(c: &mut Criterion) {
    let small = executions(14, 200);
    let mut group = c.benchmark_group("judge");
    for chains in [true, false] {
        let options = ModelOptions { chains, ..ModelOptions::default() };
        group.throughput(Throughput::Elements(small.len() as u64));
        group.bench_function(format!("14 events, chains {chains}"), |b| {
            b.iter(|| small.iter().filter(|e| e.judge(&options).is_ok_and(|j| j.consistent())).count());
        });
    }
    group.throughput(Throughput::Elements(small.len() as u64));
    group.bench_function("14 events, with races", |b| {
        let options = ModelOptions::default();
        let races =
            |e: &Execution| e.judge(&options).map_or(0, |j| j.relation(RelationName::DataRace).count());
        b.iter(|| small.iter().map(races).sum::<usize>());
    });
    for events in [60, 120, 250, 500] {
        let long = joined(&executions(14, 40), events);
        group.throughput(Throughput::Elements(1));
        group.bench_function(format!("{events} events"), |b| {
            b.iter(|| long.judge(&ModelOptions::default()).is_ok_and(|j| j.consistent()));
        });
    }
    group.finish();
}

criterion_group!(benches, judge);
criterion_main!(benches);
