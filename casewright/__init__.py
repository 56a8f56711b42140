"""casewright: benchmark cases for coding agents, proven from a repository's own history."""
