//! link: probe.
#[test]
fn probe() {
    use mcp_approve::link::message::*;
    let m = FromConsole::Hello {
        protocol: 1,
        version: "x".into(),
        operator: "o".into(),
        pid: 3,
    };
    let t = serde_json::to_string(&m).unwrap();
    println!("{t}");
    println!("{:?}", serde_json::from_str::<FromConsole>(&t));
}
