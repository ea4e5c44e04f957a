"""The statement of a month as a PDF file (decision 0202)."""
