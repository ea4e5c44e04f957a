"""ACH: entries in files that a bank takes and sends back."""
