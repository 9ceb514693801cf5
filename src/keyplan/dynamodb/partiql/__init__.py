"""PartiQL as DynamoDB has it: statements read into trees, and what they say as expressions and keys.

``parse`` reads a statement's text; ``Lowering`` makes the trees of ``keyplan.expressions`` of its conditions and
assignments, and attribute values of its literals. Nothing here knows tables, and nothing evaluates.
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
