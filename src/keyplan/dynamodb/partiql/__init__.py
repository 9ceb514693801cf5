"""PartiQL as DynamoDB has it: statements parsed to trees, and their conditions and assignments as expressions.

``parse`` reads a statement's text; ``Lowering`` turns its conditions and assignments into trees of
``keyplan.dynamodb.expressions``, and its literals into attribute values. Nothing here knows tables or evaluates.
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
