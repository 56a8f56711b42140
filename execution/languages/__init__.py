"""The languages that casewright can build and run, one module each."""
