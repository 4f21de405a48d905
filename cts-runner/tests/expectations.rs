//! The exit status tells a regression from an improvement, and a feature cannot silently go away.

mod common;

use common::Bench;

#[test]
fn exit_statuses() {
    let bench = Bench::new(&["pass.1", "fail.1", "not_supported.1"]);
    let baseline = |text: &str| bench.write("baseline.csv", text).to_str().unwrap().to_string();
    let run = |text: &str| bench.run(&["--overwrite", "--baseline", &baseline(text)]);
    run("# reason\ndEQP-VK.stand_in.fail.1,Fail\n").expect(0);
    run("").expect(1);
    run("dEQP-VK.stand_in.fail.1,Crash\n").expect(3);
    run("dEQP-VK.stand_in.fail.1,Timeout\ndEQP-VK.stand_in.pass.1,Fail\n").expect(3);
    run("dEQP-VK.stand_in.pass.1,Fail\n").expect(1);
    run("dEQP-VK.stand_in.fail.1,Failed\n").expect(2);
    let ended = run("dEQP-VK.stand_in.fail.1,Fail\ndEQP-VK.stand_in.not_supported.1,Pass\n").expect(1);
    assert!(ended.out.contains("no longer supported"), "{}", ended.out);
}

#[test]
fn a_written_baseline_is_met_and_keeps_its_reasons() {
    let bench = Bench::new(&["pass.1", "fail.1", "fail.2", "crash.1", "not_supported.1"]);
    bench.write("baseline.csv", "# no such thing\n# here\ndEQP-VK.stand_in.fail.2,Fail\n");
    bench.run(&["--baseline", "baseline.csv", "--write-baseline", "new.csv"]).expect(1);
    let new = bench.read("new.csv");
    assert_eq!(
        new,
        "dEQP-VK.stand_in.crash.1,Crash\ndEQP-VK.stand_in.fail.1,Fail\n\n# no such thing here\ndEQP-VK.stand_in.fail.2,Fail\n"
    );
    bench.run(&["--overwrite", "--baseline", "new.csv"]).expect(0);
    // results.csv itself serves as a baseline too, as deqp-runner's does.
    bench.call(&["report", "results", "--baseline", "results/results.csv"]).expect(0);
}

#[test]
fn known_flakes_do_not_fail_a_run() {
    let bench = Bench::new(&["flaky.1", "pass.1", "crash.1"]);
    bench.write("flakes.txt", "^dEQP-VK\\.stand_in\\.(flaky|crash)\n");
    let ended = bench.run(&["--flakes", "flakes.txt"]).expect(0);
    assert!(ended.out.contains("0 regressions, 0 improvements, 2 flaky"), "{}", ended.out);
}

#[test]
fn the_gate_on_what_is_not_supported() {
    let bench = Bench::new(&["pass.1", "not_supported.1", "not_supported.2"]);
    bench.run(&["--write-not-supported", "gate.txt"]).expect(0);
    assert_eq!(
        bench.read("gate.txt"),
        "dEQP-VK.stand_in.not_supported.1\ndEQP-VK.stand_in.not_supported.2\n"
    );
    bench.call(&["report", "results", "--not-supported", "gate.txt"]).expect(0);
    // One case fewer in the set: what is NotSupported beyond it is a regression.
    bench.write("gate.txt", "dEQP-VK.stand_in.not_supported.1\n");
    let ended = bench.call(&["report", "results", "--not-supported", "gate.txt"]).expect(1);
    assert!(ended.out.contains("not_supported.2  no longer supported: NotSupported"), "{}", ended.out);
    // One case more: it is supported now.
    bench.write("gate.txt", "dEQP-VK.stand_in.not_supported.*\ndEQP-VK.stand_in.pass.1\n");
    let ended = bench.call(&["report", "results", "--not-supported", "gate.txt"]).expect(3);
    assert!(ended.out.contains("newly supported"), "{}", ended.out);
    // An empty set allows none.
    bench.write("gate.txt", "");
    bench.call(&["report", "results", "--not-supported", "gate.txt"]).expect(1);
}

#[test]
fn the_matrix_is_the_product() {
    let bench = Bench::new(&["option.mode.check", "option.seed.1", "pass.1"]);
    let ended = bench.run(&["--matrix", "mode=run,check", "seed=0..2", "--title", "both"]).expect(1);
    for (variant, mode, seed) in [
        ("mode=run,seed=0", "Fail", "Fail"),
        ("mode=run,seed=1", "Fail", "Pass"),
        ("mode=check,seed=0", "Pass", "Fail"),
        ("mode=check,seed=1", "Pass", "Pass"),
    ] {
        let results = format!("results/{variant}");
        assert_eq!(bench.status(&results, "option.mode.check"), mode, "{variant}");
        assert_eq!(bench.status(&results, "option.seed.1"), seed, "{variant}");
        assert!(bench.read(&format!("{results}/junit.xml")).contains(&format!("[{variant}]")));
        assert!(bench.read(&format!("{results}/summary.txt")).starts_with(&format!("both [{variant}]")));
    }
    assert!(ended.out.contains("option.mode.check: Fail, Fail, Pass, Pass"), "{}", ended.out);
    assert_eq!(bench.read("results/matrix.txt").matches("mode=").count(), 4);
    let ended = bench.run(&["--matrix", "mode=run", "--set", "mode=check"]).expect(2);
    assert!(ended.err.contains("twice"), "{}", ended.err);
}
