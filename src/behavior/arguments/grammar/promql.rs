//! PromQL: an expression over series; it has no statement that changes anything, and whatever is not one is not read.

use super::{Grammar, Names};
use crate::behavior::arguments::effect::Meaning;

/// What a text of PromQL does.
pub fn read(text: &str) -> Meaning {
    PROMQL.read(text)
}

const PROMQL: Grammar = Grammar {
    language: "PromQL",
    begins: "",
    keywords: "BY WITHOUT ON IGNORING GROUP_LEFT GROUP_RIGHT AND OR UNLESS OFFSET BOOL INF NAN",
    functions: "SUM MIN MAX AVG GROUP STDDEV STDVAR COUNT COUNT_VALUES BOTTOMK TOPK QUANTILE LIMITK ABS ABSENT ABSENT_OVER_TIME CEIL CHANGES \
        CLAMP CLAMP_MAX CLAMP_MIN DAY_OF_MONTH DAY_OF_WEEK DAY_OF_YEAR DAYS_IN_MONTH DELTA DERIV EXP FLOOR HISTOGRAM_QUANTILE \
        HISTOGRAM_AVG HISTOGRAM_COUNT HISTOGRAM_SUM DOUBLE_EXPONENTIAL_SMOOTHING HOLT_WINTERS HOUR IDELTA INCREASE IRATE \
        LABEL_JOIN LABEL_REPLACE LN LOG2 LOG10 MINUTE MONTH PREDICT_LINEAR RATE RESETS ROUND SCALAR SGN SORT SORT_DESC SQRT TIME \
        TIMESTAMP VECTOR YEAR AVG_OVER_TIME MIN_OVER_TIME MAX_OVER_TIME SUM_OVER_TIME COUNT_OVER_TIME QUANTILE_OVER_TIME \
        STDDEV_OVER_TIME STDVAR_OVER_TIME LAST_OVER_TIME PRESENT_OVER_TIME",
    changes: &[],
    signs: "()[]{}=!~<>+-*/%^,:@",
    quotes: "'\"",
    markers: ".",
    names: Names::Operands,
};
