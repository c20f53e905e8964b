"""`make bench-metering`: how many requests the ledger takes, and how fast a year of it is read."""
