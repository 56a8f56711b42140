"""From a history to a verdict."""
