resource "aws_dynamodb_table" "helpdesk" {
  name         = "helpdesk"
  billing_mode = "PAY_PER_REQUEST"
  hash_key     = "pk" # CUSTOMER#{customer}, TICKET#{ticket_id}
  range_key    = "sk" # TICKET#{ticket_id}, CLAIM

  attribute {
    name = "pk"
    type = "S"
  }

  attribute {
    name = "sk"
    type = "S"
  }

  attribute {
    name = "state_pk"
    type = "S"
  }

  attribute {
    name = "state_sk"
    type = "S"
  }

  ttl {
    attribute_name = "expires_at"
    enabled        = true
  }

  # open_tickets
  global_secondary_index {
    name            = "BY_STATE"
    hash_key        = "state_pk" # OPEN
    range_key       = "state_sk" # {ticket_id}
    projection_type = "ALL"
  }
}
