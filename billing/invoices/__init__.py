"""Monthly invoices and the credit notes that correct them."""
