//! What verbs do to the things they are said of. Owns the word lists; where a verb stands is `reading`'s business.
//!
//! The lists are about the language, not about any server. A verb that nobody listed is unknown, which means MUTATES.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::taxonomy::Action;

/// What a verb tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verb {
    /// Its base form.
    pub base: &'static str,
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
    /// A verb, though a noun of that form exists: `start`, `run`, `deploy`.
    Mostly,
    /// As often a noun: `order`, `comment`, `report`.
    Either,
}

/// The verb that a base form is.
pub fn verb(word: &str) -> Option<Verb> {
    if let Some(found) = VERBS.get(word) {
        return Some(*found);
    }
    if let Some((_, found)) = FOREIGN.iter().find(|(known, _)| word.starts_with(*known) && !word.is_ascii()) {
        return Some(*found);
    }
    // `reassign`, `undeploy`, `bulk-delete`: the prefix does not make a change harmless.
    const PREFIXES: &[&str] = &[
        "re", "un", "de", "dis", "auto", "bulk", "batch", "multi", "soft", "hard", "force", "mass", "quick", "co",
        "over",
    ];
    PREFIXES.iter().find_map(|prefix| {
        let rest = word.strip_prefix(prefix)?.trim_start_matches('-');
        let found = VERBS.get(rest).filter(|_| rest.len() > 3)?;
        match found.effect {
            Changes(_) => Some(Verb { firmness: Firm, ..*found }),
            Reads(_) | Depends(_) => None,
        }
    })
}

/// What the verb does to this object, where the object decides: `resolve` a host, or `resolve` a comment.
pub fn with_object(verb: Verb, object: &[String]) -> Effect {
    let near = || object.iter().filter(|word| !is_filler(word)).take(5);
    let has = |nouns: &str, word: &str| {
        let singular = word.strip_suffix('s').unwrap_or(word);
        nouns.split_whitespace().any(|noun| noun == word || noun == singular)
    };
    TURNS
        .iter()
        .filter(|(verbs, ..)| verbs.split_whitespace().any(|known| known == verb.base))
        .find(|(_, nouns, _)| near().any(|word| has(nouns, word)))
        .map_or(verb.effect, |(.., effect)| *effect)
}

fn is_filler(word: &str) -> bool {
    matches!(
        word,
        "a" | "an" | "the" | "of" | "all" | "this" | "your" | "new" | "one" | "," | "(" | ")" | "/" | "and" | "or"
    )
}

use Effect::{Changes, Depends, Reads};
use Firmness::{Either, Mostly, Verb as Firm};

static VERBS: LazyLock<HashMap<&'static str, Verb>> = LazyLock::new(|| {
    let rows = LISTS.iter().flat_map(|(effect, firmness, words)| {
        words.split_whitespace().map(|base| (base, Verb { base, effect: *effect, firmness: *firmness }))
    });
    rows.collect()
});

/// Later lists win over earlier ones.
const LISTS: &[(Effect, Firmness, &str)] = &[
    (
        Reads(Action::Read),
        Firm,
        "get read list fetch retrieve show describe view display obtain gather collect inspect examine peek enumerate browse \
         explain summarize summarise analyze analyse assess compare diff calculate compute estimate predict validate \
         verify check determine detect identify recognize recognise classify categorize categorise interpret parse decode \
         extract ping probe poll monitor observe introspect count measure tally aggregate recommend infer translate convert \
         explore traverse visualize visualise look see investigate diagnose troubleshoot audit lint profile resolve \
         expand understand learn cite outline paraphrase rephrase rerank score geocode echo encode stringify tokenize tokenise \
         detokenize normalize normalise decompile disassemble survey scrape contrast reveal wait await sleep think reason deduce \
         derive deserialize serialize evaluate grep cat tail whoami  dump subtract multiply divide correlate \
         benchmark simulate forecast demonstrate select provide tell ocr transcribe \
         consult ls stat warn lists gets contain scan trace debug track review discover report load plan \
         relate  hash judge grade interpolate extrapolate differentiate integrate factor simplify solve cluster \
         brainstorm critique proofread spellcheck disambiguate return",
    ),
    (Reads(Action::Search), Firm, " find  locate lookup match filter autocomplete suggest"),
    (
        Reads(Action::Read),
        Either,
        "overview info information detail summary stats statistics health help history about preview result availability usage \
         capability diagnostics direction distance docs documentation metadata status version count \
         forecast trace debug track review report load plan profile audit scan  hash grade cluster score outline \
         survey tail view display contrast look factor return",
    ),
    (Reads(Action::Search), Either, "  lookup match filter"),
    (
        Changes(Action::Create),
        Firm,
        "create add insert make upload import ingest seed scaffold initialize initialise init bootstrap provision instantiate \
         spawn allocate enroll enrol invite clone copy duplicate replicate mint save store persist onboard establish introduce \
         subscribe follow join reserve attach populate setup mkdir embed memorize memorise remember bookmark hire enqueue \
         materialize materialise inject implant paint paste type sketch draw register dub animate mint",
    ),
    (
        Changes(Action::Update),
        Firm,
        "update edit modify change alter adjust amend patch set configure reconfigure assign unassign reassign enable disable \
         activate deactivate toggle mark unmark tweak customize customise mute unmute lock unlock reopen snooze pin unpin star \
         unstar archive unarchive approve reject accept decline confirm acknowledge dismiss ack claim unclaim complete \
         finish finalize finalise close link unlink relink tag untag associate disassociate dissociate bind unbind disconnect \
         promote demote grant authorize deauthorize authorise block unblock ban unban upgrade downgrade migrate refactor fix \
         repair heal restore revert rollback undo redo reset refresh renew rotate regenerate rebuild resize scale extend annotate enrich \
         increment decrement bump vote upvote downvote like unlike react unreact reorder prioritize prioritise reschedule postpone \
         defer adopt apply sync synchronize synchronise reconcile manage maintain administer override impersonate authenticate \
         login logout signin signout opt highlight colorize recolor restyle freeze unfreeze hide unhide fill suspend \
         unsuspend reactivate decrease increase raise tune transition advance rewind uncheck mutate standardize standardise \
         regroup ungroup hibernate attest certify consume rectify soften harden whitelist blacklist allowlist denylist \
         personalize personalise localize triage onboard switch checkin check-in check-out undelete recover upsert amend ",
    ),
    (
        Changes(Action::Delete),
        Firm,
        "delete remove erase destroy drop purge wipe clear clean cleanup prune discard trash unset revoke unregister deregister \
         uninstall unsubscribe unfollow evict expire forget flush empty truncate rm rmdir del unpublish deprovision decommission \
         teardown kick unshare invalidate nuke strip eliminate dispose unfriend leave vacuum abandon deallocate unstage detach \
         unpair unlist delist terminate",
    ),
    (
        Changes(Action::Merge),
        Firm,
        "merge consolidate combine squash rebase unify fuse cherry-pick dedupe deduplicate unmerge",
    ),
    (Changes(Action::Overwrite), Firm, "overwrite write replace rewrite put"),
    (Changes(Action::Append), Firm, "append prepend"),
    (
        Changes(Action::Execute),
        Firm,
        "execute exec invoke    restart reboot kill abort   redeploy undeploy rollout \
          reinstall  shutdown resume pause halt retry rerun eval       navigate goto \
         emulate dispatch finetune fine-tune optimize optimise compile attack exploit fuzz relaunch interrupt automate \
         orchestrate interact delegate unpause throttle operate instruct kickoff reload hover blur hotkey keypress \
         upscale sandbox shell spin power wake cancel  minify mock stream",
    ),
    (
        Changes(Action::Send),
        Firm,
        "send publish notify reply respond broadcast forward tweet share announce deliver resend transmit pay refund purchase buy \
         sell withdraw deposit checkout redeem donate escalate remit speak say nudge dm chat submit advertise fax unsend \
         rebroadcast text-to-speech",
    ),
    (Changes(Action::Move), Firm, "move rename transfer relocate mv shift swap reparent"),
    (
        Depends(Action::Execute),
        Firm,
        " open perform do handle process use call build transform request connect prepare play record take act hydrate visit go \
         bring exit quit conduct test ask answer carry allow try ensure focus",
    ),
    (
        Depends(Action::Create),
        Firm,
        "generate export download capture screenshot produce synthesize synthesise design propose render emit backup crop \
         compress decompress zip unzip encrypt decrypt sign draft",
    ),
    (
        Changes(Action::Execute),
        Mostly,
        "start stop run deploy install launch push pull press scroll boot trigger swipe drag tap click control crawl",
    ),
    (Reads(Action::Search), Firm, "search query"),
    (Reads(Action::Read), Either, "whois screen"),
    (
        Changes(Action::Create),
        Either,
        "comment note reaction event entry booking book attachment subscription log branch commit annotation fork \
         registration new stage cache watch backup draft clip mint store",
    ),
    (
        Changes(Action::Send),
        Either,
        "post message order alert notification mail email sms payment invoice charge tip request bid offer call respond",
    ),
    (
        Changes(Action::Update),
        Either,
        "change release fix patch set group sort index schedule link rating rate vote format archive state zoom \
         feedback lock block pin mark flag tag label star balance reply like fill refresh upgrade pair map \
         setup ",
    ),
    (
        Changes(Action::Execute),
        Either,
        "queue action operation job task workflow script command      switch experiment   train \
            drive  stream   power ",
    ),
    (Changes(Action::Delete), Either, "clear drop cleanup"),
    // German, Spanish, Portuguese, French verbs that English does not have.
    (
        Reads(Action::Read),
        Firm,
        "listet zeigt liefert gibt berechnet lista muestra devuelve consulta obtiene calcula retorna mostra retourne affiche calcule obtener listar mostrar consultar calcular",
    ),
    (Reads(Action::Search), Firm, "sucht filtert busca buscar pesquisa recherche cherche findet"),
    (Changes(Action::Create), Firm, "erstellt crea crear cria criar speichert guarda guardar agregar añade"),
    (Changes(Action::Update), Firm, "aktualisiert actualiza actualizar atualiza modifica modificar ändert modifie"),
    (Changes(Action::Delete), Firm, "löscht elimina eliminar borra borrar supprime entfernt"),
    (Changes(Action::Send), Firm, "sendet envía enviar envia envoie publica"),
    (Depends(Action::Execute), Either, "test play record process use"),
    (Depends(Action::Create), Either, "export download capture screenshot snapshot design"),
];

/// Verbs whose object decides. The first row that fits is taken.
const TURNS: &[(&str, &str, Effect)] = &[
    ("evaluate", "javascript js script code function browser page", Changes(Action::Execute)),
    (
        "resolve",
        "comment thread issue alert conversation discussion incident ticket conflict feedback review todo task violation dispute",
        Changes(Action::Update),
    ),
    ("verify confirm", "ownership domain email phone otp code account", Changes(Action::Update)),
    ("confirm", "that whether if can reach exist connectivity reachability", Reads(Action::Read)),
    ("select", "query statement sql row column record from data", Reads(Action::Read)),
    (
        "select",
        "option tab page element item dropdown device file text frame account model window",
        Changes(Action::Update),
    ),
    ("check", "out in off", Changes(Action::Update)),
    ("show display", "notification toast dialog alert popup banner", Changes(Action::Send)),
    ("report", "issue bug abuse user problem spam incident", Changes(Action::Send)),
    ("track", "event conversion time purchase", Changes(Action::Create)),
    ("load", "into tool model dataset extension plugin page url module", Changes(Action::Execute)),
    ("review", "submit approve post", Changes(Action::Update)),
    ("block", "until", Reads(Action::Read)),
    (
        "test",
        "connection connectivity regex regexp pattern access credential reachability endpoint",
        Reads(Action::Read),
    ),
    ("take capture get render", "screenshot snapshot picture photo image frame", Reads(Action::Read)),
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
    ("run perform execute do make conduct carry use", "search lookup autocomplete similarity", Reads(Action::Search)),
    (
        "run perform execute do make conduct carry",
        "check analysis audit review validation comparison calculation inspection assessment evaluation diagnostic lint estimate \
         aggregation discovery traversal geocoding report simulation explain math arithmetic diagnosis health",
        Reads(Action::Read),
    ),
    ("ask answer", "question documentation docs about", Reads(Action::Read)),
    ("add", "number integer float", Reads(Action::Read)),
    ("train start stop book", "station between of", Reads(Action::Read)),
    ("register", "map", Changes(Action::Create)),
];

/// First verbs of other languages that descriptions are written in, as stems.
static FOREIGN: LazyLock<Vec<(&'static str, Verb)>> = LazyLock::new(|| {
    let rows = FOREIGN_LISTS.iter().flat_map(|(effect, words)| {
        words.split_whitespace().map(|base| (base, Verb { base, effect: *effect, firmness: Firm }))
    });
    rows.collect()
});

const FOREIGN_LISTS: &[(Effect, &str)] = &[
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
