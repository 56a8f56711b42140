"""From a verdict to a draft that a person can publish."""
