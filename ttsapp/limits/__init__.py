"""How much a tenant and its keys may use, checked in one call before the engine is asked."""
