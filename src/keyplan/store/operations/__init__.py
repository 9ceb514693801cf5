"""One action a file; here the table from operation to action. Its keys are those of ``wire.operations``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from keyplan.store.database import Database
from keyplan.store.operations.batch_execute_statement import batch_execute_statement
from keyplan.store.operations.batch_get_item import batch_get_item
from keyplan.store.operations.batch_write_item import batch_write_item
from keyplan.store.operations.cancel_bulk_operation import cancel_bulk_operation
from keyplan.store.operations.create_backup import create_backup
from keyplan.store.operations.create_global_table import create_global_table
from keyplan.store.operations.create_table import create_table
from keyplan.store.operations.delete_backup import delete_backup
from keyplan.store.operations.delete_item import delete_item
from keyplan.store.operations.delete_resource_policy import delete_resource_policy
from keyplan.store.operations.delete_table import delete_table
from keyplan.store.operations.describe_backup import describe_backup
from keyplan.store.operations.describe_bulk_operation import describe_bulk_operation
from keyplan.store.operations.describe_continuous_backups import describe_continuous_backups
from keyplan.store.operations.describe_contributor_insights import describe_contributor_insights
from keyplan.store.operations.describe_endpoints import describe_endpoints
from keyplan.store.operations.describe_export import describe_export
from keyplan.store.operations.describe_global_table import describe_global_table
from keyplan.store.operations.describe_global_table_settings import describe_global_table_settings
from keyplan.store.operations.describe_import import describe_import
from keyplan.store.operations.describe_kinesis_streaming_destination import describe_kinesis_streaming_destination
from keyplan.store.operations.describe_limits import describe_limits
from keyplan.store.operations.describe_stream import describe_stream
from keyplan.store.operations.describe_table import describe_table
from keyplan.store.operations.describe_table_replica_auto_scaling import describe_table_replica_auto_scaling
from keyplan.store.operations.describe_time_to_live import describe_time_to_live
from keyplan.store.operations.disable_kinesis_streaming_destination import disable_kinesis_streaming_destination
from keyplan.store.operations.enable_kinesis_streaming_destination import enable_kinesis_streaming_destination
from keyplan.store.operations.execute_statement import execute_statement
from keyplan.store.operations.execute_transaction import execute_transaction
from keyplan.store.operations.export_table_to_point_in_time import export_table_to_point_in_time
from keyplan.store.operations.get_item import get_item
from keyplan.store.operations.get_records import get_records
from keyplan.store.operations.get_resource_policy import get_resource_policy
from keyplan.store.operations.get_shard_iterator import get_shard_iterator
from keyplan.store.operations.import_table import import_table
from keyplan.store.operations.list_backups import list_backups
from keyplan.store.operations.list_bulk_operations import list_bulk_operations
from keyplan.store.operations.list_contributor_insights import list_contributor_insights
from keyplan.store.operations.list_exports import list_exports
from keyplan.store.operations.list_global_tables import list_global_tables
from keyplan.store.operations.list_imports import list_imports
from keyplan.store.operations.list_streams import list_streams
from keyplan.store.operations.list_tables import list_tables
from keyplan.store.operations.list_tags_of_resource import list_tags_of_resource
from keyplan.store.operations.put_item import put_item
from keyplan.store.operations.put_resource_policy import put_resource_policy
from keyplan.store.operations.query import query
from keyplan.store.operations.restore_table_from_backup import restore_table_from_backup
from keyplan.store.operations.restore_table_to_point_in_time import restore_table_to_point_in_time
from keyplan.store.operations.scan import scan
from keyplan.store.operations.search_vectors import search_vectors
from keyplan.store.operations.start_bulk_put_items import start_bulk_put_items
from keyplan.store.operations.tag_resource import tag_resource
from keyplan.store.operations.transact_get_items import transact_get_items
from keyplan.store.operations.transact_write_items import transact_write_items
from keyplan.store.operations.untag_resource import untag_resource
from keyplan.store.operations.update_continuous_backups import update_continuous_backups
from keyplan.store.operations.update_contributor_insights import update_contributor_insights
from keyplan.store.operations.update_global_table import update_global_table
from keyplan.store.operations.update_global_table_settings import update_global_table_settings
from keyplan.store.operations.update_item import update_item
from keyplan.store.operations.update_kinesis_streaming_destination import update_kinesis_streaming_destination
from keyplan.store.operations.update_table import update_table
from keyplan.store.operations.update_table_replica_auto_scaling import update_table_replica_auto_scaling
from keyplan.store.operations.update_time_to_live import update_time_to_live

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
