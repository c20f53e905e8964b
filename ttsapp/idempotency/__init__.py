"""One answer for a request that is sent twice: the `Idempotency-Key` header."""
