"""One action a file; here the table from operation to action. Its keys are those of ``wire.operations``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from keyplan.engine.actions.batch_execute_statement import batch_execute_statement
from keyplan.engine.actions.batch_get_item import batch_get_item
from keyplan.engine.actions.batch_write_item import batch_write_item
from keyplan.engine.actions.cancel_bulk_operation import cancel_bulk_operation
from keyplan.engine.actions.create_backup import create_backup
from keyplan.engine.actions.create_global_table import create_global_table
from keyplan.engine.actions.create_table import create_table
from keyplan.engine.actions.delete_backup import delete_backup
from keyplan.engine.actions.delete_item import delete_item
from keyplan.engine.actions.delete_resource_policy import delete_resource_policy
from keyplan.engine.actions.delete_table import delete_table
from keyplan.engine.actions.describe_backup import describe_backup
from keyplan.engine.actions.describe_bulk_operation import describe_bulk_operation
from keyplan.engine.actions.describe_continuous_backups import describe_continuous_backups
from keyplan.engine.actions.describe_contributor_insights import describe_contributor_insights
from keyplan.engine.actions.describe_endpoints import describe_endpoints
from keyplan.engine.actions.describe_export import describe_export
from keyplan.engine.actions.describe_global_table import describe_global_table
from keyplan.engine.actions.describe_global_table_settings import describe_global_table_settings
from keyplan.engine.actions.describe_import import describe_import
from keyplan.engine.actions.describe_kinesis_streaming_destination import describe_kinesis_streaming_destination
from keyplan.engine.actions.describe_limits import describe_limits
from keyplan.engine.actions.describe_stream import describe_stream
from keyplan.engine.actions.describe_table import describe_table
from keyplan.engine.actions.describe_table_replica_auto_scaling import describe_table_replica_auto_scaling
from keyplan.engine.actions.describe_time_to_live import describe_time_to_live
from keyplan.engine.actions.disable_kinesis_streaming_destination import disable_kinesis_streaming_destination
from keyplan.engine.actions.enable_kinesis_streaming_destination import enable_kinesis_streaming_destination
from keyplan.engine.actions.execute_statement import execute_statement
from keyplan.engine.actions.execute_transaction import execute_transaction
from keyplan.engine.actions.export_table_to_point_in_time import export_table_to_point_in_time
from keyplan.engine.actions.get_item import get_item
from keyplan.engine.actions.get_records import get_records
from keyplan.engine.actions.get_resource_policy import get_resource_policy
from keyplan.engine.actions.get_shard_iterator import get_shard_iterator
from keyplan.engine.actions.import_table import import_table
from keyplan.engine.actions.list_backups import list_backups
from keyplan.engine.actions.list_bulk_operations import list_bulk_operations
from keyplan.engine.actions.list_contributor_insights import list_contributor_insights
from keyplan.engine.actions.list_exports import list_exports
from keyplan.engine.actions.list_global_tables import list_global_tables
from keyplan.engine.actions.list_imports import list_imports
from keyplan.engine.actions.list_streams import list_streams
from keyplan.engine.actions.list_tables import list_tables
from keyplan.engine.actions.list_tags_of_resource import list_tags_of_resource
from keyplan.engine.actions.put_item import put_item
from keyplan.engine.actions.put_resource_policy import put_resource_policy
from keyplan.engine.actions.query import query
from keyplan.engine.actions.restore_table_from_backup import restore_table_from_backup
from keyplan.engine.actions.restore_table_to_point_in_time import restore_table_to_point_in_time
from keyplan.engine.actions.scan import scan
from keyplan.engine.actions.search_vectors import search_vectors
from keyplan.engine.actions.start_bulk_put_items import start_bulk_put_items
from keyplan.engine.actions.tag_resource import tag_resource
from keyplan.engine.actions.transact_get_items import transact_get_items
from keyplan.engine.actions.transact_write_items import transact_write_items
from keyplan.engine.actions.untag_resource import untag_resource
from keyplan.engine.actions.update_continuous_backups import update_continuous_backups
from keyplan.engine.actions.update_contributor_insights import update_contributor_insights
from keyplan.engine.actions.update_global_table import update_global_table
from keyplan.engine.actions.update_global_table_settings import update_global_table_settings
from keyplan.engine.actions.update_item import update_item
from keyplan.engine.actions.update_kinesis_streaming_destination import update_kinesis_streaming_destination
from keyplan.engine.actions.update_table import update_table
from keyplan.engine.actions.update_table_replica_auto_scaling import update_table_replica_auto_scaling
from keyplan.engine.actions.update_time_to_live import update_time_to_live
from keyplan.engine.database import Database

Action = Callable[[Database, dict[str, Any]], dict[str, Any]]

ACTIONS: Mapping[str, Action] = {
    "CreateTable": create_table,
    "DescribeTable": describe_table,
    "ListTables": list_tables,
    "DeleteTable": delete_table,
    "UpdateTable": update_table,
    "UpdateTimeToLive": update_time_to_live,
    "DescribeTimeToLive": describe_time_to_live,
    "DescribeContinuousBackups": describe_continuous_backups,
    "TagResource": tag_resource,
    "UntagResource": untag_resource,
    "ListTagsOfResource": list_tags_of_resource,
    "DescribeLimits": describe_limits,
    "DescribeEndpoints": describe_endpoints,
    "GetItem": get_item,
    "PutItem": put_item,
    "UpdateItem": update_item,
    "DeleteItem": delete_item,
    "Query": query,
    "Scan": scan,
    "BatchGetItem": batch_get_item,
    "BatchWriteItem": batch_write_item,
    "TransactGetItems": transact_get_items,
    "TransactWriteItems": transact_write_items,
    "ExecuteStatement": execute_statement,
    "BatchExecuteStatement": batch_execute_statement,
    "ExecuteTransaction": execute_transaction,
    "PutResourcePolicy": put_resource_policy,
    "GetResourcePolicy": get_resource_policy,
    "DeleteResourcePolicy": delete_resource_policy,
    "DescribeContributorInsights": describe_contributor_insights,
    "ListContributorInsights": list_contributor_insights,
    "UpdateContributorInsights": update_contributor_insights,
    "CreateGlobalTable": create_global_table,
    "DescribeGlobalTable": describe_global_table,
    "DescribeGlobalTableSettings": describe_global_table_settings,
    "ListGlobalTables": list_global_tables,
    "UpdateGlobalTable": update_global_table,
    "UpdateGlobalTableSettings": update_global_table_settings,
    "DescribeTableReplicaAutoScaling": describe_table_replica_auto_scaling,
    "UpdateTableReplicaAutoScaling": update_table_replica_auto_scaling,
    "CreateBackup": create_backup,
    "DescribeBackup": describe_backup,
    "DeleteBackup": delete_backup,
    "ListBackups": list_backups,
    "RestoreTableFromBackup": restore_table_from_backup,
    "RestoreTableToPointInTime": restore_table_to_point_in_time,
    "UpdateContinuousBackups": update_continuous_backups,
    "DescribeKinesisStreamingDestination": describe_kinesis_streaming_destination,
    "EnableKinesisStreamingDestination": enable_kinesis_streaming_destination,
    "DisableKinesisStreamingDestination": disable_kinesis_streaming_destination,
    "UpdateKinesisStreamingDestination": update_kinesis_streaming_destination,
    "ListStreams": list_streams,
    "DescribeStream": describe_stream,
    "GetShardIterator": get_shard_iterator,
    "GetRecords": get_records,
    "SearchVectors": search_vectors,
    "ExportTableToPointInTime": export_table_to_point_in_time,
    "DescribeExport": describe_export,
    "ListExports": list_exports,
    "ImportTable": import_table,
    "DescribeImport": describe_import,
    "ListImports": list_imports,
    "StartBulkPutItems": start_bulk_put_items,
    "DescribeBulkOperation": describe_bulk_operation,
    "ListBulkOperations": list_bulk_operations,
    "CancelBulkOperation": cancel_bulk_operation,
}
