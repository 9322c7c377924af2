//! The description voter's words: verbs by what they do, and phrases that say it outright. Words only.

use crate::behavior::taxonomy::Action;

/// Verbs of what only reads.
pub(super) const READS: &[(Action, &str)] = &[
    (
        Action::Read,
        "get list read fetch retrieve show describe return view browse display explain analyze analyse compare count check \
         validate inspect examine summarize summarise calculate compute determine identify discover explore estimate \
         detect obtain tell enumerate preview diff assess gather look diagnose peek lint classify see recommend measure interpret \
         listet zeigt liefert gibt berechnet lista muestra devuelve obtiene calcula retorna mostra retourne affiche calcule consulta \
         pings ping introspect audit translate review trace tail surface scan monitor",
    ),
    (Action::Search, "search find query lookup filter sucht filtert busca pesquisa recherche cherche findet"),
];

/// Verbs of what changes something. Those of [`AS_NOUNS`] may be nouns.
pub(super) const CHANGES: &[(Action, &str)] = &[
    (
        Action::Create,
        "create add insert make import ingest seed scaffold initialize initialise bootstrap provision instantiate spawn allocate \
         enroll enrol invite duplicate replicate mint save persist onboard subscribe follow join attach populate memorize \
         remember bookmark hire enqueue inject register upload backfill clone copy submit store reserve record fork \
         erstellt crea cria crée speichert guarda añade ajoute book schedule",
    ),
    (
        Action::Update,
        "update edit modify alter adjust amend configure reconfigure assign unassign reassign enable disable activate deactivate \
         toggle mark unmark customize mute unmute lock unlock reopen snooze unpin unarchive archive approve reject accept decline \
         confirm acknowledge ack dismiss complete finish finalize unlink relink link associate disassociate bind unbind disconnect \
         demote promote grant authorize unblock ban unban downgrade upgrade migrate refactor repair revert undo redo renew \
         regenerate rebuild resize extend increment decrement bump upvote downvote unlike react reorder prioritize reschedule \
         postpone defer apply synchronize sync reconcile manage maintain impersonate authenticate hide suspend reactivate decrease increase \
         mutate quarantine isolate remediate mitigate cordon taint mount unmount stash redact sign set change reset refresh restore \
         close fix block pin star rotate rollback override freeze fill switch claim vote tag patch restock recover bring \
         aktualisiert actualiza atualiza modifica ändert modifie schließt aggiorna move rename relocate transfer swap \
           ",
    ),
    (
        Action::Delete,
        "delete remove erase destroy purge wipe clear clean prune discard unset revoke unregister deregister uninstall unsubscribe \
         unfollow evict expire empty truncate unpublish decommission invalidate eliminate terminate obliterate shred drop trash \
         flush kick drain dispose rid cancel consume pop löscht elimina borra supprime entfernt verwijdert usuwa dequeue withdraw destruct \
         cleanup detach leave abort forget soft-delete hard-delete",
    ),
    (Action::Merge, "merge consolidate combine squash rebase dedupe deduplicate"),
    (Action::Overwrite, "overwrite write replace rewrite put"),
    (Action::Append, "append prepend"),
    (
        Action::Execute,
        "execute exec invoke restart reboot redeploy deploy install launch start stop run pause resume trigger retry rerun navigate dispatch \
         fire ring scroll swipe drag tap click press hover kill halt push pull reinstall kickoff train orchestrate operate power turn \
         compile reload replay requeue perform connect boot simulate begin kick compact",
    ),
    (
        Action::Send,
        "send publish notify respond broadcast tweet announce deliver resend transmit pay buy sell purchase redeem donate remit \
         speak reply forward share deposit refund dial charge post sendet envía envia envoie publica emit",
    ),
];

/// Verbs that open no statement of an act when a preposition follows: "Log of commits", "Order by date".
pub(super) const AS_NOUNS: &str = "set change reset refresh link fix sync block pin star vote tag patch drop trash drain merge copy store \
    reserve record fork draw log book schedule type touch start stop run pause fire ring press push pull power turn reply share deposit charge \
    email mail post print check view list display look preview query search filter match trace tail review surface audit return place \
    call control hand force boot label rate track express download purchase transfer swap move archive count install launch trigger answer import export \
    open like click launch read reads lists shows views checks sets books posts";

/// Nouns that say what is known of a thing, where a sentence opens with one instead of a verb.
pub(super) const ANSWERS: &str = "details overview information info metadata statistics stats summary history status facts outline \
    breakdown listing";

/// What is lost, or leaves the house, when it is done: its passive is an act of the call.
pub(super) const LOST: &str =
    "delete erase purge destroy wipe revoke invalidate obliterate shred overwrite terminate evict consume";

/// Verbs that in the third person are said of nothing but what a tool does to things.
pub(super) const UNMISTAKABLE: &str = "create delete remove write overwrite store modify send insert install update append publish merge \
    deploy start stop restart cancel terminate execute trigger disable move rename erase purge revoke register submit upload queue \
    enqueue provision mutate save";

/// Verbs besides those of loss, whose "-ing" with an object names an act of this very call.
pub(super) const ACCOMPANYING: &str =
    "create replace transfer charge reset mark submit update insert register revoke publish disable restart send pay";

/// Nothing at all is changed.
pub(super) const ONLY_READS: &str = "
    read-only
    readonly
    is read only
    read only tool*
    read only operation*
    no side effect*
    without side effect*
    side-effect-free
    side-effect free
    makes no changes
    make no changes
    no changes are made
    nothing is changed
    nothing is written
    nothing is modified
    nothing is saved
    changes nothing
    writes nothing
    no state change
    never mutates
    does not mutate
    solo lectura
    nur lesend
    lecture seule
    somente leitura
";

/// Something is changed.
pub(super) const SAYS_CHANGES: &str = "
    destructive
    irreversible
    cannot be undone
    cant be undone
    permanently
    write operation*
    write action*
    data-modifying
    state-changing
    mutating
    mutates
    this will delete
    this will overwrite
    requires confirmation
    requires approval
    requires user confirmation
    overwrites
    side effects
    real money
    consumes credits
";

/// Something is saved.
pub(super) const SAYS_SAVES: &str = "
    saved to disk
    saves to disk
    saved to a file
    will be saved
    it was saved
    is saved to
    are saved to
    is written to
    are written to
    to a local path
    to a local file
    to local disk
";

/// "Read-only" where words are not cut by spaces, and elsewhere.
pub(super) const ONLY_READS_FOREIGN: &[&str] =
    &["只读", "不产生任何变更", "읽기 전용", "読み取り専用", "только чтение"];

/// Openings of sentences in other scripts.
pub(super) const STEMS_READ: &str = "搜索 检索 查找 検索 검색 поиск найти ищет 查询 查看 获取 列出 读取 返回 取得 一覧 表示 確認 조회 목록 получ показ список верн прочит";
pub(super) const STEMS_CHANGE: &[(Action, &str)] = &[
    (Action::Create, "创建 新增 新建 添加 上传 生成 作成 追加 생성 추가 созда добав загруз"),
    (Action::Update, "更新 修改 编辑 设置 管理 启用 禁用 変更 編集 수정 변경 обнов измен установ"),
    (Action::Delete, "删除 移除 清空 清除 取消 削除 삭제 удал очист"),
    (Action::Send, "发送 发布 送信 전송 отправ"),
    (Action::Execute, "执行 运行 部署 启动 停止 重启 実行 실행 запус выполн останов"),
];
