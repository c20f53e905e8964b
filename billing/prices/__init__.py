"""Price books: what a million characters is sold for."""
