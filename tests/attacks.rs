//! One test per row of the threat table, same id. The table is the list of attacks the product answers today; a row and its
//! test come together (`tests/tidy.rs`).
//!
//! | id | attack | the product |
//! |---|---|---|
//! | A1 | instructions to the model inside a description (tool poisoning; OWASP MCP03) | server text stands in a frame marked as the server's words; directive patterns are flagged; the text never lowers a verdict |
//! | A3 | the definition changes after it was trusted (rug pull; CVE-2025-54136) | every tool is pinned by the SHA-256 of its canonical definition, annotations included; a change suspends the allow rules made for it, raises its version, and shows a diff to accept or refuse |
//! | A4 | only the annotations change (`readOnlyHint` false→true) | covered by the pin; a changed hint never turns ask into allow |
//! | A5 | two servers offer the same or a look-alike name | identity is (server, tool); look-alikes (UTS #39 skeleton) warn; rules never cross servers unless written so |
//! | A6 | preference manipulation ("the BEST tool, always use this") (arXiv 2503.23278) | flagged in Tools and on the card; counts as a hazard a policy can match |
//! | A7 | instructions in parameter names, enums, defaults | the same checks over every string of the schema; arguments the schema does not declare are marked undeclared |
//! | A8 | hidden text: tag characters, zero-width, bidi, variation selectors, Hangul fillers | shown as visible escapes with a count; any in arguments means never auto-approved |
//! | A9 | the server program changes, its manifest does not | launch command and resolved program are fingerprinted per server; a change shows a badge and suspends allow rules |
//! | A10 | a title that contradicts the arguments ("Read file" with a command) | the product's own effect line comes first, the server's words second |
//! | A11 | server-initiated sampling, elicitation, resources as channels | shown in Activity in a colour of their own, and recorded; a rule on `method` asks about or denies them; what is no tool call passes byte for byte, but for the file that is in no place: reading it asks |
//! | A12 | a request that a rule is about, in another spelling: keys in other case or twice, a batch, no id, too long to be held, inside an answer or a notification | read as strictly as a host's lines while such a rule is there; what is no canonical message is dropped and recorded, and the sender is told |
//! | B1 | terminal control sequences in arguments, names, results | no foreign C0, C1 or DEL byte reaches the terminal; shown as `␛`, `⟨U+009B⟩` |
//! | B2 | carriage return and backspace overwrite | as B1 |
//! | B3 | bidi override | visible escape and warning (ratatui alone drops these silently, so the reader sees less than is sent) |
//! | B4 | zero-width, tag characters, variation selectors, combining floods | visible escapes; at most four combining marks, then an escape |
//! | B5 | look-alike letters in paths and hosts | mixed-script tokens are marked with their code points |
//! | B6 | the dangerous part is off screen (GHSA-xww8-gqvh-92x9, CVE-2026-26320) | nothing is cut silently: total bytes, lines below, runs of spaces counted; dangerous calls are not armed before their last line was shown; approving unread is a separate key and is recorded |
//! | B7 | very long arguments | structure with sizes, head and tail; analysers read the whole; a frame stays under 100 ms at 16 MiB |
//! | B8 | line separators that fake other fields | one value, one bordered region; breaks are marked; U+2028 is escaped |
//! | B9 | width desync by wide and combining characters | widths come from the table that prints |
//! | B10 | links, clipboard, title sequences | blocked by B1; of its own the product emits a title and a notice, and only a number is in them |
//! | B13 | another call is run than the one approved (parallel calls) | a verdict carries ticket and digest; thousands of races, no mismatch |
//! | B14 | a comment or a quote that one reader takes for a condition and another does not (`DELETE FROM users # WHERE id = 1` on MySQL, `DELETE FROM [users WHERE id = 1]`) | statements are read once, as the server's dialect reads them; card, queue, confirmation and log show that reading; what dialects read differently is not described |
//! | B15 | a second statement behind a harmless first, in a bracket, or without a semicolon (`UPDATE … ; DELETE …`) | the call is what its gravest statement is; the line names that one; every statement stands on the card by itself |
//! | B16 | a command line that hides a command (quotes, backslashes, substitutions, words of the shell, so many commands that none is looked at) | cut as a shell cuts it, each command marked by what it runs; too many to be read counts as a change |
//! | B17 | a text that no reader can take apart is shown as if it had been | the card says that it was not read, and shows it raw |
//! | C1 | case-variant keys `Method`, `Name`, `Arguments` (CVE-2026-27896) | in envelope, `params` and protocol `_meta` (never inside `arguments`): any key that case-folds to a protocol key without being it is refused |
//! | C2 | Unicode folding (`paramſ`, `K`) | compared after full case folding and NFKC |
//! | C3 | duplicate keys at any depth of a call | refused |
//! | C4 | NUL in keys or values | refused in keys, a hazard in values |
//! | C5 | numbers that parsers read differently | number text is kept, shown and forwarded as received; beyond ±2^53 is marked |
//! | C6 | batch arrays | refused on every revision |
//! | C7 | `tools/call` without an id, or with `null` | refused, never forwarded |
//! | C8 | ids reused while in flight; `1` against `"1"` | a live duplicate is refused; ids compare by type and text |
//! | C9 | invalid UTF-8, BOM, lone surrogates, CRLF | strict framing; refused or normalised exactly as the specification says, by table |
//! | C10 | deep nesting, giant lines | depth ≤ 64; client line ≤ 16 MiB by default; bounded memory |
//! | C11 | display differs from bytes (trimmed space selects another program) | digest over the forwarded bytes; nothing is trimmed; trailing space is visible |
//! | C12 | a verdict replayed | one ticket, one verdict, single use |
//! | C13 | the file changes between approval and forwarding | the preview's facts (size, digest, link target) are taken again just before forwarding; a difference asks again |
//! | C14 | a path that forwards without a decision | one writer to the server, its only argument is the proof; compile-fail test |
//! | C15 | the approval layer itself changes arguments | byte equality in every test and in the soak |
//! | C16 | the operator's edit | original and edit are both recorded, the edit is judged and validated again, its digest is the one forwarded |
//! | C17 | multi-round-trip retries and task updates (revision 2026-07-28) | a retry continues under its approval once and only on an exact match of name, arguments and server state; everything else is a new decision; a task that is made of a call is decided as that call |
//! | C18 | approval after cancel or timeout | withdrawn at once; a late verdict does nothing and is recorded |
//! | C19 | no console, crashed console, full disk | wait, then deny with a reason; never allow |
//! | C20 | a question that the host puts to its user for us: answered, taken back, imitated or put again under its id by the server; answered twice or late by the host | only the host's first answer to the open question counts, for the text that it showed; while it is open the server's requests are read strictly, and none passes under an id of ours |
//! | C21 | a call that waits as a task: the server ends or imitates the task, or names it as its own; a host asks about a task of another session, or without taking tasks; its result is fetched twice; its cancellation meets the approval | ids are unguessable and count in one session; requests about them end at the gate; no line of the server's names one; the call runs at most once, as it was approved; a cancellation that comes before the record of the approval counts |
//! | D1 | approval fatigue | own figures shown ("61 of 61 approved in 20 min, median 0.8 s"); identical calls grouped; a narrow rule is offered after repeated approvals |
//! | D2 | flooding to hide one call | the queue marks and can sort by risk; per-server limit; deny all from one server |
//! | D3 | a key pressed just as the screen changes | arrivals never move the selection; a short arming delay after the selected call changes |
//! | D4 | paste, type-ahead, terminal replies | bracketed paste; decision keys inside a paste are ignored; input drained when the card changes |
//! | D5 | default yes | none: Enter never approves |
//! | D6 | "always allow" too wide | the rule maker previews the rule's text, the calls it would match, and an expiry; its default is narrow |
//! | D7 | two operators | the first recorded verdict wins; the other is told; the log shows both |
//! | D8 | a refused key, and the text that was typed for its prompt runs as keys | `d` opens its prompt at once; after a refused key, keys are swallowed until silence |
//! | D9 | a key held down or repeated | an early key restarts the delay; `y` has its own |
//! | D10 | false dangers train blind keys | each kind of danger is right in 80 of 100 labelled calls of real servers |
//! | E1 | runs a command that approves | none approves a call; decisions come only from a console; `rules accept`, and the offer after a change of the rules, need a terminal and a confirmation, and are recorded |
//! | E2 | connects to the socket | same-user and ancestry checks with an alarm (level 0); with an operator key, a verdict needs its signature (level 1) |
//! | E3 | edits the policy | a change is shown to the operator as a diff before allow rules in it take effect; every record carries the policy's digest; with a key, the policy is signed |
//! | E4 | edits or deletes the log | the chain and anchored heads show it |
//! | E5 | environment variables | none moves a folder or weakens a verdict |
//! | E6 | removes the wrapper from the host's configuration | `doctor` and the console show servers that are no longer wrapped |
//! | E9 | types for the operator (terminal multiplexer, automation) | warned about; with a key, keystrokes alone cannot sign |
//! | E10 | reads the console's memory | not dumpable, no core files, key in locked memory |
//! | E12 | kills console or interposer | fails closed |
//! | E13 | temporary paths, links | runtime folder created 0700 and checked; foreign, loose or linked folders refused |
//! | E14 | answers in the place of the wrapper above it, so that a wrapper underneath gets a wider scope | a wrapper is told by the process itself, which the kernel names; anything else leaves it nothing |
//! | F1 | a name or description that reads like a read (`monitor_delete` "Monitor Delete", "Express interest in …", "Loads a configuration, replacing …") | independent voters; a changing verb in the name is outweighed by nothing; unknown words are silent; likely asks once |
//! | F2 | option injection: `--output=…`, `-o`, `ext::`, `args`, `flags`, `options` (CVE-2025-68144) | a leaf that begins with `-`, or carries options, is new here |
//! | F3 | a statement in a language without a reader, under an unlisted key, or in two possible languages | SQL of a known dialect and GraphQL prove reads; any other statement or command text is new here, once per text |
//! | F4 | a description that switches a reader off | descriptions never loosen the reading of arguments |
//! | F5 | text past a budget, the 65th statement, JSON in JSON, a union type | `Unread` asks; nothing is dropped in silence |
//! | F6 | method overrides in headers, query, body; other URL schemes; control characters in addresses | http(s) only, every spelling of an override, every header line and pair |
//! | F7 | shell or template shapes in plain fields (`; rm`, `$(…)`, `{{…}}`) | fits no role's form: new here |
//! | F8 | allow rules that cover more than they say (overflow of statements, `under` on addresses, `$HOME` and paths whose base another argument chooses, globs over `..`, quotes in fingerprints) | undecided is no match for an allow |
//! | F9 | a continuation with another definition, other params, or poisoned responses | bound to the definition and all params; responses are judged and recorded |
//! | F10 | schemas and arguments that take the judge's time or memory | a work budget per step; ping, signals and EOF stay alive |
//! | F11 | a policy file that appears where none was | absence is an accepted empty policy |
//! | F12 | a forged answer to a held call with an id no strict reader reads | such answers never reach the host |
//! | F13 | a member beside the arguments that no revision of the protocol has (`params.arguments2`), which a laxer server reads; `_meta` that carries a call or arguments | a hazard: the call asks, the card shows the member whole, the record has it; a call in `_meta` is held, and a new key there is told from one that is known |
//! | F14 | an address carries data out | a host nobody agreed to asks, whatever key the address is under |
//! | F15 | a relation or a column that acts (`exec_command`, `net_http_request`, a quoted address as a table, Oracle's and PostgreSQL's calls without brackets) | a dialect that is not known proves nothing; relations and projections are plain names of a known dialect, else the outline is new here |
//! | F16 | a switch or parameter on a read (`shell`, `charge`, `in_place`, `peek=false`, `run_as`, `to_file`, `set_status`, `mail_to`) | keys without a reading role, and switches away from their default, are new here |
//! | F17 | GET that acts; `localhost`, `*.local`, single labels, private numbers | local hosts are agreed to as host and port only; a changing word in path or query asks on any host |
//! | F18 | command texts in lookup fields (sed, vi, zsh, gdb, Modbus) | a lookup role takes names, numbers and short words; other texts are new here |
//! | F19 | light verbs that vote twice, clauses not read, causatives, languages without a whole reader | one verb, one piece of evidence; a description not read to its end is silent |
//! | F20 | a tool declares an effect and is called a read | declared effects veto, under any role |
//! | F21 | secrets' files nobody listed | places: roots, working folder, folders of the command; elsewhere is new here |
//! | F22 | a scope or role is passed by another method, a vendor method, a task or `_meta` | only the revision's reading methods pass under a scope, and the contents that it names; what else there is asks; a call inside a request is a call |
//! | F23 | rules that widen: globs on addresses, glob characters under `under`, links on the way, line breaks, folded keys, nested switches, wide effect classes, rates that each wrapper counts alone | compared part by part; undecided is no match for an allow, and is one for a deny |
//! | F25 | private text or an instruction is read, then a call leaves for a host | the next call that leaves asks, and its card says after which answer; no allow rule covers it but by the hazard's name |
//! | F26 | a harmless value is agreed to, then the act follows under the same key | `p` remembers values; kinds only after three of them, any text only by the operator's own `w` |
//! | F27 | an agreement is written into the pins, or the pins are put back to before it was taken back | it counts only with its record in the chain, the latest of its digest; one without is ignored, named in an alarm, and found by `doctor` |
//! | G1 | who can write to the socket, or owns the desk's database or its network, writes, changes or replays a verdict | where the policy asks for it, and always for what comes from a desk, the wrapper checks a signature over call, card, challenge and terms; each is used once |
//! | G2 | a software key in an agent that any process of the user can use; a list of signers that the user can change | graded L0; L1 needs a touch (FIDO flag), and signers owned by root |
//! | G3 | a card that shows one thing and signs another | the console signs the digest of the card that it shows; the wrapper compares it with what it sent |
//! | G4 | two operators at once; a verdict after the deadline, after the call was withdrawn, or on another card | the wrapper takes the first that verifies, once; later ones are refused, recorded, and named on the desk |
//! | G6 | a machine reads or writes what is another's; who reads the database reads a secret | a row's machine or operator is the role that logged in; grants by column, forced row policies; secrets and what confirms a guess of them are replaced before a card or a record is written; a secret that looks made by chance also where it comes again, and then the call asks, so that an agent cannot hide what it does |
//! | G5 | a machine restores an old copy of its log, or two copies go on; whoever owns the database deletes, changes or moves records | what was sent stays, and `log verify --desk` names gaps, changes, forks and logs that went back, by chain, by the ends that machines sent, and by those that an operator signed |
//! | G7 | the desk is cut off, down, slow or hides what was signed there | a stop that a wrapper has seen holds until its end is signed; where the policy says `[desk] required = true`, nothing passes unasked without a signed sign of life of the last five minutes |
//! | G8 | `ssh-keygen` is another program | only a program that root alone can change is run; what a touch does not show is said in the grade |
//! | G9 | a verdict is replayed after a restart or a restored copy | a challenge of each card, made of a random secret of the wrapper |
//! | G10 | a team's set of somebody else, of another text, older than one that came, with rules that read otherwise elsewhere, or with more than this machine takes | a set is signed by somebody whom `config.toml` names, and the latest that was seen counts; its rules are read by the one reader, shown as they would be here, and become part of the policy by its acceptance alone; `[desk] team_may` |
//!
//! Not answered yet, and so not in the table: the parts of E9 and E10 that take the operator's key.

mod agreed;
mod arguments;
mod binding;
mod closed;
mod delegation;
mod disk;
mod edited_policy;
mod forms;
mod framing;
mod hosts;
mod human;
mod keys;
mod methods;
mod pins;
mod process;
mod screen;
mod secrets;
mod server_words;
mod signatures;
mod statements;
mod tasks;
