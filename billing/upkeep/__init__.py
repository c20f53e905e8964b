"""What keeps the ledger right over the years: partitions, retention, reconciliation."""
