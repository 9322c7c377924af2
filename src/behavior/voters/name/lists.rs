//! The name voter's verbs, by what they do and by how surely a word of that form is a verb. Words only.

use super::{Effect, Firmness};
use crate::behavior::taxonomy::Action;
use Effect::{Changes, Reads};
use Firmness::{Either, Mostly, Verb};

/// Later lists win over earlier ones.
pub(super) const LISTS: &[(Effect, Firmness, &str)] = &[
    (
        Reads(Action::Read),
        Verb,
        "get fetch read retrieve show describe explain enumerate inspect examine browse summarize summarise analyze \
         analyse compare calculate compute predict validate determine identify classify detect discover explore \
         obtain gather see peek whoami tail geocode tokenize decode parse introspect investigate diagnose infer \
         recommend count assess visualize visualise understand estimate translate paraphrase transcribe extrapolate \
         interpolate collect",
    ),
    (Reads(Action::Search), Verb, "find lookup"),
    (
        Reads(Action::Read),
        Mostly,
        "list view check diff grep cat ls preview monitor ping wait measure look lint audit score rank blame stat \
         traceroute",
    ),
    (Reads(Action::Search), Mostly, "search query autocomplete suggest"),
    (
        Changes(Action::Create),
        Verb,
        "create add insert make ingest scaffold initialize initialise init bootstrap provision instantiate spawn \
         allocate enroll enrol replicate mint save persist onboard subscribe follow join attach populate mkdir \
         memorize memorise remember enqueue inject animate inscribe backfill ensure establish introduce implant sow \
         reserve enter emplace preload prepopulate endorse annotate materialize warm recycle ratify enlist",
    ),
    (
        Changes(Action::Create),
        Mostly,
        "import duplicate upload clone copy submit setup draw paint paste stake touch fork seed hire invite craft \
         forge commit",
    ),
    (
        Changes(Action::Update),
        Verb,
        "modify alter adjust amend configure reconfigure assign unassign reassign enable disable deactivate toggle \
         unmark tweak customize customise mute unmute unlock reopen snooze unpin unstar unarchive approve reject \
         accept decline confirm acknowledge ack nack unclaim complete finish finalize finalise unlink relink untag \
         associate disassociate dissociate bind unbind disconnect demote grant authorize deauthorize authorise \
         unblock unban downgrade migrate refactor repair heal revert undo redo renew regenerate rebuild resize \
         rescale extend increment decrement bump upvote downvote unlike react unreact reorder prioritize prioritise \
         postpone defer adopt apply synchronize synchronise reconcile maintain administer impersonate authenticate \
         signin signout recolor restyle unfreeze unhide suspend unsuspend reactivate rewind uncheck untrash \
         standardize regroup ungroup hibernate certify rectify whitelist blacklist allowlist denylist undelete \
         recover upsert rebalance quarantine isolate remediate mitigate cordon uncordon taint mount unmount redact \
         chmod chown chgrp upd chg reindex rehash rekey scrub unprotect unstake disarm dim brighten resubmit \
         retitle relabel rotate silence throttle calibrate reclassify recategorize requalify retag repurpose \
         reprice restock refill replenish enforce mutualize transition escalate deescalate elevate degrade \
         strengthen weaken translocate modernize reprovision reallocate realign reassociate refinance reinstate \
         reimburse activate reschedule mutate cancel",
    ),
    (
        Changes(Action::Update),
        Mostly,
        "upgrade hide increase decrease set change reset refresh close link fix sync block pin star rollback \
         override freeze fill promote switch checkout claim advance tune raise scale align crop flip mirror trim \
         split vote patch checkin archive manage update lock arm watermark ban login logout stash protect edit \
         restore mark sign select",
    ),
    (
        Changes(Action::Delete),
        Verb,
        "delete remove erase destroy purge wipe clear clean cleanup prune discard unset revoke unregister \
         deregister uninstall unsubscribe unfollow evict expire forget empty truncate rm rmdir del unpublish \
         deprovision decommission teardown unshare invalidate nuke eliminate unfriend abandon deallocate unstage \
         detach unpair unlist delist terminate obliterate liquidate uninvite unlearn unbookmark rmv shred dispose \
         annul nullify cull expunge eject oust banish extinguish demolish dismantle dissolve disband withdraw \
         dequeue disenroll disinvite depublish retire deprecate unassociate unattach unenroll untrack unwatch \
         unsign unmap expel dismiss rid",
    ),
    (
        Changes(Action::Delete),
        Mostly,
        "drop flush kick strip drain void vacuum leave burn consume trash sunset scrap pop",
    ),
    (Changes(Action::Merge), Mostly, "merge"),
    (
        Changes(Action::Merge),
        Verb,
        "consolidate combine squash rebase unify fuse cherrypick dedupe deduplicate unmerge amalgamate coalesce",
    ),
    (Changes(Action::Overwrite), Verb, "overwrite write replace rewrite put supersede"),
    (Changes(Action::Append), Verb, "append prepend"),
    (
        Changes(Action::Execute),
        Verb,
        "execute exec invoke redeploy undeploy reinstall rerun navigate goto dispatch finetune retrain relaunch \
         automate orchestrate interact delegate unpause reload hover keypress optimize optimise requeue bruteforce \
         rehydrate initiate commence reinitialize respawn unload hotswap failover reroute bootup poweroff poweron \
         perform enact conduct operate",
    ),
    (
        Changes(Action::Execute),
        Mostly,
        "run trigger launch pause start stop install scroll swipe drag tap kickoff restart reboot resume shutdown \
         halt kill abort interrupt deploy push pull press boot control crawl exploit attack fuzz blur spin wake \
         stream rollout mock fire ring pan zoom bake quantize call replay retry compile eval",
    ),
    (
        Changes(Action::Send),
        Verb,
        "send publish notify respond retweet repost crosspost announce deliver resend transmit pay sell redeem \
         donate remit speak say sing nudge advertise repay lend borrow disburse",
    ),
    (
        Changes(Action::Send),
        Mostly,
        "broadcast purchase tweet buy dial poke reply deposit refund dm fax hedge rent settle payout chat trade bid \
         ship place print",
    ),
    (Changes(Action::Move), Verb, "rename relocate mv reparent"),
    (Changes(Action::Move), Mostly, "move transfer shift swap"),
    (
        Changes(Action::Create),
        Either,
        "comment note log branch new stage cache clip invoice record register book index store bookmark plant",
    ),
    (Changes(Action::Send), Either, "post message order sms charge tip offer page email mail lease share forward"),
    (
        Changes(Action::Update),
        Either,
        "release group sort schedule rating rate format like pair compact rsvp track grade report power focus map \
         label flag type credit debit tag",
    ),
    (Changes(Action::Execute), Either, "queue build dump train drive backup click"),
    (Changes(Action::Delete), Either, "gc"),
    // German, Spanish, Portuguese, French, Italian, Dutch, Polish, Swedish and Turkish verbs that English does not have.
    (
        Reads(Action::Read),
        Verb,
        "obtener listar mostrar consultar calcular lister afficher anzeigen auflisten lesen leer lire",
    ),
    (Reads(Action::Search), Verb, "buscar pesquisar rechercher suchen zoeken cercare"),
    (
        Changes(Action::Create),
        Verb,
        "erstellen hinzufügen crear creare criar créer creer ajouter speichern guardar agregar añadir adicionar \
         aggiungere opslaan toevoegen utwórz dodaj zapisz skapa spara oluştur ekle kaydet anlegen",
    ),
    (
        Changes(Action::Update),
        Verb,
        "aktualisieren actualizar atualizar modificar ändern aendern modifier mettre cambiar alterar schließen \
         schliessen aggiornare modificare bijwerken wijzigen zmień zaktualizuj ändra uppdatera güncelle değiştir",
    ),
    (
        Changes(Action::Delete),
        Verb,
        "löschen loeschen eliminar eliminare elimina borrar supprimer effacer entfernen excluir apagar remover \
         cancellare rimuovere verwijderen verwijder usuń usun radera siler",
    ),
    (Changes(Action::Send), Verb, "senden enviar envoyer publicar inviare versturen wyślij wyslij skicka gönder"),
];

/// Stems of verbs in scripts whose words no space separates, or whose ends we do not cut.
pub(super) const STEMS: &[(Effect, &str)] = &[
    (Reads(Action::Search), "搜索 检索 查找 検索 검색 поиск найти искать"),
    (Reads(Action::Read), "查询 查看 获取 列出 读取 取得 一覧 表示 確認 조회 목록 получ показ прочит"),
    (Changes(Action::Create), "创建 新增 新建 添加 上传 生成 作成 追加 생성 추가 созда добав загруз"),
    (Changes(Action::Update), "更新 修改 编辑 设置 管理 启用 禁用 変更 編集 수정 변경 обнов измен установ"),
    (Changes(Action::Delete), "删除 移除 清空 清除 取消 削除 삭제 удал очист"),
    (Changes(Action::Send), "发送 发布 送信 전송 отправ"),
    (Changes(Action::Execute), "执行 运行 部署 启动 停止 重启 実行 실행 запус выполн останов"),
];
