//! jq: filters over one document. A word is a function that a list has, or the name of a field.

use super::{Grammar, Names};
use crate::behavior::arguments::effect::Meaning;

/// What a jq filter does: jq writes nothing; what reads the environment, or is not known, is not read.
pub fn read(text: &str) -> Meaning {
    JQ.read(text)
}

const JQ: Grammar = Grammar {
    language: "jq",
    begins: "",
    keywords: "IF THEN ELIF ELSE END AS REDUCE FOREACH TRY CATCH AND OR NOT TRUE FALSE NULL EMPTY",
    functions: "KEYS KEYS_UNSORTED VALUES LENGTH MAP MAP_VALUES SELECT RECURSE PATHS LEAF_PATHS ADD ANY ALL FLATTEN RANGE FLOOR SQRT TOSTRING TONUMBER \
        TYPE SORT SORT_BY GROUP_BY MIN MAX MIN_BY MAX_BY UNIQUE UNIQUE_BY REVERSE CONTAINS INSIDE STARTSWITH ENDSWITH JOIN SPLIT SPLITS \
        ASCII_DOWNCASE ASCII_UPCASE LTRIMSTR RTRIMSTR TEST MATCH CAPTURE SCAN SUB GSUB HAS IN INDEX INDICES FIRST LAST NTH LIMIT \
        TO_ENTRIES FROM_ENTRIES WITH_ENTRIES TOJSON FROMJSON DEL GETPATH PATH ISVALID ERROR NOT EMPTY OBJECTS ARRAYS STRINGS NUMBERS BOOLEANS NULLS \
        SCALARS ITERABLES ABS ROUND CEIL TRANSPOSE NOW TODATE FROMDATE STRFTIME STRPTIME TRIM",
    changes: &[],
    signs: ".[](){}|,:;=!<>+-*/%?",
    quotes: "\"",
    markers: ".",
    names: Names::Marked,
};
