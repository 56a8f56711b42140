"""The language that people would name for a file, told from the end of its name alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

UNKNOWN: Final = "other"
_ENDINGS: Final = {
    "python": "py pyi",
    "javascript": "js jsx mjs cjs",
    "typescript": "ts tsx mts cts",
    "go": "go",
    "rust": "rs",
    "java": "java",
    "kotlin": "kt kts",
    "scala": "scala",
    "groovy": "groovy",
    "clojure": "clj cljs cljc",
    "ruby": "rb",
    "php": "php phpt",
    "c": "c h",
    "c++": "cc cpp cxx hpp hh",
    "c#": "cs",
    "f#": "fs",
    "swift": "swift",
    "dart": "dart",
    "elixir": "ex exs",
    "erlang": "erl",
    "haskell": "hs",
    "ocaml": "ml mli",
    "lua": "lua",
    "perl": "pl pm t",
    "r": "r R",
    "julia": "jl",
    "zig": "zig",
    "nim": "nim",
    "shell": "sh bash bats",
}
_BY_ENDING: Final = {ending: language for language, endings in _ENDINGS.items() for ending in endings.split()}


def language_of_files(files: Sequence[str]) -> str:
    """Return the language of most files, of equal ones the first in the alphabet; ``other`` where no ending tells."""
    counts = Counter(_BY_ENDING.get(path.rpartition(".")[2], "") for path in files)
    counts.pop("", None)
    return min(counts, key=lambda language: (-counts[language], language)) if counts else UNKNOWN
