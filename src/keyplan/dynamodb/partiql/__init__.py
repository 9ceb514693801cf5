"""DynamoDB's PartiQL: statements parsed into trees, conditions and assignments converted to expressions.

``parse`` parses a statement; ``Lowering`` converts its conditions and assignments into trees of
``keyplan.dynamodb.expressions``, and its literals into attribute values. This package has no access to tables and
evaluates nothing.
"""

from __future__ import annotations

from keyplan.dynamodb.partiql.parser import parse
from keyplan.dynamodb.partiql.statement_requests import Lowering, Template
from keyplan.dynamodb.partiql.syntax import Delete, Exists, Insert, Select, Statement, Update
from keyplan.dynamodb.partiql.tokens import StatementFault

__all__ = [
    "Delete",
    "Exists",
    "Insert",
    "Lowering",
    "Select",
    "Statement",
    "StatementFault",
    "Template",
    "Update",
    "parse",
]
