"""Which texts name a pull request, and that nothing which merely looks like a known host is taken for it."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from casewright.errors import UsageError
from miner.forge_facts import ForgeReference
from miner.pull_reference import parse_pull_reference

KNOWN = frozenset({"git.example.org", "forge.example.org:8443"})


def _parsed(text: str) -> ForgeReference:
    return parse_pull_reference(text, "github.com", KNOWN)


def _reference(host: str = "github.com", name: str = "box", number: int = 12) -> ForgeReference:
    return ForgeReference(host=host, owner="dev", name=name, number=number)


@pytest.mark.parametrize(
    "text",
    [
        "https://github.com/dev/box/pull/12",
        "https://github.com/dev/box/pull/12/",
        "https://github.com/dev/box/pull/12/files",
        "https://github.com/dev/box/pull/12/commits/0123abc?w=1",
        "https://github.com/dev/box/pull/12?w=1",
        "https://github.com/dev/box/pull/12#discussion_r1",
        "https://github.com/dev/box/pull/12/files#diff-a/../b@c",
        "https://www.github.com/dev/box/pull/12",
        "HTTPS://GitHub.COM/dev/box/pull/12",
        "github.com/dev/box/pull/12/files",
        "www.github.com/dev/box/pull/12",
        "dev/box#12",
        "  <https://github.com/dev/box/pull/12>\n",
        " dev/box#12\t",
    ],
)
def test_every_way_to_name_a_pull_request_of_github_is_read(text: str) -> None:
    assert _parsed(text) == _reference()


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("https://git.example.org/dev/box/pull/12", "git.example.org"),
        ("git.example.org/dev/box/pull/12", "git.example.org"),
        ("https://forge.example.org:8443/dev/box/pull/12", "forge.example.org:8443"),
        ("https://octo-corp.ghe.com/dev/box/pull/12", "octo-corp.ghe.com"),
        ("http://127.0.0.1:3000/dev/box/pull/12", "127.0.0.1:3000"),
        ("http://localhost:3000/dev/box/pull/12", "localhost:3000"),
        ("https://localhost/dev/box/pull/12", "localhost"),
        ("http://[::1]:3000/dev/box/pull/12", "[::1]:3000"),
        ("127.0.0.1:3000/dev/box/pull/12", "127.0.0.1:3000"),
    ],
)
def test_other_hosts_are_those_that_the_user_names_and_this_machine(text: str, host: str) -> None:
    assert _parsed(text) == _reference(host)


def test_a_short_name_lies_on_the_default_host() -> None:
    assert parse_pull_reference("dev/box#12", "Git.Example.org", KNOWN) == _reference("git.example.org")


@pytest.mark.parametrize(
    "text",
    [
        "https://github.com.evil.org/dev/box/pull/12",
        "https://github.com@evil.org/dev/box/pull/12",
        "https://github.com:443@evil.org/dev/box/pull/12",
        "https://evil.org/github.com/dev/box/pull/12",
        "https://evil.org/?github.com/dev/box/pull/12",
        "https://evil.org#github.com/dev/box/pull/12",
        "evil.org/dev/box/pull/12",
        "https://notgithub.com/dev/box/pull/12",
        "https://githab.com/dev/box/pull/12",
        "https://github.com:8443/dev/box/pull/12",
        "https://github.com./dev/box/pull/12",
        "https://github.com\\@evil.org/dev/box/pull/12",
        "https://github.com%2eevil.org/dev/box/pull/12",
        "https://g\u0131thub.com/dev/box/pull/12",
        "https://github\uff0ecom/dev/box/pull/12",
        "https://gith\u00adub.com/dev/box/pull/12",
        "https://git.example.org:8443/dev/box/pull/12",
        "https://forge.example.org/dev/box/pull/12",
        "https://ghe.com/dev/box/pull/12",
        "https://evil.org.ghe.com.evil.org/dev/box/pull/12",
        "https://-.ghe.com/dev/box/pull/12",
        "https://127.0.0.1.evil.org/dev/box/pull/12",
        "https://127.0.0.2:80/dev/box/pull/12",
        "https://localhost:0/dev/box/pull/12",
        "https:///dev/box/pull/12",
        "https://gist.github.com/dev/box/pull/12",
    ],
)
def test_what_only_looks_like_a_known_host_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        _parsed(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no pull request is named"),
        ("<>", "no pull request is named"),
        ("12", "no forge that we know"),
        ("dev/box", "no forge that we know"),
        ("ssh://git@github.com/dev/box", "begins with ssh://"),
        ("git@github.com:dev/box.git", "user info"),
        ("file:///dev/box/pull/12", "begins with file://"),
        ("http://github.com/dev/box/pull/12", "plain http"),
        ("https://github.com/dev/box/issues/12", "is an issue, not a pull request"),
        ("https://github.com/dev/box/compare/main...topic", "is a comparison"),
        ("https://github.com/dev/box/commit/0123abc", "is a commit"),
        ("https://github.com/dev/box/pulls", "the list of pull requests"),
        ("https://git.example.org/dev/box/-/merge_requests/12", "GitLab"),
        ("https://github.com/dev/box", "not the address of a pull request"),
        ("https://github.com/dev/box/pull", "not the address of a pull request"),
        ("https://github.com/dev/box/pull/", "'' for a number"),
        ("https://github.com/dev/box/pull/0", "'0' for a number"),
        ("https://github.com/dev/box/pull/-1", "'-1' for a number"),
        ("https://github.com/dev/box/pull/012", "'012' for a number"),
        ("https://github.com/dev/box/pull/12x", "'12x' for a number"),
        ("https://github.com/dev/box/pull/١٢", "for a number"),
        ("https://github.com/dev/box/pull/2147483648", "for a number"),
        ("dev/box#" + "9" * 10_000, "for a number"),
        ("dev/box#", "'' for a number"),
        ("dev/..#12", "no repository can be called"),
        ("../box#12", "no repository can be called"),
        ("github.com/box#12", "no repository can be called"),
        ("dev/bo x#12", "a blank"),
        ("https://github.com/dev/../pull/12", "no repository can be called"),
        ("https://github.com/dev/b%2fx/pull/12", "no repository can be called"),
        ("https://github.com//box/pull/12", "no repository can be called"),
        ("https://github.com/dev/box/pull/12 and more", "a blank"),
        ("https://github.com/dev/box/pull/12\n13", "a blank"),
        ("https://github.com/dev/box/pull/12\x00", "control character"),
    ],
)
def test_what_names_no_pull_request_is_refused_with_what_it_is(text: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        _parsed(text)
    assert said in caught.value.message
    assert caught.value.hint
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 600


def test_an_unknown_host_leads_to_where_hosts_are_named() -> None:
    with pytest.raises(UsageError, match=r"'git\.corp\.example'.*GH_HOST.*forges in casewright\.yaml"):
        _parsed("https://git.corp.example/dev/box/pull/12")


def test_an_error_shows_no_password() -> None:
    for text in ("https://dev:secret@github.com/dev/box/pull/12", "dev:secret@github.com/dev/box/pull/12"):
        with pytest.raises(UsageError) as caught:
            _parsed(text)
        assert "secret" not in str(caught.value)
        assert "user info" in str(caught.value)


_OWNERS = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_-]{0,38}", fullmatch=True)
_NAMES = st.from_regex(r"[A-Za-z0-9._-]{1,100}", fullmatch=True).filter(lambda name: name not in {".", ".."})
_HOSTS = st.sampled_from(["github.com", "corp.ghe.com", "localhost:80", *sorted(KNOWN)])
_TAILS = st.sampled_from(["", "/", "/files", "?w=1", "#discussion_r1", "/commits/0123?x#y"])


@given(host=_HOSTS, owner=_OWNERS, name=_NAMES, number=st.integers(1, 2**31 - 1), tail=_TAILS)
def test_what_is_written_out_is_read_back(host: str, owner: str, name: str, number: int, tail: str) -> None:
    wanted = ForgeReference(host=host, owner=owner, name=name, number=number)

    assert _parsed(f"https://{host}/{owner}/{name}/pull/{number}{tail}") == wanted
    assert _parsed(f"{host}/{owner}/{name}/pull/{number}{tail}") == wanted
    assert parse_pull_reference(wanted.short, host, KNOWN) == wanted


_PIECES = st.sampled_from(
    "https:// http:// // / @ : \\ # ? . .. github.com www. evil.org .ghe.com git.example.org localhost dev box pull 12"
    " 0 %2e < > \u200b \u0131 8443".split(" ")
)


@given(st.one_of(st.text(), st.lists(_PIECES, max_size=14).map("".join)))
def test_any_text_is_refused_or_gives_a_host_that_is_allowed(text: str) -> None:
    with suppress(UsageError):
        found = _parsed(text)
        host = found.host
        assert host in {"github.com", *KNOWN} or host.endswith(".ghe.com") or host.partition(":")[0] == "localhost"
        assert found.host == found.host.lower()
        assert parse_pull_reference(found.short, found.host, KNOWN) == found
