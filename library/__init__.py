"""From drafts to releases."""
