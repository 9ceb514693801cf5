"""Rules that are checked on an expression's tree alone: functions, reserved words and limits.

The service validates in two rounds. This module is the first round, which checks names of functions and attributes in
the whole expression. The second round needs placeholders and runs during binding (``conditions``, ``updates``). The
limits and the reserved words are those of the developer guide (quotas for expression parameters; reserved words). Error
messages are those of the service.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from keyplan.dynamodb.expressions import tree
from keyplan.dynamodb.expressions.expression_errors import ExpressionFault

_TEXT = """
ABORT ABSOLUTE ACTION ADD AFTER AGENT AGGREGATE ALL ALLOCATE ALTER ANALYZE AND ANY ARCHIVE ARE ARRAY AS ASC
ASCII ASENSITIVE ASSERTION ASYMMETRIC AT ATOMIC ATTACH ATTRIBUTE AUTH AUTHORIZATION AUTHORIZE AUTO AVG BACK
BACKUP BASE BATCH BEFORE BEGIN BETWEEN BIGINT BINARY BIT BLOB BLOCK BOOLEAN BOTH BREADTH BUCKET BULK BY BYTE
CALL CALLED CALLING CAPACITY CASCADE CASCADED CASE CAST CATALOG CHAR CHARACTER CHECK CLASS CLOB CLOSE
CLUSTER CLUSTERED CLUSTERING CLUSTERS COALESCE COLLATE COLLATION COLLECTION COLUMN COLUMNS COMBINE COMMENT
COMMIT COMPACT COMPILE COMPRESS CONDITION CONFLICT CONNECT CONNECTION CONSISTENCY CONSISTENT CONSTRAINT
CONSTRAINTS CONSTRUCTOR CONSUMED CONTINUE CONVERT COPY CORRESPONDING COUNT COUNTER CREATE CROSS CUBE CURRENT
CURSOR CYCLE DATA DATABASE DATE DATETIME DAY DEALLOCATE DEC DECIMAL DECLARE DEFAULT DEFERRABLE DEFERRED
DEFINE DEFINED DEFINITION DELETE DELIMITED DEPTH DEREF DESC DESCRIBE DESCRIPTOR DETACH DETERMINISTIC
DIAGNOSTICS DIRECTORIES DISABLE DISCONNECT DISTINCT DISTRIBUTE DO DOMAIN DOUBLE DROP DUMP DURATION DYNAMIC
EACH ELEMENT ELSE ELSEIF EMPTY ENABLE END EQUAL EQUALS ERROR ESCAPE ESCAPED EVAL EVALUATE EXCEEDED EXCEPT
EXCEPTION EXCEPTIONS EXCLUSIVE EXEC EXECUTE EXISTS EXIT EXPLAIN EXPLODE EXPORT EXPRESSION EXTENDED EXTERNAL
EXTRACT FAIL FALSE FAMILY FETCH FIELDS FILE FILTER FILTERING FINAL FINISH FIRST FIXED FLATTERN FLOAT FOR
FORCE FOREIGN FORMAT FORWARD FOUND FREE FROM FULL FUNCTION FUNCTIONS GENERAL GENERATE GET GLOB GLOBAL GO
GOTO GRANT GREATER GROUP GROUPING HANDLER HASH HAVE HAVING HEAP HIDDEN HOLD HOUR IDENTIFIED IDENTITY IF
IGNORE IMMEDIATE IMPORT IN INCLUDING INCLUSIVE INCREMENT INCREMENTAL INDEX INDEXED INDEXES INDICATOR
INFINITE INITIALLY INLINE INNER INNTER INOUT INPUT INSENSITIVE INSERT INSTEAD INT INTEGER INTERSECT INTERVAL
INTO INVALIDATE IS ISOLATION ITEM ITEMS ITERATE JOIN KEY KEYS LAG LANGUAGE LARGE LAST LATERAL LEAD LEADING
LEAVE LEFT LENGTH LESS LEVEL LIKE LIMIT LIMITED LINES LIST LOAD LOCAL LOCALTIME LOCALTIMESTAMP LOCATION
LOCATOR LOCK LOCKS LOG LOGED LONG LOOP LOWER MAP MATCH MATERIALIZED MAX MAXLEN MEMBER MERGE METHOD METRICS
MIN MINUS MINUTE MISSING MOD MODE MODIFIES MODIFY MODULE MONTH MULTI MULTISET NAME NAMES NATIONAL NATURAL
NCHAR NCLOB NEW NEXT NO NONE NOT NULL NULLIF NUMBER NUMERIC OBJECT OF OFFLINE OFFSET OLD ON ONLINE ONLY
OPAQUE OPEN OPERATOR OPTION OR ORDER ORDINALITY OTHER OTHERS OUT OUTER OUTPUT OVER OVERLAPS OVERRIDE OWNER
PAD PARALLEL PARAMETER PARAMETERS PARTIAL PARTITION PARTITIONED PARTITIONS PATH PERCENT PERCENTILE
PERMISSION PERMISSIONS PIPE PIPELINED PLAN POOL POSITION PRECISION PREPARE PRESERVE PRIMARY PRIOR PRIVATE
PRIVILEGES PROCEDURE PROCESSED PROJECT PROJECTION PROPERTY PROVISIONING PUBLIC PUT QUERY QUIT QUORUM RAISE
RANDOM RANGE RANK RAW READ READS REAL REBUILD RECORD RECURSIVE REDUCE REF REFERENCE REFERENCES REFERENCING
REGEXP REGION REINDEX RELATIVE RELEASE REMAINDER RENAME REPEAT REPLACE REQUEST RESET RESIGNAL RESOURCE
RESPONSE RESTORE RESTRICT RESULT RETURN RETURNING RETURNS REVERSE REVOKE RIGHT ROLE ROLES ROLLBACK ROLLUP
ROUTINE ROW ROWS RULE RULES SAMPLE SATISFIES SAVE SAVEPOINT SCAN SCHEMA SCOPE SCROLL SEARCH SECOND SECTION
SEGMENT SEGMENTS SELECT SELF SEMI SENSITIVE SEPARATE SEQUENCE SERIALIZABLE SESSION SET SETS SHARD SHARE
SHARED SHORT SHOW SIGNAL SIMILAR SIZE SKEWED SMALLINT SNAPSHOT SOME SOURCE SPACE SPACES SPARSE SPECIFIC
SPECIFICTYPE SPLIT SQL SQLCODE SQLERROR SQLEXCEPTION SQLSTATE SQLWARNING START STATE STATIC STATUS STORAGE
STORE STORED STREAM STRING STRUCT STYLE SUB SUBMULTISET SUBPARTITION SUBSTRING SUBTYPE SUM SUPER SYMMETRIC
SYNONYM SYSTEM TABLE TABLESAMPLE TEMP TEMPORARY TERMINATED TEXT THAN THEN THROUGHPUT TIME TIMESTAMP TIMEZONE
TINYINT TO TOKEN TOTAL TOUCH TRAILING TRANSACTION TRANSFORM TRANSLATE TRANSLATION TREAT TRIGGER TRIM TRUE
TRUNCATE TTL TUPLE TYPE UNDER UNDO UNION UNIQUE UNIT UNKNOWN UNLOGGED UNNEST UNPROCESSED UNSIGNED UNTIL
UPDATE UPPER URL USAGE USE USER USERS USING UUID VACUUM VALUE VALUED VALUES VARCHAR VARIABLE VARIANCE VARINT
VARYING VIEW VIEWS VIRTUAL VOID WAIT WHEN WHENEVER WHERE WHILE WINDOW WITH WITHIN WITHOUT WORK WRAPPED WRITE
YEAR ZONE
"""

RESERVED_WORDS = frozenset(_TEXT.split())


EXPRESSION_BYTES_MAX = 4096
OPERATORS_MAX = 300
IN_OPTIONS_MAX = 100
LIST_INDEX_MAX = 2**31 - 1


@dataclass(frozen=True, slots=True)
class _Function:
    """The number of operands of a function, where it is allowed, and whether the first must be a path."""

    operands: int
    in_update: bool = False
    as_condition: bool = False
    path_first: bool = False


FUNCTIONS = {
    "attribute_exists": _Function(1, as_condition=True, path_first=True),
    "attribute_not_exists": _Function(1, as_condition=True, path_first=True),
    "attribute_type": _Function(2, as_condition=True),
    "begins_with": _Function(2, as_condition=True),
    "contains": _Function(2, as_condition=True),
    "size": _Function(1),
    "if_not_exists": _Function(2, in_update=True, path_first=True),
    "list_append": _Function(2, in_update=True),
}
# list_append must be a whole value of SET; it can't be an operand of a function or a sum.
_WHOLE_VALUES = frozenset({"list_append"})


def check_size(text: str, *, reports_size: bool = True) -> None:
    """Reject an expression that is empty or larger than 4 KB; only errors of conditions and filters report the size."""
    if not text:
        raise ExpressionFault("The expression can not be empty;")
    size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    if size > EXPRESSION_BYTES_MAX:
        result = f" expression size: {size}" if reports_size else ""
        raise ExpressionFault(f"Expression size has exceeded the maximum allowed size;{result}")


def check_condition(condition: tree.Condition) -> None:
    """Reject unknown or misplaced functions, reserved words and list indexes out of range."""
    while isinstance(condition, tree.Not):
        condition = condition.condition
    match condition:
        case tree.And(conditions) | tree.Or(conditions):
            for inner in conditions:
                check_condition(inner)
        case tree.Compare(_, left, right):
            _check_all((left, right))
        case tree.Between(operand, low, high):
            _check_all((operand, low, high))
        case tree.In(operand, options):
            _check_all((operand, *options))
        case tree.Call():
            _check_call(condition, as_condition=True)


def check_projection(projection: tree.Projection) -> None:
    _check_all(projection.paths)


def check_update(update: tree.Update) -> None:
    for action in update.actions:
        _check_path(action.path)
        if isinstance(action, tree.Set):
            _check_all((action.value,), in_update=True)


def _check_all(operands: Iterable[tree.Operand], *, in_update: bool = False, nested: bool = False) -> None:
    for operand in operands:
        match operand:
            case tree.Path():
                _check_path(operand)
            case tree.Call():
                _check_call(operand, in_update=in_update, nested=nested)
            case tree.Arithmetic(_, left, right):
                _check_all((left, right), in_update=in_update, nested=True)
            case tree.Value():
                pass


def _check_call(call: tree.Call, *, as_condition: bool = False, in_update: bool = False, nested: bool = False) -> None:
    name = call.function
    function = FUNCTIONS.get(name)
    if function is None:
        raise ExpressionFault(f"Invalid function name; function: {name}")
    if function.in_update != in_update:
        where = "an update" if in_update else "a condition"
        raise ExpressionFault(f"The function is not allowed in {where} expression; function: {name}")
    if function.as_condition != as_condition or (nested and name in _WHOLE_VALUES):
        raise ExpressionFault(f"The function is not allowed to be used this way in an expression; function: {name}")
    _check_all(call.arguments, in_update=in_update, nested=True)


def _check_path(path: tree.Path) -> None:
    for part in path.parts:
        if isinstance(part, int):
            if part > LIST_INDEX_MAX:
                raise ExpressionFault(f"List index is not within the allowable range; index: [{part}]")
        elif part.upper() in RESERVED_WORDS:
            raise ExpressionFault(f"Attribute name is a reserved keyword; reserved keyword: {part}")


# Checks of a parsed expression that need no attribute values.


def check_operands(call: tree.Call) -> None:
    """Reject a wrong number of operands, and a first operand that must be a path but isn't."""
    name = call.function
    function = FUNCTIONS[name]
    if len(call.arguments) != function.operands:
        raise ExpressionFault(
            "Incorrect number of operands for operator or function; "
            f"operator or function: {name}, number of operands: {len(call.arguments)}"
        )
    if function.path_first and not isinstance(call.arguments[0], tree.Path):
        raise ExpressionFault(f"Operator or function requires a document path; operator or function: {name}")


def check_in(condition: tree.In) -> None:
    if len(condition.options) > IN_OPTIONS_MAX:
        raise ExpressionFault(
            f"The IN operator is provided with too many operands; number of operands: {len(condition.options)}"
        )


def count_operators(expression: tree.Condition | tree.Operand) -> int:
    """The number of operators and functions. Each NOT, AND, OR, comparison, + or - and function counts as one."""
    count = 0
    stack = [expression]
    while stack:
        node = stack.pop()
        if isinstance(node, (tree.And, tree.Or)):
            count += len(node.conditions) - 1
        elif not isinstance(node, (tree.Path, tree.Value)):
            count += 1
        stack.extend(tree.below(node))
    return count
