//! What English verbs do to the things they are said of. Owns the word lists; how they are read stands in `infer`.
//!
//! The lists are about the language, not about any server. A verb that nobody listed is unknown, which means MUTATES.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::taxonomy::Action;

/// What a verb tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verb {
    pub effect: Effect,
    pub firmness: Firmness,
}

/// What the act does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Changes nothing.
    Reads(Action),
    /// Changes something.
    Changes(Action),
    /// Depends on its object or on the rest of the definition; the action if it should change something.
    Depends(Action),
}

/// Whether the word is surely a verb where one may stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Firmness {
    /// Hardly ever a noun: `delete`, `fetch`.
    Verb,
    /// As often a noun: `order`, `comment`, `report`.
    Either,
}

/// The verb that a base form is.
pub fn verb(word: &str) -> Option<Verb> {
    if let Some(found) = VERBS.get(word) {
        return Some(*found);
    }
    // `reassign`, `undeploy`, `autotag`, `bulk-delete`: the prefix does not make a change harmless.
    let plain = ["re", "un", "de", "dis", "auto", "bulk", "batch", "multi", "soft", "hard", "force", "mass", "quick"];
    plain.iter().find_map(|prefix| {
        let rest = word.strip_prefix(prefix)?.trim_start_matches('-');
        match VERBS.get(rest).filter(|_| rest.len() > 3)? {
            Verb { effect: Effect::Changes(action), .. } => {
                Some(Verb { effect: Effect::Changes(*action), firmness: Firmness::Verb })
            }
            found if prefix.len() > 3 => Some(*found),
            _ => None,
        }
    })
}

static VERBS: LazyLock<HashMap<&'static str, Verb>> = LazyLock::new(|| {
    let mut verbs = HashMap::new();
    for (effect, firmness, words) in LISTS {
        for word in words.split_whitespace() {
            verbs.insert(word, Verb { effect: *effect, firmness: *firmness });
        }
    }
    verbs
});

use Effect::{Changes, Depends, Reads};
use Firmness::{Either, Verb as Firm};

/// Later lists win over earlier ones.
const LISTS: &[(Effect, Firmness, &str)] = &[
    (
        Reads(Action::Read),
        Firm,
        "get read list fetch retrieve show describe view display obtain gather collect inspect examine peek enumerate \
         browse explain summarize summarise analyze analyse assess evaluate compare diff calculate compute estimate \
         predict forecast validate verify check determine detect identify recognize recognise classify categorize \
         interpret parse decode extract lookup ping probe poll monitor observe introspect count measure tally aggregate \
         summarise preview recommend suggest infer translate convert explore traverse visualize look see tell know \
         ask_about investigate diagnose troubleshoot debug audit lint profile benchmark simulate trace compile_stats \
         discover retrieve dump tail grep cat ls stat head print inspect whoami whois nslookup resolve expand \
         understand learn compose_preview cite quote outline paraphrase rephrase rerank rank score geocode \
         demonstrate echo hash encode tokenize detokenize stringify format_check tokenise normalize normalise \
         disassemble decompile hover peer survey scrape crawl contrast reveal wait await sleep think reason \
         calibrate_check deduce derive eval_expr greet retrive select",
    ),
    (
        Reads(Action::Search),
        Firm,
        "search find query locate lookup seek hunt match filter discover suggest autocomplete grep",
    ),
    (
        Reads(Action::Read),
        Either,
        "overview info information detail details status summary stats statistics health help view diff history \
         version versions count about preview result results availability usage capabilities diagnostics \
         forecast direction directions distance geocoding docs documentation schema metadata",
    ),
    (
        Changes(Action::Create),
        Firm,
        "create add insert make new generate_and_save register upload import ingest seed scaffold initialize \
         initialise init bootstrap provision instantiate spawn allocate book enroll enrol invite clone copy duplicate \
         replicate mint issue_new fork save store persist write_new capture_and_save record_new onboard define \
         declare establish introduce put_new subscribe follow join reserve attach append_new populate setup \
         mkdir touch snapshot_create compose embed_and_store memorize memorise remember learn_and_store bookmark \
         hire enqueue materialize materialise emit inject implant draw paint paste type stage sketch",
    ),
    (
        Changes(Action::Update),
        Firm,
        "update edit modify change alter adjust amend patch set configure reconfigure assign unassign reassign enable \
         disable activate deactivate toggle mark unmark rename_field tweak customize customise mute unmute lock \
         unlock resolve_thread reopen snooze pin unpin star unstar archive unarchive approve reject accept decline \
         confirm acknowledge dismiss ack claim unclaim complete finish finalize finalise close link unlink relink \
         tag untag label_apply attach detach associate disassociate dissociate bind unbind map_set connect_to \
         disconnect promote demote grant revoke_role authorize deauthorize authorise allow_list block unblock ban \
         unban upgrade downgrade migrate refactor fix repair heal restore revert rollback undo redo reset refresh \
         renew rotate regenerate rebuild resize scale extend expand_to annotate enrich increment decrement bump \
         vote upvote downvote like unlike react unreact rate_item reorder sort_in_place prioritize prioritise \
         reschedule postpone defer adopt apply sync synchronize synchronise reconcile manage maintain administer \
         correct override impersonate authenticate login logout signin signout subscribe_to opt select_and_set \
         highlight colour colorize align rotate_image recolor restyle freeze unfreeze hide unhide fill clear_format \
         suspend unsuspend reactivate consent decrease increase raise lower tune convert_in_place transition \
         advance rewind touch_up uncheck mutate standardize standardise regroup ungroup hibernate",
    ),
    (
        Changes(Action::Delete),
        Firm,
        "delete remove erase destroy drop purge wipe clear clean cleanup prune discard trash unset revoke unregister \
         deregister uninstall unsubscribe unfollow evict expire forget flush empty truncate terminate_account rm rmdir \
         del unpublish deprovision decommission teardown kick unshare cancel_order invalidate nuke strip eliminate \
         dispose unfriend leave vacuum abandon detach_all deallocate free unstage",
    ),
    (Changes(Action::Merge), Firm, "merge consolidate combine squash rebase unify fuse cherry-pick dedupe deduplicate"),
    (Changes(Action::Overwrite), Firm, "overwrite write replace rewrite put"),
    (Changes(Action::Append), Firm, "append prepend push_item"),
    (
        Changes(Action::Execute),
        Firm,
        "execute exec invoke launch start stop restart reboot terminate kill abort cancel trigger deploy redeploy \
         undeploy rollout install reinstall boot shutdown suspend_job resume pause halt run_job retry rerun perform \
         eval evaluate_js click tap press swipe drag scroll navigate goto submit emulate type_text dispatch rehearse \
         train finetune fine-tune optimize optimise compile attack exploit fuzz crash crawl_site power wake relaunch \
         interrupt spin automate orchestrate handle_dialog scroll_to switch activate_window interact solve \
         delegate unpause throttle operate instruct command kickoff bootstrap_run minify mock control reload accept_dialog \
         upscale evaluate_script",
    ),
    (
        Changes(Action::Send),
        Firm,
        "send publish notify reply respond_to broadcast forward email sms text_message tweet share announce deliver \
         resend transmit pay charge refund purchase buy sell withdraw deposit checkout redeem donate tip escalate \
         complain alert_team message_user chat ask answer mail remit speak say relay nudge dm post_message submit_order \
         invoice_send report_abuse advertise",
    ),
    (Changes(Action::Move), Firm, "move rename transfer relocate mv migrate_to shift swap reparent"),
    (
        Depends(Action::Execute),
        Firm,
        "run open render load process handle use call build transform request connect prepare play record take \
         navigate_view do allow enter apply_filter act hydrate wrap visit go bring follow_link exit quit",
    ),
    (
        Depends(Action::Create),
        Firm,
        "generate export download capture screenshot draft produce synthesize synthesise design propose plan track \
         brainstorm suggest_and_save extract_to convert_to build_report backup crop compress decompress zip unzip \
         encrypt decrypt sign archive_to",
    ),
    (
        Changes(Action::Create),
        Either,
        "comment note bookmark_item reaction event entry invite booking upload attachment subscription snapshot backup \
         log branch tag label commit annotation fork star registration",
    ),
    (
        Changes(Action::Send),
        Either,
        "post message order alert report notification mail email sms tweet payment invoice",
    ),
    (
        Changes(Action::Update),
        Either,
        "change release update fix patch setting watch group sort index schedule link refresh rating vote review format \
         archive cache state focus zoom feedback lock block pin mark stage set-up flag",
    ),
    (
        Changes(Action::Execute),
        Either,
        "action operation job task workflow script command test deploy install run call push pull checkout switch \
         experiment",
    ),
    (Changes(Action::Delete), Either, "cleanup clear drop"),
    (Changes(Action::Append), Either, "push_back"),
];
