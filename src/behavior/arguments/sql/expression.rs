//! Expressions of the second gate: operators, known functions, subqueries that read. What is on no list is a doubt.

use sqlparser::ast::{
    AccessExpr, Array, BinaryOperator, CaseWhen, DataType, Expr, Function, FunctionArg, FunctionArgExpr,
    FunctionArgumentClause, FunctionArgumentList, FunctionArguments, HavingBound, Interval, JsonPathElem, Subscript,
    UnaryOperator, WindowFrame, WindowFrameBound, WindowSpec, WindowType,
};

use super::tree::{absent, order, query, star};
use super::{Dialect, Doubt, functions};

/// Judges each of a list, or the one of an option.
pub(super) fn each<T>(
    all: impl IntoIterator<Item = T>,
    judge: impl FnMut(T) -> Result<(), Doubt>,
) -> Result<(), Doubt> {
    all.into_iter().try_for_each(judge)
}

pub(super) fn expressions(all: &[Expr], dialect: Dialect) -> Result<(), Doubt> {
    each(all, |one| expression(one, dialect))
}

/// One expression and all that is in it.
pub(super) fn expression(expr: &Expr, dialect: Dialect) -> Result<(), Doubt> {
    let mut expr = expr;
    // A chain of operators nests to the left, as deep as it is long: a loop takes no stack frame for each.
    while let Some(inner) = leaning(expr, dialect)? {
        expr = inner;
    }
    match expr {
        Expr::Identifier(_)
        | Expr::CompoundIdentifier(_)
        | Expr::Value(_)
        | Expr::TypedString(_)
        | Expr::Wildcard(_)
        | Expr::MatchAgainst { .. } => Ok(()),
        Expr::CompoundFieldAccess { root, access_chain } => {
            expression(root, dialect)?;
            each(access_chain, |access| match access {
                AccessExpr::Dot(one) => expression(one, dialect),
                AccessExpr::Subscript(Subscript::Index { index }) => expression(index, dialect),
                AccessExpr::Subscript(Subscript::Slice { lower_bound, upper_bound, stride }) => {
                    each([lower_bound, upper_bound, stride].into_iter().flatten(), |one| expression(one, dialect))
                }
            })
        }
        Expr::JsonAccess { value, path } => {
            expression(value, dialect)?;
            each(&path.path, |part| match part {
                JsonPathElem::Dot { .. } => Ok(()),
                JsonPathElem::Bracket { key } | JsonPathElem::ColonBracket { key } => expression(key, dialect),
            })
        }
        Expr::Convert { is_try: _, expr, data_type, charset: _, target_before_value: _, styles } => {
            each(data_type, type_known)?;
            expressions(styles, dialect)?;
            expression(expr, dialect)
        }
        Expr::Ceil { expr, field: _ }
        | Expr::Floor { expr, field: _ }
        | Expr::Extract { field: _, syntax: _, expr } => expression(expr, dialect),
        Expr::Position { expr, r#in } => pair(expr, r#in, dialect),
        Expr::Substring { expr, substring_from, substring_for, special: _, shorthand: _ } => {
            each([substring_from, substring_for].into_iter().flatten(), |one| expression(one, dialect))?;
            expression(expr, dialect)
        }
        Expr::Trim { trim_where: _, trim_what, expr, trim_characters } => {
            each(trim_what, |one| expression(one, dialect))?;
            each(trim_characters, |all| expressions(all, dialect))?;
            expression(expr, dialect)
        }
        Expr::Overlay { expr, overlay_what, overlay_from, overlay_for } => {
            each(overlay_for, |one| expression(one, dialect))?;
            pair(overlay_what, overlay_from, dialect)?;
            expression(expr, dialect)
        }
        Expr::Function(function) => call(function, dialect),
        Expr::Case { case_token: _, end_token: _, operand, conditions, else_result } => {
            each(operand, |one| expression(one, dialect))?;
            each(conditions, |CaseWhen { condition, result }| pair(condition, result, dialect))?;
            each(else_result, |one| expression(one, dialect))
        }
        Expr::Exists { subquery, negated: _ } | Expr::Subquery(subquery) => query(subquery, dialect),
        Expr::GroupingSets(sets) | Expr::Cube(sets) | Expr::Rollup(sets) => each(sets, |set| expressions(set, dialect)),
        Expr::Tuple(values) => expressions(values, dialect),
        Expr::Array(Array { elem, named: _ }) => expressions(elem, dialect),
        Expr::Interval(Interval { value, .. }) => expression(value, dialect),
        _ => Err(Doubt::unknown("an expression that is not known to only compute")),
    }
}

fn pair(one: &Expr, other: &Expr, dialect: Dialect) -> Result<(), Doubt> {
    expression(one, dialect)?;
    expression(other, dialect)
}

/// The left operand of an operator whose chains nest to the left, after its other operands are judged; `None` where
/// `expr` is no such operator.
fn leaning(expr: &Expr, dialect: Dialect) -> Result<Option<&Expr>, Doubt> {
    let (left, others) = match expr {
        Expr::BinaryOp { left, op, right }
        | Expr::AnyOp { left, compare_op: op, right, is_some: _ }
        | Expr::AllOp { left, compare_op: op, right } => {
            operator(op)?;
            (left, [Some(right), None])
        }
        Expr::IsFalse(inner)
        | Expr::IsNotFalse(inner)
        | Expr::IsTrue(inner)
        | Expr::IsNotTrue(inner)
        | Expr::IsNull(inner)
        | Expr::IsNotNull(inner)
        | Expr::IsUnknown(inner)
        | Expr::IsNotUnknown(inner)
        | Expr::Nested(inner)
        | Expr::IsJson { expr: inner, .. }
        | Expr::IsNormalized { expr: inner, .. }
        | Expr::Collate { expr: inner, collation: _ }
        | Expr::Prefixed { prefix: _, value: inner } => (inner, [None, None]),
        Expr::IsDistinctFrom(left, right)
        | Expr::IsNotDistinctFrom(left, right)
        | Expr::InUnnest { expr: left, array_expr: right, negated: _ }
        | Expr::RLike { negated: _, expr: left, pattern: right, regexp: _ }
        | Expr::AtTimeZone { timestamp: left, time_zone: right } => (left, [Some(right), None]),
        Expr::InList { expr, list, negated: _ } => {
            expressions(list, dialect)?;
            (expr, [None, None])
        }
        Expr::InSubquery { expr, subquery, negated: _ } => {
            query(subquery, dialect)?;
            (expr, [None, None])
        }
        Expr::Between { expr, negated: _, low, high } => (expr, [Some(low), Some(high)]),
        Expr::Like { negated: _, any: _, expr, pattern, escape_char }
        | Expr::ILike { negated: _, any: _, expr, pattern, escape_char }
        | Expr::SimilarTo { negated: _, expr, pattern, escape_char } => (expr, [escape_char.as_ref(), Some(pattern)]),
        Expr::UnaryOp { op, expr } => {
            // T-SQL and MySQL: `@@` names a system variable; others are operators of PostgreSQL that compute.
            absent("an operator", !matches!(op, UnaryOperator::Hash | UnaryOperator::AtDashAt))?;
            (expr, [None, None])
        }
        Expr::Cast { kind: _, expr, data_type, format: _ } => {
            type_known(data_type)?;
            (expr, [None, None])
        }
        _ => return Ok(None),
    };
    each(others.into_iter().flatten(), |one| expression(one, dialect))?;
    Ok(Some(left))
}

/// Operators of the system. A user-defined operator is an unknown function.
fn operator(op: &BinaryOperator) -> Result<(), Doubt> {
    match op {
        BinaryOperator::Custom(_) | BinaryOperator::PGCustomBinaryOperator(_) | BinaryOperator::Assignment => {
            Err(Doubt::unknown(format!("operator {op}")))
        }
        _ => Ok(()),
    }
}

/// Types of the system. A cast to a type that somebody made runs its functions.
fn type_known(data_type: &DataType) -> Result<(), Doubt> {
    match data_type {
        DataType::Custom(name, _) => {
            let name = name.to_string().to_ascii_lowercase();
            let known = "regtype regnamespace regrole regproc oid citext inet cidr macaddr money name tsquery point box hstore \
                int4range int8range numrange tsrange tstzrange daterange xml geometry geography sql_variant hierarchyid \
                uniqueidentifier smallmoney rowversion sysname datetimeoffset datetime2 vector signed year";
            let known =
                known.split_whitespace().any(|known| known == name.strip_prefix("pg_catalog.").unwrap_or(&name));
            absent(&format!("type {name}"), known)
        }
        _ => Ok(()),
    }
}

fn call(function: &Function, dialect: Dialect) -> Result<(), Doubt> {
    let Function { name, uses_odbc_syntax, parameters, args, within_group, filter, null_treatment: _, over } = function;
    absent("a call in ODBC's syntax", !uses_odbc_syntax)?;
    absent("a call with parameters", matches!(parameters, FunctionArguments::None))?;
    functions::known(name, dialect)?;
    match args {
        FunctionArguments::None => {}
        FunctionArguments::Subquery(inner) => query(inner, dialect)?,
        FunctionArguments::List(FunctionArgumentList { duplicate_treatment: _, args, clauses }) => {
            each(args, |one| argument(one, dialect))?;
            each(clauses, |one| clause(one, dialect))?;
        }
    }
    each(within_group, |one| order(one, dialect))?;
    each(filter, |one| expression(one, dialect))?;
    match over {
        Some(WindowType::WindowSpec(spec)) => window(spec, dialect),
        Some(WindowType::NamedWindow(_)) | None => Ok(()),
    }
}

/// One argument of a function.
pub(super) fn argument(argument: &FunctionArg, dialect: Dialect) -> Result<(), Doubt> {
    let value = match argument {
        FunctionArg::Named { name: _, arg, operator: _ } | FunctionArg::Unnamed(arg) => arg,
        FunctionArg::ExprNamed { name, arg, operator: _ } => {
            expression(name, dialect)?;
            arg
        }
    };
    match value {
        FunctionArgExpr::Expr(one) => expression(one, dialect),
        FunctionArgExpr::QualifiedWildcard(_) | FunctionArgExpr::Wildcard => Ok(()),
        FunctionArgExpr::WildcardWithOptions(options) => star(options),
    }
}

fn clause(clause: &FunctionArgumentClause, dialect: Dialect) -> Result<(), Doubt> {
    match clause {
        FunctionArgumentClause::IgnoreOrRespectNulls(_)
        | FunctionArgumentClause::Separator(_)
        | FunctionArgumentClause::JsonNullClause(_)
        | FunctionArgumentClause::JsonReturningClause(_) => Ok(()),
        FunctionArgumentClause::Where(one)
        | FunctionArgumentClause::Limit(one)
        | FunctionArgumentClause::Having(HavingBound(_, one)) => expression(one, dialect),
        FunctionArgumentClause::OrderBy(keys) => each(keys, |one| order(one, dialect)),
        FunctionArgumentClause::OnOverflow(_) => Err(Doubt::unknown("ON OVERFLOW")),
    }
}

/// A window: its keys and its frame.
pub(super) fn window(window: &WindowSpec, dialect: Dialect) -> Result<(), Doubt> {
    let WindowSpec { window_name: _, partition_by, order_by, window_frame } = window;
    expressions(partition_by, dialect)?;
    each(order_by, |one| order(one, dialect))?;
    let Some(WindowFrame { units: _, start_bound, end_bound }) = window_frame else { return Ok(()) };
    each([Some(start_bound), end_bound.as_ref()].into_iter().flatten(), |bound| match bound {
        WindowFrameBound::CurrentRow => Ok(()),
        WindowFrameBound::Preceding(offset) | WindowFrameBound::Following(offset) => {
            each(offset, |one| expression(one, dialect))
        }
    })
}
