"""The sandbox backends, one module each."""
