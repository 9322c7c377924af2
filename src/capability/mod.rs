//! What a server can do: typed signatures, schemas, capability sets. Pure.
//!
//! Where each section of the two papers is built and tested: 001 the capability lattice, 004 discovery by capability.
//!
//! | section | what it is here | test |
//! |---|---|---|
//! | 001 §1 | `shape`: JSON Schema to types, every row of the table | `every_row_of_the_table_has_its_type` |
//! | 001 §2.1 | `codegen::rust`: a handler's signature | `what_is_generated_is_the_same_to_the_letter` |
//! | 001 §2.2 | `codegen`: argument and result types, names on the wire kept | `generated_types_read_and_write_what_is_on_the_wire` |
//! | 001 §2.3 | `codegen`: the error type; the gate's -32000 outside the scope | `a_tool_outside_the_scope_is_refused_and_recorded` |
//! | 001 §3.1 | `codegen::csharp`: `[McpTool]` methods | `what_is_generated_in_csharp_is_csharp` |
//! | 001 §3.2 | `codegen::csharp`: records | `what_is_generated_is_the_same_to_the_letter` |
//! | 001 §3.3 | `codegen::csharp`: `[FromServices]` with the guidance on lifetimes | `what_is_generated_is_the_same_to_the_letter` |
//! | 001 §4.1 | `set::Caps`; `lattice caps`, `meet`, `join`, `diff` | `capability_sets_are_a_bounded_distributive_lattice` |
//! | 001 §4.2 | generated (`assets/typed.rs`): sets as bounds; one trait or interface for each tool | `what_a_program_may_not_do_does_not_compile` |
//! | 001 §4.3 | `policy::scope`, `link::delegation`: what a wrapper passes on is a meet | `whoever_is_started_underneath_a_viewer_stays_one` |
//! | 001 §4.4 | `workflow`: `lattice check` | `a_capability_is_followed_over_every_edge` |
//! | 001 §5 | the FileManager, generated | `what_is_generated_is_the_same_to_the_letter` |
//! | 001 §6 | protocol isolation: `Effective = Caps(S) ∩ Scope` at start and at every call | `a_scope_from_the_log_is_enough_to_play_the_session_again` |
//! | 001 §7 | `mcp::lifecycle`; generated: `typed::Session` | `a_call_is_legal_once_the_handshake_is_done` |
//! | 001 §8.1 | no call without its guardrail: `gate::data::token` | `a_token_is_minted_only_from_proofs_of_this_very_call` |
//! | 001 §8.2 | generated: `typed::GuardrailToken`, made by `typed::CallbackRunner` alone | `what_a_program_may_not_do_does_not_compile` |
//! | 001 §8.3 | `codegen::csharp`: `GuardrailEvidence<T>`, made by running the guardrail, for one call | `a_call_in_csharp_asks_for_its_evidence` |
//! | 001 §8.4 | each wrapper mints its own tokens and decides by itself, under the scope of those above it | `whoever_is_started_underneath_a_viewer_stays_one` |
//! | 001 §8.5 | generated: `typed::NoGuardrailRequired`, sealed | `what_a_program_may_not_do_does_not_compile` |
//! | 001 §8.6 | generated: `typed::safe`: all three proofs or no call | `what_a_program_may_not_do_does_not_compile` |
//! | 001 §9 | on stdio the wrapper's scope is the gate; scopes of HTTP tokens are not built | `a_tool_outside_the_scope_is_refused_and_recorded` |
//! | 004 VCV | `policy::profile`: what a server declares beside a definition; definitions are pinned by version | `what_a_server_declares_makes_a_tool_no_safer` |
//! | 004 routing | `tools search`: hard gate, then relevance times cost | `a_search_goes_by_what_the_role_grants_and_then_by_what_a_call_costs` |
//! | 004 mapping | tags and entitlements of a tool | `what_a_tool_requires_must_be_granted_all_of_it` |
//! | 004 profile | `policy::profile`: declared by the server, or written by the operator | `what_the_operator_writes_of_a_tool_counts_and_is_shown_as_the_operators` |
//! | 004 search | `tools search --role` | `with_all_what_may_not_be_used_is_struck_with_the_reason` |
//! | 004 usage | the document's own search and role | `the_documents_own_search_gives_the_tools_that_the_role_is_entitled_to` |
//! | 004 comparison | the gate is by capability, not by pack or server | `a_role_refuses_by_what_a_tool_is_and_by_what_a_call_does` |
//! | 004 recommendation | four given roles, each with all that the one before has; without one nothing is narrowed | `each_given_role_has_all_that_the_one_before_has` |

pub mod codegen;
pub mod names;
pub mod schema;
pub mod scope;
pub mod set;
pub mod shape;
pub mod types;
pub mod undeclared;
mod work;
pub mod workflow;
