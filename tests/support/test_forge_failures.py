"""What goes wrong between a client and the forge when a test says so: tokens, limits, broken answers."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from github import BadCredentialsException, Github, GithubException, RateLimitExceededException

from tests.support.forge import Forge, forge
from tests.support.forge_faults import (
    cut_short,
    dropped,
    primary_limit,
    proxy_page,
    query_timeout,
    redirected,
    secondary_limit,
    slow,
    truncated,
)
from tests.support.forge_story import (
    NOW,
    SECRET,
    Story,
    ask,
    filled,
    hub,
    query,
    run_git,
    story,
)
from tests.support.repos import git

__all__ = ["filled", "forge", "hub", "story"]


class TestTokens:
    def test_without_known_tokens_all_are_good(self, filled: Forge, hub: Github) -> None:
        assert hub.get_user().login == "dev"
        assert ask(filled, "/api/v3/user").status == 401

    def test_an_unknown_token_is_refused_everywhere(self, filled: Forge, hub: Github) -> None:
        filled.token("another", login="someone")
        with pytest.raises(BadCredentialsException):
            hub.get_repo("o/r")
        assert ask(filled, "/api/v3/user", Authorization="Bearer another").json["login"] == "someone"
        assert ask(filled, "/api/graphql", "POST", b"{}", Authorization="bearer nope").status == 401

    def test_a_private_repository_is_absent_to_others(self, forge: Forge, story: Story) -> None:
        forge.repository("o", "p", story.builder.path, private=True)
        forge.token("in", sees=["O/P"])
        forge.token("out", sees=["o/other"])
        path = "/api/v3/repos/o/p"
        assert ask(forge, path, Authorization="token in").json["private"] is True
        for hidden in (ask(forge, path), ask(forge, path, Authorization="token out")):
            assert (hidden.status, hidden.json["message"]) == (404, "Not Found")

    def test_a_token_ends(self, filled: Forge) -> None:
        filled.token(SECRET, expires_after=2)
        path, who = "/api/v3/repos/o/r", f"token {SECRET}"
        assert [ask(filled, path, Authorization=who).status for _ in range(4)] == [200, 200, 401, 401]
        filled.token("second")
        assert ask(filled, path, Authorization="token second").status == 200
        filled.revoke("second")
        assert ask(filled, path, Authorization="token second").json["message"] == "Bad credentials"

    def test_single_sign_on_is_demanded(self, filled: Forge) -> None:
        filled.token("plain")
        filled.token("signed", signed_on=["O"])
        filled.require_sign_on("o")
        refused = ask(filled, "/api/v3/repos/o/r", Authorization="token plain")
        assert refused.status == 403
        assert refused.headers["x-github-sso"].startswith("required; url=")
        assert ask(filled, "/api/v3/repos/o/r", Authorization="token signed").status == 200
        said = query(filled, '{repository(owner: "o", name: "r") {name}}', token="plain")
        assert (said["data"], said["errors"][0]["type"]) == ({"repository": None}, "FORBIDDEN")

    def test_every_request_is_kept_with_what_came_along(self, filled: Forge, tmp_path: Path) -> None:
        ask(filled, "/api/v3/repos/o/r?x=1", Authorization=f"token {SECRET}")
        git(tmp_path, "clone", "-q", filled.clone_url("o/r"), "copy")
        first, *others = filled.requests
        assert (first.request.target, first.status, first.request.token) == ("/api/v3/repos/o/r?x=1", 200, SECRET)
        assert {seen.request.token for seen in others} == {None}
        filled.forget_requests()
        assert filled.requests == ()


class TestLimits:
    def test_requests_are_counted_for_each_visitor(self, filled: Forge) -> None:
        filled.limits.anonymous = 2
        path = "/api/v3/repos/o/r"
        got = [ask(filled, path) for _ in range(3)]
        assert [(one.status, one.headers["x-ratelimit-remaining"]) for one in got] == [
            (200, "1"),
            (200, "0"),
            (403, "0"),
        ]
        assert got[2].json["message"].startswith("API rate limit exceeded for 127.0.0.1")
        known = ask(filled, path, Authorization=f"token {SECRET}")
        assert (known.status, known.headers["x-ratelimit-limit"]) == (200, "5000")
        # To ask how one stands costs nothing.
        assert [ask(filled, "/api/v3/rate_limit").json["rate"]["remaining"] for _ in range(2)] == [0, 0]

    def test_what_is_used_up_comes_back(self, story: Story, tmp_path: Path) -> None:
        clock = [NOW]
        with Forge(tmp_path / "forge", now=lambda: clock[0]) as forge:
            forge.repository("o", "r", story.builder.path)
            forge.exhaust(seconds=30)
            text = "{rateLimit{remaining resetAt}}"
            refused = ask(forge, "/api/v3/repos/o/r", Authorization=f"token {SECRET}")
            assert (refused.status, refused.headers["x-ratelimit-reset"]) == (403, str(NOW + 30))
            forge.fail_next(primary_limit(seconds=90))
            assert ask(forge, "/api/v3").headers["x-ratelimit-reset"] == str(NOW + 90)
            assert refused.headers["date"] == "Tue, 14 Nov 2023 22:13:20 GMT"
            assert query(forge, text)["errors"][0]["type"] == "RATE_LIMITED"
            clock[0] += 30
            assert ask(forge, "/api/v3/repos/o/r", Authorization=f"token {SECRET}").status == 200
            assert query(forge, text)["data"] == {"rateLimit": {"remaining": 4999, "resetAt": "2023-11-14T23:13:50Z"}}

    def test_pygithub_knows_both_limits(self, filled: Forge, hub: Github) -> None:
        filled.fail_next(primary_limit(seconds=60))
        with pytest.raises(RateLimitExceededException) as primary:
            hub.get_repo("o/r")
        assert primary.value.headers is not None
        assert primary.value.headers["x-ratelimit-remaining"] == "0"
        filled.fail_next(secondary_limit(retry_after=7))
        with pytest.raises(RateLimitExceededException) as secondary:
            hub.get_repo("o/r")
        assert secondary.value.headers is not None
        assert secondary.value.headers["retry-after"] == "7"
        filled.fail_next(primary_limit(seconds=60, status=429))
        filled.fail_next(secondary_limit(retry_after=None, status=429))
        assert ask(filled, "/api/v3/repos/o/r").status == 429
        last = ask(filled, "/api/v3/repos/o/r")
        assert (last.status, "retry-after" in last.headers) == (429, False)
        assert hub.get_repo("o/r").name == "r"


class TestFailures:
    @pytest.mark.parametrize("status", [500, 502, 503, 504])
    def test_a_server_error_comes_as_often_as_asked(self, filled: Forge, status: int) -> None:
        filled.fail_next(status=status, times=2)
        assert [ask(filled, "/api/v3").status for _ in range(3)] == [status, status, 200]

    def test_only_what_fits_goes_wrong(self, filled: Forge) -> None:
        filled.fail_when(r"/pulls/13$", status=403, headers={"Retry-After": "1"}, body="slow down", after=1)
        path = "/api/v3/repos/o/r/pulls/13"
        assert ask(filled, "/api/v3/repos/o/r").status == 200
        first, second, third = (ask(filled, path) for _ in range(3))
        assert (first.status, second.status, third.status) == (200, 403, 200)
        assert (second.body, second.headers["retry-after"]) == (b"slow down", "1")
        filled.fail_when("/graphql", query_timeout(), method="POST")
        said = ask(filled, "/api/graphql", "POST", b"{}", Authorization=f"bearer {SECRET}")
        assert (said.status, said.json["data"]) == (502, None)
        with pytest.raises(ValueError, match="either a fault or a status"):
            filled.fail_next()

    def test_a_page_of_an_address_by_number_fits_too(self, filled: Forge, hub: Github) -> None:
        filled.fail_when(r"/repos/o/r/pulls\?page=2", status=502)
        number = hub.get_repo("o/r").id
        assert ask(filled, f"/api/v3/repositories/{number}/pulls?page=2").status == 502

    def test_a_connection_breaks(self, filled: Forge) -> None:
        filled.fail_next(cut_short())
        with pytest.raises(http.client.IncompleteRead):
            ask(filled, "/api/v3/repos/o/r")
        filled.fail_next(dropped())
        with pytest.raises(http.client.RemoteDisconnected):
            ask(filled, "/api/v3/repos/o/r")
        assert [seen.status for seen in filled.requests] == [200, None]

    def test_an_answer_is_not_what_it_should_be(self, filled: Forge, hub: Github) -> None:
        filled.fail_next(truncated())
        with pytest.raises(json.JSONDecodeError):
            hub.get_repo("o/r")
        filled.fail_next(proxy_page(200))
        got = ask(filled, "/api/v3/repos/o/r")
        assert (got.status, got.headers["content-type"]) == (200, "text/html; charset=utf-8")
        assert got.body.startswith(b"<html>")

    def test_a_slow_answer_is_the_right_one_and_a_stop_ends_it(self, filled: Forge) -> None:
        filled.fail_next(slow(0.01))
        assert ask(filled, "/api/v3/repos/o/r").json["name"] == "r"
        filled.fail_next(slow(3600))
        errors: list[BaseException] = []

        def wait() -> None:
            try:
                ask(filled, "/api/v3/repos/o/r")
            except (OSError, http.client.HTTPException) as error:
                errors.append(error)

        waiting = threading.Thread(target=wait)
        waiting.start()
        until(lambda: len(filled.requests) == 2)
        filled.stop()
        waiting.join(timeout=20)
        assert len(errors) == 1

    def test_a_redirect_elsewhere_carries_no_token(self, filled: Forge, hub: Github, tmp_path: Path) -> None:
        with Forge(tmp_path / "elsewhere", host="localhost") as elsewhere:
            filled.fail_next(redirected(f"{elsewhere.api}/repos/o/r", status=301))
            with pytest.raises((GithubException, AssertionError, RuntimeError)):
                hub.get_repo("o/r")
            filled.fail_when("/info/refs", redirected(f"{elsewhere.origin}/o/r.git/info/refs?service=git-upload-pack"))
            address = filled.clone_url("o/r").replace("://", f"://x-access-token:{SECRET}@")
            assert run_git(tmp_path, "clone", address, "copy").returncode != 0
            assert elsewhere.calls("/info/refs") >= 1
            assert [seen for seen in elsewhere.requests if seen.request.token] == []

    def test_it_is_killed_and_comes_back(self, filled: Forge, hub: Github) -> None:
        before = filled.origin
        assert hub.get_repo("o/r").name == "r"
        filled.stop()
        with pytest.raises(ConnectionRefusedError):
            ask(filled, "/api/v3")
        filled.start()
        assert filled.origin == before
        assert ask(filled, "/api/v3/repos/o/r").json["name"] == "r"
        assert [seen.status for seen in filled.requests] == [200, 200]

    def test_a_bug_of_its_own_fails_the_test(self, story: Story, tmp_path: Path) -> None:
        own = Forge(tmp_path / "own")
        own.start()
        held = own.repository("o", "r", story.builder.path)
        held.folder.rename(tmp_path / "gone")
        assert ask(own, "/api/v3/repos/o/r/commits/main").status == 500
        with pytest.raises(AssertionError, match="FileNotFoundError"):
            own.__exit__(None, None, None)

    def test_many_at_once_are_all_answered_and_counted(self, filled: Forge) -> None:
        filled.fail_when("/pulls/13", status=502, times=7)
        statuses: list[int] = []

        def work() -> None:
            who = f"token {SECRET}"
            statuses.extend(ask(filled, "/api/v3/repos/o/r/pulls/13", Authorization=who).status for _ in range(5))

        workers = [threading.Thread(target=work) for _ in range(6)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        assert (statuses.count(502), statuses.count(200)) == (7, 23)
        assert filled.calls("/pulls/13") == 30
        left = ask(filled, "/api/v3/rate_limit", Authorization=f"token {SECRET}").json["rate"]["remaining"]
        assert left == 5000 - 23


def until(holds: Callable[[], bool]) -> None:
    """Wait for something that is about to hold, a minute at most."""
    waited = threading.Event()
    for _ in range(6000):
        if holds():
            return
        waited.wait(0.01)
    pytest.fail("it never came to hold")
