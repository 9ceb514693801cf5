"""CreateTable. A new table is ACTIVE immediately, unless state delays are simulated."""

from __future__ import annotations

import json

from keyplan.store.control_plane.schema import new_definition
from keyplan.store.database import Database
from keyplan.store.requests.request_expressions import Answer, Request
from keyplan.store.state_delays import already_there, begin_creation
from keyplan.store.storage.storage_transactions import Writer
from keyplan.store.streams import enable
from keyplan.store.tables.resource_policies import canonical_policy, new_revision
from keyplan.store.tables.table import layout_of, read_vectors
from keyplan.store.tables.table_description import describe_new
from keyplan.store.throughput import check_quotas
from keyplan.store.vectors import make_vectors


def create_table(database: Database, request: Request) -> Answer:
    name: str = request["TableName"]
    definition = new_definition(request, database.clock())
    check_quotas(request, database.region)
    for index in request.get("GlobalSecondaryIndexes") or ():
        check_quotas(index, database.region, index["IndexName"])
    if request.get("ResourcePolicy") is not None:
        policy = canonical_policy(request["ResourcePolicy"])
        definition["ResourcePolicy"] = {"Policy": policy, "RevisionId": new_revision(None, database.clock())}
    definition = begin_creation(definition, database.clock(), database.state_delay_s)
    layout = layout_of(definition, 0, 1)

    def work(writer: Writer) -> None:
        present = database.present_table(writer, name)
        if present is not None:
            raise already_there(name, present.definition, database.clock())
        made = writer.create_table(name, json.dumps(definition), layout)
        for index in read_vectors(definition):
            make_vectors(writer, made.id, index)
        if "StreamSpecification" in definition:
            writer.define(made.id, json.dumps(enable(writer.changes, name, made.id, definition, database.clock())))

    database.write(work)
    made = database.described_table(name)
    return {"TableDescription": describe_new(made, database.states(made))}
