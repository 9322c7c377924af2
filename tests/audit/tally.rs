//! Counts over records: what counts as asked, decided and answered, and how long it took.

use mcp_approve::audit::body::write_body;
use mcp_approve::audit::fields::Fields;
use mcp_approve::audit::record::{By, Entry, Kind, Outcome, VerdictWord};
use mcp_approve::audit::tally::Tally;
use mcp_approve::audit::tally::{Exact, Histogram, Numbers};

use crate::audit::{redactor, write};

#[test]
fn a_call_that_is_asked_again_counts_once_and_a_verdict_as_what_it_is() {
    let mut tally = Tally::<Exact>::default();
    let mut take = |kind, change: &dyn Fn(&mut Entry)| {
        let mut entry = Entry { kind, server: "git#2".into(), tool: Some("push".into()), ..write(1) };
        (entry.verdict, entry.by) = (None, None);
        change(&mut entry);
        let mut body = String::new();
        write_body(&entry, &redactor(), &mut body);
        tally.take(&Fields::of(body.as_bytes()).unwrap());
        tally.clone()
    };
    let decided = |verdict, by| {
        move |entry: &mut Entry| {
            (entry.verdict, entry.by, entry.latency_us) = (Some(verdict), Some(by), Some(5));
            entry.rule = (by == By::Rule).then(|| "r".to_owned());
        }
    };
    take(Kind::DecisionAsked, &|entry| entry.detail.add("evidence", "read"));
    assert_eq!(take(Kind::DecisionAsked, &|_| {}).all.asked, 1);
    take(Kind::Decision, &decided(VerdictWord::Approve, By::Operator));
    take(Kind::Decision, &decided(VerdictWord::Approve, By::Rule));
    let counted = take(Kind::Decision, &decided(VerdictWord::Deny, By::Rule));
    let all = &counted.all;
    assert_eq!((all.calls(), all.approved(), all.denied(), all.approved_by(By::Rule)), (3, 2, 1, 1));
    assert_eq!((all.waited.median(), counted.rules["r"].hits), (Some(5.0), 2), "only a person takes time");
    assert_eq!(take(Kind::Withdrawn, &|_| {}).all.withdrawn, 1);
    take(Kind::Outcome, &|entry| entry.detail.add("result", Outcome::ToolError.word()));
    let counted = take(Kind::DecisionAsked, &|_| {});
    assert_eq!(counted.all.asked, 2, "the ticket of another day");
    let tool = counted.of_tool("git", "push").unwrap();
    let judged = r#"{"evidence":"read"}"#;
    assert_eq!((tool.answered, tool.failed, tool.count.asked, tool.judged.as_str()), (1, 1, 2, judged));
    // A rule about results decides too; the result is no call of the tool.
    let of_rule = |entry: &mut Entry| entry.rule = Some("r".to_owned());
    assert_eq!(take(Kind::ResultDecision, &of_rule).rules["r"].hits, 3);
    let counted = take(Kind::Decision, &|entry| {
        decided(VerdictWord::Approve, By::Rule)(entry);
        entry.detail.add("method", "result");
    });
    assert_eq!((counted.rules["r"].hits, counted.of_tool("git", "push").unwrap().count.calls()), (4, 3));
}

#[test]
fn a_histogram_tells_the_middle_to_a_fifth() {
    let mut histogram = Histogram::default();
    assert_eq!(histogram.quantile(50), None);
    for number in 0..10_000 {
        histogram.take(number);
    }
    for percent in [10, 50, 95, 100] {
        let (said, is) = (histogram.quantile(percent).unwrap(), percent * 100);
        assert!(said <= is && said * 5 >= is * 4, "{percent}%: {said} for {is}");
    }
}

#[test]
fn quantiles_are_numbers_that_were_taken_and_a_median_is_the_middle() {
    let of = |numbers: &[u64]| {
        let mut exact = Exact::default();
        numbers.iter().for_each(|number| exact.take(*number));
        exact
    };
    let exact = of(&(1..=100).rev().collect::<Vec<_>>());
    assert_eq!((exact.quantile(50), exact.quantile(95), exact.median()), (Some(50), Some(95), Some(50.5)));
    let mut histogram = Histogram::default();
    [8, 32].into_iter().for_each(|number| histogram.take(number));
    assert_eq!((of(&[8, 32]).quantile(50), histogram.quantile(50)), (Some(8), Some(8)));
    assert_eq!((of(&[7]).quantile(95), of(&[7, 9, 8]).median()), (Some(7), Some(8.0)));
    assert_eq!((Exact::default().quantile(50), Exact::default().median()), (None, None));
}
