//! The second of two gates, over the tree: queries made of nodes that are known to only read.
//!
//! Nodes are taken apart whole, without `..`: what a later parser adds does not compile until somebody has read it.

use sqlparser::ast::{
    Cte, Fetch, GroupByExpr, GroupByWithModifier, Join, JoinConstraint, JoinOperator, LimitClause,
    NamedWindowDefinition, NamedWindowExpr, Offset, OrderBy, OrderByExpr, OrderByKind, Query, Select, SelectItem,
    SelectItemQualifiedWildcardKind, SetExpr, Statement, TableFactor, TableFunctionArgs, TableSampleKind,
    TableWithJoins, Top, TopQuantity, WildcardAdditionalOptions,
};
use sqlparser::dialect::{Dialect as Grammar, MsSqlDialect, MySqlDialect, PostgreSqlDialect, SQLiteDialect};
use sqlparser::parser::Parser;
use sqlparser::tokenizer::{TokenWithSpan, Tokenizer};

use super::expression::{argument, each, expression, expressions, window};
use super::gate::Cut;
use super::lex::Kind;
use super::{Dialect, Doubt, functions, thin};

/// How deep the parser follows. Its own frames are large: this fits a thread of two megabytes without optimisation.
const MAX_DEPTH: usize = 32;

/// Where the dialect is not known, a statement of more tokens than this is parsed once and not four times.
const MANY_TOKENS: usize = 500;

/// Lets one statement through that reads: under its dialect, or under some dialect and against none that can read it.
pub(super) fn only_reads(cut: Cut<'_>, dialect: Option<Dialect>) -> Result<(), Doubt> {
    let (text, left) = thin::thinned(cut);
    if let Some(dialect) = dialect {
        return reads_under(&text, dialect);
    }
    if left > MANY_TOKENS {
        // What one grammar reads, the others could take for a call: each must be known by its word alone.
        functions::all_known(cut)?;
        // In some dialects the first argument of CONVERT is a type, and a user-defined type runs its own code.
        let converts = (0..cut.tokens.len()).any(|at| cut.is(at, "CONVERT") && cut.is_sign(at + 1, b'('));
        absent("CONVERT()", !converts)?;
        return reads_under(&text, likeliest(cut));
    }
    let mut understood = false;
    for dialect in [Dialect::PostgreSql, Dialect::MySql, Dialect::MsSql, Dialect::Sqlite] {
        if let Some(statement) = parsed(&text, dialect)? {
            statement_reads(&statement, dialect)?;
            understood = true;
        }
    }
    if understood { Ok(()) } else { Err(Doubt::unknown("not understood")) }
}

fn reads_under(text: &str, dialect: Dialect) -> Result<(), Doubt> {
    match parsed(text, dialect)? {
        Some(statement) => statement_reads(&statement, dialect),
        None => Err(Doubt::unknown("not understood")),
    }
}

/// The dialect whose quotes the names are in.
fn likeliest(cut: Cut<'_>) -> Dialect {
    let quoted = |quote: u8| {
        let opens = |start: usize| cut.text.as_bytes().get(start) == Some(&quote);
        cut.tokens.iter().any(|token| token.kind == Kind::Quoted && opens(token.start))
    };
    if quoted(b'`') {
        Dialect::MySql
    } else if quoted(b'[') {
        Dialect::MsSql
    } else {
        Dialect::PostgreSql
    }
}

/// The one statement; `None` where this dialect's grammar does not know it.
fn parsed(text: &str, dialect: Dialect) -> Result<Option<Statement>, Doubt> {
    let grammar: &dyn Grammar = match dialect {
        Dialect::Sqlite => &SQLiteDialect {},
        Dialect::PostgreSql => &PostgreSqlDialect {},
        Dialect::MySql => &MySqlDialect {},
        Dialect::MsSql => &MsSqlDialect {},
    };
    // Tokens without locations save the time to format error messages: most errors come from alternatives that the
    // parser only tries.
    let mut tokens = Vec::with_capacity(text.len() / 2);
    let placeless = |token: TokenWithSpan| TokenWithSpan::wrap(token.token);
    let cut = Tokenizer::new(grammar, text).tokenize_with_location_into_buf_with_mapper(&mut tokens, placeless);
    if cut.is_err() {
        return Ok(None);
    }
    let parser = Parser::new(grammar).with_recursion_limit(MAX_DEPTH).with_tokens_with_locations(tokens);
    let Ok(mut statements) = { parser }.parse_statements() else { return Ok(None) };
    match (statements.pop(), statements.is_empty()) {
        (Some(one), true) => Ok(Some(one)),
        (None, _) => Ok(None),
        (Some(_), false) => Err(Doubt::unknown("more than one statement")),
    }
}

fn no<T>(what: &str) -> Result<T, Doubt> {
    Err(Doubt::unknown(what))
}

/// An error naming `what` where something is that is on no list.
pub(super) fn absent(what: &str, is_absent: bool) -> Result<(), Doubt> {
    if is_absent { Ok(()) } else { no(what) }
}

fn statement_reads(statement: &Statement, dialect: Dialect) -> Result<(), Doubt> {
    match statement {
        Statement::Query(inner) => query(inner, dialect),
        Statement::Explain {
            describe_alias: _,
            analyze,
            verbose: _,
            query_plan: _,
            estimate: _,
            statement,
            format: _,
            options,
        } => {
            absent("EXPLAIN ANALYZE", !analyze)?;
            let harmless = ["verbose", "costs", "settings", "buffers", "summary", "format", "generic_plan", "memory"];
            let known = |name: &str| harmless.iter().any(|known| name.eq_ignore_ascii_case(known));
            absent("EXPLAIN", options.iter().flatten().all(|option| known(&option.name.value)))?;
            match statement.as_ref() {
                Statement::Query(inner) => query(inner, dialect),
                _ => no("EXPLAIN"),
            }
        }
        Statement::ExplainTable { .. }
        | Statement::ShowFunctions { filter: None }
        | Statement::ShowVariable { .. }
        | Statement::ShowCreate { .. } => Ok(()),
        Statement::ShowStatus { filter: None, .. } | Statement::ShowVariables { filter: None, .. } => Ok(()),
        _ => no("a statement that is not known to read"),
    }
}

/// A query and all that is in it.
pub(super) fn query(query: &Query, dialect: Dialect) -> Result<(), Doubt> {
    let Query {
        with,
        body,
        order_by,
        limit_clause,
        fetch,
        locks,
        for_clause: _,
        settings,
        format_clause,
        pipe_operators,
    } = query;
    absent("FOR UPDATE", locks.is_empty())?;
    absent("SETTINGS", settings.is_none() && format_clause.is_none() && pipe_operators.is_empty())?;
    for Cte { alias: _, query: inner, from, materialized: _, closing_paren_token: _ } in
        with.iter().flat_map(|with| &with.cte_tables)
    {
        absent("WITH", from.is_none())?;
        self::query(inner, dialect)?;
    }
    self::body(body, dialect)?;
    if let Some(OrderBy { kind, interpolate }) = order_by {
        absent("INTERPOLATE", interpolate.is_none())?;
        match kind {
            OrderByKind::All(_) => {}
            OrderByKind::Expressions(all) => each(all, |one| order(one, dialect))?,
        }
    }
    match limit_clause {
        None => {}
        Some(LimitClause::LimitOffset { limit, offset, limit_by }) => {
            each(limit, |one| expression(one, dialect))?;
            each(offset, |Offset { value, rows: _ }| expression(value, dialect))?;
            expressions(limit_by, dialect)?;
        }
        Some(LimitClause::OffsetCommaLimit { offset, limit }) => {
            expression(offset, dialect)?;
            expression(limit, dialect)?;
        }
    }
    each(fetch, |Fetch { with_ties: _, percent: _, quantity }| each(quantity, |one| expression(one, dialect)))
}

fn body(body: &SetExpr, dialect: Dialect) -> Result<(), Doubt> {
    let mut body = body;
    loop {
        match body {
            SetExpr::SetOperation { left, op: _, set_quantifier: _, right } => {
                self::body(right, dialect)?;
                // A chain of UNION nests to the left, as deep as it is long: the loop takes no stack frame for each.
                body = left;
            }
            SetExpr::Select(inner) => return select(inner, dialect),
            SetExpr::Query(inner) => return query(inner, dialect),
            SetExpr::Values(values) => return each(&values.rows, |row| expressions(&row.content, dialect)),
            SetExpr::Table(_) => return Ok(()),
            SetExpr::Insert(_) | SetExpr::Update(_) | SetExpr::Delete(_) | SetExpr::Merge(_) => {
                return no("a change inside a query");
            }
        }
    }
}

fn select(select: &Select, dialect: Dialect) -> Result<(), Doubt> {
    let Select {
        select_token: _,
        optimizer_hints,
        distinct,
        select_modifiers: _,
        top,
        top_before_distinct: _,
        projection,
        exclude,
        into,
        from,
        lateral_views,
        prewhere,
        selection,
        connect_by,
        group_by,
        cluster_by,
        distribute_by,
        sort_by,
        having,
        named_window,
        qualify,
        window_before_qualify: _,
        value_table_mode,
        flavor: _,
    } = select;
    absent("INTO", into.is_none())?;
    absent("an optimizer hint", optimizer_hints.is_empty())?;
    absent("another product's SQL", exclude.is_none() && lateral_views.is_empty() && prewhere.is_none())?;
    absent("another product's SQL", connect_by.is_empty() && cluster_by.is_empty() && distribute_by.is_empty())?;
    absent("another product's SQL", sort_by.is_empty() && qualify.is_none() && value_table_mode.is_none())?;
    match distinct {
        Some(sqlparser::ast::Distinct::On(columns)) => expressions(columns, dialect)?,
        Some(sqlparser::ast::Distinct::Distinct | sqlparser::ast::Distinct::All) | None => {}
    }
    if let Some(Top { with_ties: _, percent: _, quantity: Some(TopQuantity::Expr(quantity)) }) = top {
        expression(quantity, dialect)?;
    }
    each(projection, |item| projected(item, dialect))?;
    each(from, |tables| joined(tables, dialect))?;
    each(selection, |one| expression(one, dialect))?;
    each(having, |one| expression(one, dialect))?;
    let (columns, modifiers) = match group_by {
        GroupByExpr::All(modifiers) => (None, modifiers),
        GroupByExpr::Expressions(columns, modifiers) => (Some(columns), modifiers),
    };
    each(columns, |columns| expressions(columns, dialect))?;
    each(modifiers, |modifier| match modifier {
        GroupByWithModifier::Rollup | GroupByWithModifier::Cube => Ok(()),
        GroupByWithModifier::GroupingSets(sets) => expression(sets, dialect),
        GroupByWithModifier::Totals => no("WITH TOTALS"),
    })?;
    each(named_window, |NamedWindowDefinition(_, named)| match named {
        NamedWindowExpr::NamedWindow(_) => Ok(()),
        NamedWindowExpr::WindowSpec(spec) => window(spec, dialect),
    })
}

fn projected(item: &SelectItem, dialect: Dialect) -> Result<(), Doubt> {
    match item {
        SelectItem::UnnamedExpr(one) | SelectItem::ExprWithAlias { expr: one, alias: _ } => expression(one, dialect),
        SelectItem::ExprWithAliases { .. } => no("several names for one value"),
        SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::ObjectName(_), options)
        | SelectItem::Wildcard(options) => star(options),
        SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::Expr(one), options) => {
            star(options)?;
            expression(one, dialect)
        }
    }
}

/// A `*` without the additions of other products.
pub(super) fn star(options: &WildcardAdditionalOptions) -> Result<(), Doubt> {
    let WildcardAdditionalOptions {
        wildcard_token: _,
        opt_ilike,
        opt_exclude,
        opt_except,
        opt_replace,
        opt_rename,
        opt_alias,
    } = options;
    let none = opt_ilike.is_none() && opt_exclude.is_none() && opt_except.is_none() && opt_replace.is_none();
    absent("* with options", none && opt_rename.is_none() && opt_alias.is_none())
}

fn joined(tables: &TableWithJoins, dialect: Dialect) -> Result<(), Doubt> {
    table(&tables.relation, dialect)?;
    each(&tables.joins, |Join { relation, global, join_operator }| {
        absent("GLOBAL JOIN", !global)?;
        table(relation, dialect)?;
        join(join_operator, dialect)
    })
}

fn join(operator: &JoinOperator, dialect: Dialect) -> Result<(), Doubt> {
    use JoinOperator as J;
    match operator {
        J::Join(on)
        | J::Inner(on)
        | J::Left(on)
        | J::LeftOuter(on)
        | J::Right(on)
        | J::RightOuter(on)
        | J::FullOuter(on)
        | J::CrossJoin(on)
        | J::StraightJoin(on) => match on {
            JoinConstraint::On(one) => expression(one, dialect),
            JoinConstraint::Using(_) | JoinConstraint::Natural | JoinConstraint::None => Ok(()),
        },
        J::CrossApply | J::OuterApply => Ok(()),
        J::Semi(_)
        | J::LeftSemi(_)
        | J::RightSemi(_)
        | J::Anti(_)
        | J::LeftAnti(_)
        | J::RightAnti(_)
        | J::AsOf { .. }
        | J::ArrayJoin
        | J::LeftArrayJoin
        | J::InnerArrayJoin => no("a join of another product"),
    }
}

fn table(table: &TableFactor, dialect: Dialect) -> Result<(), Doubt> {
    match table {
        TableFactor::Table {
            name,
            alias: _,
            args,
            with_hints,
            version,
            with_ordinality: _,
            partitions: _,
            json_path,
            sample,
            index_hints: _,
        } => {
            absent("a table at another time", version.is_none() && json_path.is_none())?;
            each(with_hints, hint)?;
            sampled(sample.as_ref(), dialect)?;
            if let Some(TableFunctionArgs { args, settings }) = args {
                absent("SETTINGS", settings.is_none())?;
                functions::known(name, dialect)?;
                each(args, |one| argument(one, dialect))?;
            }
            Ok(())
        }
        TableFactor::Derived { lateral: _, subquery, alias: _, sample } => {
            sampled(sample.as_ref(), dialect)?;
            query(subquery, dialect)
        }
        TableFactor::Function { lateral: _, name, args, with_ordinality: _, alias: _ } => {
            functions::known(name, dialect)?;
            each(args, |one| argument(one, dialect))
        }
        TableFactor::UNNEST { alias: _, array_exprs, with_offset: _, with_offset_alias: _, with_ordinality: _ } => {
            expressions(array_exprs, dialect)
        }
        TableFactor::JsonTable { json_expr, json_path: _, columns: _, alias: _ }
        | TableFactor::OpenJsonTable { json_expr, json_path: _, columns: _, alias: _ } => {
            expression(json_expr, dialect)
        }
        TableFactor::NestedJoin { table_with_joins, alias: _ } => joined(table_with_joins, dialect),
        _ => no("a kind of table that is not known to be read only"),
    }
}

/// T-SQL's hints that take no lock.
fn hint(hint: &sqlparser::ast::Expr) -> Result<(), Doubt> {
    let name = hint.to_string();
    let harmless = ["NOLOCK", "READUNCOMMITTED", "READCOMMITTED", "READPAST", "NOEXPAND", "FORCESEEK", "SNAPSHOT"];
    absent(&name, harmless.iter().any(|known| name.eq_ignore_ascii_case(known)))
}

fn sampled(sample: Option<&TableSampleKind>, dialect: Dialect) -> Result<(), Doubt> {
    let Some(TableSampleKind::BeforeTableAlias(sample) | TableSampleKind::AfterTableAlias(sample)) = sample else {
        return Ok(());
    };
    absent("TABLESAMPLE", sample.bucket.is_none() && sample.offset.is_none())?;
    each(&sample.quantity, |quantity| expression(&quantity.value, dialect))
}

/// One key of an order.
pub(super) fn order(order: &OrderByExpr, dialect: Dialect) -> Result<(), Doubt> {
    let OrderByExpr { expr, options: _, with_fill } = order;
    absent("WITH FILL", with_fill.is_none())?;
    expression(expr, dialect)
}
