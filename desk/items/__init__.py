"""Notes and an assignee on what staff work on (decision 0210)."""
