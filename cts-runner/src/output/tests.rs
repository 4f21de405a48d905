//! Lines as the suite prints them, among those of a driver.

use super::*;

fn parse(text: &str, step: usize) -> Vec<Event> {
    let mut parser = Parser::default();
    let mut events = Vec::new();
    for bytes in text.as_bytes().chunks(step) {
        parser.feed(bytes, &mut |event| events.push(event));
    }
    parser.finish(&mut |event| events.push(event));
    events
}

fn begin_of(name: &str) -> Event {
    Event::Begin(name.to_string())
}

fn end_of(status: Status, message: &str) -> Event {
    Event::End(status, message.to_string())
}

#[test]
fn the_suites_own_lines() {
    let text = "Writing test log into x.qpa\n\nTest case 'dEQP-VK.a'..\n  Pass (ok (really))\n\n\
                    Test case 'dEQP-VK.b'..\n  NotSupported (no at file.cpp:3)\n\nDONE!\n\nTest run totals:\n  \
                    Passed:        1/2 (50.0%)\n";
    let expected = [
        begin_of("dEQP-VK.a"),
        end_of(Status::Pass, "ok (really)"),
        begin_of("dEQP-VK.b"),
        end_of(Status::NotSupported, "no at file.cpp:3"),
        Event::Done,
    ];
    for step in [1, 7, 1000] {
        assert_eq!(parse(text, step), expected);
    }
}

#[test]
fn every_status_of_the_suite() {
    for &status in Status::ALL {
        let text = format!("Test case 'n'..\n  {status} (m)\n");
        assert_eq!(parse(&text, 5)[1], end_of(status, "m"));
    }
    let unheard = parse("Test case 'n'..\n  Splendid (m)\n", 100);
    assert_eq!(unheard[1], end_of(Status::Unknown, "Splendid (m)"));
}

#[test]
fn a_driver_that_talks() {
    let text = "Test case 'a'..\nloading (Fail (maybe))\nno line end  Pass (m)\nmore textTest case 'b'..\n  Fail (two\nlines)\n";
    let expected = [begin_of("a"), end_of(Status::Pass, "m"), begin_of("b"), end_of(Status::Fail, "two")];
    assert_eq!(parse(text, 3), expected);
}

#[test]
fn a_status_outside_a_case_is_no_end() {
    assert_eq!(parse("  Fail (m)\n", 3), []);
}

#[test]
fn the_tail_is_what_the_suite_last_said() {
    let mut parser = Parser::default();
    for index in 0..40 {
        parser.feed(format!("line {index}\n").as_bytes(), &mut |_| ());
    }
    assert!(parser.tail().starts_with("line 28\n") && parser.tail().ends_with("line 39"));
}
