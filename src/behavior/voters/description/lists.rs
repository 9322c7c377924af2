//! The description voter's words: verbs by what they do, and phrases that say it outright. Words only.

use crate::behavior::taxonomy::Action;
use crate::behavior::words::section;

const WORDS: &str = include_str!("../../../../assets/words/description.txt");

/// Verbs of what only reads.
pub(super) const READS: &[(Action, &str)] =
    &[(Action::Read, section(WORDS, "read")), (Action::Search, "search find query lookup filter")];

/// Verbs of what changes something. Those of [`AS_NOUNS`] may be nouns.
pub(super) const CHANGES: &[(Action, &str)] = &[
    (Action::Create, section(WORDS, "create")),
    (Action::Update, section(WORDS, "update")),
    (Action::Delete, section(WORDS, "delete")),
    (Action::Merge, "merge consolidate combine squash rebase dedupe deduplicate"),
    (Action::Overwrite, "overwrite write replace rewrite put"),
    (Action::Append, "append prepend"),
    (Action::Execute, section(WORDS, "execute")),
    (Action::Send, section(WORDS, "send")),
];

/// Verbs that open no statement of an act when a preposition follows: "Log of commits", "Order by date".
pub(super) const AS_NOUNS: &str = section(WORDS, "as-nouns");

/// Nouns that say what is known of a thing, where a sentence opens with one instead of a verb.
pub(super) const ANSWERS: &str = section(WORDS, "answers");

/// Verbs of what is lost or given away: a sentence with one in the passive states an act of the call.
pub(super) const LOST: &str = section(WORDS, "lost");

/// Verbs that in the third person are said of nothing but what a tool does to things.
pub(super) const UNMISTAKABLE: &str = section(WORDS, "unmistakable");

/// Verbs besides those of loss, whose "-ing" with an object names an act of this very call.
pub(super) const ACCOMPANYING: &str = section(WORDS, "accompanying");

/// Nothing at all is changed.
pub(super) const ONLY_READS: &str = section(WORDS, "only-reads");

/// Something is changed.
pub(super) const SAYS_CHANGES: &str = section(WORDS, "says-changes");

/// Something is saved.
pub(super) const SAYS_SAVES: &str = section(WORDS, "says-saves");

/// Openings of sentences that change something, in other scripts.
pub(super) const STEMS_CHANGE: &[(Action, &str)] = &[
    (Action::Create, "创建 新增 新建 添加 上传 生成 作成 追加 생성 추가 созда добав загруз"),
    (Action::Update, "更新 修改 编辑 设置 管理 启用 禁用 変更 編集 수정 변경 обнов измен установ"),
    (Action::Delete, "删除 移除 清空 清除 取消 削除 삭제 удал очист"),
    (Action::Send, "发送 发布 送信 전송 отправ"),
    (Action::Execute, "执行 运行 部署 启动 停止 重启 実行 실행 запус выполн останов"),
];

/// Verbs that say how an answer is made or what it has, and no act upon anything.
pub(super) const NEUTRAL: &str = section(WORDS, "neutral");

/// Words that are no verbs of an act: articles, prepositions, pronouns, conjunctions, auxiliaries.
pub(super) const FUNCTION: &str = section(WORDS, "function");

/// The commonest words of other languages in the same letters, and of English.
pub(super) const FOREIGN: &str = section(WORDS, "foreign");
pub(super) const ENGLISH: &str = section(WORDS, "english");
