//! What the recogniser reads off names and descriptions: the table, domains, and each voter alone.

use super::{concluded, named};
use mcp_approve::behavior::conclude::{Trust, of_tool};
use mcp_approve::behavior::taxonomy::{Badge, OutputDomain};
use mcp_approve::behavior::voters::{self, Says};
use mcp_approve::behavior::words::among;
use serde_json::json;

#[test]
fn the_recogniser_reads_names_and_descriptions() {
    let wrong: Vec<String> = RECOGNISED
        .iter()
        .filter_map(|(name, description, expected)| {
            let behavior = of_tool(&named(name, description), Trust::Corroborate);
            let said = format!("{} {}", behavior.badge().word(), behavior.identity.action.word());
            (said != *expected).then(|| format!("{name}: {description} — said {said}, not {expected}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

const RECOGNISED: &[(&str, &str, &str)] = &[
    ("read_file", "Reads a file.", "PURE READ"),
    ("getUserById", "", "PURE? READ"),
    ("find-invoices", "Find invoices by number.", "PURE SEARCH"),
    ("acme_list_orders", "Lists orders.", "PURE READ"),
    ("order_delete", "Deletes an order", "MUTATES DELETE"),
    ("merge_request_get", "Gets a merge request.", "PURE? READ"),
    ("get_merge_request", "Gets a merge request.", "PURE? READ"),
    ("merge_branches", "Merges one branch into another.", "MUTATES MERGE"),
    ("get_or_create_user", "Gets the user.", "MUTATES CREATE"),
    ("find_and_replace", "", "MUTATES OVERWRITE"),
    ("weather", "Returns the weather of a city.", "PURE READ"),
    ("cleanup", "Removes stale entries.", "MUTATES DELETE"),
    ("frobnicate", "", "MUTATES UNKNOWN"),
    // No reader knows the verb, and the rest of it speaks for a read: likely, so it asks.
    ("frobnicate", "Frobnicates the gizmo.", "PURE? READ"),
    ("get_status", "Gets the status and deletes the job.", "MUTATES DELETE"),
    ("list_deleted_items", "Lists items that were deleted.", "PURE READ"),
    ("reassign_ticket", "", "MUTATES UPDATE"),
    ("send_mail", "Sends a mail.", "MUTATES SEND"),
    ("rename_branch", "", "MUTATES MOVE"),
    ("run_shell_command", "Runs a command in a shell.", "MUTATES EXECUTE"),
    // The same verb, another object.
    ("resolve_host", "Resolves a host name to addresses.", "PURE? READ"),
    ("resolve_thread", "Resolves a review thread.", "MUTATES UNKNOWN"),
    ("run_diagnostics", "Runs a diagnostic check of the network.", "PURE? READ"),
    ("run_pipeline", "Runs the pipeline.", "MUTATES EXECUTE"),
    ("run_job", "", "MUTATES EXECUTE"),
    ("run_job", "Run a simulation job with the given kind and parameters; returns its run id.", "MUTATES EXECUTE"),
    // A framework's title is the name again: no second reader.
    ("monitor_delete", "Monitor Delete", "MUTATES DELETE"),
    ("pets_petId_delete", "Pets PetId Delete", "MUTATES DELETE"),
    ("monitor_frobnicate", "Monitor Frobnicate", "MUTATES UNKNOWN"),
    ("list_archive", "", "MUTATES UPDATE"),
    ("list_archives", "Lists the archives.", "PURE READ"),
    ("get_order", "Gets an order.", "PURE? READ"),
    ("express_interest", "Express interest in a position.", "MUTATES UNKNOWN"),
    ("archive_page", "Archive (soft-delete) a page.", "MUTATES UPDATE"),
    ("load_configuration", "Loads a configuration, replacing the current one.", "MUTATES OVERWRITE"),
    ("evaluate_risk", "Evaluates the risk of a loan.", "PURE? READ"),
    ("evaluate_script", "Evaluates JavaScript in the page.", "MUTATES UNKNOWN"),
    ("generate_report", "Generates a summary report of sales.", "PURE? READ"),
    ("generate_image", "Generates an image from a prompt.", "MUTATES CREATE"),
    ("place_order", "Places an order.", "MUTATES SEND"),
    ("cancel_booking", "Cancels a booking.", "MUTATES UPDATE"),
    // A name that leaves it open, and what the description makes of it.
    ("commit_log", "Shows the commit log.", "PURE READ"),
    ("log_meal", "Logs a meal.", "MUTATES CREATE"),
    ("call_service", "Returns the outcome of the service.", "MUTATES EXECUTE"),
    ("inventory", "Items on the shelves, newest first.", "PURE? READ"),
    ("inventory", "Restock the shelves.", "MUTATES UPDATE"),
    ("balance", "What is left on the account.", "PURE? READ"),
    // One sentence, two acts.
    ("check_env", "Check and install the tools when needed.", "MUTATES EXECUTE"),
    ("get_link", "Gets the link and creates it if it is missing.", "MUTATES CREATE"),
    ("get_link", "Gets the link. Creates the target file if it is missing.", "MUTATES CREATE"),
    ("get_items", "Gets items that were created, updated or deleted today.", "PURE READ"),
    ("get_guide", "Gets the guide on how to delete a user.", "PURE READ"),
    // Shapes without a verb.
    ("is_valid", "", "PURE? READ"),
    ("csv_to_json", "", "MUTATES UNKNOWN"),
    ("text_to_speech", "", "MUTATES CREATE"),
    ("stations_nearby", "", "PURE? SEARCH"),
    // Denials.
    ("get_plan", "Computes the plan. Does not modify anything; non-destructive.", "PURE READ"),
    ("query", "Run a read-only SQL query", "PURE SEARCH"),
    ("execute", "Executes any SQL statement. Read-only by default.", "MUTATES EXECUTE"),
    // Other languages: what changes is known, what reads is not.
    ("tianqi", "查询指定城市的天气", "PURE? READ"),
    ("shanchu", "删除指定的文件", "MUTATES DELETE"),
    ("benutzer", "Listet alle Benutzer auf.", "PURE? READ"),
    ("usuario", "Elimina un usuario.", "MUTATES DELETE"),
];

#[test]
fn a_domain_is_read_off_the_whole_phrase() {
    for (name, description, domain) in [
        ("get_reaction", "Gets a chemical reaction by its id.", OutputDomain::Data),
        ("list_reactions", "Lists the reactions to a message.", OutputDomain::Message),
        ("get_thread", "Gets a thread of the process.", OutputDomain::Data),
        ("get_thread", "Gets a thread of a conversation.", OutputDomain::Message),
        ("list_nodes", "Lists the nodes of a phylogenetic tree.", OutputDomain::Data),
        ("list_nodes", "Lists the nodes of a cluster.", OutputDomain::Infra),
        ("list_pull_request_files", "Lists the files of a pull request.", OutputDomain::Diff),
        ("get_file_info", "Gets information about a file.", OutputDomain::Data),
    ] {
        let behavior = of_tool(&named(name, description), Trust::Corroborate);
        assert_eq!(behavior.identity.output_domain, domain, "{name}: {description}");
    }
}

/// Each voter alone, silent where it knows nothing.
#[test]
fn voters_say_what_their_own_words_show() {
    use Says::{Changes, MayRead, Reads, Silent};
    for (name, description, says) in [
        ("get_user", "Gets the profile of a user.", [Reads, Reads, Reads]),
        ("get_user", "", [Reads, Silent, Silent]),
        ("get_user", "Get User", [Reads, Silent, Silent]),
        ("delete_user", "Delete User", [Changes, Changes, Silent]),
        ("frobnicate", "Frobnicates the gizmo.", [Silent, Silent, Silent]),
        ("frobnicate", "Read-only. Frobnicates the gizmo.", [Silent, Reads, Silent]),
        ("monitor_frobnicate", "Monitor Frobnicate", [Silent, Silent, Silent]),
        ("server_info", "", [MayRead, Silent, Silent]),
        ("get_item", "The item is removed from the queue and returned.", [Reads, Changes, Silent]),
    ] {
        let votes = voters::votes(&named(name, description)).map(|vote| vote.says);
        assert_eq!((votes[0], votes[1]), (says[0], says[1]), "{name}: {description}");
        assert!(votes[2] == says[2] || says[2] == Silent && votes[2] != Changes, "{name}: {description}: {votes:?}");
    }
}

#[test]
fn a_tool_that_selects_its_act_by_an_argument_mutates_if_any_choice_does() {
    for (choices, expected) in [
        (json!(["get", "list"]), Badge::Pure),
        (json!(["get", "list", "delete"]), Badge::Mutates),
        (json!(["GET", "POST"]), Badge::Mutates),
    ] {
        let behavior = concluded(json!({
            "name": "get_pages",
            "description": "Reads pages.",
            "inputSchema": { "type": "object", "properties": { "action": { "type": "string", "enum": choices } } },
        }));
        assert_eq!(behavior.badge(), expected, "{choices}");
    }
}

#[test]
fn a_word_is_among_others_only_as_a_whole() {
    let list = "read list\nlist_all  get";
    for (word, wanted) in [("read", true), ("list", true), ("get", true), ("list_all", true)].into_iter().chain(
        ["", " ", "rea", "ead", "all", "list_", "read list", "list\nlist_all", "reads"].map(|word| (word, false)),
    ) {
        assert_eq!(among(word, list), wanted, "{word:?}");
    }
}
