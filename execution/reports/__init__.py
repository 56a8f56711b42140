"""From the bytes of a report to test outcomes, one reader for each format."""
