"""The order in which a forge looks at a request: faults, the token, the rate limit, and then what was asked for."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from dataclasses import replace
from urllib.parse import quote, unquote

from tests.support.forge_access import Access, Sight, Visitor
from tests.support.forge_answers import Answer, Request, Seen, as_json, page, refusal
from tests.support.forge_content import Content, HostedRepository
from tests.support.forge_faults import PRIMARY_MESSAGE, Delivery, Fault, Plan
from tests.support.forge_git import Reader
from tests.support.forge_json import Json, number_of
from tests.support.forge_limits import CORE, GRAPHQL, Limits, Standing
from tests.support.forge_queries import QUERIES, Queries
from tests.support.forge_rest import Rest
from tests.support.forge_server import Reply, with_entity_tag
from tests.support.forge_smart_http import serve

REST = "/api/v3"
VERSION = "3.14.2"
_ANONYMOUS_LIMITED = (
    "API rate limit exceeded for 127.0.0.1. (But here's the good news: Authenticated requests get a higher rate limit."
    " Check out the documentation for more details.)"
)


class Gate:
    """Answers requests and records each of them, before the first byte of its answer is sent."""

    def __init__(
        self,
        content: Content,
        access: Access,
        limits: Limits,
        plan: Plan,
        readers: Callable[[HostedRepository], Reader],
        written: Json,
        now: Callable[[], int],
    ) -> None:
        self._content = content
        self._access = access
        self._limits = limits
        self._plan = plan
        self._json = written
        self._now = now
        self._rest = Rest(content, access, readers, written)
        self._queries = Queries(content, access, limits, readers, written)
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._seen: list[Seen] = []

    @property
    def seen(self) -> tuple[Seen, ...]:
        """Every request so far, in the order in which they came to be answered."""
        with self._lock:
            return tuple(self._seen)

    def forget(self) -> None:
        """Forget the requests so far."""
        with self._lock:
            self._seen.clear()

    def canonical(self, path: str) -> str:
        """Return a path of the API in the way that people write it (pages name the repository by id)."""
        return REST + self._rest.canonical(path.removeprefix(REST)) if path.startswith(REST) else path

    def respond(self, request: Request) -> Reply:
        """Return the reply to a request; a fault that was planned for it comes before anything else."""
        query = f"?{request.query}" if request.query else ""
        fault = self._plan.take(request.method, request.target, self.canonical(request.path) + query)
        answer = self._faulty(request, fault) if fault and fault.status is not None else self._real(request)
        with self._lock:
            dropped = fault is not None and fault.delivery is Delivery.DROPPED
            self._seen.append(Seen(request=request, status=None if dropped else answer.status))
            number = next(self._numbers)
        headers = {**answer.headers, "X-GitHub-Request-Id": f"{number:04X}:0001"}
        return Reply(answer=replace(answer, headers=headers), fault=fault)

    def _faulty(self, request: Request, fault: Fault) -> Answer:
        resource = GRAPHQL if request.path.startswith(QUERIES) else CORE
        standing = self._limits.charge("anonymous", resource, 0, known=False)
        if fault.limit_resets_in is not None:
            reset = self._now() + fault.limit_resets_in
            standing = Standing(resource=resource, limit=5000, used=5000, reset=reset)
        assert fault.status is not None
        return Answer(status=fault.status, headers={**standing.headers, **fault.headers}, body=fault.body)

    def _real(self, request: Request) -> Answer:
        for prefix, answer in ((REST, self._api), (QUERIES, self._queries.answer)):
            if request.path == prefix or request.path.startswith(prefix + "/"):
                return self._known(request, answer)
        return self._web(request)

    def _known(self, request: Request, answer: Callable[[Request, Visitor], Answer]) -> Answer:
        """Answer for the API: who asks must be named and, with a token, known."""
        if not request.headers.get("user-agent"):
            text = "Request forbidden by administrative rules. Please make sure your request has a User-Agent header."
            return Answer(status=403, headers={"Content-Type": "text/plain"}, body=text.encode())
        visitor = self._access.identify(request.authorization)
        said = {"X-GitHub-Enterprise-Version": VERSION, "X-GitHub-Media-Type": "github.v3; format=json"}
        if visitor is None:
            standing = self._limits.charge("anonymous", CORE, 0, known=False)
            bad = refusal(401, "Bad credentials")
            return replace(bad, headers={**said, **standing.headers, **bad.headers})
        if visitor.token is not None:
            said["X-OAuth-Scopes"] = visitor.token.scopes
        given = answer(request, visitor)
        return replace(given, headers={**said, **given.headers})

    def _api(self, request: Request, visitor: Visitor) -> Answer:
        path = request.path.removeprefix(REST).rstrip("/")
        known = visitor.token is not None
        if path == "/rate_limit":
            return self._rate_limit(visitor)
        standing = self._limits.charge(visitor.name, CORE, 0, known=known)
        if standing.remaining == 0:
            return self._limited(visitor, standing)
        answer = with_entity_tag(request, self._general(path, visitor) or self._rest.answer(request, path, visitor))
        # What the client has already costs nothing, if it says who it is.
        cost = 0 if answer.status == 304 and known else 1
        standing = self._limits.charge(visitor.name, CORE, cost, known=known)
        if standing.refused:
            return self._limited(visitor, standing)
        return replace(answer, headers={**standing.headers, **answer.headers})

    def _limited(self, visitor: Visitor, standing: Standing) -> Answer:
        message = PRIMARY_MESSAGE if visitor.token is not None else _ANONYMOUS_LIMITED
        return refusal(403, message, headers=standing.headers)

    def _general(self, path: str, visitor: Visitor) -> Answer | None:
        """Answer for what belongs to no repository."""
        match path:
            case "":
                api = self._json.api
                return as_json(
                    {
                        "current_user_url": api("/user"),
                        "rate_limit_url": api("/rate_limit"),
                        "repository_url": api("/repos/{owner}/{repo}"),
                        "user_url": api("/users/{user}"),
                    }
                )
            case "/meta":
                return as_json({"verifiable_password_authentication": False, "installed_version": VERSION})
            case "/user" if visitor.login is None:
                return refusal(401, "Requires authentication")
            case "/user":
                return as_json(self._json.user(str(visitor.login)) | {"name": None, "email": None})
            case _ if path.startswith("/users/") and path.count("/") == 2:
                return as_json(self._json.user(unquote(path.removeprefix("/users/"))))
        return None

    def _rate_limit(self, visitor: Visitor) -> Answer:
        known = visitor.token is not None
        resources = {}
        standings = {name: self._limits.charge(visitor.name, name, 0, known=known) for name in (CORE, GRAPHQL)}
        for name, standing in standings.items():
            resources[name] = {
                "limit": standing.limit,
                "used": standing.used,
                "remaining": standing.remaining,
                "reset": standing.reset,
                "resource": name,
            }
        return as_json({"resources": resources, "rate": resources[CORE]}, headers=standings[CORE].headers)

    def _web(self, request: Request) -> Answer:
        """Answer for people and for git: ``/OWNER/NAME``, with ``.git`` or without, and what is below it."""
        words = [unquote(word) for word in request.path.split("/")[1:]]
        if len(words) < 2:
            return page(200 if words == [""] else 404, "Forge")
        owner, name = words[0], words[1].removesuffix(".git")
        rest = request.path.split("/", 3)[3:]
        below = "/" + rest[0] if rest else ""
        is_git = below in ("/info/refs", "/git-upload-pack", "/git-receive-pack")
        visitor = self._access.identify(request.authorization)
        found = self._content.find(owner, name)
        sight = self._access.sight(visitor, found.repository) if visitor and found else Sight.HIDDEN
        if visitor is None or found is None or sight is not Sight.SEEN:
            return _closed(visitor, is_git=is_git)
        repository = found.repository
        if found.renamed:
            suffix = ".git" if words[1].endswith(".git") else ""
            query = f"?{request.query}" if request.query else ""
            location = f"{self._json.origin}/{quote(repository.full_name)}{suffix}{below}{query}"
            return Answer(status=301, headers={"Location": location})
        if is_git:
            return serve(request, repository.folder, below)
        return self._read_by_people(repository, below)

    def _read_by_people(self, repository: HostedRepository, below: str) -> Answer:
        words = below.split("/")[1:]
        if not words or words == [""]:
            return page(200, repository.full_name)
        if words[0] in ("pull", "issues") and len(words) > 1 and words[1].isdigit():
            pull = self._content.pull(repository, int(words[1]))
            if pull is not None and words[0] == "issues":
                location = f"{self._json.web_of(repository)}/pull/{pull.number}"
                return Answer(status=302, headers={"Location": location})
            issue = pull if words[0] == "pull" else self._content.issue(repository, int(words[1]))
            if issue is not None:
                return page(200, f"{issue.number}: {number_of(issue.title)}")
        return page(404, "Page not found")


def _closed(visitor: Visitor | None, *, is_git: bool) -> Answer:
    """Ask a git without good credentials for some, as GitHub does for what is absent too; else say that it's absent."""
    if is_git and (visitor is None or visitor.token is None):
        ask = {"WWW-Authenticate": 'Basic realm="GitHub"', "Content-Type": "text/plain"}
        return Answer(status=401, headers=ask, body=b"Authentication required\n")
    if is_git:
        return Answer(status=404, headers={"Content-Type": "text/plain"}, body=b"Repository not found.\n")
    return page(404, "Page not found")
