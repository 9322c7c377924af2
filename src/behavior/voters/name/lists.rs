//! The name voter's verbs, by what they do and by how surely a word of that form is a verb. Words only.

use super::{Effect, Firmness};
use crate::behavior::taxonomy::Action;
use crate::behavior::words::section;
use Effect::{Changes, Reads};
use Firmness::{Either, Mostly, Verb};

const WORDS: &str = include_str!("../../../../assets/words/name.txt");

/// Later lists win over earlier ones.
pub(super) const LISTS: &[(Effect, Firmness, &str)] = &[
    (Reads(Action::Read), Verb, section(WORDS, "read-verb")),
    (Reads(Action::Search), Verb, "find lookup"),
    (Reads(Action::Read), Mostly, section(WORDS, "read-mostly")),
    (Reads(Action::Search), Mostly, "search query autocomplete suggest"),
    (Changes(Action::Create), Verb, section(WORDS, "create-verb")),
    (Changes(Action::Create), Mostly, section(WORDS, "create-mostly")),
    (Changes(Action::Update), Verb, section(WORDS, "update-verb")),
    (Changes(Action::Update), Mostly, section(WORDS, "update-mostly")),
    (Changes(Action::Delete), Verb, section(WORDS, "delete-verb")),
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
    (Changes(Action::Execute), Verb, section(WORDS, "execute-verb")),
    (Changes(Action::Execute), Mostly, section(WORDS, "execute-mostly")),
    (Changes(Action::Send), Verb, section(WORDS, "send-verb")),
    (Changes(Action::Send), Mostly, section(WORDS, "send-mostly")),
    (Changes(Action::Move), Verb, "rename relocate mv reparent"),
    (Changes(Action::Move), Mostly, "move transfer shift swap"),
    (
        Changes(Action::Create),
        Either,
        "comment note log branch new stage cache clip invoice record register book index store bookmark plant",
    ),
    (Changes(Action::Send), Either, "post message order sms charge tip offer page email mail lease share forward"),
    (Changes(Action::Update), Either, section(WORDS, "update-either")),
    (Changes(Action::Execute), Either, "queue build dump train drive backup click"),
    (Changes(Action::Delete), Either, "gc"),
    // German, Spanish, Portuguese, French, Italian, Dutch, Polish, Swedish and Turkish verbs that English does not have.
    (
        Reads(Action::Read),
        Verb,
        "obtener listar mostrar consultar calcular lister afficher anzeigen auflisten lesen leer lire",
    ),
    (Reads(Action::Search), Verb, "buscar pesquisar rechercher suchen zoeken cercare"),
    (Changes(Action::Create), Verb, section(WORDS, "create-verb-foreign")),
    (Changes(Action::Update), Verb, section(WORDS, "update-verb-foreign")),
    (Changes(Action::Delete), Verb, section(WORDS, "delete-verb-foreign")),
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
