//! Definitions that deceive: a harmless name, a lying hint, an act told beside the point, in the passive, shortened, or in
//! another language. None is called PURE; and what only speaks of changes still is.

use mcp_approve::behavior::conclude::{Trust, of_tool};
use mcp_approve::behavior::taxonomy::{Action, Badge};
use mcp_approve::behavior::voters::{self, Says, votes};
use mcp_approve::mcp::tool::Tool;
use serde_json::json;

fn tool(name: &str, description: &str, read_only: Option<bool>) -> Tool {
    let mut definition =
        json!({ "name": name, "inputSchema": { "type": "object", "properties": { "id": { "type": "string" } } } });
    if !description.is_empty() {
        definition["description"] = json!(description);
    }
    if let Some(hint) = read_only {
        definition["annotations"] = json!({ "readOnlyHint": hint });
    }
    Tool::read(definition).expect("a definition with a name")
}

fn badge(name: &str, description: &str, read_only: Option<bool>) -> Badge {
    of_tool(&tool(name, description, read_only), Trust::Corroborate).badge()
}

#[test]
fn nothing_that_changes_something_is_pure_whatever_it_is_called_and_whatever_it_hints() {
    let wrong: Vec<_> = CHANGING
        .iter()
        .flat_map(|(name, description)| [None, Some(true)].map(|hint| (name, description, hint)))
        .filter(|(name, description, hint)| badge(name, description, *hint) == Badge::Pure)
        .collect();
    assert!(wrong.is_empty(), "called PURE: {wrong:#?}");
}

#[test]
fn what_only_speaks_of_changes_is_pure_without_a_hint() {
    let wrong: Vec<_> = SPEAKING.iter().filter(|(name, told)| badge(name, told, None) == Badge::Mutates).collect();
    assert!(wrong.is_empty(), "called MUTATES: {wrong:#?}");
}

#[test]
fn a_hint_that_the_words_contradict_is_a_dispute() {
    for (name, description) in
        [("rm_tmp", ""), ("view_message", "Shows a message. The message is then deleted."), ("ack", "Ack an alert.")]
    {
        let behavior = of_tool(&tool(name, description, Some(true)), Trust::Corroborate);
        assert!(behavior.disputed, "{name}");
    }
}

#[test]
fn the_act_is_named_where_the_words_name_it() {
    for (name, description, action) in [
        ("rm_tmp", "", Action::Delete),
        ("get_rid_of_file", "Gets rid of a file.", Action::Delete),
        ("read_only_delete", "Deletes in read-only mode.", Action::Delete),
        ("mark_read", "Marks a message as read.", Action::Update),
        ("chmod", "", Action::Update),
        ("turn_off", "", Action::Execute),
        ("test_webhook", "Fires the webhook.", Action::Execute),
        ("print_document", "Prints a document on the office printer.", Action::Send),
        ("supprimer_fichier", "", Action::Delete),
        ("verwijder_bestand", "Verwijdert een bestand.", Action::Delete),
    ] {
        assert_eq!(of_tool(&tool(name, description, None), Trust::Corroborate).identity.action, action, "{name}");
    }
}

#[test]
fn a_declared_effect_outweighs_what_looks_like_a_read() {
    let concluded = |more: serde_json::Value, trust| {
        let mut definition = json!({ "name": "list_things", "description": "Returns the things of a shop, page by page.",
            "annotations": { "readOnlyHint": true } });
        let (all, more) =
            (definition.as_object_mut().expect("an object"), more.as_object().expect("an object").clone());
        all.extend(more);
        of_tool(&Tool::read(definition).expect("a definition with a name"), trust)
    };
    for trust in [Trust::Corroborate, Trust::Annotations] {
        for more in [
            json!({ "side_effects": "delete" }),
            json!({ "_meta": { "side_effects": ["read", "notify"] } }),
            json!({ "capabilities": ["things:read", "things:delete"] }),
            json!({ "_meta": { "required_entitlements": "things.write" } }),
            json!({ "required_entitlements": ["admin"] }),
            json!({ "_meta": { "http": { "method": "DELETE", "path": "/things" } } }),
        ] {
            let behavior = concluded(more.clone(), trust);
            assert_eq!((behavior.badge(), behavior.disputed), (Badge::Mutates, true), "{more} {trust:?}");
        }
        for more in [
            json!({}),
            json!({ "side_effects": "read-only", "capabilities": ["things:delete"] }),
            json!({ "capabilities": ["things:read", "things:execute"], "idempotent": true }),
        ] {
            assert_eq!(concluded(more.clone(), trust).badge(), Badge::Pure, "{more} {trust:?}");
        }
    }
}

#[test]
fn a_description_that_is_not_read_to_its_end_is_silent() {
    for (name, description) in [
        ("get_paid", "Gets an invoice paid."),
        ("view_room", "Shows the room and has it cleaned."),
        ("show_contact", "Shows a contact, its deals and last activity, and corrects it in the register."),
        ("get_in_touch", "Gets in touch with the owner of a house."),
        ("show_zone", "Shows the records of a zone, having put them right."),
        ("afficher_facture", "Affiche la facture et la remet au client."),
    ] {
        let said = votes(&tool(name, description, None))[1].says;
        assert_eq!(said, Says::Silent, "{name}: {description}");
    }
    let said = votes(&tool("show_users", "Gets the users added by a colleague and lists their groups.", None))[1].says;
    assert_eq!(said, Says::Reads);
}

#[test]
fn a_verb_that_name_and_description_share_is_one_piece_of_evidence() {
    for (name, description, pieces) in [
        ("get_report", "Gets the report.", 1),
        ("get_report", "Returns the report.", 2),
        ("list_runs", "Listing all runs.", 1),
    ] {
        let mut votes = votes(&tool(name, description, None));
        votes[2] = voters::Vote::silent(votes[2].voter);
        assert_eq!(voters::reading(&votes), pieces, "{name}: {description}");
    }
}

#[test]
fn a_parameter_that_would_write_makes_a_read_likely_at_best() {
    for (key, badge) in [("page", Badge::Pure), ("recipient", Badge::Likely), ("new_owner", Badge::Likely)] {
        let definition = json!({ "name": "list_things", "description": "Returns the things of a shop, page by page.",
            "inputSchema": { "type": "object", "properties": { key: { "type": "string" } } } });
        let tool = Tool::read(definition).expect("a definition with a name");
        assert_eq!(of_tool(&tool, Trust::Corroborate).badge(), badge, "{key}");
    }
}

/// Names and descriptions of tools that change something.
const CHANGING: &[(&str, &str)] = &[
    ("orders", "Executes POST /orders"),
    ("stop_order", "Executes GET /orders/{id}/stop"),
    ("rm_tmp", ""),
    ("del_rec", "Del rec."),
    ("purge", "Cache maintenance."),
    ("sync_all", "Brings everything up to date."),
    ("reset", "Back to factory state."),
    ("apply", "Applies the plan."),
    ("toggle_light", ""),
    ("mark_read", "Marks a message as read."),
    ("ack", "Ack an alert."),
    ("mark_as_spam", ""),
    ("upd_user", ""),
    ("ins_row", ""),
    ("chg_pwd", "Chg a pwd."),
    ("cfg_set", ""),
    ("rmv_member", ""),
    ("mod_acl", ""),
    ("exec_q", ""),
    ("get_rid_of_file", "Gets rid of a file."),
    ("get_and_delete_message", ""),
    ("fetch_and_clear", ""),
    ("deploy_and_get_status", "Gets the status of the app."),
    ("restart_then_read_log", "Reads the log."),
    ("merge_or_get", "Gets the branch."),
    ("list_and_purge", "Lists old items and purges them."),
    ("read_once", "Reads the secret and destroys it."),
    ("view_message", "Shows a message. The message is then deleted from the server."),
    ("get_item", "The item is removed from the queue and returned."),
    ("pop", "Pops the top item."),
    ("pop_queue", "Returns the next item from the queue and removes it."),
    ("dequeue", "Takes the next job."),
    ("consume_message", "Reads a message."),
    ("next_job", "Claims the next job for this worker."),
    ("get_token", "Generates a new token and invalidates the old one."),
    ("check_in", "Check in to a flight."),
    ("check_out_book", ""),
    ("sign_off", ""),
    ("sign_document", ""),
    ("fire_event", ""),
    ("fire_employee", ""),
    ("shred", "Shreds a document."),
    ("burn", "Burns tokens."),
    ("scrub_logs", ""),
    ("wipe_disk_readonly", "Read-only wipe of the disk."),
    ("read_only_delete", "Deletes in read-only mode."),
    ("file_handler", "The file is deleted."),
    ("maintain", "Old records are purged nightly and on demand."),
    ("account_tool", "An account will be closed."),
    ("cleanup_check", "Checks for stale branches and deletes them."),
    ("get_report", "Sends the report by email to all customers."),
    ("search", "Searches for files and removes duplicates."),
    ("read_email", "Reads an email and marks it as read."),
    ("get_page", "Fetches a page, submitting the form on it."),
    ("list_files", "Lists files. Files older than 30 days are deleted as part of this."),
    ("show_balance", "Shows the balance after transferring the amount."),
    ("preview_payment", "Charges the card one cent to preview."),
    ("safe_op", "Does not delete anything except the files you name."),
    ("noop", "Does not do anything besides resetting the counter."),
    ("info", "Non-destructive. Reboots the device."),
    ("get_settings", "Gets settings, creating them when missing."),
    ("find_or_create_user", ""),
    ("ensure_bucket", "Ensures that the bucket exists."),
    ("supprimer_fichier", ""),
    ("borrar", ""),
    ("loeschen", ""),
    ("eliminar_usuario", "Elimina un usuario."),
    ("elimina_file", ""),
    ("usun_plik", "Usuwa plik."),
    ("verwijder_bestand", "Verwijdert een bestand."),
    ("remover_arquivo", "Remove um arquivo."),
    ("actualizar_registro", ""),
    ("enviar_correo", ""),
    ("envoyer_message", ""),
    ("mettre_a_jour", "Met à jour un enregistrement."),
    ("datei_loeschen", "Löscht eine Datei."),
    ("konto_schliessen", ""),
    ("удалить", ""),
    ("删除文件", ""),
    ("设置", ""),
    ("flip_switch", ""),
    ("bump_version", ""),
    ("touch_file", ""),
    ("chmod", ""),
    ("chown", ""),
    ("kubectl_drain", ""),
    ("tf_apply", ""),
    ("git_gc", ""),
    ("git_stash", ""),
    ("truncate_table", ""),
    ("rotate_keys", ""),
    ("expire_session", ""),
    ("log_out_everyone", ""),
    ("kick_user", ""),
    ("grant_role", ""),
    ("whitelist_ip", ""),
    ("pay", ""),
    ("transfer_funds", ""),
    ("withdraw", ""),
    ("place_order", ""),
    ("book_room", ""),
    ("rsvp", ""),
    ("vote", ""),
    ("like_post", ""),
    ("follow", ""),
    ("poke", ""),
    ("turn_off", ""),
    ("power_cycle", ""),
    ("switch_on_lights", ""),
    ("open_valve", ""),
    ("unlock_door", ""),
    ("arm_alarm", ""),
    ("set_thermostat", ""),
    ("dim", ""),
    ("get", "Deletes."),
    ("data", "Drops the table."),
    ("helper", "Rewrites history."),
    ("tool_7", "Overwrites the file with the given text."),
    ("query", "Runs any SQL, including DELETE."),
    ("list_users", "Lists users. WARNING: also revokes expired ones."),
    ("get_status", "Returns the status and, as a side effect, restarts the service."),
    ("describe_image", "Uploads the image to a public host and describes it."),
    ("count", "Counts rows, then truncates the table."),
    ("validate", "Validates and saves the form."),
    ("verify_and_merge", ""),
    ("scan", "Scans and quarantines infected files."),
    ("lookup", "Looks a user up, creating one if there is none."),
    ("test_webhook", "Fires the webhook."),
    ("print_document", "Prints a document on the office printer."),
    ("trigger", ""),
    ("ring", "Rings the doorbell."),
    ("dial", "Dials a number."),
    ("recycle_bin_restore", ""),
    ("swap_slots", ""),
    ("evict", ""),
    ("drop_caches", ""),
    ("compact", "Compacts the database."),
    ("vacuum", ""),
    ("reindex", ""),
    ("rehash_passwords", ""),
    ("backfill", "Backfills the column."),
    ("redrive_dlq", ""),
    ("nack", ""),
    ("alter_table", ""),
    ("grant", ""),
    ("return_order", "Sends an order back for a refund."),
    ("contain_host", "Contains a host."),
    ("warn_user", "Warns a user."),
    ("provide_feedback", ""),
    ("grade_submission", "Grades a submission."),
    ("extract_archive", ""),
    ("solve_captcha", ""),
    ("match_payment", "Matches a payment to an invoice."),
    ("roll_out", "Rolls out a version."),
    ("recall_message", ""),
];

/// Names and descriptions of tools that change nothing.
const SPEAKING: &[(&str, &str)] = &[
    ("get_orders", "Executes GET /orders/{id}/lines"),
    ("list_deleted_items", "Lists deleted items."),
    ("get_delete_policy", "Gets the deletion policy."),
    ("show_changes", "Shows what was changed."),
    ("read_file", "Reads a file. It never modifies it."),
    ("get_update_status", "Gets the status of an update."),
    ("list_removed_users", "Lists users that were removed."),
    ("count_dropped_packets", "Counts dropped packets."),
    ("is_locked", "Tells whether the file is locked."),
    ("check_write_permission", "Checks whether a user may write."),
    ("get_created_issues", "Gets issues that were created today."),
    ("search_purchases", "Searches purchases."),
    ("list_orders", "Lists orders."),
    ("explain_delete_plan", "Explains what a delete would do, without executing it."),
    ("list_files", "Lists files that were deleted."),
    ("is_deleted", "Tells whether the file is deleted."),
    ("search_papers", "Searches papers. Duplicates are removed and results are truncated to 100."),
    ("get_trash", "Gets what is in the trash. Items are deleted after 30 days."),
    ("get_rows", "Gets rows. Set compact=true to create a short version."),
    ("get_history", "Gets the history, including updates and deletions."),
    ("get_token_info", "Returns whether the token is revoked, expired or valid."),
    ("does_it_exist", "Does the file exist?"),
    ("list_tar_contents", "Lists what an archive contains."),
];
