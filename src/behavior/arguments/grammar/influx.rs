//! InfluxQL: SELECT without INTO, and SHOW.

use super::{Grammar, Names};
use crate::behavior::arguments::effect::Meaning;
use crate::behavior::taxonomy::Action;

/// What a text of InfluxQL does.
pub fn read(text: &str) -> Meaning {
    INFLUX.read(text)
}

const INFLUX: Grammar = Grammar {
    language: "InfluxQL",
    begins: "SELECT SHOW",
    keywords: "FROM WHERE AND OR NOT GROUP BY ORDER TIME ASC DESC LIMIT OFFSET SLIMIT SOFFSET FILL AS DISTINCT IN ON WITH KEY KEYS TAG TAGS \
        VALUES FIELD MEASUREMENTS MEASUREMENT SERIES DATABASES RETENTION POLICIES CARDINALITY EXACT NULL NONE PREVIOUS LINEAR TRUE FALSE TZ",
    functions: "COUNT DISTINCT INTEGRAL MEAN MEDIAN MODE SPREAD STDDEV SUM BOTTOM FIRST LAST MAX MIN PERCENTILE SAMPLE TOP ABS ACOS ASIN ATAN \
        CEIL COS CUMULATIVE_SUM DERIVATIVE DIFFERENCE ELAPSED EXP FLOOR LN LOG LOG2 LOG10 MOVING_AVERAGE NON_NEGATIVE_DERIVATIVE \
        NON_NEGATIVE_DIFFERENCE POW ROUND SIN SQRT TAN NOW TIME FILL TZ HOLT_WINTERS",
    changes: &[
        (Action::Delete, "DELETE DROP KILL"),
        (Action::Overwrite, "INTO"),
        (Action::Create, "CREATE"),
        (Action::Update, "ALTER GRANT REVOKE SET"),
    ],
    signs: "()=<>!~,.+-*/%:;",
    quotes: "'\"",
    markers: ".",
    names: Names::Operands,
};
