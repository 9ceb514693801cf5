"""DynamoDB's expression language: grammar, syntax tree, printer and evaluator.

``Placeholders`` holds a request's names and values; each ``bind_*`` function compiles one expression and the
placeholders into an executable form. ``parse_*`` functions build trees (``keyplan.dynamodb.expressions.tree``),
``to_text`` prints them.
"""

from __future__ import annotations

from keyplan.dynamodb.expressions import tree
from keyplan.dynamodb.expressions.binding import (
    BoundCondition,
    BoundProjection,
    BoundUpdate,
    Expression,
    bind_condition,
    bind_key_condition,
    bind_paths,
    bind_projection,
    bind_update,
    check_key_condition,
    parse_condition,
    parse_projection,
    parse_update,
    project_attributes,
    read_condition,
)
from keyplan.dynamodb.expressions.conditions import bind_operand
from keyplan.dynamodb.expressions.expression_errors import ExpressionFault, UpdateFault
from keyplan.dynamodb.expressions.expression_rules import RESERVED_WORDS
from keyplan.dynamodb.expressions.key_conditions import (
    KeyCondition,
    KeyConditionFault,
    KeyTerm,
    PartitionMissedFault,
    check_key_names,
)
from keyplan.dynamodb.expressions.placeholders import CheckedPlaceholders, NewPlaceholders, Placeholders
from keyplan.dynamodb.expressions.tree import to_text
from keyplan.dynamodb.expressions.updates import WRONG_TYPE, statement_bytes

__all__ = [
    "RESERVED_WORDS",
    "WRONG_TYPE",
    "BoundCondition",
    "BoundProjection",
    "BoundUpdate",
    "CheckedPlaceholders",
    "Expression",
    "ExpressionFault",
    "KeyCondition",
    "KeyConditionFault",
    "KeyTerm",
    "NewPlaceholders",
    "PartitionMissedFault",
    "Placeholders",
    "UpdateFault",
    "bind_condition",
    "bind_key_condition",
    "bind_operand",
    "bind_paths",
    "bind_projection",
    "bind_update",
    "check_key_condition",
    "check_key_names",
    "parse_condition",
    "parse_projection",
    "parse_update",
    "project_attributes",
    "read_condition",
    "statement_bytes",
    "to_text",
    "tree",
]
