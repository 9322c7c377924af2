//! The verbs, by what they do and by how surely a word of that form is a verb. Words only.

use super::Effect::{self, Changes, Depends, Reads};
use super::Firmness::{self, Either, Mostly, Verb as Firm};
use crate::behavior::taxonomy::Action;

/// Later lists win over earlier ones.
pub(super) const LISTS: &[(Effect, Firmness, &str)] = &[
    (
        Reads(Action::Read),
        Firm,
        "get printenv getenv list read fetch retrieve show describe obtain gather collect inspect examine peek enumerate browse explain \
         summarize summarise analyze analyse assess compare calculate compute predict validate verify determine identify \
         recognize recognise classify categorize categorise interpret parse decode observe introspect aggregate recommend \
         infer translate transliterate convert explore traverse visualize visualise see investigate diagnose troubleshoot \
         resolve understand paraphrase rephrase rerank geocode encode stringify tokenize tokenise detokenize normalize \
         normalise decompile disassemble scrape reveal await think reason deduce derive deserialize serialize evaluate grep \
         subtract multiply divide correlate simulate demonstrate provide consult lists transcribe interpolate extrapolate \
         differentiate solve brainstorm critique proofread spellcheck disambiguate discover return detect assert recall \
         characterize quantify contextualize tabulate lemmatize segmentize cross-reference triangulate geolocate romanize \
         conjugate vet exhibit portray cite tally gauge ascertain cover identify surface recite extract estimate warn contain",
    ),
    (
        Reads(Action::Read),
        Mostly,
        "check view display look diff ping probe poll monitor count measure echo wait sleep dump lint audit scan trace rank score \
         outline survey contrast sample hash cluster grade judge profile benchmark preview average round sum glob stat tail cat \
         ls ocr relate simplify quote blame",
    ),
    (Reads(Action::Search), Firm, "search find query locate lookup match filter autocomplete suggest"),
    (Reads(Action::Search), Either, "screen"),
    (
        Reads(Action::Read),
        Either,
        "balance overview info information detail summary stats statistics health help history about result availability usage capability \
         diagnostics direction distance docs documentation metadata status version forecast debug track review report load plan \
         whois roll factor value price definition reference location weather leaderboard",
    ),
    (
        Changes(Action::Create),
        Firm,
        "create add insert make import ingest seed scaffold initialize initialise init bootstrap provision instantiate spawn \
         allocate enroll enrol invite duplicate replicate mint save persist onboard establish introduce subscribe follow join \
         attach populate mkdir memorize memorise remember bookmark hire enqueue materialize materialise inject implant type \
         sketch register animate colorize upscale inpaint outpaint stylize vectorize rasterize splice concatenate dub \
         upload inscribe transplant backfill ins ensure",
    ),
    (
        Changes(Action::Create),
        Mostly,
        "clone copy compose submit store reserve setup draw paint paste embed bridge stake touch",
    ),
    (
        Changes(Action::Update),
        Firm,
        "update edit modify alter adjust amend configure reconfigure assign unassign reassign enable disable activate deactivate \
         toggle unmark tweak customize customise unmute unlock reopen snooze unpin unstar unarchive approve reject accept decline \
         confirm acknowledge dismiss ack nack unclaim complete finish finalize finalise unlink relink untag associate disassociate \
         dissociate bind unbind disconnect demote grant authorize deauthorize authorise unblock ban unban downgrade migrate \
         refactor repair heal revert undo redo renew regenerate rebuild resize rescale extend increment decrement bump upvote \
         downvote unlike react unreact reorder prioritize prioritise reschedule postpone defer adopt apply synchronize synchronise \
         reconcile manage maintain administer impersonate authenticate login logout signin signout opt recolor restyle unfreeze \
         unhide suspend unsuspend reactivate decrease increase rewind uncheck untrash mutate standardize standardise regroup ungroup \
         hibernate certify consume rectify soften harden whitelist blacklist allowlist denylist localize undelete recover upsert \
         rebalance quarantine isolate remediate mitigate cordon uncordon taint mount unmount stash redact watermark transpose indent \
         chmod chown chgrp upd chg reindex rehash rekey scrub uncomment protect unprotect autofit unstake undelegate attune refine enforce arm disarm dim brighten resubmit transition retitle",
    ),
    (
        Changes(Action::Update),
        Mostly,
        "set change reset refresh restore close link fix sync upgrade lock block mute pin star rotate rollback override highlight \
         freeze fill hide promote switch checkout claim advance tune raise scale align crop flip mirror trim split \
         vote assign patch checkin check-in tag archive silence",
    ),
    (
        Changes(Action::Delete),
        Firm,
        "delete remove erase destroy purge wipe clear clean cleanup prune discard unset revoke unregister deregister uninstall \
         unsubscribe unfollow evict expire forget empty truncate rm rmdir del unpublish deprovision decommission teardown unshare \
         invalidate nuke eliminate unfriend abandon deallocate unstage detach unpair unlist delist terminate obliterate liquidate \
         uninvite unlearn unbookmark rmv shred",
    ),
    (Changes(Action::Delete), Mostly, "drop trash flush kick strip drain void vacuum leave burn"),
    (
        Changes(Action::Merge),
        Firm,
        "consolidate combine squash rebase unify fuse cherry-pick dedupe deduplicate unmerge",
    ),
    (Changes(Action::Merge), Mostly, "merge"),
    (Changes(Action::Overwrite), Firm, "overwrite write replace rewrite put"),
    (Changes(Action::Append), Firm, "append prepend"),
    (
        Changes(Action::Execute),
        Firm,
        "execute exec invoke restart reboot abort redeploy undeploy reinstall resume retry rerun eval navigate goto dispatch \
         finetune fine-tune retrain relaunch automate orchestrate interact delegate unpause operate instruct kickoff reload hover \
         keypress minify cancel emulate optimize optimise compile replay requeue bruteforce extrude rig subdivide rehydrate",
    ),
    (
        Changes(Action::Execute),
        Mostly,
        "start stop run deploy install launch push pull press scroll boot trigger swipe drag tap click control crawl shutdown pause halt \
         kill exploit attack fuzz interrupt throttle blur sandbox spin wake stream rollout mock fire ring pan zoom bake quantize",
    ),
    (
        Changes(Action::Send),
        Firm,
        "send publish notify respond broadcast tweet retweet repost crosspost announce deliver resend transmit pay buy sell purchase withdraw \
         redeem donate escalate remit speak say sing nudge chat advertise repay lend borrow",
    ),
    (
        Changes(Action::Send),
        Mostly,
        "dial poke reply forward share deposit refund dm fax hedge rent lease settle payout",
    ),
    (Changes(Action::Move), Firm, "move rename relocate mv reparent"),
    (Changes(Action::Move), Mostly, "transfer shift swap"),
    (
        Depends(Action::Execute),
        Firm,
        "perform do handle use build connect prepare act hydrate visit go bring exit quit conduct ask answer carry allow try learn \
         integrate listen take",
    ),
    (Depends(Action::Update), Firm, "expand"),
    (
        Depends(Action::Execute),
        Mostly,
        "turn print open call transform request play record test process focus watch place",
    ),
    (
        Depends(Action::Create),
        Firm,
        "generate produce synthesize synthesise propose render emit compress decompress zip unzip encrypt decrypt anonymize anonymise \
         obfuscate prettify beautify annotate enrich",
    ),
    (Depends(Action::Create), Mostly, "export download capture design sign draft backup plot mask"),
    (Depends(Action::Create), Either, "screenshot snapshot chart"),
    (
        Changes(Action::Create),
        Either,
        "comment note reaction event entry booking book attachment subscription log branch commit annotation fork registration new \
         stage cache clip",
    ),
    (
        Changes(Action::Send),
        Either,
        "post message order alert notification mail email sms payment invoice charge tip bid offer page",
    ),
    (
        Changes(Action::Update),
        Either,
        "release group sort index schedule rating rate format state feedback mark flag label star like pair map mod compact rsvp",
    ),
    (
        Changes(Action::Execute),
        Either,
        "queue action operation job task workflow script command experiment train drive power",
    ),
    (Changes(Action::Delete), Either, "pop gc"),
    // German, Spanish, Portuguese, French, Italian, Dutch, Polish, Swedish and Turkish verbs that English does not have.
    (
        Reads(Action::Read),
        Firm,
        "listet zeigt liefert gibt berechnet lista muestra devuelve consulta obtiene calcula retorna mostra retourne affiche calcule \
         obtener listar mostrar consultar calcular",
    ),
    (Reads(Action::Search), Firm, "sucht filtert busca buscar pesquisa recherche cherche findet"),
    (
        Changes(Action::Create),
        Firm,
        "erstellt erstellen hinzufügen crea crear creare cria criar créer creer ajouter speichert speichern guarda guardar agregar añade \
         añadir adicionar aggiungi aggiungere opslaan toevoegen utwórz dodaj zapisz skapa skapar spara oluştur ekle kaydet",
    ),
    (
        Changes(Action::Update),
        Firm,
        "aktualisiert aktualisieren actualiza actualizar atualiza atualizar modifica modificar ändert ändern aendern modifie modifier \
         mettre cambiar alterar schließen schliessen schließt aggiorna aggiornare modificare bijwerken wijzig wijzigen wijzigt zmień \
         zaktualizuj ändra ändrar uppdatera uppdaterar güncelle değiştir",
    ),
    (
        Changes(Action::Delete),
        Firm,
        "löscht löschen loeschen elimina eliminar eliminare borra borrar supprime supprimer effacer entfernt entfernen excluir apagar \
         remover cancella cancellare rimuovi rimuovere verwijder verwijderen verwijdert usuń usun usuwa radera raderar siler",
    ),
    (
        Changes(Action::Send),
        Firm,
        "sendet senden envía enviar envia envoie envoyer publica publicar invia inviare verstuur verstuurt wyślij wyslij skicka skickar \
         gönder",
    ),
];

/// First verbs of descriptions in other scripts.
pub(super) const FOREIGN_STEMS: &[(Effect, &str)] = &[
    (Reads(Action::Search), "搜索 检索 查找 検索 검색 поиск найти ищет искать"),
    (
        Reads(Action::Read),
        "查询 查看 获取 列出 读取 返回 取得 一覧 表示 確認 조회 목록 получ показ список верн прочит récupère obté",
    ),
    (Changes(Action::Create), "创建 新增 新建 添加 上传 生成 作成 追加 생성 추가 созда добав загруз crée ajoute"),
    (Changes(Action::Update), "更新 修改 编辑 设置 管理 启用 禁用 変更 編集 수정 변경 обнов измен установ"),
    (Changes(Action::Delete), "删除 移除 清空 清除 取消 削除 삭제 удал очист"),
    (Changes(Action::Send), "发送 发布 送信 전송 отправ"),
    (Changes(Action::Execute), "执行 运行 部署 启动 停止 重启 実行 실행 запус выполн останов"),
];
