"""Where the code of mined repositories is built and run."""
