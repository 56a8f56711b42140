"""Where a repository is: a folder or a clone url becomes a private git folder of ours that borrows its objects.

The source is read as files (its git folder, refs, remotes) and never written; its configuration is read as data.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit, urlunsplit

from casewright.errors import SourceError
from casewright.git_command import local_environment, run_git

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_SCP = re.compile(r"(?P<user>[^/@:\s]+@)?(?P<host>[^/@:\s]+):(?P<path>[^\s].*)")
_HEX = re.compile(rb"[0-9a-f]{40}(?:[0-9a-f]{24})?")
# These serve every public repository by https too, so a reader without an ssh key can clone what is recorded.
_FORGES = frozenset({"github.com", "gitlab.com", "bitbucket.org", "codeberg.org"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Located:
    """A repository found on disk.

    ``objects`` are absolute object folders; ``refs`` full ref names with ids; ``head`` the content of HEAD
    (``ref: NAME`` or an id); ``shallow`` the boundary ids; ``promisor`` the url that a partial clone owes its missing
    blobs to, or an empty text.
    """

    git_dir: Path
    objects: tuple[Path, ...]
    refs: Mapping[bytes, str]
    head: bytes
    object_format: str
    origin: str
    promisor: str
    shallow: bytes = field(default=b"")

    @property
    def head_commit(self) -> str:
        """The commit that HEAD leads to, or an empty text where it leads to a branch without one."""
        if _HEX.fullmatch(self.head):
            return self.head.decode("ascii")
        return self.refs.get(self.head.removeprefix(b"ref:").strip(), "")


def is_url(source: str) -> bool:
    """Say whether a source is a clone url (``scheme://…`` or ``host:path``) and not a folder of this machine."""
    if _URL.match(source):
        return True
    return _SCP.fullmatch(source) is not None and not Path(source).exists() and not source.startswith(("-", "."))


def public_url(url: str) -> str:
    """Return a url as it may be stored: without user info, and by https where a forge is known to serve it so.

    A path of this machine gives an empty text.
    """
    if _URL.match(url):
        parts = urlsplit(url)
        host = parts.netloc.rpartition("@")[2]
        if parts.scheme in {"ssh", "git+ssh", "git"} and parts.hostname in _FORGES:
            return f"https://{parts.hostname}{parts.path}"
        return urlunsplit((parts.scheme, host, parts.path, parts.query, ""))
    scp = _SCP.fullmatch(url)
    if scp is None or Path(url).exists() or url.startswith((".", "/")):
        return ""
    if scp["host"] in _FORGES:
        return f"https://{scp['host']}/{scp['path'].lstrip('/')}"
    return f"{scp['host']}:{scp['path']}"


def repository_name(source: str) -> str:
    """Return the last word of a path or url, without ``.git``: ``https://host/o/name.git`` gives ``name``."""
    path = unquote(urlsplit(source).path) if _URL.match(source) else source
    words = [word for word in re.split(r"[/:]", path) if word not in {"", ".", ".."}]
    if words and words[-1] == ".git":
        words.pop()
    return words[-1].removesuffix(".git") if words else "repository"


def locate(folder: Path) -> Located:
    """Find the git folder of a worktree or bare repository and read what is needed of it, as files.

    Raises ``SourceError``: missing, no repository, empty, or configured in a way that can't be read.
    """
    if not folder.exists():
        raise SourceError(f"{folder} does not exist", "give the folder of a git repository or a clone url")
    git_dir = _git_dir(folder)
    common = _common_dir(git_dir)
    settings = _settings(common)
    object_format = settings.get("extensions.objectformat", "sha1")
    if any(name.endswith(".partialclonefilter") and value.startswith("tree:") for name, value in settings.items()):
        raise SourceError(f"{folder} is a clone without trees", "clone it whole, or with --filter=blob:none")
    refs = _reftable_refs(git_dir) if (common / "reftable").is_dir() else _file_refs(common)
    head = (git_dir / "HEAD").read_bytes().strip() if not (common / "reftable").is_dir() else _reftable_head(git_dir)
    if not refs and not _HEX.fullmatch(head):
        raise SourceError(f"{folder} is an empty repository: no commit yet", "commit something first")
    shallow = common / "shallow"
    return Located(
        git_dir=git_dir,
        objects=_object_folders(common / "objects"),
        refs=refs,
        head=head,
        object_format=object_format,
        origin=_origin(settings),
        promisor=_promisor(settings),
        shallow=shallow.read_bytes() if shallow.exists() else b"",
    )


def _git_dir(folder: Path) -> Path:
    dot_git = folder / ".git"
    if dot_git.is_dir():
        return dot_git.resolve()
    if dot_git.is_file():
        line = dot_git.read_bytes().strip()
        if line.startswith(b"gitdir:"):
            target = (folder / os.fsdecode(line.removeprefix(b"gitdir:").strip())).resolve()
            if (target / "HEAD").is_file():
                return target
        raise SourceError(f"{dot_git} does not lead to a repository", "the main repository may have moved")
    if (folder / "HEAD").is_file() and (folder / "objects").is_dir() and (folder / "refs").is_dir():
        return folder.resolve()
    above = next((parent for parent in folder.resolve().parents if (parent / ".git").exists()), None)
    hint = f"its repository is {above}: give that" if above else "give the folder of a git repository or a clone url"
    raise SourceError(f"{folder} is not a git repository", hint)


def _common_dir(git_dir: Path) -> Path:
    pointer = git_dir / "commondir"
    return (git_dir / os.fsdecode(pointer.read_bytes().strip())).resolve() if pointer.is_file() else git_dir


def _settings(common: Path) -> dict[str, str]:
    # ``--file`` follows no include, and reading a value runs nothing that it names.
    outcome = run_git(
        ["config", "--file", str(common / "config"), "-z", "--no-includes", "--list"], env=local_environment()
    )
    if outcome.code != 0:
        if not (common / "config").exists():
            return {}
        raise SourceError(f"{common / 'config'} can't be read: {outcome.complaint}", "mend the file")
    pairs = (entry.partition(b"\n") for entry in outcome.out.split(b"\0") if entry)
    return {os.fsdecode(name): os.fsdecode(value) for name, _, value in pairs}


def _origin(settings: Mapping[str, str]) -> str:
    urls = {name[7:-4]: url for name, url in settings.items() if name.startswith("remote.") and name.endswith(".url")}
    if "origin" in urls:
        return urls["origin"]
    return next(iter(urls.values())) if len(urls) == 1 else ""


def _promisor(settings: Mapping[str, str]) -> str:
    for name, value in settings.items():
        if name.startswith("remote.") and name.endswith(".promisor") and value in {"", "true", "yes", "on", "1"}:
            return settings.get(f"{name.removesuffix('.promisor')}.url", "")
    partial = settings.get("extensions.partialclone", "")
    return settings.get(f"remote.{partial}.url", "") if partial else ""


def _object_folders(first: Path) -> tuple[Path, ...]:
    found: list[Path] = []
    waiting = [first.resolve()]
    while waiting:
        folder = waiting.pop()
        if folder in found:
            continue
        found.append(folder)
        alternates = folder / "info" / "alternates"
        lines = alternates.read_bytes().splitlines() if alternates.is_file() else []
        waiting += [(folder / os.fsdecode(line)).resolve() for line in lines if line and not line.startswith(b"#")]
    return tuple(found)


def _file_refs(common: Path) -> dict[bytes, str]:
    refs: dict[bytes, str] = {}
    packed = common / "packed-refs"
    for line in packed.read_bytes().splitlines() if packed.is_file() else ():
        object_id, _, name = line.partition(b" ")
        if _HEX.fullmatch(object_id) and name.startswith(b"refs/"):
            refs[name] = object_id.decode("ascii")
    symbolic: dict[bytes, bytes] = {}
    root = os.fsencode(common)
    for parent, _, names in os.walk(os.path.join(root, b"refs")):  # noqa: PTH118 - ref names are bytes
        for name in names:
            place = os.path.join(parent, name)  # noqa: PTH118
            with open(place, "rb") as stream:  # noqa: PTH123
                value = stream.read().strip()
            full = os.path.relpath(place, root)
            if _HEX.fullmatch(value):
                refs[full] = value.decode("ascii")
            elif value.startswith(b"ref: "):
                symbolic[full] = value[5:].strip()
    for name, target in symbolic.items():
        if target in refs:
            refs[name] = refs[target]
    # A replace ref would show another object in place of the real one.
    return {name: value for name, value in refs.items() if not name.startswith(b"refs/replace/")}


def _reftable_refs(git_dir: Path) -> dict[bytes, str]:
    outcome = run_git(
        ["--git-dir", str(git_dir), "for-each-ref", "--format=%(objectname) %(refname)"], env=local_environment()
    )
    if outcome.code != 0:
        raise SourceError(f"{git_dir} can't be read: {outcome.complaint}", "a newer git may know its format")
    pairs = (line.partition(b" ") for line in outcome.out.splitlines())
    return {name: value.decode("ascii") for value, _, name in pairs if not name.startswith(b"refs/replace/")}


def _reftable_head(git_dir: Path) -> bytes:
    outcome = run_git(["--git-dir", str(git_dir), "symbolic-ref", "-q", "HEAD"], env=local_environment())
    if outcome.code == 0:
        return b"ref: " + outcome.out.strip()
    return run_git(
        ["--git-dir", str(git_dir), "rev-parse", "-q", "--verify", "HEAD"], env=local_environment()
    ).out.strip()


def make_private(place: Path, located: Located) -> None:
    """Write a bare git folder at ``place`` (an empty folder) that borrows all objects and copies refs and boundary."""
    sha256 = located.object_format != "sha1"
    for name in ("objects/info", "refs", "info"):
        (place / name).mkdir(parents=True)
    version = "1" if sha256 else "0"
    config = f"[core]\n\trepositoryformatversion = {version}\n\tbare = true\n\tfilemode = true\n\tsymlinks = true\n"
    config += "\tautocrlf = false\n\thooksPath = /dev/null\n\tlogAllRefUpdates = false\n[gc]\n\tauto = 0\n"
    config += "[maintenance]\n\tauto = false\n"
    if sha256:
        config += f"[extensions]\n\tobjectformat = {located.object_format}\n"
    (place / "config").write_text(config, encoding="ascii")
    (place / "objects/info/alternates").write_bytes(b"".join(_alternate(folder) for folder in located.objects))
    lines = sorted((name, value) for name, value in located.refs.items())
    (place / "packed-refs").write_bytes(b"".join(b"%s %s\n" % (value.encode(), name) for name, value in lines))
    if located.shallow:
        (place / "shallow").write_bytes(located.shallow)
    (place / "HEAD").write_bytes(located.head + b"\n")


def _alternate(folder: Path) -> bytes:
    path = os.fsencode(folder)
    if b"\n" in path or path.startswith((b'"', b"#")):
        quoted = path.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
        return b'"' + quoted + b'"\n'
    return path + b"\n"
