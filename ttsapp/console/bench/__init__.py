"""`make bench-console`: how long each page takes the server over a thousand tenants' year."""
