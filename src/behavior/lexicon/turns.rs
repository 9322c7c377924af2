//! Verbs whose object decides what they do: `resolve` a host reads, `resolve` a comment changes. Words only.

use super::Effect::{self, Changes, Reads};
use crate::behavior::taxonomy::Action;

/// Verbs, objects near them (right after them where marked `^`), effect. The first row that fits is taken.
pub(super) const TURNS: &[(&str, &str, Effect)] = &[
    ("evaluate", "javascript js script code function browser page", Changes(Action::Execute)),
    (
        "resolve",
        "comment thread issue alert conversation discussion incident ticket conflict feedback review todo task violation dispute",
        Changes(Action::Update),
    ),
    ("verify confirm", "ownership domain email phone otp code account", Changes(Action::Update)),
    ("confirm", "^that ^whether ^if can reach exist connectivity reachability", Reads(Action::Read)),
    ("return", "^order ^item ^product ^book ^loan ^purchase", Changes(Action::Update)),
    ("recall", "^product ^message ^email ^batch", Changes(Action::Update)),
    ("contain", "host device endpoint machine threat", Changes(Action::Update)),
    ("warn", "user member player customer", Changes(Action::Send)),
    ("provide", "^feedback ^rating ^consent ^approval", Changes(Action::Send)),
    ("recommend suggest", "^change ^edit ^friend", Changes(Action::Send)),
    ("extract", "^archive ^zip ^tarball", Changes(Action::Create)),
    ("grade score", "submission assignment", Changes(Action::Update)),
    ("solve", "captcha", Changes(Action::Execute)),
    ("relate match", "payment invoice issue ticket", Changes(Action::Update)),
    ("roll", "^out ^forward ^over", Changes(Action::Execute)),
    ("map", "website site codebase", Reads(Action::Read)),
    ("get", "^rid", Changes(Action::Delete)),
    ("turn power", "^off ^on", Changes(Action::Execute)),
    ("open", "valve door gate lock garage window blind shutter curtain", Changes(Action::Execute)),
    ("open", "account position ticket case dispute", Changes(Action::Create)),
    ("sign", "^off document contract transaction message", Changes(Action::Update)),
    ("test", "webhook notification alert", Changes(Action::Send)),
    ("print", "printer page label receipt document copy copies", Changes(Action::Send)),
    ("close open select resize", "page tab browser window app dialog", Changes(Action::Execute)),
    ("checkout", "cart order payment session", Changes(Action::Send)),
    ("cancel", "order subscription booking reservation meeting event appointment invitation", Changes(Action::Update)),
    ("insert", "text line", Changes(Action::Update)),
    ("add", "staging", Changes(Action::Update)),
    ("pull", "change remote upstream branch", Changes(Action::Merge)),
    ("push", "file commit", Changes(Action::Update)),
    ("write", "query statement sql", Changes(Action::Execute)),
    ("submit", "order payment transaction message email form", Changes(Action::Send)),
    ("complete", "text code prompt sentence", Reads(Action::Read)),
    ("select", "query statement sql row column record from data", Reads(Action::Read)),
    ("check", "^out ^in ^off", Changes(Action::Update)),
    ("show display", "notification toast dialog alert popup banner", Changes(Action::Send)),
    (
        "report",
        "issue bug abuse user problem spam incident ^that has have progress playback stopped started ended",
        Changes(Action::Send),
    ),
    ("track", "event conversion time purchase", Changes(Action::Create)),
    ("load", "into tool ^model ^dataset extension plugin page url module", Changes(Action::Execute)),
    ("roll", "^back", Changes(Action::Update)),
    ("review", "submit approve post", Changes(Action::Update)),
    ("block", "^until", Reads(Action::Read)),
    ("simulate", "location touch key press gps click tap swipe input", Changes(Action::Execute)),
    (
        "test",
        "connection connectivity regex regexp pattern access credential reachability endpoint",
        Reads(Action::Read),
    ),
    ("goto go navigate jump", "definition declaration implementation reference symbol", Reads(Action::Read)),
    ("capture", "payment charge order authorization fund", Changes(Action::Send)),
    ("place", "order bid bet trade call", Changes(Action::Send)),
    ("take capture render", "screenshot snapshot picture photo image frame", Reads(Action::Read)),
    (
        "generate produce build render emit synthesize design propose draft",
        "upload image video audio music speech voice song picture avatar animation 3d photo sound track podcast key password token \
         certificate credential draft invoice payment account",
        Changes(Action::Create),
    ),
    (
        "generate produce build emit propose",
        "url link preview report summary snippet code query sql markdown json yaml text explanation description statistics analysis \
         plan forecast recommendation suggestion example schema documentation docs diagram test bundle list response output \
         hash uuid number coordinate route overview brief prompt instruction guide definition spec type embedding template \
         config configuration workflow request style html css command graph",
        Reads(Action::Read),
    ),
    (
        "run perform execute do make conduct carry use",
        "search lookup autocomplete similarity research",
        Reads(Action::Search),
    ),
    (
        "run perform execute do make conduct carry",
        "check analysis audit review validation comparison calculation inspection assessment evaluation diagnostic lint estimate \
         aggregation discovery traversal geocoding report simulation explain math arithmetic diagnosis health scan",
        Reads(Action::Read),
    ),
    ("ask answer", "question documentation docs about", Reads(Action::Read)),
    ("add", "number integer float", Reads(Action::Read)),
    ("call", "graph hierarchy path chain tree", Reads(Action::Read)),
    ("open", "node record entity", Reads(Action::Read)),
    ("enrich annotate", "company person contact profile lead domain email ip data", Reads(Action::Read)),
    (
        "expand",
        "query url acronym node section search link definition macro context symbol template concept term",
        Reads(Action::Read),
    ),
    ("print", "variable environment env value tree config configuration version info", Reads(Action::Read)),
    ("embed", "text query sentence", Reads(Action::Read)),
];
